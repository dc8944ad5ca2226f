/**
 * Simulates a payment processor with given guarantees, in which the six real processors differ. It stores the true
 * state of the money and returns only what such a processor would.
 */
import fc from 'fast-check'
import {
  BadSignature,
  type PaymentName,
  type PaymentState,
  type Processor,
  type ProcessorMessage,
  type ProcessorPayment,
  ProcessorRefused,
  ProcessorUnavailable,
  type RefundAnswer,
} from '../../src/clients/processors/processor.ts'
import type { Books } from './books.ts'

export type ProcessorGuarantees = {
  /** Captures without a request, like QPay and BTCPay. */
  capturesItself: boolean
  /** Whether a repeated create returns the same payment. */
  repeats: boolean
  findable: boolean
  refunds: 'any' | 'whole' | 'claim'
  /** Captures and voids later, like Checkout.com, which responds with 202. */
  isAsynchronous: boolean
  /** Can void an unpaid payment. False for sessions of Checkout.com and for coins. */
  canForbid: boolean
}

export const processorGuarantees: fc.Arbitrary<ProcessorGuarantees> = fc.record({
  capturesItself: fc.boolean(),
  repeats: fc.boolean(),
  findable: fc.boolean(),
  refunds: fc.constantFrom('any', 'any', 'whole', 'claim'),
  isAsynchronous: fc.boolean(),
  canForbid: fc.boolean(),
})

/** A payment at the processor. */
type ProcessorPaymentRecord = {
  reference: string
  paymentId: string
  amount: number
  state: 'OPEN' | 'SEEN' | 'AUTHORIZED' | 'CAPTURING' | 'VOIDING' | 'CAPTURED' | 'VOIDED' | 'DECLINED'
  captured: number
  refunded: number
}
type ProcessorRefundRecord = RefundAnswer & { paymentId: string; amount: number }

const reportedStates: Readonly<Record<ProcessorPaymentRecord['state'], PaymentState>> = {
  OPEN: 'REQUIRES_ACTION',
  SEEN: 'PROCESSING',
  AUTHORIZED: 'AUTHORIZED',
  CAPTURING: 'PROCESSING',
  VOIDING: 'PROCESSING',
  CAPTURED: 'CAPTURED',
  VOIDED: 'VOIDED',
  DECLINED: 'FAILED',
}

/** State of the processor: plain data, so that it survives the program. */
export type ProcessorState = { storedPayments: ProcessorPaymentRecord[]; storedRefunds: Map<string, ProcessorRefundRecord> }
export const emptyProcessorState = (): ProcessorState => ({ storedPayments: [], storedRefunds: new Map() })

export type SimulatedProcessor = ReturnType<typeof simulateProcessor>

/** Headers of a message with a valid signature. */
export const signatureHeaders = { signed: 'by the processor', 'content-type': 'application/json' }

