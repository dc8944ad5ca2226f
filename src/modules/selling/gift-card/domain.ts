import type { giftCards } from '../../../../db/schema/selling.ts'
import { crockford } from '../../../lib/ids.ts'
import { moneyOf } from '../../../lib/money.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { hmac } from '../../../lib/seal.ts'
import { codeLimits } from '../../identity/auth/domain.ts'

export type GiftCard = typeof giftCards.$inferSelect

export const giftCardStatuses = ['ACTIVE', 'DISABLED'] as const
export const giftCardTransactionKinds = ['ISSUE', 'HOLD', 'RELEASE', 'REFUND'] as const

export const codeLength = 16
/** Of chance: five bits a character. */
export const codeBytes = 10
/** The longest way of writing a code that we look at. */
export const codeTextMax = 64
export const noteMax = 500

/** Failed tries of codes. */
export const cardTries = codeLimits('gift-card')

/** The code that ten random bytes give: 16 of Crockford's characters, which lack I, L, O and U. */
export const codeOf = (bytes: Uint8Array): string => crockford(bytes, codeLength).toUpperCase()

/** A code as somebody typed it, in the one way in which codes are compared: capitals, no spaces or dashes, 0 for O, 1 for I and L. */
export const normalCode = (text: string): string =>
  text
    .replace(/[\s\p{Pd}]/gu, '')
    .toUpperCase()
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1')

/** What is stored of a code, in whatever way it was typed. The same code of two shops leaves two unrelated hashes. */
export const codeHashOf = (key: Buffer, shopId: string, code: string): string => hmac({ bytes: key }, `${shopId}/${normalCode(code)}`)

export const isExpired = ({ expiresAt }: Pick<GiftCard, 'expiresAt'>, now: number): boolean => expiresAt !== null && expiresAt <= now

/** Whether there is something to pay with. */
export const isUsable = (card: Pick<GiftCard, 'status' | 'expiresAt' | 'balance'>, now: number): boolean =>
  card.status === 'ACTIVE' && card.balance > 0 && !isExpired(card, now)

/** Whether the card may go on a cart in this currency, which is this customer's or nobody's. */
export const fitsCart = (
  card: Pick<GiftCard, 'currency' | 'customerId'>,
  cart: { currency: string; customerId: string | undefined },
): boolean => card.currency === cart.currency && (card.customerId === null || card.customerId === cart.customerId)

/** What one card pays; amounts are above zero. */
export type Draw = { giftCardId: string; last4: string; amount: number }
type Drawable = Pick<GiftCard, 'id' | 'last4' | 'status' | 'expiresAt' | 'balance'>

/** What each card pays of an amount: first those that expire first, then the oldest. Cards that cannot be used are passed over. */
export function drawsOf(cards: readonly Drawable[], amountToPay: number, now: number): Draw[] {
  const draws: Draw[] = []
  let rest = amountToPay
  for (const { id, last4, balance } of cards.filter((card) => isUsable(card, now)).sort(bySpending)) {
    if (rest <= 0) break
    const amount = Math.min(balance, rest)
    draws.push({ giftCardId: id, last4, amount })
    rest -= amount
  }
  return draws
}

/** Ids sort by the time of their making. */
function bySpending(a: Drawable, b: Drawable): number {
  const expiryOf = ({ expiresAt }: Drawable) => expiresAt ?? Number.POSITIVE_INFINITY
  if (expiryOf(a) !== expiryOf(b)) return expiryOf(a) - expiryOf(b)
  return a.id < b.id ? -1 : 1
}

/** A card as its shop sees it: no code, and nothing that one could be told from. */
export function giftCardView({ codeHash: _, initialAmount, balance, expiresAt, createdAt, updatedAt, ...card }: GiftCard, now: number) {
  const { currency } = card
  return {
    ...card,
    ...moneyOf({ initialAmount, balance, currency }, 'initialAmount', 'balance'),
    ...isoTimes({ expiresAt }),
    expired: isExpired({ expiresAt }, now),
    usedUp: balance === 0,
    ...isoTimes({ createdAt, updatedAt }),
  }
}
export type GiftCardView = ReturnType<typeof giftCardView>
