import type { fulfilments, orderNotes } from '../../../../db/schema/fulfilments.ts'
import type { disputes, refunds } from '../../../../db/schema/payments.ts'
import type { orderEvents, orderGiftCards, orderLines, orders } from '../../../../db/schema/selling.ts'
import { timeRangeOf } from '../../../core/date-range.ts'
import { dayMs } from '../../../lib/day.ts'
import { queryTermsOf, storedMailAddress } from '../../../lib/mail-address.ts'
import type { Optional } from '../../../lib/objects.ts'
import { tagKeyOf } from '../../../lib/search-terms.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import {
  hasFailed,
  hasNoReferences,
  isLost,
  isManualPayment,
  isOpenPayment,
  isPaidAfterEnding,
  isUnknownToProcessor,
  type Payment,
  type PaymentChoice,
} from '../../payments/payment/domain.ts'

export type Order = typeof orders.$inferSelect
export type OrderLine = typeof orderLines.$inferSelect
export type OrderGiftCard = typeof orderGiftCards.$inferSelect
export type OrderEvent = typeof orderEvents.$inferSelect
export type Refund = typeof refunds.$inferSelect
export type Dispute = typeof disputes.$inferSelect
export type Fulfilment = typeof fulfilments.$inferSelect
export type OrderNote = typeof orderNotes.$inferSelect
export type OrderStatus = Order['status']

/** The transitions of an order. Refunds show in its `paymentStatus`, never in its status. */
export const orderTransitions = assertReachable('PENDING_PAYMENT', {
  PENDING_PAYMENT: ['PAID', 'EXPIRED', 'CANCELLED'],
  PAID: ['CONFIRMED', 'COMPENSATING'],
  CONFIRMED: ['FULFILLED', 'CANCELLED'],
  FULFILLED: ['COMPLETED'],
  COMPLETED: [],
  EXPIRED: [],
  COMPENSATING: ['CANCELLED'],
  CANCELLED: [],
} as const satisfies Transitions<OrderStatus>)

/** The transitions of a refund. */
export const refundTransitions = assertReachable('PENDING', {
  PENDING: ['SUCCEEDED', 'FAILED', 'CLAIMABLE', 'MANUAL'],
  // An expired claim, and money that the shopper's bank returned, must still be paid.
  CLAIMABLE: ['SUCCEEDED', 'MANUAL'],
  SUCCEEDED: ['MANUAL'],
  MANUAL: ['SUCCEEDED'],
  FAILED: [],
} as const satisfies Transitions<Refund['status']>)

/** The transitions of a dispute. A bank may reclaim money that it had returned; LOST is final. */
export const disputeTransitions = assertReachable('OPEN', {
  OPEN: ['WON', 'LOST'],
  WON: ['LOST'],
  LOST: [],
} as const satisfies Transitions<Dispute['status']>)

export const orderStatuses = statesOf(orderTransitions)
export const refundStatuses = statesOf(refundTransitions)
export const disputeStatuses = statesOf(disputeTransitions)
export const orderPaymentStatuses = [
  'PENDING',
  'AUTHORIZED',
  'PROCESSING',
  'CAPTURED',
  'FAILED',
  'VOIDED',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
] as const satisfies readonly Order['paymentStatus'][]

export const fulfilmentStatuses = [
  'UNFULFILLED',
  'PARTIALLY_FULFILLED',
  'FULFILLED',
] as const satisfies readonly Order['fulfilmentStatus'][]

/** Maximum number of orders in one bulk request. */
export const bulkMax = 100
export const bulkFulfilmentStatuses = ['FULFILLED', 'PARTIALLY_FULFILLED', 'FAILED'] as const

/** How a list of orders is sorted. A minus sign: descending. */
export const orderSorts = ['-createdAt', 'createdAt', '-number', 'number', '-total', 'total'] as const
export type OrderSort = (typeof orderSorts)[number]

/** The fields of an order that the shop can correct. Their former values are details of UPDATED events. */
export const formerValueFields = ['email', 'shippingAddress', 'billingAddress', 'tags'] as const satisfies readonly (keyof Order)[]
/** An order can be corrected until everything is sent. */
export const correctableStatuses = ['PENDING_PAYMENT', 'PAID', 'CONFIRMED'] as const satisfies readonly OrderStatus[]