export function simulateProcessor(
  { capturesItself, repeats, findable, refunds, isAsynchronous, canForbid }: ProcessorGuarantees,
  { name: processorName = 'simulated', state = emptyProcessorState() }: { name?: string; state?: ProcessorState } = {},
) {
  const { storedPayments, storedRefunds } = state
  const forever = Number.POSITIVE_INFINITY

  function findPayment({ reference, paymentId }: PaymentName): ProcessorPaymentRecord | undefined {
    if (reference !== undefined) return storedPayments.find((one) => one.reference === reference)
    if (findable) return storedPayments.find((one) => one.paymentId === paymentId)
    throw new ProcessorUnavailable('nothing is found by that', { counts: false })
  }
  function requirePayment(name: PaymentName): ProcessorPaymentRecord {
    const found = findPayment(name)
    if (!found) throw new ProcessorRefused('not_found')
    return found
  }
  function reportOf({ reference, state, captured, refunded, amount }: ProcessorPaymentRecord): ProcessorPayment {
    const isHeld = state === 'AUTHORIZED' || state === 'CAPTURING' || state === 'VOIDING'
    return {
      reference,
      state: reportedStates[state],
      authorized: isHeld ? amount : captured,
      captured,
      ...(refunded > 0 ? { refunded } : {}),
      ...(state === 'OPEN' ? { clientParameters: { page: reference } } : {}),
      ...(state === 'DECLINED' ? { failureCode: 'declined' } : {}),
    }
  }
  function captureAmount(one: ProcessorPaymentRecord, amount: number): void {
    one.captured += amount
    one.state = one.captured >= one.amount ? 'CAPTURED' : one.state
  }

  const processor: Processor = {
    name: processorName,
    mode: 'TEST',
    capabilities: {
      capturesItself,
      createRepeatsMs: repeats ? forever : 0,
      refundRepeatsMs: refunds === 'any' ? forever : 0,
      refundsFindable: refunds !== 'any',
      findable,
      refunds,
      refundsMayFail: refunds === 'any',
      wallets: true,
      supportsAmount: () => true,
      supportsCurrency: () => true,
    },
    async create({ paymentId, amount }) {
      const before = repeats ? storedPayments.find((one) => one.paymentId === paymentId) : undefined
      if (before) return reportOf(before)
      const made: ProcessorPaymentRecord = {
        reference: `${paymentId}-${storedPayments.length}`,
        paymentId,
        amount,
        state: 'OPEN',
        captured: 0,
        refunded: 0,
      }
      storedPayments.push(made)
      return reportOf(made)
    },
    async retrieve(name) {
      const found = findPayment(name)
      return found && reportOf(found)
    },
    async capture(name) {
      const one = requirePayment(name)
      if (one.state === 'AUTHORIZED' && isAsynchronous) one.state = 'CAPTURING'
      else if (one.state === 'AUTHORIZED') captureAmount(one, name.amount)
      return reportOf(one)
    },
    async void(name) {
      const one = requirePayment(name)
      if (one.state === 'AUTHORIZED') one.state = isAsynchronous ? 'VOIDING' : 'VOIDED'
      else if (['OPEN', 'DECLINED'].includes(one.state) && (canForbid || capturesItself)) one.state = 'VOIDED'
      return reportOf(one)
    },
    async refund({ refundId, amount, whole, ...name }) {
      const before = storedRefunds.get(refundId)
      if (before && refunds === 'any') return before
      const one = requirePayment(name)
      if (refunds === 'whole' && !whole) throw new ProcessorRefused('refund_not_supported')
      if (one.captured - one.refunded < amount) throw new ProcessorRefused('refund_exceeds_rest')
      const common = { reference: `re-${refundId}`, paymentId: one.paymentId, amount }
      const made: ProcessorRefundRecord =
        refunds === 'claim'
          ? { ...common, state: 'CLAIMABLE', claimUrl: `https://processor.example/${refundId}` }
          : { ...common, state: isAsynchronous ? 'PENDING' : 'SUCCEEDED' }
      // A claimable refund counts once the shopper claims it.
      one.refunded += refunds === 'claim' ? 0 : amount
      // If a request is repeated, such a processor makes a second refund, and the shopper gets both.
      storedRefunds.set(before ? `${refundId} again` : refundId, made)
      return made
    },
    async retrieveRefund({ refundId }) {
      return storedRefunds.get(refundId)
    },
    async readMessage({ body, headers }) {
      if (headers.get('signed') !== signatureHeaders.signed) throw new BadSignature()
      return JSON.parse(new TextDecoder().decode(body)) as ProcessorMessage
    },
    probe: async () => undefined,
  }

  return {
    processor,
    storedPayments,
    storedRefunds,
    /** Refunds on the processor's own page. */
    giveBack(reference: string, amount: number): void {
      const one = storedPayments.find((other) => other.reference === reference)
      if (one) one.refunded += amount
    },
    /** Makes succeeded refunds fail, because the shopper's bank returned them. */
    bounce(): void {
      for (const [id, refund] of storedRefunds) {
        if (refund.state !== 'SUCCEEDED') continue
        storedRefunds.set(id, { ...refund, state: 'FAILED', failureCode: 'closed_account' })
        const one = storedPayments.find(({ paymentId }) => paymentId === refund.paymentId)
        if (one) one.refunded -= refund.amount
      }
    },
    /** Pays a share of the amount on the page; 0 declines, and more than 1 overpays. */
    pay(reference: string, share: number): void {
      const one = storedPayments.find((other) => other.reference === reference)
      // Coins sent to a voided invoice still arrive.
      const arrives = capturesItself && !canForbid && one?.state === 'VOIDED' && one.captured === 0 && share > 0
      if (!one || !(arrives || ['OPEN', 'DECLINED'].includes(one.state))) return
      if (share === 0) one.state = 'DECLINED'
      else if (!capturesItself) one.state = 'AUTHORIZED'
      else if (isAsynchronous) one.state = 'SEEN'
      else captureAmount(one, Math.max(1, Math.round(one.amount * share)))
    },
    /** Completes pending captures, voids and refunds. */
    settle(): void {
      for (const one of storedPayments) {
        if (one.state === 'CAPTURING' || one.state === 'SEEN') captureAmount(one, one.amount)
        if (one.state === 'VOIDING') one.state = 'VOIDED'
      }
      for (const [id, refund] of storedRefunds) if (refund.state === 'PENDING') storedRefunds.set(id, { ...refund, state: 'SUCCEEDED' })
    },
    /** Claims all claimable refunds. */
    claim(): void {
      for (const [id, refund] of storedRefunds) {
        if (refund.state !== 'CLAIMABLE') continue
        storedRefunds.set(id, { ...refund, state: 'SUCCEEDED' })
        const one = storedPayments.find(({ paymentId }) => paymentId === refund.paymentId)
        if (one) one.refunded += refund.amount
      }
    },
  }
}

