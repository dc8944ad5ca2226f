/** Integrity rules of the database, which `souk check` evaluates. */
import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../db/engine.ts'

/** Maximum number of reported violations per rule. */
export const problemsMax = 20

type Row = Record<string, string | number | null>
/**
 * `broken` selects the violating rows in one ordered statement, so that concurrent writes do not matter. `say`
 * describes one.
 */
export type Rule = { readonly subject: string; readonly broken: SQL; readonly say: (row: Row) => string }
/** `isWork`: not an error, but pending work. */
export type Finding = { readonly subject: string; readonly problems: string[]; readonly isWork?: true }

/** The database that is checked. */
export type CheckContext = { readonly read: Pick<Reader, 'rows'> }

/** Evaluates the rules and yields one finding each; without problems if the rule holds. */
export async function* checkRules({ read }: CheckContext, rules: readonly Rule[]): AsyncGenerator<Finding> {
  for (const { subject, broken, say } of rules)
    yield { subject, problems: (await read.rows<Row>(sql`${broken} limit ${problemsMax}`)).map(say) }
}