/** The filter of a list of orders; times in milliseconds, `until` exclusive. */
export type OrderFilter = { readonly shopId: string } & Optional<
  Pick<Order, 'status' | 'paymentStatus' | 'fulfilmentStatus' | 'customerId' | 'number' | 'email' | 'id'> & {
    /** Confirmed, with units left to send. */
    toFulfil: true
    agent: true
    numbers: readonly number[]
    /** In the form in which tags are compared. */
    tag: string
    /** The words of `q`; the last one may be a prefix. `domainWords` replace them if they find orders. */
    words: readonly string[]
    domainWords: readonly string[]
    from: number
    until: number
  }
>

/**
 * Parses a query: `from` and `to` are days of `timeZone`, both inclusive; `q` is `#` and an order's number, an id, or
 * words.
 * @throws AppError INVALID, naming the parameter, for an invalid day, or a window that is reversed or over 365 days
 */
export function filterOf({
  from,
  to,
  q,
  number,
  numbers,
  toFulfil,
  agent,
  tag,
  timeZone,
  sort: _,
  lines: __,
  ...rest
}: ShopOrderQuery): OrderFilter {
  const { since, until } = timeRangeOf({ from, to }, timeZone)
  return {
    ...rest,
    ...(number === undefined ? {} : { number: Number(number) }),
    ...(numbers === undefined ? {} : { numbers: numbers.split(',').map(Number) }),
    ...(toFulfil === 'true' ? { toFulfil: true } : {}),
    ...(agent === 'true' ? { agent: true } : {}),
    ...(tag === undefined ? {} : { tag: tagKeyOf(tag) }),
    from: since,
    until,
    ...searchFilterOf(q?.trim() ?? '', number),
  }
}

export type OrderQuery = Optional<
  Pick<Order, 'status' | 'paymentStatus' | 'fulfilmentStatus'> &
    Record<'toFulfil' | 'agent' | 'lines', 'true' | 'false'> & {
      customerId: string
      email: string
      tag: string
      number: string
      /** Separated by commas. */
      numbers: string
      sort: OrderSort
      from: string
      to: string
      q: string
    }
>

/** A query of a shop's orders. */
export type ShopOrderQuery = OrderQuery & { readonly shopId: string } & Optional<{ timeZone: string }>

/**
 * Returns the statuses that a filter can match. Only a CONFIRMED order has a fulfilment status of its own (UNFULFILLED
 * or PARTIALLY_FULFILLED).
 */
export function statusesOf({ status, fulfilmentStatus, toFulfil }: OrderFilter): readonly OrderStatus[] {
  const isSent = (candidate: OrderStatus) => candidate === 'FULFILLED' || candidate === 'COMPLETED'
  return orderStatuses.filter(
    (candidate) =>
      (status === undefined || candidate === status) &&
      (!toFulfil || candidate === 'CONFIRMED') &&
      (fulfilmentStatus === undefined ||
        (fulfilmentStatus === 'PARTIALLY_FULFILLED'
          ? candidate === 'CONFIRMED'
          : isSent(candidate) === (fulfilmentStatus === 'FULFILLED'))),
  )
}

/** Further words of a `q` are ignored. */
const queryWordsMax = 10

/** A `q` with another number than the `number` filter matches nothing. */
function searchFilterOf(q: string, number: string | undefined): Partial<OrderFilter> {
  const [, digits] = /^#0*([1-9]\d{0,8})$/.exec(q) ?? []
  if (digits !== undefined) return number === undefined || number === digits ? { number: Number(digits) } : { number: 0 }
  if (q.startsWith('order_')) return { id: q }
  return q === '' ? {} : queryTermsOf(storedMailAddress(q), queryWordsMax)
}

/** An order and its payments, oldest first. */
export type Saga = { readonly order: Order; readonly payments: readonly Payment[] }

/** Returns the open or captured payment of an order, else the newest. */
export const paymentOf = ({ payments }: Pick<Saga, 'payments'>): Payment | undefined =>
  payments.find((payment) => isOpenPayment(payment) || payment.status === 'CAPTURED') ?? payments.at(-1)

