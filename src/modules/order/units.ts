/** Where the units of an order's lines are: sent, refunded, or left to send. */
import { type Fulfilment, type Order, type OrderLine, type Refund, stands } from './domain.ts'

/** So many of a line. */
export type SentLine = Fulfilment['lines'][number]
/** The units of a line: `sent`; `left` to be sent now; `open`: neither sent nor surely refunded, so that the order is not all sent yet. */
export type Units = { readonly lineId: string; readonly sent: number; readonly left: number; readonly open: number }

type Given = Pick<Refund, 'status' | 'purpose' | 'amount' | 'giftCardAmount' | 'lines'>

/**
 * Whether all that was paid for an order is refunded, and not for named units alone: then no unit of it is sent any more. An amount that leaves
 * some of the money is of no units.
 */
function isRefundedWhole(
  { capturedTotal, giftCardTotal }: Pick<Order, 'capturedTotal' | 'giftCardTotal'>,
  refunds: readonly Given[],
): boolean {
  const paid = capturedTotal + giftCardTotal
  const refunded = refunds.reduce((sum, { amount, giftCardAmount }) => sum + amount + giftCardAmount, 0)
  return paid > 0 && refunded >= paid && refunds.some(({ lines }) => lines.length === 0)
}

/**
 * Counts where the units of each line are. A refund takes the units first that were not sent: they do not leave any more. A refund that is under
 * way has its units until it fails. Units of lines that need no shipping count too: the shop hands them over, and notes it. `hasUnits` of
 * db/units-to-send.ts is the same rule as SQL.
 */
export function unitsOf(
  order: Pick<Order, 'capturedTotal' | 'giftCardTotal'>,
  lines: readonly Pick<OrderLine, 'id' | 'quantity'>[],
  parcels: readonly Pick<Fulfilment, 'lines'>[],
  refunds: readonly Given[],
): Units[] {
  const countOf = (all: readonly { readonly lines: readonly SentLine[] }[], id: string) =>
    all.reduce((sum, one) => one.lines.reduce((more, { lineId, quantity }) => more + (lineId === id ? quantity : 0), sum), 0)
  const notFailed = refunds.filter(({ status, purpose }) => status !== 'FAILED' && purpose !== 'LATE_CAPTURE')
  const standing = notFailed.filter(stands)
  const [areAllTaken, areAllGone] = [isRefundedWhole(order, notFailed), isRefundedWhole(order, standing)]
  return lines.map(({ id, quantity }) => {
    const sent = countOf(parcels, id)
    return {
      lineId: id,
      sent,
      left: areAllTaken ? 0 : Math.max(0, quantity - sent - countOf(notFailed, id)),
      open: areAllGone ? 0 : Math.max(0, quantity - sent - countOf(standing, id)),
    }
  })
}
