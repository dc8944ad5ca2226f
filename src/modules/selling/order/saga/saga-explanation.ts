/** Explains an order's saga to an operator: what happens next, when, and why it has not happened. */
import { isLeaseOver } from '../../../../core/leases.ts'
import { isLost, isOpenPayment, type Payment } from '../../../payments/payment/domain.ts'
import { confirmAttemptsMax, nextStep, type Order, type Refund, refundWindowMs, type Saga, type SagaStep } from '../domain.ts'

/** An action of souk or of a person. `at`: milliseconds since the epoch; null without a set time. */
export type ExplainedStep = { readonly what: string; readonly at: number | null }
type ExplainedSaga = Saga & { readonly refunds: readonly Refund[] }

/** The job runs every few seconds. A row that is overdue for longer was forgotten, or no job runs. */
export const overdueMs = 60_000

const done: ExplainedStep = { what: 'nothing: the order is complete', at: null }

/** Lists what is still to come, the saga's own step first. */
export function stepsOf({ order, payments, refunds }: ExplainedSaga, now: number): ExplainedStep[] {
  const isLeft = isForgotten({ order, payments, refunds }, now)
  const orderStep = ownStep({ order, payments }, now)
  const steps = [isLeft && isUnfinished(order) ? asForgotten(orderStep) : orderStep, ...endOf({ order, payments }, now)]
  const back = refunds.flatMap((refund) =>
    isLeft && refund.status === 'PENDING' ? refundSteps(refund).map(asForgotten) : refundSteps(refund),
  )
  const later = [...back, ...payments.flatMap(sweepSteps)]
  return [...steps.filter((step) => step !== done || later.length === 0), ...later]
}

/** Marks a step that souk should take and will not: see `isForgotten`. */
const asForgotten = ({ what }: ExplainedStep): ExplainedStep => ({ what: `not automatic any more: ${what}`, at: null })

const isUnfinished = ({ status }: Pick<Order, 'status'>): boolean => status === 'PAID' || status === 'COMPENSATING'
const openOf = (refunds: readonly Refund[]) => refunds.filter(({ status }) => status === 'PENDING')
/** The row that a processor is being asked about now. */
const askingOf = ({ payments, refunds }: ExplainedSaga, now: number) =>
  [...payments, ...openOf(refunds)].find(({ leaseUntil }) => leaseUntil !== null && !isLeaseOver(leaseUntil, now))
/** The due times of the order and its open refunds. */
const timesOf = ({ order, refunds }: ExplainedSaga): number[] =>
  [order.resumeAt, ...openOf(refunds).map(({ resumeAt }) => resumeAt)].filter((at) => at !== null)

/** Returns whether the saga must continue but has no due time. It never continues by itself then. */
const isForgotten = (explained: ExplainedSaga, now: number): boolean =>
  timesOf(explained).length === 0 &&
  (isUnfinished(explained.order) || openOf(explained.refunds).length > 0) &&
  askingOf(explained, now) === undefined

function ownStep(saga: Saga, now: number): ExplainedStep {
  const { order } = saga
  const move = nextStep(saga, now)
  if (move.kind === 'rest') return restOf(saga)
  return { what: wordsOf(move, order), at: order.resumeAt }
}

/** Describes each step of the saga. */
function wordsOf(move: Exclude<SagaStep, { kind: 'rest' }>, { attempts }: Order): string {
  switch (move.kind) {
    case 'create':
      return `create ${of(move)}`
    case 'ask':
      return `query the status of ${of(move)}`
    case 'capture':
      return `capture ${of(move)}`
    case 'void':
      return `void ${of(move)}`
    case 'abandon':
      return `abandon ${of(move)} without a query: it is unknown whether it was created`
    case 'accept':
      return `accept ${of(move)}; the order is then paid`
    case 'confirm':
      return attempts === 0
        ? 'confirm the order'
        : `confirm the order (attempt ${attempts + 1} of ${confirmAttemptsMax}; then it is refunded)`
    case 'release':
      return 'release stock and gift cards'
    case 'endCompensation':
      return 'cancel the order when it is fully refunded'
  }
}
const of = ({ payment: { id, processor } }: { readonly payment: Payment }) => `payment ${id} at ${processor}`

