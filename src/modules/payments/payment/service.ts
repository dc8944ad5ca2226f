import type { Writer } from '../../../../db/engine.ts'
import {
  type NewPayment,
  type Processor,
  type ProcessorPayment,
  ProcessorRefused,
  ProcessorUnavailable,
  type RefundAnswer,
  UnknownAnswer,
  within,
} from '../../../clients/processors/processor.ts'
import { locking } from '../../../core/command-context.ts'
import { leaseMs, leaseOf } from '../../../core/leases.ts'
import { defined } from '../../../lib/objects.ts'
import { instanceId } from '../processor-account/domain.ts'
import { callbackTokenOf } from './callbacks.ts'
import { type Payer, parseSealedDetails, sealedDetailsText, shopperOf } from './create-payment.ts'
import { hasNoReferences, type Payment, type PaymentChoice, paymentTokenSeal } from './domain.ts'
import { type BoundProcessor, callThroughBreaker, processorOf } from './processors.ts'
import type { PaymentDeps } from './providers.ts'

/** Where the processor's messages about a payment go, for those that are told with each request. */
async function messagesUrlOf(
  { config, life, instanceKeys }: PaymentDeps,
  { id, processor, accountId, shopId }: Payment,
): Promise<string | undefined> {
  const origin = config.publicUrl?.replace(/\/+$/, '') ?? life.url
  if (origin === undefined || accountId === '') return undefined
  const path = `${origin}/webhooks/payments/${processor}`
  // Nothing that QPay sends is signed: only we and it know the address.
  if (processor === 'qpay') return `${path}/callback/${callbackTokenOf(await instanceKeys.of('PAYMENT_CALLBACKS'), id)}`
  return accountId === instanceId ? path : `${path}/${shopId}`
}

/** An order, as far as it is paid for. */
type Payable = Payer & { id: string; shopId: string; amountDue: number; currency: string }

/** Who pays is told to whoever has an account outside; the sandbox need not know. */
function sealedFor({ keyring }: PaymentDeps, paymentId: string, order: Payer, { token, accountId }: PaymentChoice): string | null {
  if (token === undefined && accountId === '') return null
  const beginning = { ...defined({ token }), ...(accountId === '' ? {} : { shopper: shopperOf(order) }) }
  return keyring.seal(sealedDetailsText(beginning), paymentTokenSeal(paymentId))
}

/**
 * Begins a payment, inside the write of its order: its row is there before the processor hears of it.
 * @param holder who goes on to tell the processor
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
    attemptKey: choice.attemptKey,
    method: choice.method,
    processor: choice.processor,
    accountId: choice.accountId,
    mode: choice.mode,
    processorReference: null,
    references: {},
    sealedToken: sealedFor(deps, id, order, choice),
    returnUrl: choice.returnUrl ?? null,
    clientParameters: {},
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
    ...leaseOf(holder, now),
    createdAt: now,
    updatedAt: now,
  }
  await deps.paymentStore.insert(tx, payment)
  return payment
}

/** What may be asked of a processor about a payment. */
export type Question = 'create' | 'ask' | 'capture' | 'void'

/** What a processor says of a payment; it has no name where none was begun, or nobody knows. */
export type PaymentAnswer = Omit<ProcessorPayment, 'reference'> & { readonly reference: string | undefined }

/** What came of a question: `taken` while somebody else is asking, `silent` when nothing was said that can be relied on. */
export type Asked = { readonly answer: PaymentAnswer } | 'silent' | 'taken'

export type OperationOptions = {
  /** Who asks: the holder of the payment's lease. */
  readonly holder: string
  /** The payment's row was written by this very run, and nobody has told the processor yet. */
  readonly isNew?: boolean
  /** For how long an answer is waited for, in milliseconds; undefined: as long as the processor is given. */
  readonly patienceMs?: number | undefined
}

