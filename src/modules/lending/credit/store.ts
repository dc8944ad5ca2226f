import { sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { insertOf, rowsOf } from '../../../../db/prepared.ts'
import { lendingRuleVersions } from '../../../../db/schema/lending.ts'

const byVersion = rowsOf(lendingRuleVersions, ['version'])
const insert = insertOf(lendingRuleVersions, 'leave')

/** A decision with what it was judged by, as it was kept to the byte. */
export type JudgedDecision = {
  readonly id: string
  readonly applicationId: string
  readonly decision: string
  readonly at: number
  readonly assessment: string
  readonly envelope: string
  readonly ruleVersion: string
  /** Cents; null where nothing was asked for. */
  readonly requested: number | null
  /** 1: the last of its application that was judged; else 0. */
  readonly isLast: number
}

export const createCreditStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Keeps rules under their version, unless they are kept. */
  async keepRules(tx: Writer, version: string, rules: string, firstUsedAt: number): Promise<void> {
    await insert(tx, { version, rules, firstUsedAt })
  },
  /** The text of the rules of a version. */
  async rulesOf(version: string, from: Pick<Reader, 'first'> = read): Promise<string | undefined> {
    return (await from.first(byVersion, { version }))?.rules
  },
  /** Decisions that were judged, in the order of their making, from after an id on. */
  async judged(afterId: string, atOnce: number): Promise<JudgedDecision[]> {
    return read.rows<JudgedDecision>(sql`
      select d.id as "id", d.application_id as "applicationId", d.decision as "decision", d.at as "at", d.assessment as "assessment",
        d.envelope as "envelope", d.rule_version as "ruleVersion", a.requested_amount_usd as "requested",
        case when exists (select 1 from lending_decisions l where l.application_id = d.application_id and l.id > d.id and l.rule_version is not null)
          then 0 else 1 end as "isLast"
      from lending_decisions d join lending_applications a on a.id = d.application_id
      where d.id > ${afterId} and d.rule_version is not null
      order by d.id limit ${atOnce}`)
  },
})
