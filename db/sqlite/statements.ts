import type { Database as Sqlite, Statement } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'

const preparedStatementsMax = 400

/**
 * drizzle prepares every statement anew; most of them are the same few hundred texts. What falls out is left to the
 * garbage collector: somebody may still hold it.
 */
export function statementCache(connection: Sqlite, guard: Guard): (text: string) => Statement {
  const prepare = (text: string) => guard(() => guarded(connection.prepare(text), guard))
  const statements = new LRUCache({ max: preparedStatementsMax, memoMethod: prepare })
  return (text) => statements.memo(text)
}

/** Lets nothing pass unseen that a run of SQLite says of a failing disk or a damaged file. */
export type Guard = <T>(run: () => T) => T

/** drizzle runs statements by itself, and wraps what they throw. */
function guarded(statement: Statement, guard: Guard): Statement {
  const { all, get, run, values } = statement
  return Object.assign(statement, {
    all: (...given: never[]) => guard(() => all.apply(statement, given)),
    get: (...given: never[]) => guard(() => get.apply(statement, given)),
    run: (...given: never[]) => guard(() => run.apply(statement, given)),
    values: (...given: never[]) => guard(() => values.apply(statement, given)),
  })
}