/**
 * Asks a payment's processor. Whatever is more than a question is asked by whoever holds the payment's lease, and by nobody else:
 * it is taken here, unless `holder` has it from the write before. The write that notes the answer gives it back.
 */
export async function requestProcessor(deps: PaymentDeps, question: Question, payment: Payment, options: OperationOptions): Promise<Asked> {
  const bound = await processorOf(deps, payment)
  if (!bound) {
    deps.log.error('payment.processor_missing', traceOf(payment))
    return 'silent'
  }
  if (question !== 'ask' && !(await takeLease(deps, question, payment, options.holder))) return 'taken'
  const answer = await answerOf(deps, bound, { question, payment, ...options })
  if (!answer) return 'silent'
  const { state, failureCode: code } = answer
  const fields = { ...traceOf(payment), question, state, ...(code === undefined ? {} : { code }) }
  deps.log.info(state === 'FAILED' ? 'payment.declined' : 'payment.answered', fields)
  return { answer }
}

/** What every line of the log about a payment bears, so that it can be followed. */
const traceOf = ({ id, orderId, processor }: Payment) => ({ order: orderId, payment: id, processor })

/** Whether the holder has the payment for a call now. One that has ended may be given up all the same: its shopper can try again. */
async function takeLease({ db, clock, paymentStore }: PaymentDeps, question: Question, payment: Payment, holder: string): Promise<boolean> {
  const now = clock.now()
  const { leaseHolder, leaseUntil, sentAt } = payment
  // Taken a moment ago in the write that came to this question: there is a whole call's time left of it.
  const isHeld = leaseHolder === holder && leaseUntil !== null && leaseUntil - now > leaseMs / 2
  if (isHeld && (question !== 'create' || sentAt !== null)) return true
  const which = question === 'void' ? 'notCaptured' : 'underWay'
  const sent = question === 'create' ? { sentAt: sentAt ?? now } : {}
  return (await db.write((tx) => paymentStore.lease(tx, payment.id, { holder, now, which, sent }), locking)) !== undefined
}

/** How a processor is told which payment is meant. */
const nameOf = ({ id, processorReference, references, amount, currency }: Payment) => ({
  paymentId: id,
  reference: processorReference ?? undefined,
  references,
  amount,
  currency,
})

const unknownAnswerAdvice =
  'souk keeps its state and asks again; compare it with the page of the processor, and look for a newer version of souk if this repeats'

/** Logs that a processor did not answer, or answered in a way that its client does not know. */
function logUnavailable(
  { log }: PaymentDeps,
  of: 'payment' | 'refund',
  fields: { readonly error: Error; readonly [name: string]: unknown },
) {
  if (fields.error instanceof UnknownAnswer) log.warn(`${of}.unknown_answer`, { ...fields, advice: unknownAnswerAdvice })
  else log.warn(`${of}.no_answer`, fields)
}

type Asking = OperationOptions & { readonly question: Question; readonly payment: Payment }

async function answerOf(deps: PaymentDeps, bound: BoundProcessor, asking: Asking): Promise<PaymentAnswer | undefined> {
  const { question, payment, patienceMs } = asking
  const { findable, createRepeatsMs } = bound.processor.capabilities
  try {
    const answer =
      question === 'create'
        ? await create(deps, bound, asking)
        : await callThroughBreaker(deps, bound, (processor) => within(patienceMs, questions[question](payment)(processor)))
    return answer && normalizeAnswer(bound, asking, answer)
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    // A payment that it would not begin has ended, and one that it never began needs no voiding.
    if (error instanceof ProcessorRefused && question === 'create') return refusal(payment, 'FAILED', error)
    if (error instanceof ProcessorRefused && question === 'void' && error.code === 'not_found') return refusal(payment, 'VOIDED', error)
    logUnavailable(deps, 'payment', { ...traceOf(payment), question, error })
    if (question === 'ask') return undefined
    // Nobody has its name, and it cannot be found by ours: its page has heard nothing of it, and it is not asked for any more.
    if (question === 'void' && !findable && hasNoReferences(payment)) return { ...lost, state: 'FAILED', failureCode: 'not_answered' }
    const isCertain = error instanceof ProcessorUnavailable && error.neverSent
    if (question === 'create' && !findable) {
      if (createRepeatsMs > 0) return undefined
      // What cannot be found by our name is never made again, unless it certainly was not made.
      if (!isCertain) return lost
      await deps.db.write((tx) => deps.paymentStore.change(tx, payment.id, ['PENDING'], { sentAt: null }), locking)
    }
    // Whoever does not wait for it goes elsewhere, and looks later whether it is there.
    if (isCertain || (patienceMs !== undefined && error instanceof ProcessorUnavailable)) return undefined
    // Any other answer may have been lost after it happened, or come after something else had: the processor knows.
    const known = await found(deps, bound, payment, patienceMs)
    if (known !== 'unheard') return known
    return question === 'void' && error instanceof ProcessorRefused ? refusal(payment, 'VOIDED', error) : undefined
  }
}

