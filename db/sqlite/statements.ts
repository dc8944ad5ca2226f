import type { Database as Sqlite, Statement } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'

/**
 * Characters of SQL that the statements of one connection may have together. SQLite holds about 25 bytes a character;
 * lists (`in (?, ?, …)`) of every length would otherwise fill the cache with long statements that run once. `bun run
 * bench soak` shows what they cost.
 */
const sqlCharactersMax = 150_000

/**
 * Caches prepared statements by their SQL, the least recently used first out. An evicted statement is finalized by the
 * garbage collector, because a query may still use it.
 * @param connection which prepares them
 * @param guard around each run; see Guard
 * @returns prepares a statement, or answers the cached one
 */
export function statementCache(connection: Sqlite, guard: Guard): (text: string) => Statement {
  const prepare = (text: string) => guard(() => guarded(connection.prepare(text), guard))
  const statements = new LRUCache<string, Statement>({
    maxSize: sqlCharactersMax,
    sizeCalculation: (_statement, text) => text.length,
    memoMethod: prepare,
  })
  return (text) => statements.memo(text)
}

/** Runs a function of SQLite and reports errors that mean a failing disk or a damaged file. */
export type Guard = <T>(run: () => T) => T

/** Wraps a statement's methods, because drizzle calls them directly and wraps the errors they throw. */
function guarded(statement: Statement, guard: Guard): Statement {
  const { all, get, run, values } = statement
  return Object.assign(statement, {
    all: (...given: never[]) => guard(() => all.apply(statement, given)),
    get: (...given: never[]) => guard(() => get.apply(statement, given)),
    run: (...given: never[]) => guard(() => run.apply(statement, given)),
    values: (...given: never[]) => guard(() => values.apply(statement, given)),
  })
}
