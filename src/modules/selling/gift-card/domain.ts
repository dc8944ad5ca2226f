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
/** Random bytes; five bits for each character. */
export const codeBytes = 10
/** The longest accepted spelling of a code. */
export const codeTextMax = 64
export const noteMax = 500

/** The limit on failed codes. */
export const cardTries = codeLimits('gift-card')

/** Returns the code of ten random bytes: 16 Crockford characters, without I, L, O and U. */
export const codeOf = (bytes: Uint8Array): string => crockford(bytes, codeLength).toUpperCase()

/** Returns a code in its canonical form: capitals, no spaces or dashes, 0 for O, 1 for I and L. */
export const normalCode = (text: string): string =>
  text
    .replace(/[\s\p{Pd}]/gu, '')
    .toUpperCase()
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1')

/** Returns the stored hash of a code. The same code in two shops has unrelated hashes. */
export const codeHashOf = (key: Buffer, shopId: string, code: string): string => hmac({ bytes: key }, `${shopId}/${normalCode(code)}`)

const isExpired = ({ expiresAt }: Pick<GiftCard, 'expiresAt'>, now: number): boolean => expiresAt !== null && expiresAt <= now

/** The fields that decide whether a card can pay. A refund of the order that sold the card disables it. */
type Usability = Pick<GiftCard, 'status' | 'expiresAt' | 'balance'> & Partial<Pick<GiftCard, 'refundId'>>
/** Returns whether a card can pay anything. */
export const isUsable = (card: Usability, now: number): boolean =>
  card.status === 'ACTIVE' && !card.refundId && card.balance > 0 && !isExpired(card, now)

/** Returns whether nothing of a card was spent. */
export const isUnspent = ({ balance, initialAmount }: Pick<GiftCard, 'balance' | 'initialAmount'>): boolean => balance === initialAmount

/** Returns whether a card fits a cart: by currency, and not another customer's. */
export const fitsCart = (
  card: Pick<GiftCard, 'currency' | 'customerId'>,
  cart: { currency: string; customerId: string | undefined },
): boolean => card.currency === cart.currency && (card.customerId === null || card.customerId === cart.customerId)

/** What one card pays; amounts are positive. */
export type Draw = { giftCardId: string; last4: string; amount: number }
type Drawable = Pick<GiftCard, 'id' | 'last4'> & Usability

/** Splits an amount among cards: those that expire first, then the oldest. Unusable cards are skipped. */
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

/** Ids sort by creation time. */
function bySpending(a: Drawable, b: Drawable): number {
  const expiryOf = ({ expiresAt }: Drawable) => expiresAt ?? Number.POSITIVE_INFINITY
  if (expiryOf(a) !== expiryOf(b)) return expiryOf(a) - expiryOf(b)
  return a.id < b.id ? -1 : 1
}

/** Renders a card as its shop sees it, without its code or anything that reveals it. */
export function giftCardView(
  { codeHash: _, orderLineId: __, unit: ___, refundId, initialAmount, balance, expiresAt, createdAt, updatedAt, ...card }: GiftCard,
  now: number,
) {
  const { currency } = card
  return {
    ...card,
    status: refundId === null ? card.status : ('DISABLED' as const),
    ...moneyOf({ initialAmount, balance, currency }, 'initialAmount', 'balance'),
    ...isoTimes({ expiresAt }),
    expired: isExpired({ expiresAt }, now),
    usedUp: balance === 0,
    ...isoTimes({ createdAt, updatedAt }),
  }
}
export type GiftCardView = ReturnType<typeof giftCardView>
