import { instant, int, json, table, text } from '../columns.ts'
import { users } from './people.ts'

/** The second factor of a merchant or an operator, one row each: begun, and asked for at logins once it is confirmed. */
export const secondFactors = table('second_factors', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id),
  /** What the codes are made from. */
  sealedSecret: text('sealed_secret').notNull(),
  createdAt: instant('created_at').notNull(),
  confirmedAt: instant('confirmed_at'),
  /** The step of the latest code that was taken: none of it or before it is taken again. */
  lastStep: int('last_step'),
  /** Hashes of the recovery codes that are left. */
  recoveryHashes: json<readonly string[]>('recovery_hashes').notNull(),
  /** Wrong codes since the last right one, or since it was shut for them. */
  wrongCodes: int('wrong_codes').notNull(),
  shutUntil: instant('shut_until'),
})
