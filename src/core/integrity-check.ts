/** Rules that the database is held to, and what `souk check` finds to break them. */
import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../db/engine.ts'

/** How many problems of one subject are told. */
export const problemsMax = 20

type Row = Record<string, string | number | null>
/** `broken`: one statement for the rows that break it, in order, so that a write in between changes nothing. `say`: what to tell of one. */
export type Rule = { readonly subject: string; readonly broken: SQL; readonly say: (row: Row) => string }
/** `isWork`: nothing is wrong, and somebody has something to do. */
export type Finding = { readonly subject: string; readonly problems: string[]; readonly isWork?: true }

/** What is looked at. */
export type Checked = { readonly read: Pick<Reader, 'rows'> }

/** Looks at one rule after another: one finding each, without problems where the rule is kept. */
export async function* findingsOf({ read }: Checked, rules: readonly Rule[]): AsyncGenerator<Finding> {
  for (const { subject, broken, say } of rules)
    yield { subject, problems: (await read.rows<Row>(sql`${broken} limit ${problemsMax}`)).map(say) }
}
