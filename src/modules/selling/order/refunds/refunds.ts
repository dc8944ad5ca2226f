import type { Writer } from '../../../../../db/engine.ts'
import { locking } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { isFree, leaseMs, leaseOf, noLease } from '../../../../core/leases.ts'
import { dayMs } from '../../../../lib/day.ts'
import type { Payment } from '../../../payments/payment/domain.ts'
import { fetchPaymentStatus, paymentsOf, paymentsWithin, sendRefund } from '../../../payments/payment/index.ts'
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
import { decideOutcome, nextWatchAt, type Outcome, type Said, unaccountedAmount, waitingFields } from './refund-responses.ts'

type NewRefund = Pick<Refund, 'purpose' | 'attemptKey'> & {
  order: Order
  payment: Payment | undefined
  parts: RefundParts
  lines?: RefundedLine[]
  reason?: string | null | undefined
  actor?: string
  /** Who goes on to tell the processor. */
  holder: string
}

/** Writes down that money is to go back, before its processor is asked: `settleRefund` does that. */
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
 * Begins to give back what nobody waits for, of all the payments of an order, inside the write that found it so.
 * @param saga the order and its payments as this write leaves them
 * @returns the refunds, which `settleRefund` asks for
 */
export async function refundExcess(
  tx: Writer,
  deps: OrderDeps,
  { order, payments }: Saga,
  holder: string,
  { reason, actor }: { reason: string | null; actor: string } = { reason: null, actor: 'system' },
): Promise<Refund[]> {
  // What is captured and counts is the rule: then nothing was refunded yet that matters here.
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

/** What its processor is still asked about: all but those that have come to an end. */
export const openRefundStatuses = ['PENDING', 'CLAIMABLE', 'SUCCEEDED'] as const satisfies readonly Refund['status'][]
type OpenRefundStatus = (typeof openRefundStatuses)[number]
type OpenRefund = Refund & { status: OpenRefundStatus }

/** Whether there is anything to ask: of one that came through only where it may still fail. */
const isAsked = (refund: Refund): refund is OpenRefund =>
  refund.status === 'PENDING' || refund.status === 'CLAIMABLE' || (refund.status === 'SUCCEEDED' && refund.resumeAt !== null)

/**
 * Asks the processor to give money back, or what became of it, and notes what it says. Called again, it goes on where it was; of many at
 * once one asks.
 * @param isNew the write before this call made the refund: the processor cannot know it yet
 * @returns the refund as it is then, or the one that was begun in its place: PENDING when the processor has not answered; the job asks again
 */
export async function settleRefund(
  deps: OrderDeps,
  refundId: string,
  { holder, until }: Pick<SagaContext, 'holder' | 'until'>,
  { isNew = false }: { isNew?: boolean } = {},
): Promise<Refund> {
  const found = await deps.orderStore.findRefund(deps.db.read, refundId)
  if (!found) throw new AppError('NOT_FOUND', 'No such refund')
  if (!isAsked(found)) return found
  // With a whole call's time left of the lease from the write that made it. Whoever stood still since may not be the first to send it.
  const isUnsent = isNew && found.leaseHolder === holder && (found.leaseUntil ?? 0) - deps.clock.now() > leaseMs / 2
  const refund = isUnsent ? found : await leased(deps, found, holder)
  if (!refund || !isAsked(refund)) return refund ?? found
  const { said, mayFail, wasSent } = await requestRefundStatus(deps, refund, {
    mayBeSent: !isUnsent && found.sentAt !== null,
    // Whoever waits for an answer of ours hears how it stands; the job asks on.
    patienceMs: until === undefined ? undefined : deps.failOver.patienceMs,
  })
  const failedBefore = said !== undefined && said !== 'unheard' && said.state === 'FAILED' ? await bankFailuresOf(deps, refund) : 0
  const outcome = decideOutcome(refund, said, { now: deps.clock.now(), failedBefore })
  const settledReference = mustBeReturned(refund) && isRefused(said) ? await findExternalRefund(deps, refund) : undefined
  if (settledReference !== undefined) return move(deps, refund, 'SUCCEEDED', { settledReference, failureCode: null, resumeAt: null })
  return follow(deps, refund, outcome, { said, mayFail, wasSent, holder })
}

const isRefused = (said: Said): boolean =>
  said !== undefined && said !== 'unheard' && said.state === 'FAILED' && said.reference === undefined

/** What is refused may be back already: its shop gave it back at the processor's own page. Returns the payment's name there if so. */
async function findExternalRefund(deps: OrderDeps, { id, orderId, paymentId, amount }: Refund): Promise<string | undefined> {
  const payment = (await paymentsOf(deps, orderId)).find((one) => one.id === paymentId)
  const there = payment && (await fetchPaymentStatus(deps, payment))
  if (!payment || there === undefined || there === 'unheard' || there.refunded === undefined) return undefined
  const others = (await deps.orderStore.refundsOf(deps.db.read, orderId)).filter((one) => one.id !== id && one.paymentId === paymentId)
  if (others.some(({ status }) => status === 'PENDING')) return undefined
  return unaccountedAmount(payment, others, there.refunded) >= amount ? there.reference : undefined
}

/** How often money of the same kind of the same payment has failed at a bank. */
async function bankFailuresOf({ db, orderStore }: OrderDeps, { orderId, paymentId, purpose }: Refund): Promise<number> {
  const all = await orderStore.refundsOf(db.read, orderId)
  return all.filter((one) => one.paymentId === paymentId && one.purpose === purpose && one.status === 'FAILED').length
}

type Answered = { said: Said; mayFail: boolean; wasSent: boolean; holder: string }

async function follow(deps: OrderDeps, refund: OpenRefund, outcome: Outcome, answered: Answered): Promise<Refund> {
  const { said, mayFail, holder } = answered
  const answer = said === 'unheard' ? undefined : said
  const processorReference = answer?.reference ?? refund.processorReference
  const now = deps.clock.now()
  if ('code' in outcome || (outcome.kind === 'wait' && outcome.refused !== undefined)) {
    const { id, orderId, processor } = refund
    const code = 'code' in outcome ? outcome.code : outcome.refused
    deps.log.error('refund.failed', { order: orderId, refund: id, processor, code })
  }
  switch (outcome.kind) {
    case 'SUCCEEDED': {
      const resumeAt = mayFail && refund.amount > 0 ? nextWatchAt(now, now) : null
      return move(deps, refund, 'SUCCEEDED', { processorReference, failureCode: null, resumeAt })
    }
    case 'CLAIMABLE': {
      const { resumeAt } = waitingFields({ ...refund, status: 'CLAIMABLE', createdAt: now }, { said, now })
      const claimUrl = answer?.claimUrl ?? null
      return move(deps, refund, 'CLAIMABLE', { processorReference, claimUrl, failureCode: null, attempts: 0, resumeAt })
    }
    case 'MANUAL':
      return move(deps, refund, 'MANUAL', { processorReference, failureCode: outcome.code, resumeAt: null })
    case 'FAILED':
      return fail(deps, refund, { failureCode: outcome.code, processorReference })
    case 'again':
      return retryRefund(deps, refund, { code: outcome.code, processorReference, holder })
    case 'wait':
      return postpone(deps, refund, { ...answered, refused: outcome.refused })
  }
}

/** Takes a refund for a call. Undefined while somebody else has it: then the job looks again once they cannot have it any more; as it is where nothing is left to ask. */
async function leased({ db, clock, orderStore: store }: OrderDeps, refund: Refund, holder: string): Promise<Refund | undefined> {
  const now = clock.now()
  return db.write(async (tx) => {
    const taken = await store.leaseRefund(tx, refund, holder, now)
    if (taken) return taken
    // As it stands by now: whoever had it may have come to an end with it.
    const current = await store.lockRefund(tx, refund.id)
    if (!current || !isAsked(current)) return current
    const isDue = current.resumeAt !== null && current.resumeAt <= now
    if (isDue && !isFree(current, holder, now))
      await store.changeRefund(tx, refund.id, openRefundStatuses, { resumeAt: current.leaseUntil })
    return undefined
  }, locking)
}

/** What failed at a bank does so again a moment later. */
const owedAgainMs = dayMs

type Failed = { code: string; processorReference: string | null; holder: string }

/** Ends a refund that has failed, and begins another one of the same money in the same write, which is sent a day later. Returns that one. */
async function retryRefund(deps: OrderDeps, refund: Refund, { code, processorReference, holder }: Failed): Promise<Refund> {
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
    const later = { sentAt: null, resumeAt: updatedAt + owedAgainMs, ...noLease }
    return next && store.changeRefund(tx, next.id, ['PENDING'], later)
  }, locking)
  return begun ?? (await store.findRefund(deps.db.read, id)) ?? refund
}

