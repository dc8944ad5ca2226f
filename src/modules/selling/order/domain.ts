import type { fulfilments, orderNotes } from '../../../../db/schema/fulfilments.ts'
import type { disputes, refunds } from '../../../../db/schema/payments.ts'
import type { orderEvents, orderGiftCards, orderLines, orders } from '../../../../db/schema/selling.ts'
import { windowOf } from '../../../core/date-range.ts'
import { dayMs } from '../../../lib/day.ts'
import { storedMailAddress } from '../../../lib/mail-address.ts'
import type { Optional } from '../../../lib/objects.ts'
import { wordsOf } from '../../../lib/search-terms.ts'
import { reachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import {
  hasFailed,
  hasNoReferences,
  isLost,
  isOpenPayment,
  isPaidAfterEnding,
  isUnknownToProcessor,
  type Payment,
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
  PENDING: ['SUCCEEDED', 'FAILED', 'CLAIMABLE', 'MANUAL'],
  // A claim that nobody can redeem any more, and money that came back from the shopper's bank, must still be paid.
  CLAIMABLE: ['SUCCEEDED', 'MANUAL'],
  SUCCEEDED: ['MANUAL'],
  MANUAL: ['SUCCEEDED'],
  FAILED: [],
} as const satisfies Transitions<Refund['status']>)

