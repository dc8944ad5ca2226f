import type { Writer } from '../../../../db/engine.ts'
import {
  type NewPayment,
  type Processor,
  type ProcessorPayment,
  ProcessorRefused,
  ProcessorUnavailable,
  UnknownAnswer,
  withTimeout,
} from '../../../clients/processors/processor.ts'
import { locking } from '../../../core/command-context.ts'
import { leaseMs, leaseOf, noLease } from '../../../core/leases.ts'
import { pick, withoutUndefined } from '../../../lib/objects.ts'
import { messagesUrlOf } from './callbacks.ts'
import { type Payer, parseSealedDetails, sealedDetailsText, shopperOf } from './create-payment.ts'
import { hasNoReferences, isManualPayment, type Payment, type PaymentChoice, paymentTokenSeal } from './domain.ts'
import { manualAnswer } from './manual-payment.ts'
import { type BoundProcessor, callThroughBreaker, processorOf } from './processors.ts'
import type { PaymentDeps } from './providers.ts'

/** The fields of an order that its payment needs. */
type Payable = Payer & { id: string; shopId: string; amountDue: number; currency: string }

/** Only processors with accounts are given the shopper's details; the sandbox is not. */
function sealedFor({ keyring }: PaymentDeps, paymentId: string, order: Payer, { token, accountId }: PaymentChoice): string | null {
  if (token === undefined && accountId === '') return null
  const sealedDetails = { ...withoutUndefined({ token }), ...(accountId === '' ? {} : { shopper: shopperOf(order) }) }
  return keyring.seal(sealedDetailsText(sealedDetails), paymentTokenSeal(paymentId))
}

/**
 * Creates a payment inside the write of its order, before the processor is called.
 * @param holder the run that then calls the processor
 */
export async function createPayment(
  tx: Writer,
  deps: PaymentDeps,
  { order, choice, holder }: { order: Payable; choice: PaymentChoice; holder: string },
): Promise<Payment> {
  const id = deps.newId('payment')
  const now = deps.clock.now()
  const payment: Payment = {
    id,
    orderId: order.id,
    shopId: order.shopId,
    ...pick(choice, 'attemptKey', 'method', 'processor', 'accountId', 'mode'),
    processorReference: null,
    references: {},
    sealedToken: sealedFor(deps, id, order, choice),
    returnUrl: choice.returnUrl ?? null,
    clientParameters: choice.manual ? pick(choice.manual, 'code', 'title', 'instructions') : {},
    amount: order.amountDue,
    currency: order.currency,
    authorized: 0,
    captured: 0,
    refunded: 0,
    status: 'PENDING',
    failureCode: null,
    sentAt: now,
    askedAt: null,
    endedAt: null,
    askAt: null,
    ...(choice.manual ? noLease : leaseOf(holder, now)),
    createdAt: now,
    updatedAt: now,
  }
  await deps.paymentStore.insert(tx, payment)
  return payment
}

/** An operation on a payment at its processor. */
export type PaymentOperation = 'create' | 'ask' | 'capture' | 'void'

/** A processor's answer about a payment; without a reference if none was started, or it is unknown. */
export type PaymentAnswer = Omit<ProcessorPayment, 'reference'> & { readonly reference: string | undefined }

/** `taken` while another run holds the payment, `unanswered` without a reliable answer. */
type OperationResult = { readonly answer: PaymentAnswer } | 'unanswered' | 'taken'

type OperationOptions = {
  /** The holder of the payment's lease. */
  readonly holder: string
  /** This run created the payment, and its processor was not called yet. */
  readonly isNew?: boolean
  /** How long to wait for the answer, in milliseconds; undefined: the processor's own timeout. */
  readonly patienceMs?: number | undefined
}

/**
 * Calls a payment's processor. Every operation but a query needs the payment's lease. It is taken here, unless
 * `holder` has it from the write before. The write that records the answer returns it.
 */
