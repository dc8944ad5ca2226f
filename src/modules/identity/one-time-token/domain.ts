import type { oneTimeTokens } from '../../../../db/schema/mail.ts'
import { dayMs, minuteMs } from '../../../lib/day.ts'

export type OneTimeToken = typeof oneTimeTokens.$inferSelect
export type TokenPurpose = OneTimeToken['purpose']

/** Lifetime of a token by purpose. */
export const tokenLifeMs: Readonly<Record<TokenPurpose, number>> = {
  PASSWORD_RESET: 30 * minuteMs,
  EMAIL_VERIFY: dayMs,
  INVITATION: 7 * dayMs,
  SETUP: dayMs,
  CART_RECOVERY: 14 * dayMs,
}
/** 32 bytes in base64url. */
export const tokenPattern = '^[A-Za-z0-9_-]{43}$'
export const tokenLength = 43