const questions: Record<
  Exclude<Question, 'create'>,
  (payment: Payment) => (processor: Processor) => Promise<ProcessorPayment | undefined>
> = {
  ask: (payment) => (processor) => processor.retrieve(nameOf(payment)),
  capture: (payment) => (processor) => processor.capture(nameOf(payment)),
  void: (payment) => (processor) => processor.void(nameOf(payment)),
}

/**
 * An answer in our words. What the shopper's page has to go on with is the shopper's turn, whatever the processor calls it. What was given
 * up and cannot be forbidden (a session of Checkout.com) is given up all the same where no money is taken without us: it is watched.
 */
function normalizeAnswer(
  { processor }: BoundProcessor,
  { question, payment }: Pick<Asking, 'question' | 'payment'>,
  answer: PaymentAnswer,
): PaymentAnswer {
  const isOpen = answer.state === 'PENDING' || answer.state === 'REQUIRES_ACTION'
  if (question === 'void' && isOpen && !takesItself(processor, payment)) return { ...answer, state: 'VOIDED' }
  return answer.state === 'PENDING' && answer.clientParameters !== undefined ? { ...answer, state: 'REQUIRES_ACTION' } : answer
}

/** Whether paying by this method takes the money without us. */
const takesItself = ({ capabilities: { capturesItself } }: Processor, { method }: Pick<Payment, 'method'>): boolean =>
  typeof capturesItself === 'boolean' ? capturesItself : capturesItself.includes(method)

/** Nobody can know whether it was begun. */
const lost: PaymentAnswer = { reference: undefined, state: 'PROCESSING', authorized: 0, captured: 0 }

/** A create whose answer was lost may be on its way for so long: what its processor does not know by then it was never told. */
const createArrivesMs = 60_000

/**
 * Has a payment begun. What may have been told before is told again only while that is the same payment; then the processor is asked what it
 * knows, and one that cannot be asked leaves it lost. After a question its row is taken anew: a slow answer may have used the lease up, and
 * somebody else be at it.
 * @throws ProcessorUnavailable also while it may have been told just now, and where somebody else has it
 */
async function create(
  deps: PaymentDeps,
  bound: BoundProcessor,
  { payment, holder, isNew = false, patienceMs }: Asking,
): Promise<PaymentAnswer> {
  const { createRepeatsMs, findable } = bound.processor.capabilities
  const { sentAt } = payment
  const mayTell = isNew || sentAt === null || deps.clock.now() - sentAt < createRepeatsMs
  if (!mayTell) {
    if (!findable) return lost
    const known = await callThroughBreaker(deps, bound, (processor) => within(patienceMs, questions.ask(payment)(processor)))
    if (known) return known
    const now = deps.clock.now()
    // A time ahead is that of a clock that has stepped back since.
    if (now - sentAt < createArrivesMs && sentAt <= now) throw notYet('it may be on its way')
    if (!(await renewLease(deps, payment, holder, now))) throw notYet('somebody else has it, or had it')
  }
  const begun = await newPaymentOf(deps, payment)
  return callThroughBreaker(deps, bound, (processor) => within(patienceMs, processor.create(begun)))
}

