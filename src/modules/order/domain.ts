import type { orderEvents, orderGiftCards, orderLines, orders, refunds, sagaSteps } from '../../../db/schema/selling.ts'
import { AppError } from '../../core/errors.ts'
import { dayMs, isDay, startOf } from '../../lib/day.ts'
import type { Optional } from '../../lib/records.ts'
import { reachable, statesOf, type Transitions } from '../../lib/transitions.ts'
import { isUnderWay, type Payment } from '../payment/domain.ts'

export type Order = typeof orders.$inferSelect
export type OrderLine = typeof orderLines.$inferSelect
export type OrderGiftCard = typeof orderGiftCards.$inferSelect
export type OrderEvent = typeof orderEvents.$inferSelect
export type Refund = typeof refunds.$inferSelect
export type SagaStep = typeof sagaSteps.$inferSelect
export type OrderStatus = Order['status']

/** What may become of an order. Whether money went back is its `paymentStatus`, never its status. */
export const orderTransitions = reachable('PENDING_PAYMENT', {
  PENDING_PAYMENT: ['PAID', 'EXPIRED', 'CANCELLED'],
  PAID: ['CONFIRMED', 'COMPENSATING'],
  CONFIRMED: ['FULFILLED', 'CANCELLED'],
  FULFILLED: ['COMPLETED'],
  COMPLETED: [],
  EXPIRED: [],
  COMPENSATING: ['CANCELLED'],
  CANCELLED: [],
} as const satisfies Transitions<OrderStatus>)

/** What may become of a refund. */
export const refundTransitions = reachable('PENDING', {
  PENDING: ['SUCCEEDED', 'FAILED'],
  SUCCEEDED: [],
  FAILED: [],
} as const satisfies Transitions<Refund['status']>)

export const orderStatuses = statesOf(orderTransitions)
export const orderPaymentStatuses = [
  'PENDING',
  'AUTHORIZED',
  'CAPTURED',
  'FAILED',
  'VOIDED',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
] as const satisfies readonly Order['paymentStatus'][]

/** Which orders of a shop are asked for; moments in milliseconds, `until` is the first one after. */
export type OrderFilter = { readonly shopId: string } & Optional<
  Pick<Order, 'status' | 'paymentStatus' | 'customerId' | 'number' | 'email' | 'id'> & { emailPart: string; from: number; until: number }
>

const daysMax = 365

/**
 * A filter as a query has it: `from` and `to` are days, both inclusive; `q` is an order's number, also as `#12`, its id, or else a
 * part of an e-mail address.
 * @throws AppError INVALID, naming the parameter, for a day that there is not, and a window that is reversed or over 365 days
 */
export function filterOf({ from, to, q, number, ...rest }: OrderQuery & { shopId: string }): OrderFilter {
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && !isDay(day)) throw new AppError('INVALID', `${name} (query): not a day of the calendar, YYYY-MM-DD`)
  const until = to === undefined ? undefined : startOf(to) + dayMs
  const begin = from === undefined ? undefined : startOf(from)
  if (begin !== undefined && until !== undefined) {
    if (until <= begin) throw new AppError('INVALID', 'to (query): before from')
    if (until - begin > daysMax * dayMs) throw new AppError('INVALID', `to (query): more than ${daysMax} days from the first`)
  }
  return { ...rest, ...(number === undefined ? {} : { number: Number(number) }), from: begin, until, ...lookedFor(q?.trim() ?? '', number) }
}

export type OrderQuery = Optional<
  Pick<Order, 'status' | 'paymentStatus'> & { customerId: string; email: string; number: string; from: string; to: string; q: string }
>

/** A number that is asked for beside is no other order's. */
function lookedFor(q: string, number: string | undefined): Partial<OrderFilter> {
  const [, digits] = /^#?0*([1-9]\d{0,8})$/.exec(q) ?? []
  if (digits !== undefined) return number === undefined || number === digits ? { number: Number(digits) } : { number: 0 }
  if (q.startsWith('order_')) return { id: q }
  return q === '' ? {} : { emailPart: q }
}

/**
 * What takes an order from cart to CONFIRMED, in this order. The first two are done in the write that places the order, so
 * that an order without its stock never exists; every other one has a write of its own.
 */
export const stepNames = [
  'RESERVE_STOCK',
  'HOLD_GIFT_CARDS',
  'AUTHORIZE',
  'CAPTURE',
  'COMMIT_STOCK',
  'SETTLE_GIFT_CARDS',
  'ATTRIBUTE_AFFILIATE',
  'WRITE_OUTBOX',
  'CONFIRM',
] as const
export type StepName = (typeof stepNames)[number]
/** The steps that a processor decides; the others are ours alone. */
type RemoteStep = 'AUTHORIZE' | 'CAPTURE'
export type LocalStep = Exclude<StepName, RemoteStep>

/** An order as the saga sees it: its steps in order, and the payment that was begun last. */
export type Saga = { readonly order: Order; readonly steps: readonly SagaStep[]; readonly payment: Payment | undefined }