/**
 * Returns the payment status of an order that ends unpaid: CAPTURED after a partial capture, which is refunded; VOIDED
 * if its payment was voided; else unchanged.
 */
export function endedPaymentStatus({ capturedTotal }: Order, payments: readonly Payment[]): Pick<Order, 'paymentStatus'> | undefined {
  if (capturedTotal > 0) return { paymentStatus: 'CAPTURED' }
  return paymentOf({ payments })?.status === 'VOIDED' ? { paymentStatus: 'VOIDED' } : undefined
}

/** The next step of a saga. Each step either calls a processor or is one write. */
export type SagaStep =
  /** Nothing until a person or a processor acts. */
  | { readonly kind: 'rest' }
  /** Calls the processor: starts the payment, queries it, captures it or voids it. */
  | { readonly kind: 'create' | 'ask' | 'capture' | 'void'; readonly payment: Payment }
  /** Ends a payment that no order needs and whose state cannot be learned, or stays undecided too long. */
  | { readonly kind: 'abandon'; readonly payment: Payment }
  /** Counts the money of a payment that had ended. */
  | { readonly kind: 'accept'; readonly payment: Payment }
  /** Makes a sale of an order that is paid or needs no payment. */
  | { readonly kind: 'confirm' }
  /** Releases stock and gift cards. */
  | { readonly kind: 'release' }
  /** Cancels the order once its money is refunded. */
  | { readonly kind: 'endCompensation' }

const rest: SagaStep = { kind: 'rest' }

/** Returns the next step. The same state always leads to the same step, so any run can continue after a crash. */
export function nextStep({ order, payments }: Saga, now: number): SagaStep {
  const openPayment = payments.find(isOpenPayment)
  switch (order.status) {
    case 'PENDING_PAYMENT': {
      if (order.amountDue === 0) return { kind: 'confirm' }
      const paid = payments.find(isPaidAfterEnding)
      // Both must not be captured: the open one is voided first.
      if (paid) return openPayment ? { kind: 'void', payment: openPayment } : { kind: 'accept', payment: paid }
      // The shop marks a manual payment as paid.
      if (!openPayment || isLost(openPayment) || isManualPayment(openPayment)) return rest
      return nextPaymentStep(openPayment, order.expiresAt <= now)
    }
    case 'PAID':
      return { kind: 'confirm' }
    case 'EXPIRED':
    case 'COMPENSATING':
    case 'CANCELLED':
      // A cancelled sale: the write of its refund reversed the rest.
      if (order.confirmedAt !== null) return rest
      if (openPayment && isLost(openPayment)) return { kind: 'abandon', payment: openPayment }
      // An undecided payment may take days, and some are never voided: stock does not wait for them.
      if (openPayment && openPayment.status !== 'PROCESSING' && order.attempts < undecidedQueriesMax)
        return { kind: 'void', payment: openPayment }
      if (order.holds !== 'RELEASED') return { kind: 'release' }
      // Nobody decides it any more. It is watched like other ended payments.
      if (openPayment && openPayment.status !== 'AUTHORIZED' && openPayment.createdAt + undecidedMs <= now)
        return { kind: 'abandon', payment: openPayment }
      if (openPayment) return { kind: 'void', payment: openPayment }
      return order.status === 'COMPENSATING' ? { kind: 'endCompensation' } : finalStep({ order, payments })
    case 'CONFIRMED':
    case 'FULFILLED':
    case 'COMPLETED':
      return rest
  }
}

/** A failed payment can be retried on the same page, so it is voided before the order rests for good. */
function finalStep({ order, payments }: Saga): SagaStep {
  const last = order.resumeAt === null ? undefined : payments.at(-1)
  return last && hasFailed(last) && !isUnknownToProcessor(last) ? { kind: 'void', payment: last } : rest
}

/**
 * Returns whether money that a processor may still capture on an ended payment does not count: the order no longer
 * waits, waits for another payment, or the payment was voided.
 */
export const isUnwanted = ({ order, payments }: Saga, { id, status }: Pick<Payment, 'id' | 'status'>, now: number): boolean =>
  status === 'VOIDED' ||
  order.status !== 'PENDING_PAYMENT' ||
  order.expiresAt <= now ||
  payments.some((one) => one.id !== id && (isOpenPayment(one) || isPaidAfterEnding(one)))

