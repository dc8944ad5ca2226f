import { ProcessorRefused, ProcessorUnavailable, type RefundAnswer, withTimeout } from '../../../clients/processors/processor.ts'
import { byHandCode, isManualPayment, refundArrivesMs } from './domain.ts'
import { callThroughBreaker, processorOf } from './processors.ts'
import type { PaymentDeps } from './providers.ts'
import { identifiersOf, logUnavailable } from './service.ts'

type RefundOperation = {
  refundId: string
  orderId: string
  paymentId: string
  amount: number
  currency: string
  /** The processor's reference of the refund, once known. */
  refundReference: string | undefined
  /** When it may have been sent first, in milliseconds; undefined: certainly not sent. */
  sentAt: number | undefined
  /** The refund exists: only its state is queried. */
  isCreated: boolean
  /** How long to wait for each answer, in milliseconds; undefined: the processor's own timeout. */
  patienceMs: number | undefined
}

/** The result of a call about a refund. */
type RefundOperationResult = {
  /** `notFound`: the processor does not know it, and it may not be sent again. Undefined: no reliable answer. */
  readonly response: RefundAnswer | 'notFound' | undefined
  /** Whether a succeeded refund may still fail. */
  readonly mayFail: boolean
  /** Whether it may have been sent by now. */
  readonly wasSent: boolean
}

/**
 * Makes a payment's processor refund money. A refund that may have been sent is queried first. It is sent again if the
 * processor does not know it, and either treats a repeated request as the same refund or lists every refund it made.
 * One with a reference is never sent again: a processor that forgot our ids would pay it twice.
 */
export async function sendRefund(deps: PaymentDeps, operation: RefundOperation): Promise<RefundOperationResult> {
  const { refundId, paymentId, orderId, amount, currency, refundReference, sentAt, isCreated, patienceMs } = operation
  const payment = await deps.paymentStore.find(paymentId)
  if (payment && isManualPayment(payment))
    return { response: { reference: undefined, state: 'FAILED', failureCode: byHandCode }, mayFail: false, wasSent: false }
  const bound = payment && (await processorOf(deps, payment))
  const trace = { order: orderId, refund: refundId, payment: paymentId, processor: payment?.processor }
  const mayBeThere = isCreated || sentAt !== undefined
  if (!bound) {
    deps.log.error('refund.processor_missing', trace)
    return { response: undefined, mayFail: false, wasSent: mayBeThere }
  }
  const { refundsMayFail: mayFail = false, refundRepeatsMs, refundsFindable = false, refunds } = bound.processor.capabilities
  const refund = { ...identifiersOf(payment), refundId, amount, currency }
  const sentResultOf = (answer: RefundAnswer): RefundOperationResult => {
    deps.log.info('refund.answered', { ...trace, state: answer.state, ...(answer.failureCode ? { code: answer.failureCode } : {}) })
    return { response: answer, mayFail, wasSent: true }
  }
  const failedResultOf = (error: unknown, wasSent: boolean): RefundOperationResult => {
    if (!(error instanceof ProcessorUnavailable || error instanceof ProcessorRefused)) throw error
    logUnavailable(deps, 'refund', { ...trace, error })
    return { response: undefined, mayFail, wasSent }
  }
  if (mayBeThere)
    try {
      const existing = await callThroughBreaker(deps, bound, (processor) =>
        withTimeout(patienceMs, processor.retrieveRefund({ ...refund, refundReference })),
      )
      if (existing) return sentResultOf(existing)
    } catch (error) {
      // A refused query says nothing about the refund.
      return failedResultOf(error, true)
    }
  // A partial refund that the processor does not support was never made, so it may be sent again.
  const isImpossible = refunds === 'whole' && amount < payment.captured
  const age = sentAt === undefined ? undefined : deps.clock.now() - sentAt
  const isRepeatable = age === undefined || isImpossible || age < refundRepeatsMs
  if (isCreated || refundReference !== undefined || !isRepeatable) {
    const isUnmade = refundsFindable && !isCreated && refundReference === undefined && (age ?? 0) >= refundArrivesMs
    // The next call sends it as if it were new, and records that time.
    if (isUnmade) return { response: undefined, mayFail, wasSent: false }
    deps.log.error('refund.forgotten', trace)
    return { response: 'notFound', mayFail, wasSent: true }
  }
  const isWhole = amount === payment.captured && payment.refunded === 0
  try {
    return sentResultOf(
      await callThroughBreaker(deps, bound, (processor) => withTimeout(patienceMs, processor.refund({ ...refund, whole: isWhole }))),
    )
  } catch (error) {
    if (error instanceof ProcessorRefused)
      return { response: { reference: undefined, state: 'FAILED', failureCode: error.code }, mayFail, wasSent: sentAt !== undefined }
    const isCertain = error instanceof ProcessorUnavailable && error.neverSent
    return failedResultOf(error, !isCertain || sentAt !== undefined)
  }
}
