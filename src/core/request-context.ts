import { AsyncLocalStorage } from 'node:async_hooks'
import { type Database, DatabaseOutcomeUnknown, DatabaseUnavailable } from '../../db/engine.ts'

/** The current request: log id, start time, and the state of its writes. */
type Scope = { readonly id: string; readonly requestedAt: number | undefined; committed: number; unknown: boolean; keyed: boolean }

const scopes = new AsyncLocalStorage<Scope>()

/**
 * Runs the handler of a request. Log lines carry its id, and its commits are counted.
 * @param startedAt start time by `performance.now()`
 */
export const runInRequest = <T>(id: string, run: () => T, startedAt?: number): T =>
  scopes.run({ id, requestedAt: startedAt, committed: 0, unknown: false, keyed: false }, run)

/** Returns the start time of the current request by `performance.now()`; undefined in jobs and commands. */
export const requestStartedAt = (): number | undefined => scopes.getStore()?.requestedAt

/** Returns the id of the current request; undefined in jobs and commands. */
export const requestId = (): string | undefined => scopes.getStore()?.id

/** Marks that the current request has an idempotency key, so the client can repeat it. */
export function markKeyed(): void {
  const scope = scopes.getStore()
  if (scope) scope.keyed = true
}

/**
 * Runs writes that are not an effect of the request, such as the claim of its key. They do not count as committed
 * effects, and an unknown outcome counts as unavailable.
 */
export async function runUntracked<T>(run: () => Promise<T>): Promise<T> {
  const scope = scopes.getStore()
  try {
    return await (scope ? scopes.run({ ...scope }, run) : run())
  } catch (error) {
    throw error instanceof DatabaseOutcomeUnknown ? new DatabaseUnavailable(error.message) : error
  }
}

/** Effect of the current request so far. SOME: a write has committed. UNKNOWN: a commit has an unknown outcome. */
type RequestOutcome = 'NOTHING' | 'SOME' | 'UNKNOWN'

/** Returns what an error response may say about the request's effect. */
export function requestOutcome(): { outcome: RequestOutcome; keyed: boolean } {
  const scope = scopes.getStore()
  if (!scope) return { outcome: 'UNKNOWN', keyed: false }
  return { outcome: scope.unknown ? 'UNKNOWN' : scope.committed > 0 ? 'SOME' : 'NOTHING', keyed: scope.keyed }
}

/** Wraps a database so that commits are counted for the current request. */
export const trackCommits = (db: Database): Database => ({
  ...db,
  async write(work, options) {
    const scope = scopes.getStore()
    if (!scope) return db.write(work, options)
    try {
      const done = await db.write(work, options)
      scope.committed++
      return done
    } catch (error) {
      if (error instanceof DatabaseOutcomeUnknown) scope.unknown = true
      throw error
    }
  },
})