async function requestRefundStatus(
  deps: OrderDeps,
  refund: Refund,
  { mayBeSent, patienceMs }: { mayBeSent: boolean; patienceMs: number | undefined },
): Promise<{ said: Said; mayFail: boolean; wasSent: boolean }> {
  const { id, orderId, paymentId, amount, currency, processorReference, sentAt, status } = refund
  if (amount > 0 && paymentId === null) throw new Error('a refund of captured money without its payment')
  if (paymentId === null) return { said: { reference: id, state: 'SUCCEEDED' }, mayFail: false, wasSent: false }
  const refundReference = processorReference ?? undefined
  const sent = mayBeSent ? (sentAt ?? 0) : undefined
  return sendRefund(deps, {
    refundId: id,
    orderId,
    paymentId,
    amount,
    currency,
    refundReference,
    sentAt: sent,
    isMade: status !== 'PENDING',
    patienceMs,
  })
}

/** Notes what the processor calls a refund, and when it is asked about it again: unless somebody else is asking by now, who does. */
async function postpone(
  { db, clock, orderStore: store }: OrderDeps,
  refund: OpenRefund,
  { said, wasSent, refused, holder }: Answered & { refused: string | undefined },
): Promise<Refund> {
  const changed = await db.write(async (tx) => {
    const now = clock.now()
    const current = await store.lockRefund(tx, refund.id)
    if (current?.status !== refund.status) return undefined
    const answer = said === 'unheard' ? undefined : said
    const processorReference = answer?.reference ?? current.processorReference
    const claimUrl = current.status === 'CLAIMABLE' ? (answer?.claimUrl ?? current.claimUrl) : null
    const sent = wasSent ? {} : { sentAt: null }
    const next = isFree(current, holder, now) ? { ...waitingFields(current, { said, refused, now }), ...sent, ...noLease } : {}
    // Of one that came through, its last change is when it did.
    const updatedAt = current.status === 'SUCCEEDED' ? current.updatedAt : now
    return store.changeRefund(tx, refund.id, [refund.status], { processorReference, claimUrl, ...next, updatedAt })
  }, locking)
  return changed ?? (await store.findRefund(db.read, refund.id)) ?? refund
}

