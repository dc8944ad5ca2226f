import { sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { insertOf, rowsOf } from '../../../../db/prepared.ts'
import { lendingRuleVersions } from '../../../../db/schema/lending.ts'

const byVersion = rowsOf(lendingRuleVersions, ['version'])
const insert = insertOf(lendingRuleVersions, 'leave')

/** A decision with its assessment, byte for byte as stored. */
export type AssessedDecision = {
  readonly id: string
  readonly applicationId: string
  readonly decision: string
  readonly at: number
  readonly assessment: string
  readonly envelope: string
  readonly ruleVersion: string
  /** Cents; null if the application requested no amount. */
  readonly requested: number | null
  /** 1 for the last assessed decision of its application, else 0. */
  readonly isLast: number
}

export const createCreditStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Stores rules unless their version is stored already. */
  async insertRules(tx: Writer, version: string, rules: string, firstUsedAt: number): Promise<void> {
    await insert(tx, { version, rules, firstUsedAt })
  },
  rulesOf: async (version: string): Promise<string | undefined> => (await read.first(byVersion, { version }))?.rules,
  /** Lists decisions with an assessment, oldest first, after an id. */
  async listAssessed(afterId: string, atOnce: number): Promise<AssessedDecision[]> {
    return read.rows<AssessedDecision>(sql`
      select d.id as "id", d.application_id as "applicationId", d.decision as "decision", d.at as "at", d.assessment as "assessment",
        d.envelope as "envelope", d.rule_version as "ruleVersion", a.requested_amount_usd as "requested",
        case when exists (select 1 from lending_decisions l where l.application_id = d.application_id and l.id > d.id and l.rule_version is not null)
          then 0 else 1 end as "isLast"
      from lending_decisions d join lending_applications a on a.id = d.application_id
      where d.id > ${afterId} and d.rule_version is not null
      order by d.id limit ${atOnce}`)
  },
})
