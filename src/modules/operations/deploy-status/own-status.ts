/** The instance as its own provider, if the settings name none. */
import type { Deps } from '../../../core/deps.ts'
import { type Deploy, type ErrorProject, errorWindowHours, type ServiceStatus } from '../../../core/operations.ts'
import { hourMs } from '../../../lib/day.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { forgottenMs, ownErrors, ownServices } from './domain.ts'
import { platformStore as store } from './store.ts'

/** Returns the processes by their last heartbeats. */
export async function ownStatuses({ db, clock }: Pick<Deps, 'db' | 'clock'>, processId: string): Promise<ServiceStatus[]> {
  const now = clock.now()
  return ownServices(await store.startsSeenSince(db.read, now - forgottenMs), processId, now)
}

/** Returns the logged errors of whole hours within the window. */
export async function ownProjects({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<ErrorProject[]> {
  return [ownErrors(await store.errorsSince(db.read, clock.now() - errorWindowHours * hourMs))]
}

/** Returns when the current revision was first started. */
export async function ownDeploys({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<Deploy[]> {
  const latest = await store.latest(db.read)
  if (!latest) return []
  const { revision, deployedAt } = latest
  return [
    { service: 'souk', environment: config.operationsEnvironment, revision, deployedAt: new Date(deployedAt).toISOString(), change: null },
  ]
}

/** Returns the last starts, and the errors of the last day from all processes. */
export async function ownHistory({ db, clock }: Pick<Deps, 'db' | 'clock'>) {
  const [starts, errors] = await Promise.all([
    store.startsSeenSince(db.read, 0),
    store.errorsSince(db.read, clock.now() - errorWindowHours * hourMs),
  ])
  return {
    starts: starts.slice(0, startsShown).map((start) => ({
      ...pick(start, 'host', 'version', 'revision'),
      ...isoTimes(pick(start, 'startedAt', 'deployedAt', 'seenAt', 'stoppedAt')),
    })),
    errors: errors
      .toSorted((a, b) => b.lastSeen - a.lastSeen)
      .map((error) => ({ ...pick(error, 'title', 'count'), ...isoTimes(pick(error, 'hour', 'lastSeen')) })),
  }
}
const startsShown = 20