export async function requestProcessor(
  deps: PaymentDeps,
  operation: PaymentOperation,
  payment: Payment,
  options: OperationOptions,
): Promise<OperationResult> {
  // Without a call there is nothing to lease: the write that records the answer decides.
  if (isManualPayment(payment)) return { answer: manualAnswer(operation === 'void', payment) }
  const bound = await processorOf(deps, payment)
  if (!bound) {
    deps.log.error('payment.processor_missing', traceOf(payment))
    return 'unanswered'
  }
  if (operation !== 'ask' && !(await takeLease(deps, operation, payment, options.holder))) return 'taken'
  const answer = await answerOf(deps, bound, { operation, payment, ...options })
  if (!answer) return 'unanswered'
  const { state, failureCode: code } = answer
  const fields = { ...traceOf(payment), question: operation, state, ...(code === undefined ? {} : { code }) }
  deps.log.info(state === 'FAILED' ? 'payment.declined' : 'payment.answered', fields)
  return { answer }
}

/** The fields of every log line about a payment. */
const traceOf = ({ id, orderId, processor }: Payment) => ({ order: orderId, payment: id, processor })

/**
 * Returns whether the holder has the lease for a call. An ended payment may be voided too: the shopper can retry it.
 */
async function takeLease(
  { db, clock, paymentStore }: PaymentDeps,
  operation: PaymentOperation,
  payment: Payment,
  holder: string,
): Promise<boolean> {
  const now = clock.now()
  const { leaseHolder, leaseUntil, sentAt } = payment
  // The write before this call leased it, and a full call's time is left.
  const isHeld = leaseHolder === holder && leaseUntil !== null && leaseUntil - now > leaseMs / 2
  if (isHeld && (operation !== 'create' || sentAt !== null)) return true
  const which = operation === 'void' ? 'notCaptured' : 'openOnly'
  const sent = operation === 'create' ? { sentAt: sentAt ?? now } : {}
  return (await db.write((tx) => paymentStore.lease(tx, payment.id, { holder, now, which, sent }), locking)) !== undefined
}

/** Returns the fields that identify a payment for its processor. */
export const identifiersOf = ({ id, processorReference, references, amount, currency }: Payment) => ({
  paymentId: id,
  reference: processorReference ?? undefined,
  references,
  amount,
  currency,
})

const unknownAnswerAdvice =
  'The state is kept and queried again. Compare it with the dashboard of the processor. If this repeats, look for a newer version of souk'

/** Logs that a processor did not answer, or sent an answer that its client does not know. */
export function logUnavailable(
  { log }: PaymentDeps,
  of: 'payment' | 'refund',
  fields: { readonly error: Error; readonly [name: string]: unknown },
) {
  if (fields.error instanceof UnknownAnswer) log.warn(`${of}.unknown_answer`, { ...fields, advice: unknownAnswerAdvice })
  else log.warn(`${of}.no_answer`, fields)
}

type OperationRequest = OperationOptions & { readonly operation: PaymentOperation; readonly payment: Payment }

async function answerOf(deps: PaymentDeps, bound: BoundProcessor, request: OperationRequest): Promise<PaymentAnswer | undefined> {
  const { operation, payment, patienceMs } = request
  const { findable, createRepeatsMs } = bound.processor.capabilities
  try {
    const answer =
      operation === 'create'
        ? await createAtProcessor(deps, bound, request)
        : await callThroughBreaker(deps, bound, (processor) => withTimeout(patienceMs, operations[operation](payment)(processor)))
    return answer && normalizeAnswer(bound, request, answer)
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    // A refused payment has failed, and one that never started needs no void.
    if (error instanceof ProcessorRefused && operation === 'create') return refusal(payment, 'FAILED', error)
    if (error instanceof ProcessorRefused && operation === 'void' && error.code === 'not_found') return refusal(payment, 'VOIDED', error)
    logUnavailable(deps, 'payment', { ...traceOf(payment), question: operation, error })
    if (operation === 'ask') return undefined
    // It has no reference and cannot be found, and no page has its client parameters. It is not created again.
    if (operation === 'void' && !findable && hasNoReferences(payment))
      return { ...lostAnswer, state: 'FAILED', failureCode: 'not_answered' }
    const isCertain = error instanceof ProcessorUnavailable && error.neverSent
    if (operation === 'create' && !findable) {
      if (createRepeatsMs > 0) return undefined
      // A payment that cannot be found by our id is never created again, unless it certainly was not created.
      if (!isCertain) return lostAnswer
      await deps.db.write((tx) => deps.paymentStore.change(tx, payment.id, ['PENDING'], { sentAt: null }), locking)
    }
    // A run with a timeout fails over, and the payment is watched.
    if (isCertain || (patienceMs !== undefined && error instanceof ProcessorUnavailable)) return undefined
    // The lost answer may have had an effect, so the processor is queried.
    const status = await fetchStatus(deps, bound, payment, patienceMs)
    if (status !== 'notFound') return status
    return operation === 'void' && error instanceof ProcessorRefused ? refusal(payment, 'VOIDED', error) : undefined
  }
}

