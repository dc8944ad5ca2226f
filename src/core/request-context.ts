import { AsyncLocalStorage } from 'node:async_hooks'
import { type Database, DatabaseOutcomeUnknown, DatabaseUnavailable } from '../../db/engine.ts'

/** A request under way: its name in the log, when it came, and what has become of its writes. */
type Scope = { readonly id: string; readonly cameAt: number | undefined; committed: number; unknown: boolean; keyed: boolean }

const scopes = new AsyncLocalStorage<Scope>()

/**
 * Runs what answers a request, so that its log lines bear its id and its commits are counted.
 * @param cameAt when it came, by `performance.now()`
 */
export const inRequest = <T>(id: string, run: () => T, cameAt?: number): T =>
  scopes.run({ id, cameAt, committed: 0, unknown: false, keyed: false }, run)

/** When the request under way came, by `performance.now()`; undefined in jobs and commands. */
export const cameAt = (): number | undefined => scopes.getStore()?.cameAt

/** The id of the request under way; undefined in jobs and commands. */
export const requestId = (): string | undefined => scopes.getStore()?.id

/** Notes that the request under way has an idempotency key, by which its caller may send it again. */
export function noteKeyed(): void {
  const scope = scopes.getStore()
  if (scope) scope.keyed = true
}

/**
 * Runs writes that are no part of what the request under way was asked to do (the claim of its key, the count of its attempts), so that
 * they do not count as something that has happened. Nor does it leave anything in doubt where nobody knows whether they did.
 */
export async function aside<T>(run: () => Promise<T>): Promise<T> {
  const scope = scopes.getStore()
  try {
    return await (scope ? scopes.run({ ...scope }, run) : run())
  } catch (error) {
    throw error instanceof DatabaseOutcomeUnknown ? new DatabaseUnavailable(error.message) : error
  }
}

/** What has become of the request under way. SOME: a write of its effect has committed. UNKNOWN: nobody can say whether one has. */
export type Outcome = 'NOTHING' | 'SOME' | 'UNKNOWN'

/** What a failure may say of the request under way. */
export function outcome(): { outcome: Outcome; keyed: boolean } {
  const scope = scopes.getStore()
  if (!scope) return { outcome: 'UNKNOWN', keyed: false }
  return { outcome: scope.unknown ? 'UNKNOWN' : scope.committed > 0 ? 'SOME' : 'NOTHING', keyed: scope.keyed }
}

/** The same database, whose commits are counted for the request that asked for them. */
export const countingCommits = (db: Database): Database => ({
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
