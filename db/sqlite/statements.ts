import type { Database as Sqlite, Statement } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'

/**
 * Maximum SQL characters of cached statements per connection. SQLite uses about 25 bytes per character, and lists (`in
 * (?, ?, …)`) of every length would fill the cache. `bun run bench soak` measures it.
 */
const sqlCharactersMax = 150_000

/**
 * Caches prepared statements by SQL text (LRU). Evicted statements are finalized by the garbage collector, because a
 * query may still use them.
 * @param connection prepares the statements
 * @param guard wraps each run
 * @returns a function that returns the cached or a new statement
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
    all: (...parameters: never[]) => guard(() => all.apply(statement, parameters)),
    get: (...parameters: never[]) => guard(() => get.apply(statement, parameters)),
    run: (...parameters: never[]) => guard(() => run.apply(statement, parameters)),
    values: (...parameters: never[]) => guard(() => values.apply(statement, parameters)),
  })
}