/** Takes a payment for another call of the same run, and notes that it is told again; false where somebody else has told it, or is at it. */
const renewLease = ({ db, paymentStore }: PaymentDeps, { id, sentAt }: Payment, holder: string, now: number): Promise<boolean> =>
  db.write(async (tx) => {
    const taken = await paymentStore.lease(tx, id, { holder, now, which: 'underWay', sent: {} })
    return taken?.sentAt === sentAt && (await paymentStore.change(tx, taken, [taken.status], { sentAt: now })) !== undefined
  }, locking)

const notYet = (why: string) => new ProcessorUnavailable(`the payment is not begun again: ${why}`, { neverSent: true })

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
    ...defined({ messagesUrl, shopper }),
  }
}

const refusal = (payment: Payment, state: 'FAILED' | 'VOIDED', { code }: ProcessorRefused): PaymentAnswer => ({
  reference: payment.processorReference ?? undefined,
  state,
  authorized: 0,
  captured: 0,
  failureCode: code,
})

/** What a processor says of a payment now: `unheard` when it never heard of it, undefined when it does not say. */
async function found(
  deps: PaymentDeps,
  bound: BoundProcessor,
  payment: Payment,
  patienceMs?: number,
): Promise<ProcessorPayment | 'unheard' | undefined> {
  try {
    return (await callThroughBreaker(deps, bound, (processor) => within(patienceMs, questions.ask(payment)(processor)))) ?? 'unheard'
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    logUnavailable(deps, 'payment', { ...traceOf(payment), question: 'ask', error })
    return undefined
  }
}

/** What may become of a payment that its processor has perhaps begun: whether it could take money without us, and whether it can be found by our id. */
export async function failOverCapabilities(deps: PaymentDeps, payment: Payment): Promise<{ takesItself: boolean; isFindable: boolean }> {
  const bound = await processorOf(deps, payment)
  if (!bound) return { takesItself: true, isFindable: false }
  return { takesItself: takesItself(bound.processor, payment), isFindable: bound.processor.capabilities.findable }
}

/** What a processor says became of a payment, whatever state we know it in: `unheard` when it never heard of it, undefined when it does not say. */
export async function fetchPaymentStatus(deps: PaymentDeps, payment: Payment): Promise<ProcessorPayment | 'unheard' | undefined> {
  const bound = await processorOf(deps, payment)
  return bound && found(deps, bound, payment)
}

/** Whether there is anybody to ask about a payment: the account that took it may be gone from the settings. */
export async function canQueryPayment(deps: PaymentDeps, paymentId: string): Promise<boolean> {
  const payment = await deps.paymentStore.find(paymentId)
  return payment !== undefined && (await processorOf(deps, payment)) !== undefined
}

export type RefundOperation = {
  refundId: string
  orderId: string
  paymentId: string
  amount: number
  currency: string
  /** The processor's name for it, once it has one. */
  refundReference: string | undefined
  /** When it may have been sent first, milliseconds; undefined: certainly not yet. */
  sentAt: number | undefined
  /** It is there: only what became of it is asked. */
  isMade: boolean
  /** For how long each answer is waited for, in milliseconds; undefined: as long as the processor is given. */
  patienceMs: number | undefined
}

/** What came of asking about a refund. */
export type RefundOperationResult = {
  /** `unheard`: its processor does not know it, and may not be told again. Undefined: nothing that can be relied on. */
  readonly said: RefundAnswer | 'unheard' | undefined
  /** Whether one that has succeeded may still fail. */
  readonly mayFail: boolean
  /** Whether it may have been sent by now. */
  readonly wasSent: boolean
}

/**
 * Asks a payment's processor to give money back. What may have been sent before is asked about first, and sent again only if the processor
 * never heard of it, and only for as long as that is the same refund; what has a name at the processor is never sent again, since one
 * that has forgotten our ids would give it twice.
 */
