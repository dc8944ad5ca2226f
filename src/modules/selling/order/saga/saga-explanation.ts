/** Explains an order's saga to an operator: what happens next, when, and why it has not happened. */
import { isLeaseOver } from '../../../../core/leases.ts'
import { isLost, isOpenPayment, type Payment } from '../../../payments/payment/domain.ts'
import { confirmAttemptsMax, nextStep, type Order, type Refund, refundWindowMs, type Saga, type SagaStep } from '../domain.ts'

/** An action of souk or of a person. `at`: milliseconds since the epoch; null without a set time. */
export type ExplainedStep = { readonly what: string; readonly at: number | null }
type ExplainedSaga = Saga & { readonly refunds: readonly Refund[] }

/** The job runs every few seconds. A row that is overdue for longer was forgotten, or no job runs. */
export const overdueMs = 60_000

const done: ExplainedStep = { what: 'nothing: it is over', at: null }

/** Lists what is still to come, the saga's own step first. */
export function stepsOf({ order, payments, refunds }: ExplainedSaga, now: number): ExplainedStep[] {
  const isLeft = isForgotten({ order, payments, refunds }, now)
  const own = ownStep({ order, payments }, now)
  const steps = [isLeft && isUnfinished(order) ? leftToDo(own) : own, ...endOf({ order, payments }, now)]
  const back = refunds.flatMap((refund) =>
    isLeft && refund.status === 'PENDING' ? refundSteps(refund).map(leftToDo) : refundSteps(refund),
  )
  const later = [...back, ...payments.flatMap(sweepSteps)]
  return [...steps.filter((step) => step !== done || later.length === 0), ...later]
}

/** Marks a step that souk should take and will not: see `isForgotten`. */
const leftToDo = ({ what }: ExplainedStep): ExplainedStep => ({ what: `nothing by itself; left to do: ${what}`, at: null })

const isUnfinished = ({ status }: Pick<Order, 'status'>): boolean => status === 'PAID' || status === 'COMPENSATING'
const openOf = (refunds: readonly Refund[]) => refunds.filter(({ status }) => status === 'PENDING')
/** The row that a processor is being asked about now. */
const askingOf = ({ payments, refunds }: ExplainedSaga, now: number) =>
  [...payments, ...openOf(refunds)].find(({ leaseUntil }) => leaseUntil !== null && !isLeaseOver(leaseUntil, now))
/** The due times of the order and its open refunds. */
const timesOf = ({ order, refunds }: ExplainedSaga): number[] =>
  [order.resumeAt, ...openOf(refunds).map(({ resumeAt }) => resumeAt)].filter((at) => at !== null)

/** Whether the saga must continue but has no due time. It never continues by itself then. */
const isForgotten = (looked: ExplainedSaga, now: number): boolean =>
  timesOf(looked).length === 0 && (isUnfinished(looked.order) || openOf(looked.refunds).length > 0) && askingOf(looked, now) === undefined

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
      return `${of(move)} is to be begun`
    case 'ask':
      return `${of(move)} is asked about: what has become of it`
    case 'capture':
      return `the money of ${of(move)} is taken`
    case 'void':
      return `${of(move)} is given up`
    case 'abandon':
      return `${of(move)} is given up without asking: nobody can know whether it was begun`
    case 'accept':
      return `the money that came on ${of(move)} is counted, and the order is paid`
    case 'confirm':
      return attempts === 0
        ? 'it is made a sale'
        : `it is made a sale: try ${attempts + 1}; after ${confirmAttemptsMax} its money goes back`
    case 'release':
      return 'its stock and its gift cards are given back'
    case 'endCompensation':
      return 'it is cancelled, once all of its money is back'
  }
}
const of = ({ payment: { id, processor } }: { readonly payment: Payment }) => `payment ${id} at ${processor}`

