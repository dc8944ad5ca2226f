/** Gift cards that orders sell. A sale issues them, and a refund disables those that are unspent. */
import type { Writer } from '../../../../db/engine.ts'
import { AppError } from '../../../core/errors.ts'
import { codeBytes, codeHashOf, codeOf, type GiftCard, isUnspent } from './domain.ts'
import type { GiftCardDeps } from './providers.ts'

type SoldBy = { readonly id: string; readonly shopId: string; readonly currency: string }
type SoldLine = { readonly id: string; readonly quantity: number; readonly unitPrice: number }
/** A new card with its code, which only its mail contains. */
export type SoldCard = { readonly id: string; readonly code: string; readonly last4: string; readonly amount: number }

/**
 * Issues a card for each unit of the lines, inside the write that makes the sale. A unit issues only one card: a second
 * one violates the unique index. The checkout has created the key of the codes.
 * @param lines the order's lines that are gift cards
 */
export async function issueSoldCards(
  tx: Writer,
  deps: GiftCardDeps,
  { id: orderId, shopId, currency }: SoldBy,
  lines: readonly SoldLine[],
): Promise<SoldCard[]> {
  const now = deps.clock.now()
  const key = await deps.instanceKeys.within(tx, 'GIFT_CARD_CODES')
  const issued = lines.flatMap(({ id: orderLineId, quantity, unitPrice: amount }) =>
    Array.from({ length: quantity }, (_, nth) => {
      const code = codeOf(deps.randomBytes(codeBytes))
      const [id, last4] = [deps.newId('giftCard'), code.slice(-4)]
      const card: GiftCard = {
        ...{ id, shopId, codeHash: codeHashOf(key, shopId, code), last4, currency, initialAmount: amount, balance: amount },
        ...{ expiresAt: null, status: 'ACTIVE', customerId: null, note: null, createdAt: now, updatedAt: now, version: 1 },
        ...{ orderId, orderLineId, unit: nth + 1, refundId: null },
      }
      return { card, sold: { id, code, last4, amount } }
    }),
  )
  const movements = issued.map(({ sold }) => ({
    ...{ id: deps.newId('giftCardTransaction'), giftCardId: sold.id, kind: 'ISSUE' as const, amount: sold.amount },
    ...{ orderId: null, refundId: null, at: now },
  }))
  await deps.giftCardStore.insertSold(
    tx,
    issued.map(({ card }) => card),
    movements,
  )
  return issued.map(({ sold }) => sold)
}

type CardRefund = {
  readonly orderId: string
  readonly refundId: string
  /** The units that it names; empty for an amount or for all. */
  readonly lines: readonly { readonly lineId: string; readonly quantity: number }[]
  /** What can be refunded after it, in minor units. */
  readonly left: number
}

/**
 * Disables the cards of the units that a refund returns, inside the write that requests it, so that they cannot be
 * spent meanwhile. A refund of everything disables all cards.
 * @throws AppError CONFLICT if one of them was spent, or the refund takes money that paid for cards in use
 */
export async function disableRefundedCards(tx: Writer, deps: GiftCardDeps, { orderId, refundId, lines, left }: CardRefund): Promise<void> {
  const valid = (await deps.giftCardStore.soldBy(tx, orderId)).filter((card) => card.refundId === null)
  if (valid.length === 0) return
  const returned = left === 0 ? valid : lines.flatMap((line) => cardsOfLine(valid, line))
  for (const { id } of returned.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    if (!(await deps.giftCardStore.disableForRefund(tx, id, refundId, deps.clock.now()))) throw isSpent()
  const usable = valid.reduce((sum, card) => sum + (returned.includes(card) ? 0 : card.initialAmount), 0)
  if (left < usable)
    throw new AppError('CONFLICT', 'The amount includes gift cards that can be spent. Refund their lines, which disables them', {
      code: 'refund_too_large',
    })
}

const isSpent = () =>
  new AppError('CONFLICT', 'A gift card of the order was spent, so it cannot be refunded. Refund the other lines', {
    code: 'gift_card_spent',
  })

/** @throws AppError CONFLICT for more units than unspent cards */
function cardsOfLine(valid: readonly GiftCard[], { lineId, quantity }: CardRefund['lines'][number]): GiftCard[] {
  const ofLine = valid.filter((card) => card.orderLineId === lineId)
  if (ofLine.length === 0) return []
  const unspent = ofLine.filter(isUnspent)
  if (unspent.length < quantity) throw isSpent()
  return unspent.slice(0, quantity)
}

/** Enables the cards of a refund that failed, inside the write that ends it. */
export const restoreRefundedCards = (
  tx: Writer,
  { giftCardStore, clock }: GiftCardDeps,
  { orderId, id }: { readonly orderId: string; readonly id: string },
): Promise<void> => giftCardStore.restore(tx, orderId, id, clock.now())