export async function sendRefund(deps: PaymentDeps, asked: RefundOperation): Promise<RefundOperationResult> {
  const { refundId, paymentId, orderId, amount, currency, refundReference, sentAt, isMade, patienceMs } = asked
  const payment = await deps.paymentStore.find(paymentId)
  const bound = payment && (await processorOf(deps, payment))
  const trace = { order: orderId, refund: refundId, payment: paymentId, processor: payment?.processor }
  const mayBeThere = isMade || sentAt !== undefined
  if (!bound) {
    deps.log.error('refund.processor_missing', trace)
    return { said: undefined, mayFail: false, wasSent: mayBeThere }
  }
  const { refundsMayFail: mayFail = false, refundRepeatsMs, refunds } = bound.processor.capabilities
  const name = { ...nameOf(payment), refundId, amount, currency }
  const answered = (answer: RefundAnswer): RefundOperationResult => {
    deps.log.info('refund.answered', { ...trace, state: answer.state, ...(answer.failureCode ? { code: answer.failureCode } : {}) })
    return { said: answer, mayFail, wasSent: true }
  }
  const silent = (error: unknown, wasSent: boolean): RefundOperationResult => {
    if (!(error instanceof ProcessorUnavailable || error instanceof ProcessorRefused)) throw error
    logUnavailable(deps, 'refund', { ...trace, error })
    return { said: undefined, mayFail, wasSent }
  }
  if (mayBeThere)
    try {
      const known = await callThroughBreaker(deps, bound, (processor) =>
        within(patienceMs, processor.retrieveRefund({ ...name, refundReference })),
      )
      if (known) return answered(known)
    } catch (error) {
      // That it refuses the question says nothing of the refund.
      return silent(error, true)
    }
  // A part, where there are no parts, cannot have been made: its processor refuses it as often as it is told.
  const isImpossible = refunds === 'whole' && amount < payment.captured
  const isRepeatable = sentAt === undefined || isImpossible || deps.clock.now() - sentAt < refundRepeatsMs
  if (isMade || refundReference !== undefined || !isRepeatable) {
    deps.log.error('refund.forgotten', trace)
    return { said: 'unheard', mayFail, wasSent: true }
  }
  const whole = amount === payment.captured && payment.refunded === 0
  try {
    return answered(await callThroughBreaker(deps, bound, (processor) => within(patienceMs, processor.refund({ ...name, whole }))))
  } catch (error) {
    if (error instanceof ProcessorRefused)
      return { said: { reference: undefined, state: 'FAILED', failureCode: error.code }, mayFail, wasSent: sentAt !== undefined }
    const isCertain = error instanceof ProcessorUnavailable && error.neverSent
    return silent(error, !isCertain || sentAt !== undefined)
  }
}

/** All payments that were begun for an order, oldest first. */
export const paymentsOf = ({ paymentStore }: PaymentDeps, orderId: string): Promise<Payment[]> => paymentStore.ofOrder(orderId)

/** Gives back what somebody holds of an order's payments, inside a write. */
export const endLeases = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string, holder: string): Promise<void> =>
  paymentStore.endLeases(tx, orderId, holder)

/** The payments of an order as they stand, inside a write, oldest first. */
export const paymentsWithin = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string): Promise<Payment[]> =>
  paymentStore.ofOrderWithin(tx, orderId)

/** Has payments to itself that are as they are known, inside a write: one that is not makes it throw NothingChanged. */
export async function lockPaymentsAsKnown(tx: Writer, { paymentStore }: PaymentDeps, payments: readonly Payment[]): Promise<void> {
  for (const payment of payments) await paymentStore.lockAsKnown(tx, payment)
}

/** The payment that an order was paid with. */
export const capturedPayment = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string): Promise<Payment | undefined> =>
  paymentStore.capturedOf(tx, orderId)
