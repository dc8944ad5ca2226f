import type { Writer } from '../../../../../db/engine.ts'
import { locking } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { isLeaseFree, leaseMs, leaseOf, noLease } from '../../../../core/leases.ts'
import { dayMs } from '../../../../lib/day.ts'
import { byHandCode, type Payment } from '../../../payments/payment/domain.ts'
import { fetchPaymentStatus, paymentsOf, paymentsWithin, sendRefund } from '../../../payments/payment/index.ts'
import { restoreRefundedCards } from '../../gift-card/index.ts'
import {
  endedWithoutSale,
  excessAmount,
  mustBeReturned,
  type Order,
  type Refund,
  type RefundParts,
  resumeAfterMs,
  type Saga,
} from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import type { SagaContext } from '../saga/saga-context.ts'
import { applyRefundEffects } from './refund-effects.ts'
import type { RefundedLine } from './refund-lines.ts'
import {
  decideOutcome,
  nextWatchAt,
  type RefundOutcome,
  type RefundResponse,
  unaccountedAmount,
  waitingFields,
} from './refund-responses.ts'

type NewRefund = Pick<Refund, 'purpose' | 'attemptKey'> & {
  order: Order
  payment: Payment | undefined
  parts: RefundParts
  lines?: RefundedLine[]
  reason?: string | null | undefined
  actor?: string
  /** The run that then calls the processor. */
  holder: string
}

/** Inserts a refund before its processor is called; `settleRefund` calls it. */
export async function createRefund(
  tx: Writer,
  { orderStore, newId, clock }: OrderDeps,
  { order, purpose, attemptKey, payment, parts, lines = [], reason, actor = 'system', holder }: NewRefund,
): Promise<Refund> {
  const now = clock.now()
  const through = parts.amount > 0 ? payment : undefined
  const refund: Refund = {
    id: newId('refund'),
    orderId: order.id,
    shopId: order.shopId,
    paymentId: through?.id ?? null,
    processor: through?.processor ?? null,
    processorReference: null,
    currency: order.currency,
    ...parts,
    lines,
    reason: reason ?? null,
    purpose,
    attemptKey,
    actor,
    status: 'PENDING',
    failureCode: null,
    claimUrl: null,
    settledReference: null,
    attempts: 0,
    resumeAt: now + resumeAfterMs,
    sentAt: now,
    ...leaseOf(holder, now),
    createdAt: now,
    updatedAt: now,
  }
  await orderStore.insertRefund(tx, refund)
  return refund
}

/**
 * Creates refunds for the excess money of an order's payments, inside the write that found it.
 * @param saga the order and its payments as this write leaves them
 * @returns the refunds, for `settleRefund`
 */
export async function refundExcess(
  tx: Writer,
  deps: OrderDeps,
  { order, payments }: Saga,
  holder: string,
  { reason, actor }: { reason: string | null; actor: string } = { reason: null, actor: 'system' },
): Promise<Refund[]> {
  // Usually there is no excess, and earlier refunds need not be read.
  if (payments.every((payment) => excessAmount(order, payment, []) === 0)) return []
  const before = await deps.orderStore.refundsOf(tx, order.id)
  const purpose = endedWithoutSale(order) ? 'COMPENSATE' : 'LATE_CAPTURE'
  const begun: Refund[] = []
  for (const payment of payments) {
    const amount = excessAmount(order, payment, before)
    if (amount === 0) continue
    const failed = before.filter((refund) => refund.paymentId === payment.id && refund.purpose === purpose && refund.status === 'FAILED')
    const attemptKey = [purpose, payment.id, payment.captured, ...(failed.length > 0 ? [failed.length] : [])].join(':')
    const parts = { amount, giftCardAmount: 0, giftCards: [] }
    begun.push(await createRefund(tx, deps, { order, purpose, attemptKey, payment, parts, reason, actor, holder }))
  }
  return begun
}

/** Statuses in which the processor is still asked. */
export const openRefundStatuses = ['PENDING', 'CLAIMABLE', 'SUCCEEDED'] as const satisfies readonly Refund['status'][]
type OpenRefundStatus = (typeof openRefundStatuses)[number]
type OpenRefund = Refund & { status: OpenRefundStatus }