/** Returns the differences between the books and the processor, one sentence each. */
export function processorMismatches({ payments, orders, refunds }: Books, { storedPayments, storedRefunds }: ProcessorState): string[] {
  const found: string[] = []
  for (const payment of payments) {
    const own = storedPayments.filter(({ paymentId }) => paymentId === payment.id)
    // A payment that was created twice could be paid twice.
    if (own.length > 1) found.push(`${payment.id} was created ${own.length} times`)
    const captured = own.reduce((sum, one) => sum + one.captured, 0)
    if (captured !== payment.captured) found.push(`${payment.id} has ${payment.captured} captured, and ${captured} were taken`)
    const back = refunds.filter(({ paymentId, status }) => paymentId === payment.id && status === 'SUCCEEDED')
    // Manual refunds do not reach the processor, and refunds on its own page were not requested here.
    const through = back.filter(({ settledReference }) => settledReference === null)
    const asked = through.filter(({ purpose }) => purpose !== 'ELSEWHERE')
    const unknown = asked.filter(({ id }) => storedRefunds.get(id)?.state !== 'SUCCEEDED')
    if (unknown.length > 0) found.push(`${payment.id} has ${unknown.length} refunds that did not go back`)
    const sumOf = (all: readonly { amount: number }[]) => all.reduce((sum, { amount }) => sum + amount, 0)
    if (sumOf(back) !== payment.refunded) found.push(`${payment.id} has ${payment.refunded} refunded, and ${sumOf(back)} went back`)
    const sent = own.reduce((sum, { refunded }) => sum + refunded, 0)
    if (sumOf(through) !== sent) found.push(`${payment.id} has ${sumOf(through)} sent back here, and ${sent} there`)
  }
  for (const order of orders) {
    const paid = payments.filter(({ orderId }) => orderId === order.id).reduce((sum, { captured }) => sum + captured, 0)
    const back = refunds.filter(({ orderId, status }) => orderId === order.id && status !== 'FAILED')
    const owedBack = back.reduce((sum, { amount }) => sum + amount, 0)
    const isSale = order.confirmedAt !== null
    if (!isSale && paid !== owedBack) found.push(`order ${order.number} (${order.status}) captured ${paid}, and refunds ${owedBack}`)
    const late = back.filter(({ purpose }) => purpose === 'LATE_CAPTURE').reduce((sum, { amount }) => sum + amount, 0)
    if (isSale && paid - late !== order.amountDue)
      found.push(`order ${order.number} cost ${order.amountDue}, and took ${paid} less ${late}`)
    if (['PENDING_PAYMENT', 'PAID', 'COMPENSATING'].includes(order.status)) found.push(`order ${order.number} stays ${order.status}`)
    if (!isSale && order.holds !== 'RELEASED') found.push(`order ${order.number} (${order.status}) still holds its stock`)
  }
  for (const { id, status, resumeAt } of refunds) if (status === 'PENDING') found.push(`${id} is PENDING until ${resumeAt}`)
  return found
}
