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
import { AppError } from '../../core/errors.ts'
import type { ShopContext } from '../../core/principal.ts'
import { hasFailed, isUnderWay, type Payment, type PaymentChoice, paymentTokenSeal, processorDefault } from './domain.ts'
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

/** Begins a payment, inside the write of its order: its row is there before the processor hears of it. */
export async function beginPayment(
  tx: Writer,
  deps: PaymentDeps,
  { order, choice }: { order: Payable; choice: PaymentChoice },
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
    createdAt: now,
    updatedAt: now,
  }
  await deps.paymentStore.insert(tx, payment)
  return payment
}

/** What may be asked of a processor about a payment. */
export type Question = 'create' | 'ask' | 'capture' | 'void'

/**
 * Asks a payment's processor.
 * @param note writes the answer down, before anything else is asked
 * @returns false when it said nothing that can be relied on: then nothing has changed
 */
export async function askProcessor(
  deps: PaymentDeps,
  question: Question,
  payment: Payment,
  note: (answer: ProcessorPayment) => Promise<void>,
): Promise<boolean> {
  const processor = processorFor(deps, { shopId: payment.shopId, name: payment.processor })
  if (!processor) {
    deps.log.error('payment.processor_missing', { payment: payment.id, processor: payment.processor })
    return false
  }
  const answer = await answerOf(deps, processor, question, payment)
  if (!answer) return false
  await note(answer)
  if (question === 'create') await giveUpUnwanted(deps, processor, { paymentId: payment.id, answer, note })
  return true
}

/** A payment that was ended before its processor had heard of it must not be paid any more, now that it has. */
async function giveUpUnwanted(
  deps: PaymentDeps,
  processor: Processor,
  { paymentId, answer, note }: { paymentId: string; answer: ProcessorPayment; note: (answer: ProcessorPayment) => Promise<void> },
): Promise<void> {
  const payment = await deps.paymentStore.find(paymentId)
  if (!payment || !hasFailed(payment) || !isUnderWay({ status: answer.state })) return
  const after = await answerOf(deps, processor, 'void', payment)
  if (after) await note(after)
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
    deps.log.warn('payment.no_answer', { payment: payment.id, processor: processor.name, question, error })
    if (question === 'ask') return undefined
    // Any other answer may have been lost after it happened, or come after something else had: the processor knows.
    return found(deps, processor, payment)
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

/** What a processor says of a payment now; undefined when it does not say. */
async function found(deps: PaymentDeps, processor: Processor, payment: Payment): Promise<ProcessorPayment | undefined> {
  try {
    return await processor.retrieve(nameOf(payment))
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    deps.log.warn('payment.no_answer', { payment: payment.id, processor: processor.name, question: 'ask', error })
    return undefined
  }
}

/** What a processor says became of a payment, whatever state we know it in; undefined when it does not say. */
export async function whatBecameOf(deps: PaymentDeps, payment: Payment): Promise<ProcessorPayment | undefined> {
  const processor = processorFor(deps, { shopId: payment.shopId, name: payment.processor })
  return processor && found(deps, processor, payment)
}

export type MoneyBack = { refundId: string; paymentId: string; amount: number; currency: string }

/** Asks a payment's processor to give money back. Undefined when it said nothing that can be relied on. */
export async function askRefund(
  deps: PaymentDeps,
  { refundId, paymentId, amount, currency }: MoneyBack,
): Promise<RefundAnswer | undefined> {
  const payment = await deps.paymentStore.find(paymentId)
  const processor = payment && processorFor(deps, { shopId: payment.shopId, name: payment.processor })
  if (!processor) {
    deps.log.error('refund.processor_missing', { refund: refundId, processor: payment?.processor })
    return undefined
  }
  try {
    return await processor.refund({ ...nameOf(payment), refundId, amount, currency })
  } catch (error) {
    if (error instanceof ProcessorRefused) return { reference: refundId, state: 'FAILED', failureCode: error.code }
    if (!(error instanceof ProcessorUnavailable)) throw error
    deps.log.warn('refund.no_answer', { refund: refundId, processor: processor.name, error })
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

/** A payment as it stands, inside a write. */
export const paymentWithin = (tx: Writer, { paymentStore }: PaymentDeps, id: string): Promise<Payment | undefined> =>
  paymentStore.get(tx, id)

/** The payment that an order was paid with. */
export const capturedPayment = (tx: Writer, { paymentStore }: PaymentDeps, orderId: string): Promise<Payment | undefined> =>
  paymentStore.capturedOf(tx, orderId)

/** How many payments were begun for an order, and whether one of them can still be captured, or was. */
export async function paymentsBegun(
  tx: Writer,
  { paymentStore }: PaymentDeps,
  orderId: string,
): Promise<{ count: number; anyLive: boolean }> {
  return { count: await paymentStore.count(tx, orderId), anyLive: await paymentStore.hasLive(tx, orderId) }
}