/** After its time an order may turn out to be paid, but is not charged any more. */
function nextPaymentStep(openPayment: Payment, isExpired: boolean): SagaStep {
  if (isExpired) return hasNoReferences(openPayment) ? rest : { kind: 'ask', payment: openPayment }
  if (openPayment.status === 'AUTHORIZED') return { kind: 'capture', payment: openPayment }
  return { kind: openPayment.status === 'PENDING' && openPayment.processorReference === null ? 'create' : 'ask', payment: openPayment }
}

/** How long an order waits for an undecided payment. */
export const processingMs = 7 * dayMs
/** After this time an undecided payment of an ended order is watched like other ended payments. */
const undecidedMs = 2 * processingMs
const pollPauseMs = { first: 30_000, max: 10 * 60_000, maxProcessing: 60 * 60_000 } as const
/** The last query before an order expires, in case the page was closed and the webhook lost. */
const lastQueryMs = 60_000

/**
 * Returns when a waiting or undecided payment is queried next: with growing pauses.
 * @param payment its creation time and its current status
 */
export function pollAt(
  { createdAt, status }: Pick<Payment, 'createdAt' | 'status'>,
  { expiresAt }: Pick<Order, 'expiresAt'>,
  now: number,
): number {
  const pauseMax = status === 'PROCESSING' ? pollPauseMs.maxProcessing : pollPauseMs.max
  const next = now + Math.min(pauseMax, Math.max(pollPauseMs.first, now - createdAt))
  const last = expiresAt - lastQueryMs
  return last > now + pollPauseMs.first ? Math.min(next, last) : next
}

/** How long an order waits for its payment before its stock is released. */
export const pendingPaymentMs = 60 * 60 * 1000
/** The shopper's time to return goods. Until then a sent order is not complete and a commission not approved. */
export const refundWindowMs = 14 * dayMs
/** Returns how long a new order waits for its payment: a manual one may take days. */
export const paymentWaitMs = ({ manual }: Pick<PaymentChoice, 'manual'>): number =>
  manual ? manual.expiresAfterDays * dayMs : pendingPaymentMs
/** How long the job leaves a saga to the request that runs it. */
export const resumeAfterMs = 60_000
/** More attempts are card testing, not a purchase. */
export const paymentsPerOrderMax = 10
/** More cancelled checkouts of one cart are not a purchase. */
export const ordersPerCartMax = 10
/** The least time for a payment that starts shortly before its order expires. */
export const paymentTimeMs = 15 * 60 * 1000
/** Queries of an undecided payment before it is voided. */
export const undecidedQueriesMax = 5
/** Attempts to confirm a paid order before it is refunded. */
export const confirmAttemptsMax = 20
const backoffFirstMs = 15_000
const backoffMaxMs = 30 * 60 * 1000

/** Returns the pause after a number of failures, in milliseconds. */
export const backoffMs = (failures: number): number => Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.max(0, failures - 1))

type GiftCardShare = { readonly giftCardId: string; readonly amount: number }
/**
 * Returns the money of a payment that the order does not need and that is not being refunded, in minor units. A
 * waiting order may need all of it, a paid one its price on the payment that paid it, and an order without a sale
 * nothing.
 */
export function excessAmount(
  order: Pick<Order, 'status' | 'confirmedAt' | 'amountDue'>,
  payment: Pick<Payment, 'id' | 'status' | 'captured'>,
  refunds: readonly Pick<Refund, 'paymentId' | 'purpose' | 'status' | 'amount'>[],
): number {
  // A refund that the shop made itself belongs to the sale, if there was one.
  const counted = (purpose: Refund['purpose']) => mustBeReturned({ purpose }) || (purpose === 'ELSEWHERE' && endedWithoutSale(order))
  const back = refunds
    .filter(({ paymentId, purpose, status }) => paymentId === payment.id && counted(purpose) && status !== 'FAILED')
    .reduce((sum, { amount }) => sum + amount, 0)
  const counts = payment.status === 'CAPTURED' && !endedWithoutSale(order)
  const expectedAmount = order.status === 'PENDING_PAYMENT' ? payment.captured : counts ? Math.min(payment.captured, order.amountDue) : 0
  return Math.max(0, payment.captured - expectedAmount - back)
}

