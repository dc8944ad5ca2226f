import type { Schema } from '../../lib/api/api.ts'
import { parseWallTime } from '../../lib/format/zoned-time.ts'
import { parseMoney } from '../../lib/forms/amounts.ts'

type Card = Pick<Schema<'GiftCard'>, 'status' | 'expired' | 'usedUp'>
type CardState = 'DISABLED' | 'EXPIRED' | 'USED_UP' | 'ACTIVE'

/** Returns the card's state; DISABLED precedes the others. */
export const cardState = ({ status, expired, usedUp }: Card): CardState =>
  status === 'DISABLED' ? 'DISABLED' : usedUp ? 'USED_UP' : expired ? 'EXPIRED' : 'ACTIVE'

export const cardTone = { ACTIVE: 'good', DISABLED: 'bad', EXPIRED: 'warn', USED_UP: 'plain' } as const

/** Returns whether another card can take over the balance: after the code was lost, and the card disabled. */
export const isReplaceable = ({ status, expired, usedUp }: Card): boolean => status === 'DISABLED' && !expired && !usedUp

/** Groups a code by four characters. */
export const groupCode = (code: string): string => code.match(/.{1,4}/g)?.join(' ') ?? ''

type GiftCardText = { readonly amount: string; readonly expiresAt: string; readonly note: string }
export type FieldErrors = { readonly amount?: 'amount'; readonly expiresAt?: 'moment' | 'past' }

/**
 * Builds the body of a new card, or returns the wrong fields.
 * @param now server time in milliseconds
 */
export function cardBody(
  { amount, expiresAt, note }: GiftCardText,
  { currency, zone, now }: { currency: string; zone: string; now: number },
):
  | { readonly body: { amount: { amount: number; currency: string }; expiresAt: string | null; note: string | null } }
  | { readonly errors: FieldErrors } {
  const money = parseMoney(amount, currency)
  const expiry = parseWallTime(expiresAt, zone)
  const errors: FieldErrors = {
    ...(money === undefined || money.amount < 1 ? { amount: 'amount' } : {}),
    ...(expiry === undefined ? { expiresAt: 'moment' } : expiry !== null && Date.parse(expiry) <= now ? { expiresAt: 'past' } : {}),
  }
  if (!money || expiry === undefined || Object.keys(errors).length > 0) return { errors }
  return { body: { amount: money, expiresAt: expiry, note: note.trim() || null } }
}