const operations: Record<
  Exclude<PaymentOperation, 'create'>,
  (payment: Payment) => (processor: Processor) => Promise<ProcessorPayment | undefined>
> = {
  ask: (payment) => (processor) => processor.retrieve(identifiersOf(payment)),
  capture: (payment) => (processor) => processor.capture(identifiersOf(payment)),
  void: (payment) => (processor) => processor.void(identifiersOf(payment)),
}

/**
 * Normalizes an answer. An open payment with client parameters waits for the shopper. A voided payment that stays open
 * (a session of Checkout.com) counts as voided if it cannot capture by itself: it is watched.
 */
function normalizeAnswer(
  { processor }: BoundProcessor,
  { operation, payment }: Pick<OperationRequest, 'operation' | 'payment'>,
  answer: PaymentAnswer,
): PaymentAnswer {
  const isOpen = answer.state === 'PENDING' || answer.state === 'REQUIRES_ACTION'
  if (operation === 'void' && isOpen && !capturesWithoutCapture(processor, payment)) return { ...answer, state: 'VOIDED' }
  return answer.state === 'PENDING' && answer.clientParameters !== undefined ? { ...answer, state: 'REQUIRES_ACTION' } : answer
}

/** Returns whether a payment by this method is captured without a call of ours. */
const capturesWithoutCapture = ({ capabilities: { capturesItself } }: Processor, { method }: Pick<Payment, 'method'>): boolean =>
  typeof capturesItself === 'boolean' ? capturesItself : capturesItself.includes(method)

/** It is unknown whether the payment was started. */
const lostAnswer: PaymentAnswer = { reference: undefined, state: 'PROCESSING', authorized: 0, captured: 0 }

/** How long a create without an answer may still arrive. A payment unknown after that was never created. */
const createArrivesMs = 60_000

/**
 * Starts a payment. One that may have been sent is sent again only while its processor treats that as the same
 * payment. Later it is queried, and one that cannot be queried is lost. The lease is renewed after a query, which may
 * have used it up.
 * @throws ProcessorUnavailable also while an earlier create may be in transit, or if another run holds the payment
 */
async function createAtProcessor(
  deps: PaymentDeps,
  bound: BoundProcessor,
  { payment, holder, isNew = false, patienceMs }: OperationRequest,
): Promise<PaymentAnswer> {
  const { createRepeatsMs, findable } = bound.processor.capabilities
  const { sentAt } = payment
  const maySend = isNew || sentAt === null || deps.clock.now() - sentAt < createRepeatsMs
  if (!maySend) {
    if (!findable) return lostAnswer
    const existing = await callThroughBreaker(deps, bound, (processor) => withTimeout(patienceMs, operations.ask(payment)(processor)))
    if (existing) return existing
    const now = deps.clock.now()
    // A future time comes from a clock that was set back.
    if (now - sentAt < createArrivesMs && sentAt <= now) throw notStartedAgainError('an earlier attempt may still arrive')
    if (!(await renewLease(deps, payment, holder, now))) throw notStartedAgainError('another run holds it or has sent it')
  }
  const newPayment = await newPaymentOf(deps, payment)
  return callThroughBreaker(deps, bound, (processor) => withTimeout(patienceMs, processor.create(newPayment)))
}

/**
 * Renews the lease for another call of this run and records the send time; false if another run sent it or holds it.
 */