/** Returns whether there is anything to ask; of a succeeded refund only while it may still fail. */
const isOpenRefund = (refund: Refund): refund is OpenRefund =>
  refund.status === 'PENDING' || refund.status === 'CLAIMABLE' || (refund.status === 'SUCCEEDED' && refund.resumeAt !== null)

/**
 * Makes the processor refund money, or queries the refund, and applies its response. A second call continues where the
 * first stopped, and only one run at a time calls.
 * @param isNew the write before this call made the refund, so the processor cannot know it
 * @returns the refund afterwards, or the one that replaced it: PENDING without an answer; the job asks again
 */
export async function settleRefund(
  deps: OrderDeps,
  refundId: string,
  { holder, deadline }: Pick<SagaContext, 'holder' | 'deadline'>,
  { isNew = false }: { isNew?: boolean } = {},
): Promise<Refund> {
  const stored = await deps.orderStore.findRefund(deps.db.read, refundId)
  if (!stored) throw new AppError('NOT_FOUND', 'No such refund')
  if (!isOpenRefund(stored)) return stored
  // The lease from the refund's own write must have a full call's time left. A run that was paused must not be the
  // first to send it.
  const isUnsent = isNew && stored.leaseHolder === holder && (stored.leaseUntil ?? 0) - deps.clock.now() > leaseMs / 2
  const refund = isUnsent ? stored : await leaseRefund(deps, stored, holder)
  if (!refund || !isOpenRefund(refund)) return refund ?? stored
  const { response, mayFail, wasSent } = await requestRefundStatus(deps, refund, {
    mayHaveBeenSent: !isUnsent && stored.sentAt !== null,
    // A request must answer its caller in time. The job asks again.
    patienceMs: deadline === undefined ? undefined : deps.failOver.patienceMs,
  })
  const failedBefore =
    response !== undefined && response !== 'notFound' && response.state === 'FAILED' ? await bankFailuresOf(deps, refund) : 0
  const outcome = decideOutcome(refund, response, { now: deps.clock.now(), failedBefore })
  const settledReference = mustBeReturned(refund) && isRefused(response) ? await findExternalRefund(deps, refund) : undefined
  if (settledReference !== undefined) return moveRefund(deps, refund, 'SUCCEEDED', { settledReference, failureCode: null, resumeAt: null })
  return applyOutcome(deps, refund, outcome, { response, mayFail, wasSent, holder })
}

const isRefused = (response: RefundResponse): boolean =>
  response !== undefined && response !== 'notFound' && response.state === 'FAILED' && response.reference === undefined

/** Returns the payment's reference if a refused refund was already made on the processor's own pages. */
async function findExternalRefund(deps: OrderDeps, { id, orderId, paymentId, amount }: Refund): Promise<string | undefined> {
  const payment = (await paymentsOf(deps, orderId)).find((candidate) => candidate.id === paymentId)
  const statusThere = payment && (await fetchPaymentStatus(deps, payment))
  if (!payment || statusThere === undefined || statusThere === 'notFound' || statusThere.refunded === undefined) return undefined
  const others = (await deps.orderStore.refundsOf(deps.db.read, orderId)).filter(
    (candidate) => candidate.id !== id && candidate.paymentId === paymentId,
  )
  if (others.some(({ status }) => status === 'PENDING')) return undefined
  return unaccountedAmount(payment, others, statusThere.refunded) >= amount ? statusThere.reference : undefined
}

/** Counts the failures of the same money at a bank. */
async function bankFailuresOf({ db, orderStore }: OrderDeps, { orderId, paymentId, purpose }: Refund): Promise<number> {
  const all = await orderStore.refundsOf(db.read, orderId)
  return all.filter((one) => one.paymentId === paymentId && one.purpose === purpose && one.status === 'FAILED').length
}

type ReceivedResponse = { response: RefundResponse; mayFail: boolean; wasSent: boolean; holder: string }

