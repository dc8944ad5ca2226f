import type { Deps } from '../../../core/deps.ts'
import { hourMs } from '../../../core/error-notes.ts'
import { errorWindowHours } from '../../../core/operations.ts'
import { beatMs, revisionOf } from './domain.ts'
import type { PlatformDeps } from './providers.ts'
import { platformStore as store } from './store.ts'

type Life = Pick<PlatformDeps, 'config' | 'db' | 'clock' | 'build' | 'host' | 'processId' | 'lifeSigns'>

/** Notes that this process has begun to serve: what it runs, and since when that is deployed. */
export async function noteStart({ config, db, clock, build, host, processId, lifeSigns }: Life): Promise<void> {
  const now = clock.now()
  const revision = revisionOf(build.version, config.buildRevision)
  lifeSigns.lastAt = now
  await db.write(async (tx) => {
    const before = await store.latestStart(tx)
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

/** Says that this process runs, once a minute, and writes down which errors it has logged. For a job of every process. */
export async function tendProcess(deps: Life & Pick<Deps, 'errorNotes'>): Promise<void> {
  await writeErrors(deps)
  const { db, clock, processId, lifeSigns } = deps
  const now = clock.now()
  if (Math.abs(now - lifeSigns.lastAt) < beatMs) return
  lifeSigns.lastAt = now
  const isNoted = await db.write((tx) => store.beat(tx, processId, now, null), { isolation: 'locking' })
  // Its start could not be written, or so many came after it that its row is gone.
  if (!isNoted) await noteStart(deps)
}

/** Notes that this process ends, and what it has logged until now. */
export async function noteEnd(deps: Life & Pick<Deps, 'errorNotes'>): Promise<void> {
  await writeErrors(deps)
  const now = deps.clock.now()
  await deps.db.write((tx) => store.beat(tx, deps.processId, now, now), { isolation: 'locking' })
}

async function writeErrors({ db, clock, errorNotes }: Pick<Deps, 'db' | 'clock' | 'errorNotes'>): Promise<void> {
  const notes = errorNotes.take()
  if (notes.length === 0) return
  const forgetBefore = clock.now() - (errorWindowHours + 1) * hourMs
  try {
    await db.write((tx) => store.addErrors(tx, notes, forgetBefore), { isolation: 'locking' })
  } catch (error) {
    errorNotes.giveBack(notes)
    throw error
  }
}

/** Asks the outside providers anew, so that who opens a page need not wait. What fails is in the log, and what was known is kept. */
export async function refreshOperations({ boards }: Pick<PlatformDeps, 'boards'>): Promise<Record<string, string>> {
  const outcomes = await Promise.all(Object.entries(boards).map(async ([kind, board]) => [kind, await board.renew()]))
  return Object.fromEntries(outcomes)
}
