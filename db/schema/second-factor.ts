import { instant, int, json, reference, table, text } from '../columns.ts'
import { users } from './people.ts'

/** TOTP secrets of merchants and operators. A login requires confirmed ones. */
export const secondFactors = table('second_factors', {
  userId: reference('user_id', () => users.id).primaryKey(),
  /** The TOTP secret. */
  sealedSecret: text('sealed_secret').notNull(),
  createdAt: instant('created_at').notNull(),
  confirmedAt: instant('confirmed_at'),
  /** Step of the last accepted code; it and earlier ones are refused. */
  lastStep: int('last_step'),
  /** Hashes of unused recovery codes. */
  recoveryHashes: json<readonly string[]>('recovery_hashes').notNull(),
  /** Wrong codes since the last correct one or the last lock. */
  wrongCodes: int('wrong_codes').notNull(),
  shutUntil: instant('shut_until'),
})