/** Returns whether an order ended, or is ending, without a sale. */
export const endedWithoutSale = ({ status, confirmedAt }: Pick<Order, 'status' | 'confirmedAt'>): boolean =>
  confirmedAt === null && (status === 'EXPIRED' || status === 'COMPENSATING' || status === 'CANCELLED')

/** Returns whether a refund returns money that the shop must not keep: it came late, or for an order without a sale. */
export const mustBeReturned = ({ purpose }: Pick<Refund, 'purpose'>): boolean => purpose === 'COMPENSATE' || purpose === 'LATE_CAPTURE'

/** Returns whether the shopper has a refund's money or is sure to get it. Goods and gift cards follow then. */
export const isAssured = ({ status }: Pick<Refund, 'status'>): boolean =>
  status === 'SUCCEEDED' || status === 'CLAIMABLE' || status === 'MANUAL'

/** The parts of a refund by destination. */
export type RefundParts = { amount: number; giftCardAmount: number; giftCards: GiftCardShare[] }

/** Returns what is left to refund through the processor and to each gift card. Pending refunds count as refunded. */
export function refundable(
  order: Pick<Order, 'capturedTotal'>,
  cards: readonly OrderGiftCard[],
  before: readonly Pick<Refund, 'status' | 'purpose' | 'amount' | 'giftCards'>[],
): { captured: number; cards: GiftCardShare[] } {
  const counted = before.filter(({ status, purpose }) => status !== 'FAILED' && purpose !== 'LATE_CAPTURE')
  const refundedCards = counted.flatMap(({ giftCards }) => giftCards)
  return {
    captured: order.capturedTotal - counted.reduce((sum, { amount }) => sum + amount, 0),
    cards: cards.map(({ giftCardId, amount }) => ({
      giftCardId,
      amount: amount - refundedCards.filter((share) => share.giftCardId === giftCardId).reduce((sum, share) => sum + share.amount, 0),
    })),
  }
}

const refundableStatuses: readonly OrderStatus[] = ['CONFIRMED', 'FULFILLED', 'COMPLETED']
/** Returns whether an order can be refunded on request: it is confirmed and not cancelled. */
export const isRefundable = ({ status }: Pick<Order, 'status'>): boolean => refundableStatuses.includes(status)

const amountOf = ({ captured, cards }: ReturnType<typeof refundable>): number =>
  captured + cards.reduce((sum, { amount }) => sum + amount, 0)

/** Returns all that is left to refund on request, in minor units. Pending refunds count as refunded. */
export const refundableTotal = (
  order: Pick<Order, 'status' | 'capturedTotal'>,
  cards: readonly OrderGiftCard[],
  before: Parameters<typeof refundable>[2],
): number => (isRefundable(order) ? Math.max(0, amountOf(refundable(order, cards, before))) : 0)

/**
 * Splits a refund: the captured money first, then the gift cards in descending order of their ids.
 * @param requested minor units; undefined means all that is left
 * @returns undefined when less is left
 */
export function refundParts(left: ReturnType<typeof refundable>, requested: number | undefined): RefundParts | undefined {
  const all = amountOf(left)
  const total = requested ?? all
  if (total > all) return undefined
  const amount = Math.min(total, left.captured)
  const giftCards: GiftCardShare[] = []
  let rest = total - amount
  for (const card of left.cards.toReversed()) {
    const share = Math.min(rest, card.amount)
    if (share > 0) giftCards.push({ giftCardId: card.giftCardId, amount: share })
    rest -= share
  }
  return { amount, giftCardAmount: total - amount, giftCards }
}

/** Fulfilments of an order at most; the last must take all that is left. */
export const parcelsMax = 100
/** For all fulfilments of an order together; each leaves an event. */
export const correctionsMax = 100
export const notesMax = 100

/** Returns the tracking of the last fulfilment that has any. */
export function trackingOf(parcels: readonly Pick<Fulfilment, 'trackingNumber' | 'carrier'>[]): Pick<Order, 'trackingNumber' | 'carrier'> {
  const last = parcels.findLast(({ trackingNumber, carrier }) => trackingNumber !== null || carrier !== null)
  return { trackingNumber: last?.trackingNumber ?? null, carrier: last?.carrier ?? null }
}
