import type { Deps } from '../../../core/deps.ts'
import { errorWindowHours } from '../../../core/operations.ts'
import { hourMs } from '../../../lib/day.ts'
import { heartbeatMs, revisionOf } from './domain.ts'
import type { PlatformDeps } from './providers.ts'
import { platformStore as store } from './store.ts'

type ProcessDeps = Pick<PlatformDeps, 'config' | 'db' | 'clock' | 'build' | 'host' | 'processId' | 'heartbeat'>

/** Records the start of this process and since when its revision is deployed. */
export async function recordStart({ config, db, clock, build, host, processId, heartbeat }: ProcessDeps): Promise<void> {
  const now = clock.now()
  const revision = revisionOf(build.version, config.buildRevision)
  heartbeat.lastAt = now
  await db.write(async (tx) => {
    const before = await store.latest(tx)
    await store.insertStart(tx, {
      id: processId,
      host,
      version: build.version,
      revision,
      startedAt: now,
      deployedAt: before?.revision === revision ? before.deployedAt : now,
      seenAt: now,
      stoppedAt: null,
    })
    if (config.databaseUrl.startsWith('file:')) await store.endOthers(tx, processId)
  })
}

/** Sends a heartbeat once a minute and stores the logged errors. For a job of every process. */
export async function recordHeartbeat(deps: ProcessDeps & Pick<Deps, 'errorNotes'>): Promise<void> {
  await writeErrors(deps)
  const { db, clock, processId, heartbeat } = deps
  const now = clock.now()
  if (Math.abs(now - heartbeat.lastAt) < heartbeatMs) return
  heartbeat.lastAt = now
  const isRecorded = await db.write((tx) => store.recordHeartbeat(tx, processId, now, null), { isolation: 'locking' })
  // The start was not recorded, or its row was removed since.
  if (!isRecorded) await recordStart(deps)
}

/** Records the stop of this process and its logged errors. */
export async function recordStop(deps: ProcessDeps & Pick<Deps, 'errorNotes'>): Promise<void> {
  await writeErrors(deps)
  const now = deps.clock.now()
  await deps.db.write((tx) => store.recordHeartbeat(tx, deps.processId, now, now), { isolation: 'locking' })
}

async function writeErrors({ db, clock, errorNotes }: Pick<Deps, 'db' | 'clock' | 'errorNotes'>): Promise<void> {
  const notes = errorNotes.take()
  if (notes.length === 0) return
  const forgetBefore = clock.now() - (errorWindowHours + 1) * hourMs
  try {
    await db.write((tx) => store.addErrors(tx, notes, forgetBefore), { isolation: 'locking' })
  } catch (error) {
    errorNotes.restore(notes)
    throw error
  }
}

/**
 * Refreshes the answers of external providers, so that pages do not wait. Failures are logged and keep the last answer.
 */
export async function refreshOperations({ statusCaches }: Pick<PlatformDeps, 'statusCaches'>): Promise<Record<string, string>> {
  const outcomes = await Promise.all(Object.entries(statusCaches).map(async ([kind, cache]) => [kind, await cache.renew()]))
  return Object.fromEntries(outcomes)
}