function restOf({ order, payments }: Saga): ExplainedStep {
  const { status, fulfilmentStatus, fulfilledAt, resumeAt } = order
  const waited = payments.find(isOpenPayment)
  if (status === 'PENDING_PAYMENT' && waited && isLost(waited))
    return { what: `nothing: nobody can know whether ${of({ payment: waited })} was begun`, at: null }
  if (status === 'PENDING_PAYMENT') return { what: 'its shopper pays, or nobody does', at: null }
  if (status === 'CONFIRMED' && fulfilmentStatus === 'PARTIALLY_FULFILLED')
    return { what: 'its shop sends the rest, or refunds it', at: null }
  if (status === 'CONFIRMED') return { what: 'its shop sends it, or cancels it', at: null }
  if (status === 'FULFILLED') return { what: 'it is complete', at: fulfilledAt === null ? null : fulfilledAt + refundWindowMs }
  return resumeAt === null ? done : { what: 'it is looked at once more', at: resumeAt }
}

/** A waiting order expires, whatever comes before. */
const endOf = ({ order }: Saga, now: number): ExplainedStep[] =>
  order.status === 'PENDING_PAYMENT'
    ? [{ what: order.expiresAt <= now ? 'it expires' : 'it expires, unless it is paid', at: order.expiresAt }]
    : []

function refundSteps({ id, orderId, processor, status, sentAt, resumeAt }: Refund): ExplainedStep[] {
  const who = processor ?? 'nobody'
  if (status === 'PENDING')
    return [{ what: sentAt === null ? `${who} is told of refund ${id}` : `${who} is asked about refund ${id}`, at: resumeAt }]
  if (status === 'MANUAL')
    return [
      {
        what: `refund ${id} is paid back by hand; POST /v2/orders/${orderId}/refunds/${id}/settled says that it was`,
        at: null,
      },
    ]
  const claim = status === 'CLAIMABLE' ? [{ what: `the shopper fetches refund ${id} at ${who}`, at: null }] : []
  return resumeAt === null ? claim : [...claim, { what: `${who} is asked about refund ${id} again`, at: resumeAt }]
}

/** A payment that ended without money may still be captured. */
const sweepSteps = (payment: Payment): ExplainedStep[] =>
  payment.askAt === null ? [] : [{ what: `${of({ payment })}, which ended ${payment.status}, is asked about again`, at: payment.askAt }]

/** Returns the main reason why an order does not move; undefined if it waits for people as it should, or is over. */
export function reasonOf({ order, payments, refunds }: ExplainedSaga, now: number): string | undefined {
  const looked = { order, payments, refunds }
  const asking = askingOf(looked, now)
  if (asking?.leaseUntil) return `${asking.processor} is being asked just now, until ${iso(asking.leaseUntil)} at most`
  if (isForgotten(looked, now)) return 'no time is set at which it goes on: that is a fault of souk, report it'
  const times = timesOf(looked)
  if (order.status === 'PENDING_PAYMENT' && order.expiresAt + overdueMs <= now) times.push(order.expiresAt)
  const due = Math.min(...times)
  if (due + overdueMs <= now)
    return `it was due at ${iso(due)} and nobody took it up: see that a server runs and its jobs do (\`souk health\`, \`souk jobs\`)`
  return failureOf({ order, payments, refunds: openOf(refunds) }, now)
}

function failureOf({ order, payments, refunds: [refund] }: ExplainedSaga, now: number): string | undefined {
  const move = nextStep({ order, payments }, now)
  const times = order.attempts === 1 ? 'once' : `${order.attempts} times in a row`
  if (order.attempts > 0 && move.kind === 'confirm') return `it could not be made a sale, ${times}: order.not_confirmed in the log says why`
  if (refund && refund.attempts > 0) return `${refund.processor} has not settled refund ${refund.id}, asked ${refund.attempts} times`
  if (order.attempts > 0)
    return `${'payment' in move ? move.payment.processor : (order.processor ?? 'its processor')} did not answer, ${times}`
  const deciding = payments.find(({ status }) => status === 'PROCESSING')
  if (deciding) return `${deciding.processor} has not decided about payment ${deciding.id}`
  if (refund) return `refund ${refund.id} is under way`
  return order.resumeAt !== null && order.status !== 'PENDING_PAYMENT' ? 'it is under way' : undefined
}

const iso = (ms: number) => new Date(ms).toISOString()
