import type { returns } from '../../../../db/schema/returns.ts'
import { fieldError, invalidField } from '../../../core/errors.ts'
import { dayMs } from '../../../lib/day.ts'
import { isoTimes, type Optional, pick } from '../../../lib/objects.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import type { Fulfilment, Refund } from '../order/domain.ts'

export type OrderReturn = typeof returns.$inferSelect
export type ReturnLine = OrderReturn['lines'][number]

/** The transitions of a return. */
export const returnTransitions = assertReachable('REQUESTED', {
  REQUESTED: ['APPROVED', 'REJECTED'],
  APPROVED: ['RECEIVED'],
  REJECTED: [],
  RECEIVED: [],
} as const satisfies Transitions<OrderReturn['status']>)
export const returnStatuses = statesOf(returnTransitions)

/** The length of a reason. */
export const reasonMax = 500
/** Returns of an order at most, rejected ones included. */
export const returnsMax = 100

/** Units of a line, as `unitsOf` counts them. */
type CountedUnits = { readonly lineId: string; readonly quantity: number; readonly sent: number; readonly refunded: number }
export type ReturnableLine = { readonly lineId: string; readonly quantity: number }
type UnitsOfLine = { readonly lineId: string; readonly quantity: number }

const countOf = (all: readonly { readonly lines: readonly UnitsOfLine[] }[], id: string): number =>
  all.reduce((sum, { lines }) => lines.reduce((more, { lineId, quantity }) => more + (lineId === id ? quantity : 0), sum), 0)

/**
 * Counts the units of each line that can still be returned: sent, in no other return that stands, and not refunded
 * without a return. Refunds without a return take unsent units first, then units that came back without a refund.
 * @param since counts only units that were sent from this time on; undefined: all
 */
export function returnableUnits(
  units: readonly CountedUnits[],
  fulfilments: readonly Pick<Fulfilment, 'lines' | 'createdAt'>[],
  refunds: readonly Pick<Refund, 'status' | 'lines'>[],
  returns: readonly Pick<OrderReturn, 'status' | 'lines'>[],
  since = 0,
): ReturnableLine[] {
  const recent = fulfilments.filter(({ createdAt }) => createdAt >= since)
  const standing = returns.filter(({ status }) => status !== 'REJECTED')
  const received = returns.filter(({ status }) => status === 'RECEIVED')
  const ofReturns = refunds
    .filter(({ status }) => status !== 'FAILED')
    .map(({ lines }) => ({ lines: lines.filter(({ returned }) => returned) }))
  return units.map(({ lineId, quantity, sent, refunded }) => {
    const backUnrefunded = Math.max(0, countOf(received, lineId) - countOf(ofReturns, lineId))
    const refundedUnreturned = Math.max(0, refunded - Math.max(0, quantity - sent) - backUnrefunded)
    const left = sent - countOf(standing, lineId) - refundedUnreturned
    return { lineId, quantity: Math.max(0, Math.min(left, countOf(recent, lineId))) }
  })
}

/** Returns since when goods must have been sent for a shopper to return them; undefined if shoppers cannot. */
export const returnableSince = (returnDays: number, now: number): number | undefined =>
  returnDays === 0 ? undefined : now - returnDays * dayMs

/**
 * Checks the lines of a new return.
 * @throws AppError INVALID for an unknown or repeated line; CONFLICT for more units than can be returned
 */
export function assertReturnable(lines: readonly UnitsOfLine[], returnable: readonly ReturnableLine[]): void {
  lines.forEach(({ lineId, quantity }, at) => {
    if (lines.findIndex((one) => one.lineId === lineId) < at) throw invalidField(`lines.${at}.lineId`, 'must not be repeated')
    const line = returnable.find((one) => one.lineId === lineId)
    if (!line) throw invalidField(`lines.${at}.lineId`, 'must be a line of the order')
    if (quantity > line.quantity)
      throw fieldError('CONFLICT', `lines.${at}.quantity`, `must be at most ${line.quantity}, the units of this line that can be returned`)
  })
}

/** Renders a return as the shop sees it. */
export function returnView(row: OrderReturn, refunds: readonly Pick<Refund, 'id' | 'status'>[]) {
  const refund = refunds.find(({ id }) => id === row.refundId)
  return {
    ...pick(row, 'id', 'orderId', 'status', 'requestedBy', 'restocked'),
    lines: row.lines.map((line) => pick(line, 'lineId', 'quantity', 'reason')),
    rejectionReason: row.rejection,
    refund: refund ? pick(refund, 'id', 'status') : null,
    ...isoTimes(pick(row, 'createdAt', 'updatedAt')),
  }
}
export type ReturnView = ReturnType<typeof returnView>

/** The filter of a list of the returns of all orders. */
export type ReturnFilter = Pick<OrderReturn, 'shopId'> & Optional<Pick<OrderReturn, 'status'>>

/** Renders a return as the order's link shows it: without typed text, because links are passed on. */
export const publicReturnView = (row: OrderReturn) => ({
  ...pick(row, 'id', 'status'),
  lines: row.lines.map((line) => pick(line, 'lineId', 'quantity')),
  ...isoTimes(pick(row, 'createdAt', 'updatedAt')),
})
export type PublicReturn = ReturnType<typeof publicReturnView>
