import type { Writer } from '../../../db/engine.ts'
import {
  BadSignature,
  type PaymentName,
  type Processor,
  type ProcessorPayment,
  ProcessorRefused,
  ProcessorUnavailable,
  type RefundAnswer,
} from '../../clients/processors/processor.ts'
import { locking } from '../../core/change.ts'
import { AppError } from '../../core/errors.ts'
import { leaseMs, leaseOf } from '../../core/leases.ts'
import type { ShopContext } from '../../core/principal.ts'
import { type Payment, type PaymentChoice, paymentTokenSeal, processorDefault } from './domain.ts'
import type { PaymentDeps } from './parts.ts'

/** The processor of this name that a shop's payments go through; undefined when none is set up. The one place that is asked. */
const processorFor = ({ processors }: PaymentDeps, { name }: { shopId: string | undefined; name: string }): Processor | undefined =>
  processors.get(name)

/**
 * The processor that a checkout is to be paid by: the one that is named, else the shop's.
 * @throws AppError INVALID for one that the shop may not use, or a token that it does not know
 */
export function chooseProcessor(
  deps: PaymentDeps,
  shop: Pick<ShopContext, 'id' | 'mode'>,
  { named, token }: { named: string | undefined; token: string | undefined },
): Processor {
  const processor = processorFor(deps, { shopId: shop.id, name: named ?? processorDefault })
  if (!processor?.modes.includes(shop.mode))
    throw new AppError(
      'INVALID',
      `processor (body): ${named === undefined ? 'needed: the shop has no default' : 'not one that the shop can use'}`,
    )
  if (token !== undefined && processor.tokens && !processor.tokens.includes(token))
    throw new AppError('INVALID', 'paymentToken (body): not one that the processor knows')
  return processor
}

/** An order, as far as it is paid for. */
type Payable = { id: string; shopId: string; amountDue: number; currency: string }

/**
 * Begins a payment, inside the write of its order: its row is there before the processor hears of it.
 * @param holder who goes on to tell the processor
 */
export async function beginPayment(
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
    processorReference: null,
    sealedToken: choice.token === undefined ? null : deps.keyring.seal(choice.token, paymentTokenSeal(id)),
    returnUrl: choice.returnUrl ?? null,
    clientParameters: {},
    amount: order.amountDue,
    currency: order.currency,
    authorized: 0,
    captured: 0,
    refunded: 0,
    status: 'PENDING',
    failureCode: null,
    ...leaseOf(holder, now),
    createdAt: now,
    updatedAt: now,
  }
  await deps.paymentStore.insert(tx, payment)
  return payment
}

/** What may be asked of a processor about a payment. */
export type Question = 'create' | 'ask' | 'capture' | 'void'

/** What came of a question: `taken` while somebody else is asking, `silent` when nothing was said that can be relied on. */
export type Asked = { readonly answer: ProcessorPayment } | 'silent' | 'taken'

/**
 * Asks a payment's processor. Whatever is more than a question is asked by whoever holds the payment's lease, and by nobody else:
 * it is taken here, unless `holder` has it from the write before. The write that notes the answer gives it back.
 */
export async function askProcessor(deps: PaymentDeps, question: Question, payment: Payment, holder: string): Promise<Asked> {
  const processor = processorFor(deps, { shopId: payment.shopId, name: payment.processor })
  if (!processor) {
    deps.log.error('payment.processor_missing', traceOf(payment))
    return 'silent'
  }
  if (question !== 'ask' && !(await takeLease(deps, question, payment, holder))) return 'taken'
  const answer = await answerOf(deps, processor, question, payment)
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
  const { leaseHolder, leaseUntil } = payment
  // Taken a moment ago in the write that came to this question: there is a whole call's time left of it.
  if (leaseHolder === holder && leaseUntil !== null && leaseUntil - now > leaseMs / 2) return true
  const which = question === 'void' ? 'notCaptured' : 'underWay'
  return (await db.write((tx) => paymentStore.lease(tx, payment.id, holder, now, which), locking)) !== undefined
}

const nameOf = ({ id, processorReference }: Payment): PaymentName => ({ paymentId: id, reference: processorReference ?? undefined })

async function answerOf(
  deps: PaymentDeps,
  processor: Processor,
  question: Question,
  payment: Payment,
): Promise<ProcessorPayment | undefined> {
  try {
    return await questions[question](deps, processor, payment)
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    // A payment that it would not begin has ended, and one that it never began needs no voiding.
    if (error instanceof ProcessorRefused && question === 'create') return refusal(payment, 'FAILED', error)
    if (error instanceof ProcessorRefused && question === 'void' && error.code === 'not_found') return refusal(payment, 'VOIDED', error)
    deps.log.warn('payment.no_answer', { ...traceOf(payment), question, error })
    if (question === 'ask') return undefined
    // Any other answer may have been lost after it happened, or come after something else had: the processor knows.
    const known = await found(deps, processor, payment)
    if (known !== 'unheard') return known
    return question === 'void' && error instanceof ProcessorRefused ? refusal(payment, 'VOIDED', error) : undefined
  }
}