/** What may become of a dispute. A bank that had given the money again may take it after all; what is lost is lost. */
export const disputeTransitions = reachable('OPEN', {
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

/** Which orders of a shop are asked for; moments in milliseconds, `until` is the first one after. */
export type OrderFilter = { readonly shopId: string } & Optional<
  Pick<Order, 'status' | 'paymentStatus' | 'fulfilmentStatus' | 'customerId' | 'number' | 'email' | 'id'> & {
    /** Confirmed, and something is left to send. */
    toFulfil: true
    /** Of `q`: the last may be how a word begins. */
    words: readonly string[]
    from: number
    until: number
  }
>

/**
 * A filter as a query has it: `from` and `to` are days, both inclusive; `q` is `#` and an order's number, its id, or else words.
 * @throws AppError INVALID, naming the parameter, for a day that there is not, and a window that is reversed or over 365 days
 */
export function filterOf({ from, to, q, number, toFulfil, ...rest }: OrderQuery & { shopId: string }): OrderFilter {
  const { since, until } = windowOf({ from, to })
  return {
    ...rest,
    ...(number === undefined ? {} : { number: Number(number) }),
    ...(toFulfil === 'true' ? { toFulfil: true } : {}),
    from: since,
    until,
    ...searchFilterOf(q?.trim() ?? '', number),
  }
}

export type OrderQuery = Optional<
  Pick<Order, 'status' | 'paymentStatus' | 'fulfilmentStatus'> & {
    toFulfil: 'true' | 'false'
    customerId: string
    email: string
    number: string
    from: string
    to: string
    q: string
  }
>

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

/** More words of a `q` are not looked at. */
const queryWordsMax = 10

/** A number that is asked for beside is no other order's. */
function searchFilterOf(q: string, number: string | undefined): Partial<OrderFilter> {
  const [, digits] = /^#0*([1-9]\d{0,8})$/.exec(q) ?? []
  if (digits !== undefined) return number === undefined || number === digits ? { number: Number(digits) } : { number: 0 }
  if (q.startsWith('order_')) return { id: q }
  return q === '' ? {} : { words: wordsOf(storedMailAddress(q), queryWordsMax) }
}

/** Of an order, in the order in which they are kept: the rest of very many titles is not found. */
const wordsMax = 150

/** What an order is found by: its number, e-mail address, the names of its addresses, tracking numbers, SKUs and titles. */
export function searchWordsOf(
  order: Pick<Order, 'email' | 'shippingAddress' | 'billingAddress'>,
  lines: readonly Pick<OrderLine, 'title' | 'variantTitle' | 'sku'>[],
  parcels: readonly Pick<Fulfilment, 'trackingNumber'>[],
): readonly string[] {
  const names = [order.shippingAddress, order.billingAddress].flatMap((address) => (address ? [address.name, address.company] : []))
  const texts = [
    order.email,
    ...names,
    ...parcels.map(({ trackingNumber }) => trackingNumber),
    ...lines.map(({ sku }) => sku),
    ...lines.flatMap(({ title, variantTitle }) => [title, variantTitle]),
  ]
  return wordsOf(texts.filter((text) => text !== null).join(' '), wordsMax)
}

/** Whether an order that is found by its number and such words is found by a query's. */
export function holds(number: number, words: readonly string[], asked: readonly string[]): boolean {
  const whole = new Set([...words, String(number)])
  const last = asked.at(-1) ?? ''
  return asked.slice(0, -1).every((word) => whole.has(word)) && (whole.has(last) || words.some((word) => word.startsWith(last)))
}

/** An order as the saga sees it, with the payments that were begun for it, oldest first. */
export type Saga = { readonly order: Order; readonly payments: readonly Payment[] }

/** The payment that an order is being paid by, or was; else the one that was begun last. */
export const paymentOf = ({ payments }: Pick<Saga, 'payments'>): Payment | undefined =>
  payments.find((payment) => isOpenPayment(payment) || payment.status === 'CAPTURED') ?? payments.at(-1)

/**
 * What an order that ends unpaid shows of its payment: that a part of its money came, which goes back; else that it was given up, where it
 * was; it may have shown until then that it may be paid again.
 */
export function endedPaymentStatus({ capturedTotal }: Order, payments: readonly Payment[]): Pick<Order, 'paymentStatus'> | undefined {
  if (capturedTotal > 0) return { paymentStatus: 'CAPTURED' }
  return paymentOf({ payments })?.status === 'VOIDED' ? { paymentStatus: 'VOIDED' } : undefined
}

/** What the saga does next. What an outside party decides is a move of its own; what is ours alone happens in one write. */
export type SagaStep =
  /** Nothing, until somebody else does something. */
  | { readonly kind: 'rest' }
  /** Ask the processor: to begin the payment, what became of it, to take the money, to give it up. */
  | { readonly kind: 'create' | 'ask' | 'capture' | 'void'; readonly payment: Payment }
  /** Nobody waits for it any more, and nobody can know whether its processor has begun it, or that one decides nothing for as long as is waited for. */
  | { readonly kind: 'abandon'; readonly payment: Payment }
  /** The money came on a payment that had ended: it counts all the same. */
  | { readonly kind: 'accept'; readonly payment: Payment }
  /** All that makes a sale of an order that is paid, or has nothing to pay. */
  | { readonly kind: 'confirm' }
  /** Stock and gift cards go back. */
  | { readonly kind: 'release' }
  /** Everything is undone but the money, which must be back. */
  | { readonly kind: 'endCompensation' }

const rest: SagaStep = { kind: 'rest' }

/** What comes next. The same state always leads to the same move, so that a saga goes on wherever it broke off, and whoever drives it. */
export function nextStep({ order, payments }: Saga, now: number): SagaStep {
  const live = payments.find(isOpenPayment)
  switch (order.status) {
    case 'PENDING_PAYMENT': {
      if (order.amountDue === 0) return { kind: 'confirm' }
      const paid = payments.find(isPaidAfterEnding)
      // Two of them must not both take money: the one that has not is given up first.
      if (paid) return live ? { kind: 'void', payment: live } : { kind: 'accept', payment: paid }
      return live && !isLost(live) ? nextPaymentStep(live, order.expiresAt <= now) : rest
    }
    case 'PAID':
      return { kind: 'confirm' }
    case 'EXPIRED':
    case 'COMPENSATING':
    case 'CANCELLED':
      // A sale that was cancelled: the write that gave its money back has undone the rest.
      if (order.confirmedAt !== null) return rest
      if (live && isLost(live)) return { kind: 'abandon', payment: live }
      // What is being decided may take days, and what a processor does not give up for ever: the stock does not wait for it.
      if (live && live.status !== 'PROCESSING' && order.attempts < undecidedAsksMax) return { kind: 'void', payment: live }
      if (order.holds !== 'RELEASED') return { kind: 'release' }
      // Nobody decides it any more: from now on it is watched, as those that have ended are.
      if (live && live.status !== 'AUTHORIZED' && live.createdAt + undecidedMs <= now) return { kind: 'abandon', payment: live }
      if (live) return { kind: 'void', payment: live }
      return order.status === 'COMPENSATING' ? { kind: 'endCompensation' } : finalStep({ order, payments })
    case 'CONFIRMED':
    case 'FULFILLED':
    case 'COMPLETED':
      return rest
  }
}

/** What has failed can be tried again on the same page: it is given up as well, before nobody looks at the order any more. */
function finalStep({ order, payments }: Saga): SagaStep {
  const last = order.resumeAt === null ? undefined : payments.at(-1)
  return last && hasFailed(last) && !isUnknownToProcessor(last) ? { kind: 'void', payment: last } : rest
}

/**
 * Whether money that its processor would take on a payment which has ended counts for nothing: the order waits no more, or for another
 * payment, or we have given this one up.
 */
export const isUnwanted = ({ order, payments }: Saga, { id, status }: Pick<Payment, 'id' | 'status'>, now: number): boolean =>
  status === 'VOIDED' ||
  order.status !== 'PENDING_PAYMENT' ||
  order.expiresAt <= now ||
  payments.some((one) => one.id !== id && (isOpenPayment(one) || isPaidAfterEnding(one)))

/** Once its time is over, an order may turn out to be paid, and is not charged any more. */
function nextPaymentStep(live: Payment, isOver: boolean): SagaStep {
  if (isOver) return hasNoReferences(live) ? rest : { kind: 'ask', payment: live }
  if (live.status === 'AUTHORIZED') return { kind: 'capture', payment: live }
  return { kind: live.status === 'PENDING' && live.processorReference === null ? 'create' : 'ask', payment: live }
}

/** How long an order waits for a payment that is being decided (contract, section 5). */
export const processingMs = 7 * dayMs
/** What is not decided by then, of an order that has ended, is asked about no more than any other payment that has ended. */
const undecidedMs = 2 * processingMs
const pollFirstMs = 30_000
const pollPauseMaxMs = 10 * 60_000
const pollPauseProcessingMs = 60 * 60_000
/** Before an order's time is over its processor is asked once more: a closed tab and a lost message must not lose the sale. */
const lastLookMs = 60_000

/**
 * When a payment that waits for its shopper, or is being decided, is asked about next: soon at first, then ever more rarely.
 * @param payment since when there is it, and what it is by now
 */
export function pollAt(
  { createdAt, status }: Pick<Payment, 'createdAt' | 'status'>,
  { expiresAt }: Pick<Order, 'expiresAt'>,
  now: number,
): number {
  const pauseMax = status === 'PROCESSING' ? pollPauseProcessingMs : pollPauseMaxMs
  const next = now + Math.min(pauseMax, Math.max(pollFirstMs, now - createdAt))
  const last = expiresAt - lastLookMs
  return last > now + pollFirstMs ? Math.min(next, last) : next
}

/** How long an order waits for its payment before its stock goes back on the shelf. */
export const pendingPaymentMs = 60 * 60 * 1000
/** How long a shopper may change their mind: as long, a sent order is not complete, and a commission not approved. */
export const refundWindowMs = 14 * dayMs
/** A request under way is left alone for so long before the job takes its saga over. */
export const resumeAfterMs = 60_000
/** Whoever has declined so often is not going to pay, but to try cards out. */
export const paymentsPerOrderMax = 10
/** Whoever has taken a checkout back so often is not going to buy. */
export const ordersPerCartMax = 10
/** A payment that was begun in the last minutes of its order is given so much time. */
export const paymentTimeMs = 15 * 60 * 1000
/** A payment that its processor cannot decide is given up after so many questions. */
export const undecidedAsksMax = 5
/** A paid order that cannot be confirmed gives the money back after so many tries. */
export const confirmAttemptsMax = 20
const backoffFirstMs = 15_000
const backoffMaxMs = 30 * 60 * 1000

/** How long to wait after so many failures, in milliseconds. */
export const backoffMs = (failures: number): number => Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.max(0, failures - 1))

type GiftCardShare = { readonly giftCardId: string; readonly amount: number }
/**
 * What of a payment's money nobody waits for (any more, or not this much), and is not on its way back yet: minor units.
 * While an order waits for its payment, whatever came may yet be a part of it. Of an order that was paid, its price counts, on the payment
 * that paid it; of one that came to nothing, nothing does.
 */
export function excessAmount(
  order: Pick<Order, 'status' | 'confirmedAt' | 'amountDue'>,
  payment: Pick<Payment, 'id' | 'status' | 'captured'>,
  refunds: readonly Pick<Refund, 'paymentId' | 'purpose' | 'status' | 'amount'>[],
): number {
  // What its shop gave back by itself was of the sale, where there was one.
  const counted = (purpose: Refund['purpose']) => mustBeReturned({ purpose }) || (purpose === 'ELSEWHERE' && endedWithoutSale(order))
  const back = refunds
    .filter(({ paymentId, purpose, status }) => paymentId === payment.id && counted(purpose) && status !== 'FAILED')
    .reduce((sum, { amount }) => sum + amount, 0)
  const counts = payment.status === 'CAPTURED' && !endedWithoutSale(order)
  const expectedAmount = order.status === 'PENDING_PAYMENT' ? payment.captured : counts ? Math.min(payment.captured, order.amountDue) : 0
  return Math.max(0, payment.captured - expectedAmount - back)
}

/** Whether an order ended, or is about to, without having been a sale. */
export const endedWithoutSale = ({ status, confirmedAt }: Pick<Order, 'status' | 'confirmedAt'>): boolean =>
  confirmedAt === null && (status === 'EXPIRED' || status === 'COMPENSATING' || status === 'CANCELLED')

/** Money that nobody may keep: that of an order which came to nothing, or which came too late. */
export const mustBeReturned = ({ purpose }: Pick<Refund, 'purpose'>): boolean => purpose === 'COMPENSATE' || purpose === 'LATE_CAPTURE'

/** Whether the shopper has the money of a refund, or is sure to get it: what goods and gift cards go by. */
export const stands = ({ status }: Pick<Refund, 'status'>): boolean =>
  status === 'SUCCEEDED' || status === 'CLAIMABLE' || status === 'MANUAL'

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

/** Orders of which money may go back by request: those that were confirmed, and not cancelled. */
const refundableStatuses: readonly OrderStatus[] = ['CONFIRMED', 'FULFILLED', 'COMPLETED']
export const isRefundable = ({ status }: Pick<Order, 'status'>): boolean => refundableStatuses.includes(status)

const amountOf = ({ captured, cards }: ReturnType<typeof refundable>): number =>
  captured + cards.reduce((sum, { amount }) => sum + amount, 0)

/** All that can still go back of an order by request, in minor units: refunds that are under way count as gone. */
export const refundableTotal = (
  order: Pick<Order, 'status' | 'capturedTotal'>,
  cards: readonly OrderGiftCard[],
  before: Parameters<typeof refundable>[2],
): number => (isRefundable(order) ? Math.max(0, amountOf(refundable(order, cards, before))) : 0)

/**
 * Splits a refund: first what was captured, then the gift cards, the last in the order of their ids first.
 * @param asked minor units; undefined: everything that is left
 * @returns undefined when there is not that much left
 */
export function refundParts(left: ReturnType<typeof refundable>, asked: number | undefined): RefundParts | undefined {
  const all = amountOf(left)
  const wanted = asked ?? all
  if (wanted > all) return undefined
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

/** Parcels of an order at most: the last takes all that is left. */
export const parcelsMax = 100
/** Of all parcels of an order together: each leaves an event. */
export const correctionsMax = 100
export const notesMax = 100

/** What an order shows of its parcels: of the one that was sent last, of those that have any. */
export function trackingOf(parcels: readonly Pick<Fulfilment, 'trackingNumber' | 'carrier'>[]): Pick<Order, 'trackingNumber' | 'carrier'> {
  const last = parcels.findLast(({ trackingNumber, carrier }) => trackingNumber !== null || carrier !== null)
  return { trackingNumber: last?.trackingNumber ?? null, carrier: last?.carrier ?? null }
}
