/** What an instance tells of itself: the provider that is there when the settings name none. */
import type { Deps } from '../../../core/deps.ts'
import { hourMs } from '../../../core/error-notes.ts'
import { type Deploy, type ErrorProject, errorWindowHours, type ServiceStatus } from '../../../core/operations.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { missedMs, ownErrors, ownServices } from './domain.ts'
import { platformStore as store } from './store.ts'

/** The processes that serve, by what each last said of itself. */
export async function ownStatuses({ db, clock }: Pick<Deps, 'db' | 'clock'>, processId: string): Promise<ServiceStatus[]> {
  const now = clock.now()
  return ownServices(await store.startsSeenSince(db.read, now - missedMs), processId, now)
}

/** What was logged as errors, by whole hours that lie within the window. */
export async function ownProjects({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<ErrorProject[]> {
  return [ownErrors(await store.errorsSince(db.read, clock.now() - errorWindowHours * hourMs))]
}

/** When what runs was started for the first time. Who changed what is known elsewhere. */
export async function ownDeploys({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<Deploy[]> {
  const latest = await store.latest(db.read)
  if (!latest) return []
  const { revision, deployedAt } = latest
  return [
    { service: 'souk', environment: config.operationsEnvironment, revision, deployedAt: new Date(deployedAt).toISOString(), change: null },
  ]
}

/** The last starts and the errors of the last day, as every process of the instance wrote them down. */
export async function ownHistory({ db, clock }: Pick<Deps, 'db' | 'clock'>) {
  const [starts, errors] = await Promise.all([
    store.startsSeenSince(db.read, 0),
    store.errorsSince(db.read, clock.now() - errorWindowHours * hourMs),
  ])
  return {
    starts: starts.slice(0, startsTold).map((start) => ({
      ...pick(start, 'host', 'version', 'revision'),
      ...isoTimes(pick(start, 'startedAt', 'deployedAt', 'seenAt', 'stoppedAt')),
    })),
    errors: errors
      .toSorted((one, other) => other.lastSeen - one.lastSeen)
      .map((error) => ({ ...pick(error, 'title', 'count'), ...isoTimes(pick(error, 'hour', 'lastSeen')) })),
  }
}
const startsTold = 20
