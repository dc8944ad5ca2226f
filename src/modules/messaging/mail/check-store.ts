import { sql } from 'drizzle-orm'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'

/** Checks that finished mails have no content, and that pending ones have it. */
const rules: readonly Rule[] = [
  {
    subject: 'mails',
    broken: sql`select id, status from mails
                where (status = 'PENDING' and sealed is null) or (status <> 'PENDING' and sealed is not null) order by id`,
    say: ({ id, status }) =>
      status === 'PENDING' ? `${id} waits to be sent, and nobody knows to whom` : `${id} is ${status}, and still holds whom it was for`,
  },
]

export const findMailInconsistencies = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules)