/** What the saga does next. */
export type Move =
  /** Nothing, until somebody else does something. */
  | { readonly kind: 'rest' }
  /** Ask the processor: to begin the payment, what became of it, to take the money, to give it up. */
  | { readonly kind: 'create' | 'ask' | 'capture' | 'void'; readonly payment: Payment }
  /** There is nothing to pay: the order counts as paid. */
  | { readonly kind: 'payNothing' }
  | { readonly kind: 'run' | 'undo'; readonly step: SagaStep }
  /** Everything is undone. */
  | { readonly kind: 'endCompensation' }

const rest: Move = { kind: 'rest' }

/** What comes next. The same state always leads to the same move, so that a saga goes on wherever it broke off, and whoever drives it. */
export function nextMove({ order, steps, payment }: Saga, now: number): Move {
  switch (order.status) {
    case 'PENDING_PAYMENT':
      return order.amountDue === 0 ? { kind: 'payNothing' } : nextPaymentMove(payment, order.expiresAt <= now)
    case 'PAID': {
      const step = steps.find(({ state }) => state === 'PENDING')
      return step ? { kind: 'run', step } : rest
    }
    case 'EXPIRED':
    case 'COMPENSATING':
    case 'CANCELLED': {
      // A sale that was cancelled: the write that gave its money back has undone the rest.
      if (order.confirmedAt !== null) return rest
      if (payment && isUnderWay(payment)) return { kind: 'void', payment }
      const step = steps.findLast(({ state }) => state === 'DONE')
      if (step) return { kind: 'undo', step }
      return order.status === 'COMPENSATING' ? { kind: 'endCompensation' } : rest
    }
    case 'CONFIRMED':
    case 'FULFILLED':
    case 'COMPLETED':
      return rest
  }
}

/** Once its time is over, an order may turn out to be paid, and is not charged any more. */
function nextPaymentMove(payment: Payment | undefined, isOver: boolean): Move {
  if (!payment) return rest
  if (isOver && isUnderWay(payment)) return payment.processorReference === null ? rest : { kind: 'ask', payment }
  switch (payment.status) {
    case 'PENDING':
      return { kind: payment.processorReference === null ? 'create' : 'ask', payment }
    case 'REQUIRES_ACTION':
      return { kind: 'ask', payment }
    case 'AUTHORIZED':
      return { kind: 'capture', payment }
    case 'CAPTURED':
    case 'FAILED':
    case 'VOIDED':
      return rest
  }
}

/** How long an order waits for its payment before its stock goes back on the shelf. */
export const pendingPaymentMs = 60 * 60 * 1000
/** How long a shopper may change their mind: as long, a sent order is not complete, and a commission not approved. */
export const refundWindowMs = 14 * dayMs
/** A request under way is left alone for so long before the job takes its saga over. */
export const resumeAfterMs = 60_000
/** Whoever has declined so often is not going to pay, but to try cards out. */
export const paymentsPerOrderMax = 10
/** A payment that was begun in the last minutes of its order is given so much time. */
export const paymentTimeMs = 15 * 60 * 1000
/** A payment that its processor cannot decide is given up after so many questions. */
export const undecidedAsksMax = 5
/** A paid order whose steps keep failing gives the money back after so many tries. */
export const stepAttemptsMax = 20
const backoffFirstMs = 15_000
const backoffMaxMs = 30 * 60 * 1000

/** How long to wait after so many failures, in milliseconds. */
export const backoffMs = (failures: number): number => Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.max(0, failures - 1))

type GiftCardShare = { readonly giftCardId: string; readonly amount: number }
/** What of a refund goes where. */
export type RefundParts = { amount: number; giftCardAmount: number; giftCards: GiftCardShare[] }

/** What of an order can still go back: by its processor, and to each gift card. Refunds that are under way count as gone. */
export function refundable(
  order: Pick<Order, 'capturedTotal'>,
  cards: readonly OrderGiftCard[],
  before: readonly Pick<Refund, 'status' | 'purpose' | 'amount' | 'giftCards'>[],
): { captured: number; cards: GiftCardShare[] } {
  const counted = before.filter(({ status, purpose }) => status !== 'FAILED' && purpose !== 'LATE_CAPTURE')
  const gone = counted.flatMap(({ giftCards }) => giftCards)
  return {
    captured: order.capturedTotal - counted.reduce((sum, { amount }) => sum + amount, 0),
    cards: cards.map(({ giftCardId, amount }) => ({
      giftCardId,
      amount: amount - gone.filter((share) => share.giftCardId === giftCardId).reduce((sum, share) => sum + share.amount, 0),
    })),
  }
}

/**
 * Splits a refund: first what was captured, then the gift cards, the last in the order of their ids first.
 * @param asked minor units; undefined: everything that is left
 * @returns undefined when there is not that much left
 */
export function refundParts(left: ReturnType<typeof refundable>, asked: number | undefined): RefundParts | undefined {
  const onCards = left.cards.reduce((sum, { amount }) => sum + amount, 0)
  const wanted = asked ?? left.captured + onCards
  if (wanted > left.captured + onCards) return undefined
  const amount = Math.min(wanted, left.captured)
  const giftCards: GiftCardShare[] = []
  let rest = wanted - amount
  for (const card of left.cards.toReversed()) {
    const share = Math.min(rest, card.amount)
    if (share > 0) giftCards.push({ giftCardId: card.giftCardId, amount: share })
    rest -= share
  }
  return { amount, giftCardAmount: wanted - amount, giftCards }
}