async function applyOutcome(deps: OrderDeps, refund: OpenRefund, outcome: RefundOutcome, answered: ReceivedResponse): Promise<Refund> {
  const { response, mayFail, holder } = answered
  const answer = response === 'notFound' ? undefined : response
  const processorReference = answer?.reference ?? refund.processorReference
  const now = deps.clock.now()
  if ('code' in outcome || (outcome.kind === 'wait' && outcome.refused !== undefined)) {
    const { id, orderId, processor } = refund
    const code = 'code' in outcome ? outcome.code : outcome.refused
    if (code !== byHandCode) deps.log.error('refund.failed', { order: orderId, refund: id, processor, code })
  }
  switch (outcome.kind) {
    case 'SUCCEEDED': {
      const resumeAt = mayFail && refund.amount > 0 ? nextWatchAt(now, now) : null
      return moveRefund(deps, refund, 'SUCCEEDED', { processorReference, failureCode: null, resumeAt })
    }
    case 'CLAIMABLE': {
      const { resumeAt } = waitingFields({ ...refund, status: 'CLAIMABLE', createdAt: now }, { response, now })
      const claimUrl = answer?.claimUrl ?? null
      return moveRefund(deps, refund, 'CLAIMABLE', { processorReference, claimUrl, failureCode: null, attempts: 0, resumeAt })
    }
    case 'MANUAL':
      return moveRefund(deps, refund, 'MANUAL', { processorReference, failureCode: outcome.code, resumeAt: null })
    case 'FAILED':
      return failRefund(deps, refund, { failureCode: outcome.code, processorReference })
    case 'again':
      return retryRefund(deps, refund, { code: outcome.code, processorReference, holder })
    case 'wait':
      return postpone(deps, refund, { ...answered, refused: outcome.refused })
  }
}

/**
 * Leases a refund for a call. Undefined while another run holds it; the job then looks again after that lease.
 * Returned unleased if nothing is left to ask.
 */
async function leaseRefund({ db, clock, orderStore: store }: OrderDeps, refund: Refund, holder: string): Promise<Refund | undefined> {
  const now = clock.now()
  return db.write(async (tx) => {
    const leased = await store.leaseRefund(tx, refund, holder, now)
    if (leased) return leased
    // The other run may have settled it.
    const current = await store.lockRefund(tx, refund.id)
    if (!current || !isOpenRefund(current)) return current
    const isDue = current.resumeAt !== null && current.resumeAt <= now
    if (isDue && !isLeaseFree(current, holder, now))
      await store.changeRefund(tx, refund.id, openRefundStatuses, { resumeAt: current.leaseUntil })
    return undefined
  }, locking)
}

/** A refund that failed at a bank would fail again a moment later. */
const retryDelayMs = dayMs

type FailedRefund = { code: string; processorReference: string | null; holder: string }

/**
 * Ends a failed refund and creates its replacement in the same write, to be sent a day later. Returns the replacement.
 */
async function retryRefund(deps: OrderDeps, refund: Refund, { code, processorReference, holder }: FailedRefund): Promise<Refund> {
  const { orderStore: store } = deps
  const { id, orderId, reason, actor } = refund
  const begun = await deps.db.write(async (tx) => {
    const order = await store.lock(tx, orderId)
    const updatedAt = deps.clock.now()
    const change = { processorReference, failureCode: code, resumeAt: null, ...noLease, updatedAt }
    if (!order || !(await store.moveRefund(tx, id, ['PENDING'], 'FAILED', change))) return undefined
    await appendEvent(tx, deps, { orderId, type: 'REFUND_FAILED', detail: { refund: id, code } })
    const payments = await paymentsWithin(tx, deps, orderId)
    const [next] = await refundExcess(tx, deps, { order, payments }, holder, { reason, actor })
    const later = { sentAt: null, resumeAt: updatedAt + retryDelayMs, ...noLease }
    return next && store.changeRefund(tx, next.id, ['PENDING'], later)
  }, locking)
  return begun ?? (await store.findRefund(deps.db.read, id)) ?? refund
}

