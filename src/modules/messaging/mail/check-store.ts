import { sql } from 'drizzle-orm'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'

/** Checks that finished mails have no content, and that pending ones have it. */
const rules: readonly Rule[] = [
  {
    subject: 'mails',
    broken: sql`select id, status from mails
                where (status = 'PENDING' and sealed is null) or (status <> 'PENDING' and sealed is not null) order by id`,
    say: ({ id, status }) =>
      status === 'PENDING' ? `${id} is PENDING, but has no content` : `${id} is ${status}, but still has its content`,
  },
]

/** Checks the rules of mails; one finding for each rule, also if it holds. */
export const findMailInconsistencies = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules)
