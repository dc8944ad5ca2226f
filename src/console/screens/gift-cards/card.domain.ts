import type { Schema } from '../../lib/api/api.ts'
import { parseWallTime } from '../../lib/format/zoned-time.ts'
import { parseMoney } from '../../lib/forms/amounts.ts'

type Card = Pick<Schema<'GiftCard'>, 'status' | 'expired' | 'usedUp'>
export type CardState = 'DISABLED' | 'EXPIRED' | 'USED_UP' | 'ACTIVE'

/** What keeps a card from being used, the shop's own word first. */
export const cardState = ({ status, expired, usedUp }: Card): CardState =>
  status === 'DISABLED' ? 'DISABLED' : usedUp ? 'USED_UP' : expired ? 'EXPIRED' : 'ACTIVE'

export const cardTone = { ACTIVE: 'good', DISABLED: 'bad', EXPIRED: 'warn', USED_UP: 'plain' } as const

/** A code as one reads it out: four letters at a time. */
export const readable = (code: string): string => code.match(/.{1,4}/g)?.join(' ') ?? ''

export type TypedCard = { readonly amount: string; readonly expiresAt: string; readonly note: string }
export type Wrong = { readonly amount?: 'amount'; readonly expiresAt?: 'moment' | 'past' }

/**
 * What was typed of a new card, as the API takes it; or which field is wrong.
 * @param now milliseconds, by the server's clock
 */
export function cardBody(
  { amount, expiresAt, note }: TypedCard,
  { currency, zone, now }: { currency: string; zone: string; now: number },
):
  | { readonly body: { amount: { amount: number; currency: string }; expiresAt: string | null; note: string | null } }
  | { readonly wrong: Wrong } {
  const money = parseMoney(amount, currency)
  const until = parseWallTime(expiresAt, zone)
  const wrong: Wrong = {
    ...(money === undefined || money.amount < 1 ? { amount: 'amount' } : {}),
    ...(until === undefined ? { expiresAt: 'moment' } : until !== null && Date.parse(until) <= now ? { expiresAt: 'past' } : {}),
  }
  if (!money || until === undefined || Object.keys(wrong).length > 0) return { wrong }
  return { body: { amount: money, expiresAt: until, note: note.trim() || null } }
}