const questions: Record<Question, (deps: PaymentDeps, processor: Processor, payment: Payment) => Promise<ProcessorPayment | undefined>> = {
  create: ({ keyring }, processor, { id, amount, currency, sealedToken, returnUrl }) =>
    processor.create({
      paymentId: id,
      amount,
      currency,
      token: sealedToken === null ? undefined : keyring.unseal(sealedToken, paymentTokenSeal(id)),
      returnUrl: returnUrl ?? undefined,
    }),
  ask: (_, processor, payment) => processor.retrieve(nameOf(payment)),
  capture: (_, processor, payment) => processor.capture({ ...nameOf(payment), amount: payment.amount, currency: payment.currency }),
  void: (_, processor, payment) => processor.void(nameOf(payment)),
}

const refusal = (payment: Payment, state: 'FAILED' | 'VOIDED', { code }: ProcessorRefused): ProcessorPayment => ({
  reference: payment.processorReference ?? payment.id,
  state,
  authorized: 0,
  captured: 0,
  failureCode: code,
})

/** What a processor says of a payment now: `unheard` when it never heard of it, undefined when it does not say. */
async function found(deps: PaymentDeps, processor: Processor, payment: Payment): Promise<ProcessorPayment | 'unheard' | undefined> {
  try {
    return (await processor.retrieve(nameOf(payment))) ?? 'unheard'
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    deps.log.warn('payment.no_answer', { ...traceOf(payment), question: 'ask', error })
    return undefined
  }
}

/** What a processor says became of a payment, whatever state we know it in; undefined when it does not say. */
export async function whatBecameOf(deps: PaymentDeps, payment: Payment): Promise<ProcessorPayment | undefined> {
  const processor = processorFor(deps, { shopId: payment.shopId, name: payment.processor })
  const known = processor && (await found(deps, processor, payment))
  return known === 'unheard' ? undefined : known
}

export type MoneyBack = {
  refundId: string
  orderId: string
  paymentId: string
  amount: number
  currency: string
  /** The processor's name for it, once it has one. */
  refundReference: string | undefined
  /** Whether it may have been sent before. */
  wasSent: boolean
}

/**
 * Asks a payment's processor to give money back. What may have been sent before is asked about first, and sent again only if the processor
 * never heard of it; what has a name at the processor is never sent again, since one that has forgotten our ids would give it twice.
 * @returns undefined when it said nothing that can be relied on
 */
export async function askRefund(deps: PaymentDeps, asked: MoneyBack): Promise<RefundAnswer | undefined> {
  const { refundId, paymentId, orderId, amount, currency, refundReference, wasSent } = asked
  const payment = await deps.paymentStore.find(paymentId)
  const processor = payment && processorFor(deps, { shopId: payment.shopId, name: payment.processor })
  const trace = { order: orderId, refund: refundId, payment: paymentId, processor: payment?.processor }
  if (!processor) {
    deps.log.error('refund.processor_missing', trace)
    return undefined
  }
  const name = { ...nameOf(payment), refundId }
  try {
    const known = wasSent ? await processor.retrieveRefund({ ...name, refundReference }) : undefined
    if (!known && refundReference !== undefined) {
      deps.log.error('refund.forgotten', trace)
      return undefined
    }
    const answer = known ?? (await processor.refund({ ...name, amount, currency }))
    deps.log.info('refund.answered', { ...trace, state: answer.state, ...(answer.failureCode ? { code: answer.failureCode } : {}) })
    return answer
  } catch (error) {
    if (error instanceof ProcessorRefused) return { reference: undefined, state: 'FAILED', failureCode: error.code }
    if (!(error instanceof ProcessorUnavailable)) throw error
    deps.log.warn('refund.no_answer', { ...trace, error })
    return undefined
  }
}

const unsigned = () => new AppError('UNAUTHENTICATED', 'The message is not signed by a processor that is set up here')

/**
 * The payment that a processor's message is about, once its raw bytes are verified; undefined for one that is about none of ours.
 * @param shopId whose account it is about; undefined: the instance's own
 * @throws AppError UNAUTHENTICATED when no such processor is set up here, or the signature is not its
 */
export async function paymentOfMessage(
  deps: PaymentDeps,
  { name, shopId }: { name: string; shopId: string | undefined },
  message: { body: Uint8Array; headers: Headers },
): Promise<Payment | undefined> {
  // No processor of today has accounts of single shops.
  const processor = shopId === undefined ? processorFor(deps, { shopId, name }) : undefined
  if (!processor) throw unsigned()
  const about = await processor.readWebhook(message).catch((error: unknown) => {
    throw error instanceof BadSignature ? unsigned() : error
  })
  if (!about) return undefined
  const byReference = about.reference === undefined ? undefined : await deps.paymentStore.findByReference(name, about.reference)
  const payment = byReference ?? (await deps.paymentStore.find(about.paymentId))
  return payment?.processor === name ? payment : undefined
}

/** All payments that were begun for an order, oldest first. */
export const paymentsOf = ({ paymentStore }: PaymentDeps, orderId: string): Promise<Payment[]> => paymentStore.ofOrder(orderId)

/** Gives back what somebody holds of an order's payments, inside a write. */
export const endLeases = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string, holder: string): Promise<void> =>
  paymentStore.endLeases(tx, orderId, holder)

/** The payments of an order as they stand, inside a write, oldest first. */
export const paymentsWithin = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string): Promise<Payment[]> =>
  paymentStore.ofOrderWithin(tx, orderId)

/** The payment that an order was paid with. */
export const capturedPayment = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string): Promise<Payment | undefined> =>
  paymentStore.capturedOf(tx, orderId)