async function requestRefundStatus(
  deps: OrderDeps,
  refund: Refund,
  { mayHaveBeenSent, patienceMs }: { mayHaveBeenSent: boolean; patienceMs: number | undefined },
): Promise<{ response: RefundResponse; mayFail: boolean; wasSent: boolean }> {
  const { id, orderId, paymentId, amount, currency, processorReference, sentAt, status } = refund
  if (amount > 0 && paymentId === null) throw new Error('a refund of captured money without its payment')
  if (paymentId === null) return { response: { reference: id, state: 'SUCCEEDED' }, mayFail: false, wasSent: false }
  const refundReference = processorReference ?? undefined
  const sent = mayHaveBeenSent ? (sentAt ?? 0) : undefined
  return sendRefund(deps, {
    refundId: id,
    orderId,
    paymentId,
    amount,
    currency,
    refundReference,
    sentAt: sent,
    isCreated: status !== 'PENDING',
    patienceMs,
  })
}

/** Stores a refund's reference and its next query, unless another run is asking. */
async function postpone(
  { db, clock, orderStore: store }: OrderDeps,
  refund: OpenRefund,
  { response, wasSent, refused, holder }: ReceivedResponse & { refused: string | undefined },
): Promise<Refund> {
  const changed = await db.write(async (tx) => {
    const now = clock.now()
    const current = await store.lockRefund(tx, refund.id)
    if (current?.status !== refund.status) return undefined
    const answer = response === 'notFound' ? undefined : response
    const processorReference = answer?.reference ?? current.processorReference
    const claimUrl = current.status === 'CLAIMABLE' ? (answer?.claimUrl ?? current.claimUrl) : null
    const sent = wasSent ? {} : { sentAt: null }
    const next = isLeaseFree(current, holder, now) ? { ...waitingFields(current, { response, refused, now }), ...sent, ...noLease } : {}
    // A succeeded refund's last change is its success.
    const updatedAt = current.status === 'SUCCEEDED' ? current.updatedAt : now
    return store.changeRefund(tx, refund.id, [refund.status], { processorReference, claimUrl, ...next, updatedAt })
  }, locking)
  return changed ?? (await store.findRefund(db.read, refund.id)) ?? refund
}

type RefundEnd = Pick<Refund, 'failureCode' | 'processorReference'>

async function failRefund(deps: OrderDeps, { id, orderId, ...refund }: Refund, ended: RefundEnd): Promise<Refund> {
  const failed = await deps.db.write(async (tx) => {
    await deps.orderStore.lock(tx, orderId)
    const change = { ...ended, resumeAt: null, ...noLease, updatedAt: deps.clock.now() }
    const changed = await deps.orderStore.moveRefund(tx, id, ['PENDING'], 'FAILED', change)
    if (changed) {
      await appendEvent(tx, deps, { orderId, type: 'REFUND_FAILED', detail: { refund: id, code: ended.failureCode ?? 'refused' } })
      await restoreRefundedCards(tx, deps, { orderId, id })
    }
    return changed
  }, locking)
  return failed ?? { ...refund, id, orderId }
}

type RefundTarget = 'SUCCEEDED' | 'CLAIMABLE' | 'MANUAL'
type RefundFields = Partial<Pick<Refund, 'processorReference' | 'claimUrl' | 'settledReference' | 'failureCode' | 'attempts' | 'resumeAt'>>

/** Moves a refund and applies all effects in one write, once. */
async function moveRefund(deps: OrderDeps, refund: OpenRefund, to: RefundTarget, fields: RefundFields): Promise<Refund> {
  const { orderStore: store } = deps
  const done = await deps.db.write(async (tx) => {
    const order = await store.lock(tx, refund.orderId)
    if (!order) throw new Error('a refund without its order')
    const change = { ...fields, ...noLease, updatedAt: deps.clock.now() }
    const moved = await moveFrom(tx, deps, refund, to, change)
    return moved && applyRefundEffects(tx, deps, { order, from: refund.status, refund: moved })
  }, locking)
  return done ?? (await store.findRefund(deps.db.read, refund.id)) ?? refund
}

/** Applies the transition table: a refund that succeeded or is claimable does not enter that status again. */
function moveFrom(tx: Writer, { orderStore: store }: OrderDeps, { id, status }: OpenRefund, to: RefundTarget, change: RefundFields) {
  if (to === 'MANUAL') return store.moveRefund(tx, id, [status], to, change)
  if (to === 'CLAIMABLE') return status === 'PENDING' ? store.moveRefund(tx, id, [status], to, change) : undefined
  return status === 'SUCCEEDED' ? undefined : store.moveRefund(tx, id, [status], to, change)
}
