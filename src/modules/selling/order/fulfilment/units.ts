/** Counts the units of an order's lines that are sent, refunded, or left to send. */
import { type Fulfilment, isAssured, type Order, type OrderLine, type Refund } from '../domain.ts'

export type FulfilledLine = Fulfilment['lines'][number]
/**
 * Units of a line: `sent`, `refunded` (without a return, failed refunds aside), `left` (can be sent now), `open`
 * (neither sent nor finally refunded).
 */
export type Units = Readonly<Record<'quantity' | 'sent' | 'refunded' | 'left' | 'open', number>> & { readonly lineId: string }

/** Counts the units of a line in refunds, fulfilments or returns. */
const countOf = (all: readonly { readonly lines: readonly FulfilledLine[] }[], id: string): number =>
  all.reduce((sum, { lines }) => lines.reduce((more, { lineId, quantity }) => more + (lineId === id ? quantity : 0), sum), 0)

type CountedRefund = Pick<Refund, 'status' | 'purpose' | 'amount' | 'giftCardAmount' | 'lines'>

/**
 * Returns whether refunds return the whole payment, and at least one of them has no lines. Then no unit is left to
 * send. A partial amount without lines takes no units.
 */
function returnsWholePayment(
  { capturedTotal, giftCardTotal }: Pick<Order, 'capturedTotal' | 'giftCardTotal'>,
  refunds: readonly CountedRefund[],
): boolean {
  const paid = capturedTotal + giftCardTotal
  const refunded = refunds.reduce((sum, { amount, giftCardAmount }) => sum + amount + giftCardAmount, 0)
  return paid > 0 && refunded >= paid && refunds.some(({ lines }) => lines.length === 0)
}

/** Returns the sent units of a line as orders show them: the sale sends gift cards. */
export const shownSentUnits = (
  { confirmedAt, status }: Pick<Order, 'confirmedAt' | 'status'>,
  { quantity, giftCard }: Pick<OrderLine, 'quantity' | 'giftCard'>,
  units: Units | undefined,
): number => (giftCard && confirmedAt !== null && status !== 'CANCELLED' ? quantity : (units?.sent ?? 0))

/**
 * Counts the units of each line. Refunds take unsent units first; those of returned units leave the unsent ones. A
 * pending refund reserves its units until it fails. Lines without shipping count too, except gift cards, which the sale
 * mails. `hasUnits` in db/units-to-send.ts is the same rule in SQL.
 */
export function unitsOf(
  order: Pick<Order, 'capturedTotal' | 'giftCardTotal'>,
  lines: readonly (Pick<OrderLine, 'id' | 'quantity'> & Partial<Pick<OrderLine, 'giftCard'>>)[],
  parcels: readonly Pick<Fulfilment, 'lines'>[],
  refunds: readonly CountedRefund[],
): Units[] {
  const withoutReturned = (all: readonly CountedRefund[]) => all.map(({ lines }) => ({ lines: lines.filter(({ returned }) => !returned) }))
  const notFailed = refunds.filter(({ status, purpose }) => status !== 'FAILED' && purpose !== 'LATE_CAPTURE')
  const standing = notFailed.filter(isAssured)
  const [isFullyReserved, isFullyRefunded] = [returnsWholePayment(order, notFailed), returnsWholePayment(order, standing)]
  return lines.map(({ id, quantity, giftCard }) => {
    if (giftCard) return { lineId: id, quantity, sent: 0, refunded: 0, left: 0, open: 0 }
    const sent = countOf(parcels, id)
    const refunded = isFullyReserved ? quantity : countOf(withoutReturned(notFailed), id)
    return {
      ...{ lineId: id, quantity, sent, refunded },
      left: Math.max(0, quantity - sent - refunded),
      open: isFullyRefunded ? 0 : Math.max(0, quantity - sent - countOf(withoutReturned(standing), id)),
    }
  })
}

type RefundedGoods = { readonly lines: readonly Omit<Refund['lines'][number], 'amount'>[] }
/** What happened to the goods of an order besides fulfilments. */
type GoodsMoves = {
  /** Refunds that did not fail, also the present one. */
  readonly refunds: readonly RefundedGoods[]
  /** Refunds that took effect before. */
  readonly earlier: readonly RefundedGoods[]
  /** Returns whose goods came back, also the present one; `restocked`: they went to stock before. */
  readonly received: readonly { readonly lines: readonly FulfilledLine[]; readonly restocked: boolean }[]
}

/**
 * Counts the units of a line that can go back to stock now, each once: those that the shopper does not have, less those
 * that went back before. Refunds without a return take unsent units first, then units that came back without a refund.
 */
export function restockableUnits({ lineId, quantity, sent, refunded }: Units, { refunds, earlier, received }: GoodsMoves): number {
  const countRefunded = (all: readonly RefundedGoods[], isMeant: (line: RefundedGoods['lines'][number]) => boolean) => {
    const filtered = all.map(({ lines }) => ({ lines: lines.filter(isMeant) }))
    return countOf(filtered, lineId)
  }
  const back = countOf(received, lineId)
  const backUnrefunded = Math.max(0, back - countRefunded(refunds, ({ returned }) => returned === true))
  const refundedUnreturned = Math.max(0, refunded - (quantity - sent) - backUnrefunded)
  const withShopper = Math.max(0, sent - back - refundedUnreturned)
  const restockedReturns = received.filter(({ restocked }) => restocked)
  const restockedRefunds = earlier.map(({ lines }) => ({
    lines: lines.flatMap(({ restock, returned, restocked, ...line }) =>
      restock && !returned ? [{ ...line, quantity: restocked ?? line.quantity }] : [],
    ),
  }))
  const before = countOf(restockedRefunds, lineId) + countOf(restockedReturns, lineId)
  return Math.max(0, quantity - withShopper - before)
}