function restOf({ order, payments }: Saga): ExplainedStep {
  const { status, fulfilmentStatus, fulfilledAt, resumeAt } = order
  const waited = payments.find(isOpenPayment)
  if (status === 'PENDING_PAYMENT' && waited && isLost(waited))
    return { what: `nothing: it is unknown whether ${of({ payment: waited })} was created`, at: null }
  if (status === 'PENDING_PAYMENT') return { what: 'wait for the customer to pay', at: null }
  if (status === 'CONFIRMED' && fulfilmentStatus === 'PARTIALLY_FULFILLED')
    return { what: 'wait for the shop to fulfil or refund the rest', at: null }
  if (status === 'CONFIRMED') return { what: 'wait for the shop to fulfil or cancel the order', at: null }
  if (status === 'FULFILLED') return { what: 'complete the order', at: fulfilledAt === null ? null : fulfilledAt + refundWindowMs }
  return resumeAt === null ? done : { what: 'check the order again', at: resumeAt }
}

/** A waiting order expires, whatever comes before. */
const endOf = ({ order }: Saga, now: number): ExplainedStep[] =>
  order.status === 'PENDING_PAYMENT'
    ? [{ what: order.expiresAt <= now ? 'expire the order' : 'expire the order if it is unpaid', at: order.expiresAt }]
    : []

function refundSteps({ id, orderId, processor, status, sentAt, resumeAt }: Refund): ExplainedStep[] {
  const processorName = processor ?? 'no processor'
  if (status === 'PENDING')
    return [{ what: sentAt === null ? `send refund ${id} to ${processorName}` : `query refund ${id} at ${processorName}`, at: resumeAt }]
  if (status === 'MANUAL')
    return [
      {
        what: `pay refund ${id} back manually, then POST /v2/orders/${orderId}/refunds/${id}/settled`,
        at: null,
      },
    ]
  const claim = status === 'CLAIMABLE' ? [{ what: `wait for the customer to claim refund ${id} at ${processorName}`, at: null }] : []
  return resumeAt === null ? claim : [...claim, { what: `query refund ${id} at ${processorName} again`, at: resumeAt }]
}

/** A payment that ended without money may still be captured. */
const sweepSteps = (payment: Payment): ExplainedStep[] =>
  payment.askAt === null ? [] : [{ what: `query ${of({ payment })} again, which ended ${payment.status}`, at: payment.askAt }]

/** Returns the main reason why an order does not move; undefined if it waits for people as it should, or is over. */
export function reasonOf({ order, payments, refunds }: ExplainedSaga, now: number): string | undefined {
  const explained = { order, payments, refunds }
  const asking = askingOf(explained, now)
  if (asking?.leaseUntil) return `a request to ${asking.processor} is in flight, until ${iso(asking.leaseUntil)} at most`
  if (isForgotten(explained, now)) return 'the next step is not scheduled. This is a bug in souk: report it'
  const times = timesOf(explained)
  if (order.status === 'PENDING_PAYMENT' && order.expiresAt + overdueMs <= now) times.push(order.expiresAt)
  const due = Math.min(...times)
  if (due + overdueMs <= now) return `overdue since ${iso(due)}: check that the server and its jobs run (\`souk health\`, \`souk jobs\`)`
  return failureOf({ order, payments, refunds: openOf(refunds) }, now)
}

function failureOf({ order, payments, refunds: [refund] }: ExplainedSaga, now: number): string | undefined {
  const move = nextStep({ order, payments }, now)
  const attempts = order.attempts === 1 ? '1 attempt' : `${order.attempts} attempts`
  if (order.attempts > 0 && move.kind === 'confirm') return `not confirmed after ${attempts}: see order.not_confirmed in the log`
  if (refund && refund.attempts > 0)
    return `refund ${refund.id} is not settled by ${refund.processor} after ${refund.attempts === 1 ? '1 attempt' : `${refund.attempts} attempts`}`
  if (order.attempts > 0)
    return `${'payment' in move ? move.payment.processor : (order.processor ?? 'the processor')} didn't respond to ${attempts}`
  const deciding = payments.find(({ status }) => status === 'PROCESSING')
  if (deciding) return `payment ${deciding.id} is pending at ${deciding.processor}`
  if (refund) return `refund ${refund.id} is pending`
  return order.resumeAt !== null && order.status !== 'PENDING_PAYMENT' ? 'in progress' : undefined
}

const iso = (ms: number) => new Date(ms).toISOString()