const renewLease = ({ db, paymentStore }: PaymentDeps, { id, sentAt }: Payment, holder: string, now: number): Promise<boolean> =>
  db.write(async (tx) => {
    const leased = await paymentStore.lease(tx, id, { holder, now, which: 'openOnly', sent: {} })
    return leased?.sentAt === sentAt && (await paymentStore.change(tx, leased, [leased.status], { sentAt: now })) !== undefined
  }, locking)

const notStartedAgainError = (why: string) => new ProcessorUnavailable(`the payment is not started again: ${why}`, { neverSent: true })

async function newPaymentOf(deps: PaymentDeps, payment: Payment): Promise<NewPayment> {
  const { id, amount, currency, method, sealedToken, returnUrl } = payment
  const messagesUrl = await messagesUrlOf(deps, payment)
  const { token, shopper } = sealedToken === null ? {} : parseSealedDetails(deps.keyring.unseal(sealedToken, paymentTokenSeal(id)))
  return {
    paymentId: id,
    amount,
    currency,
    method,
    token,
    returnUrl: returnUrl ?? undefined,
    ...withoutUndefined({ messagesUrl, shopper }),
  }
}

const refusal = (payment: Payment, state: 'FAILED' | 'VOIDED', { code }: ProcessorRefused): PaymentAnswer => ({
  reference: payment.processorReference ?? undefined,
  state,
  authorized: 0,
  captured: 0,
  failureCode: code,
})

/** Queries a payment: `notFound` if the processor does not know it, undefined without an answer. */
async function fetchStatus(
  deps: PaymentDeps,
  bound: BoundProcessor,
  payment: Payment,
  patienceMs?: number,
): Promise<ProcessorPayment | 'notFound' | undefined> {
  try {
    return (await callThroughBreaker(deps, bound, (processor) => withTimeout(patienceMs, operations.ask(payment)(processor)))) ?? 'notFound'
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    logUnavailable(deps, 'payment', { ...traceOf(payment), question: 'ask', error })
    return undefined
  }
}

/**
 * Returns whether a payment that may have been started can capture money by itself, and whether it can be found by our
 * id.
 */
export async function failOverCapabilities(deps: PaymentDeps, payment: Payment): Promise<{ capturesItself: boolean; isFindable: boolean }> {
  const bound = await processorOf(deps, payment)
  if (!bound) return { capturesItself: true, isFindable: false }
  return { capturesItself: capturesWithoutCapture(bound.processor, payment), isFindable: bound.processor.capabilities.findable }
}

/** Queries a payment in any status: `notFound` if the processor does not know it, undefined without an answer. */
export async function fetchPaymentStatus(deps: PaymentDeps, payment: Payment): Promise<ProcessorPayment | 'notFound' | undefined> {
  const bound = await processorOf(deps, payment)
  return bound && fetchStatus(deps, bound, payment)
}

/** Returns whether a payment's account is still set up. */
export async function canQueryPayment(deps: PaymentDeps, paymentId: string): Promise<boolean> {
  const payment = await deps.paymentStore.find(paymentId)
  return payment !== undefined && (await processorOf(deps, payment)) !== undefined
}

/** Lists all payments of an order, oldest first. */
export const paymentsOf = ({ paymentStore }: PaymentDeps, orderId: string): Promise<Payment[]> => paymentStore.ofOrder(orderId)

/** Returns a run's leases on an order's payments, inside a write. */
export const endLeases = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string, holder: string): Promise<void> =>
  paymentStore.endLeases(tx, orderId, holder)

/** Reads and locks the payments of an order, oldest first. */
export const paymentsWithin = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string): Promise<Payment[]> =>
  paymentStore.ofOrderWithin(tx, orderId)

/** Locks a payment without reading it; the write throws NothingChanged if it differs. */
export const lockPaymentAsKnown = (tx: Writer, { paymentStore }: PaymentDeps, payment: Payment): Promise<void> =>
  paymentStore.lockAsKnown(tx, payment)

/** Finds the payment that paid an order. */
export const capturedPayment = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string): Promise<Payment | undefined> =>
  paymentStore.capturedOf(tx, orderId)