type Ended = Pick<Refund, 'failureCode' | 'processorReference'>

async function fail(deps: OrderDeps, { id, orderId, ...refund }: Refund, ended: Ended): Promise<Refund> {
  const failed = await deps.db.write(async (tx) => {
    await deps.orderStore.lock(tx, orderId)
    const change = { ...ended, resumeAt: null, ...noLease, updatedAt: deps.clock.now() }
    const changed = await deps.orderStore.moveRefund(tx, id, ['PENDING'], 'FAILED', change)
    if (changed)
      await appendEvent(tx, deps, { orderId, type: 'REFUND_FAILED', detail: { refund: id, code: ended.failureCode ?? 'refused' } })
    return changed
  }, locking)
  return failed ?? { ...refund, id, orderId }
}

type To = 'SUCCEEDED' | 'CLAIMABLE' | 'MANUAL'
type Fields = Partial<Pick<Refund, 'processorReference' | 'claimUrl' | 'settledReference' | 'failureCode' | 'attempts' | 'resumeAt'>>

/** Moves a refund on, and does everything that follows from it, in one write: once, whoever else is at it. */
async function move(deps: OrderDeps, refund: OpenRefund, to: To, fields: Fields): Promise<Refund> {
  const { orderStore: store } = deps
  const done = await deps.db.write(async (tx) => {
    const order = await store.lock(tx, refund.orderId)
    if (!order) throw new Error('a refund without its order')
    const change = { ...fields, ...noLease, updatedAt: deps.clock.now() }
    const moved = await moveFrom(tx, deps, refund, to, change)
    if (moved) await applyRefundEffects(tx, deps, { order, from: refund.status, refund: moved })
    return moved
  }, locking)
  return done ?? (await store.findRefund(deps.db.read, refund.id)) ?? refund
}

/** As the table of transitions has it: what came through, or can be claimed, does not become what it is. */
function moveFrom(tx: Writer, { orderStore: store }: OrderDeps, { id, status }: OpenRefund, to: To, change: Fields) {
  if (to === 'MANUAL') return store.moveRefund(tx, id, [status], to, change)
  if (to === 'CLAIMABLE') return status === 'PENDING' ? store.moveRefund(tx, id, [status], to, change) : undefined
  return status === 'SUCCEEDED' ? undefined : store.moveRefund(tx, id, [status], to, change)
}
