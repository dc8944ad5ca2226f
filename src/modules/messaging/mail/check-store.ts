import { sql } from 'drizzle-orm'
import { type Checked, type Finding, findingsOf, type Rule } from '../../../core/integrity-check.ts'

/** What of mails `souk check` looks at: that nothing of anybody stays in one that is over, and that one that waits can still be sent. */
const rules: readonly Rule[] = [
  {
    subject: 'mails',
    broken: sql`select id, status from mails
                where (status = 'PENDING' and sealed is null) or (status <> 'PENDING' and sealed is not null) order by id`,
    say: ({ id, status }) =>
      status === 'PENDING' ? `${id} waits to be sent, and nobody knows to whom` : `${id} is ${status}, and still holds whom it was for`,
  },
]

export const mailFindings = (db: Checked): AsyncGenerator<Finding> => findingsOf(db, rules)
