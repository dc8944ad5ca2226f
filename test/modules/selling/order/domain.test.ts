import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  isOpenPayment,
  type Payment,
  type PaymentStatus,
  paymentStatuses,
  paymentTransitions,
} from '../../../../src/modules/payments/payment/domain.ts'
import {
  backoffMs,
  excessAmount,
  isUnwanted,
  nextStep,
  type Order,
  type OrderGiftCard,
  type OrderStatus,
  orderStatuses,
  orderTransitions,
  paymentTimeMs,
  pendingPaymentMs,
  pollAt,
  type Refund,
  refundable,
  refundParts,
  refundWindowMs,
  type SagaStep,
} from '../../../../src/modules/selling/order/domain.ts'

test('gives an order an hour to be paid, a late payment a quarter of an hour, and refunds two weeks', () => {
  expect([pendingPaymentMs, paymentTimeMs, refundWindowMs]).toEqual([3_600_000, 900_000, 1_209_600_000])
})

describe('the states of orders and payments', () => {
  test('allows exactly the defined state transitions of an order', () => {
    const allowed = orderStatuses.flatMap((from) => orderTransitions[from].map((to) => `${from} → ${to}`))
    expect(allowed.sort()).toEqual(
      [
        'PENDING_PAYMENT → PAID',
        'PENDING_PAYMENT → EXPIRED',
        'PENDING_PAYMENT → CANCELLED',
        'PAID → CONFIRMED',
        'PAID → COMPENSATING',
        'COMPENSATING → CANCELLED',
        'CONFIRMED → FULFILLED',
        'CONFIRMED → CANCELLED',
        'FULFILLED → COMPLETED',
      ].sort(),
    )
    const followers: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = orderTransitions
    expect(orderStatuses.filter((from) => followers[from].includes('CANCELLED'))).toEqual(['PENDING_PAYMENT', 'CONFIRMED', 'COMPENSATING'])
  })

  test('makes CAPTURED final, lets a failed payment still succeed, and a voided one only be captured', () => {
    const final = paymentStatuses.filter((status) => paymentTransitions[status].length === 0)
    expect(final).toEqual(['CAPTURED'])
    const ended = ['CAPTURED', 'FAILED', 'VOIDED']
    for (const status of paymentStatuses) expect(isOpenPayment({ status })).toBe(!ended.includes(status))
    // The shopper may retry a failed payment on the processor's page.
    expect(paymentTransitions.FAILED).toEqual(['AUTHORIZED', 'PROCESSING', 'CAPTURED'])
    expect(paymentTransitions.VOIDED).toEqual(['CAPTURED'])
  })
})

const order = (status: OrderStatus, more: Partial<Order> = {}) =>
  ({ status, amountDue: 100, confirmedAt: null, holds: 'HELD', resumeAt: null, attempts: 0, ...more }) as Order
const payment = (status: PaymentStatus, more: Partial<Payment> = {}) =>
  ({ id: `pay_${status}`, status, amount: 100, captured: 0, processorReference: null, references: {}, ...more }) as Payment
const kindOf = (order: Order, payments: Payment[], now = 0) => nextStep({ order, payments }, now).kind
const isLive = isOpenPayment

describe('the next step of a saga', () => {
  test('chooses the next step of an unpaid order from its payments alone', () => {
    const withReference = { processorReference: 'ref' }
    const cases: [Payment[], string][] = [
      [[], 'rest'],
      [[payment('PENDING')], 'create'],
      [[payment('PENDING', withReference)], 'ask'],
      [[payment('REQUIRES_ACTION', withReference)], 'ask'],
      [[payment('AUTHORIZED', withReference)], 'capture'],
      [[payment('PROCESSING', withReference)], 'ask'],
      // It is unknown whether this payment was created, and it must not be created twice.
      [[payment('PROCESSING')], 'rest'],
      [[payment('FAILED')], 'rest'],
      [[payment('VOIDED')], 'rest'],
      [[payment('FAILED'), payment('AUTHORIZED', withReference)], 'capture'],
      // A late capture counts. Another open payment is voided first.
      [[payment('FAILED', { captured: 100 })], 'accept'],
      [[payment('FAILED', { captured: 100 }), payment('REQUIRES_ACTION', withReference)], 'void'],
      [[payment('VOIDED', { captured: 100 }), payment('FAILED')], 'accept'],
      [[payment('FAILED', { captured: 99 })], 'rest'],
    ]
    for (const [payments, expected] of cases)
      expect(kindOf(order('PENDING_PAYMENT'), payments), JSON.stringify(payments)).toBe(expected as SagaStep['kind'])
    expect(kindOf(order('PENDING_PAYMENT', { amountDue: 0 }), [])).toBe('confirm')
  })

  test('queries the processor for an order past its time, and never captures', () => {
    const withReference = { processorReference: 'ref' }
    const cases: [Payment, string][] = [
      [payment('PENDING'), 'rest'],
      [payment('PENDING', withReference), 'ask'],
      [payment('REQUIRES_ACTION', withReference), 'ask'],
      [payment('AUTHORIZED', withReference), 'ask'],
    ]
    for (const [payments, expected] of cases)
      expect(kindOf(order('PENDING_PAYMENT', { expiresAt: 5 }), [payments], 5), payments.status).toBe(expected as SagaStep['kind'])
  })

  test('confirms a paid order next', () => {
    for (const holds of ['HELD', 'COMMITTED'] as const) expect(kindOf(order('PAID', { holds }), [payment('CAPTURED')])).toBe('confirm')
  })

  test('voids the payment of an ended order, then releases its holds, then ends it', () => {
    for (const status of ['EXPIRED', 'COMPENSATING', 'CANCELLED'] as const) {
      for (const openStatus of paymentStatuses.filter((one) => isLive({ status: one }) && one !== 'PROCESSING'))
        expect(kindOf(order(status), [payment('FAILED'), payment(openStatus)])).toBe('void')
      // A payment in process may take days, so the stock is released first.
      const withReference = { processorReference: 'ref' }
      expect(kindOf(order(status), [payment('PROCESSING', withReference)])).toBe('release')
      expect(kindOf(order(status, { holds: 'RELEASED' }), [payment('PROCESSING', withReference)])).toBe('void')
      expect(kindOf(order(status), [payment('PROCESSING')])).toBe('abandon')
      // The stock is released if the processor does not answer.
      expect(kindOf(order(status, { attempts: 5 }), [payment('REQUIRES_ACTION', withReference)])).toBe('release')
      expect(kindOf(order(status, { attempts: 5, holds: 'RELEASED' }), [payment('REQUIRES_ACTION', withReference)])).toBe('void')
      for (const holds of ['HELD', 'COMMITTED'] as const) expect(kindOf(order(status, { holds }), [payment('CAPTURED')])).toBe('release')
      expect(kindOf(order(status, { holds: 'RELEASED' }), [payment('VOIDED')])).toBe(status === 'COMPENSATING' ? 'endCompensation' : 'rest')
    }
  })

  test('voids failed payments of an ended order after its holds are released, until that is done', () => {
    for (const status of ['EXPIRED', 'CANCELLED'] as const)
      for (const ended of ['FAILED', 'VOIDED'] as const) {
        expect(kindOf(order(status, { holds: 'RELEASED', resumeAt: 1 }), [payment('FAILED'), payment(ended)])).toBe('void')
        expect(kindOf(order(status, { holds: 'RELEASED' }), [payment(ended)])).toBe('rest')
      }
    expect(kindOf(order('EXPIRED', { holds: 'RELEASED', resumeAt: 1 }), [])).toBe('rest')
  })

  test('a sale has no next step, also a cancelled one', () => {
    for (const status of ['CONFIRMED', 'FULFILLED', 'COMPLETED', 'CANCELLED'] as const)
      expect(kindOf(order(status, { confirmedAt: 1, holds: 'COMMITTED' }), [payment('CAPTURED')])).toBe('rest')
  })
})

describe('a failed payment that may still be paid', () => {
  const waitingOrder = order('PENDING_PAYMENT', { expiresAt: 10 })
  const failed = payment('FAILED')
  const isWanted = (candidate: Order, others: Payment[] = [], now = 9) =>
    !isUnwanted({ order: candidate, payments: [failed, ...others] }, failed, now)

  test('accepts a failed payment while its order waits and no other payment is open', () => {
    expect(isWanted(waitingOrder)).toBe(true)
    expect(isWanted(waitingOrder, [payment('VOIDED'), payment('FAILED', { id: 'pay_2', captured: 99 })])).toBe(true)
    expect(isWanted(waitingOrder, [payment('REQUIRES_ACTION')])).toBe(false)
    expect(isWanted(waitingOrder, [payment('VOIDED', { captured: 100 })])).toBe(false)
    expect(isWanted(waitingOrder, [], 10)).toBe(false)
    for (const status of orderStatuses.filter((one) => one !== 'PENDING_PAYMENT'))
      expect(isWanted(order(status, { expiresAt: 10 })), status).toBe(false)
    const voided = payment('VOIDED')
    expect(isUnwanted({ order: waitingOrder, payments: [voided] }, voided, 9)).toBe(true)
  })
})

describe('excess money of an order', () => {
  const captured = (status: PaymentStatus, amount: number) => payment(status, { captured: amount })
  const refundOf = (amount: number, more: Partial<Refund> = {}) =>
    ({ paymentId: 'pay_CAPTURED', purpose: 'LATE_CAPTURE', status: 'PENDING', amount, ...more }) as Refund

  test('refunds nothing of an unpaid order, since the money may be a part of its payment', () => {
    for (const status of ['FAILED', 'AUTHORIZED'] as const) expect(excessAmount(order('PENDING_PAYMENT'), captured(status, 60), [])).toBe(0)
  })

  test('refunds what exceeds the price of a paid order, and all money of its other payments', () => {
    for (const status of ['PAID', 'CONFIRMED', 'FULFILLED', 'COMPLETED'] as const) {
      const paid = order(status, { confirmedAt: status === 'PAID' ? null : 1 })
      expect(excessAmount(paid, captured('CAPTURED', 100), [])).toBe(0)
      expect(excessAmount(paid, captured('CAPTURED', 130), [])).toBe(30)
      expect(excessAmount(paid, captured('CAPTURED', 130), [refundOf(30)])).toBe(0)
      expect(excessAmount(paid, captured('FAILED', 100), [])).toBe(100)
    }
  })

  test('does not count refunds by the shop, failed refunds or those of other payments against excess money', () => {
    const paid = order('CONFIRMED', { confirmedAt: 1 })
    expect(excessAmount(paid, captured('CAPTURED', 130), [refundOf(50, { purpose: 'REFUND' })])).toBe(30)
    expect(excessAmount(paid, captured('CAPTURED', 130), [refundOf(30, { status: 'FAILED' })])).toBe(30)
    expect(excessAmount(paid, captured('CAPTURED', 130), [refundOf(30, { paymentId: 'pay_other' })])).toBe(30)
  })

  test('refunds all money of an order that ended unpaid, also when it grows', () => {
    for (const status of ['EXPIRED', 'COMPENSATING', 'CANCELLED'] as const) {
      expect(excessAmount(order(status), captured('CAPTURED', 40), [])).toBe(40)
      expect(excessAmount(order(status), captured('CAPTURED', 100), [refundOf(40, { purpose: 'COMPENSATE', status: 'SUCCEEDED' })])).toBe(
        60,
      )
    }
    // The refund of a cancelled sale is part of its cancellation.
    expect(excessAmount(order('CANCELLED', { confirmedAt: 1 }), captured('CAPTURED', 100), [])).toBe(0)
  })
})

test('doubles the retry delay with every failure, up to half an hour', () => {
  expect([1, 2, 3, 4].map(backoffMs)).toEqual([15_000, 30_000, 60_000, 120_000])
  expect(backoffMs(50)).toBe(30 * 60 * 1000)
})

test('queries a waiting payment with pauses from 30 seconds to ten minutes, one in process to an hour', () => {
  const minute = 60_000
  const pauseAt = (status: PaymentStatus, age: number) => pollAt({ createdAt: 0, status }, { expiresAt: 0 }, age) - age
  const ages = [0, 30_000, minute, 5 * minute, 10 * minute, 45 * minute, 60 * minute, 24 * 60 * minute]
  const pauses = [30_000, 30_000, minute, 5 * minute, 10 * minute]
  expect(ages.map((age) => pauseAt('REQUIRES_ACTION', age))).toEqual([...pauses, ...Array(3).fill(10 * minute)])
  expect(ages.map((age) => pauseAt('PROCESSING', age))).toEqual([...pauses, ...[45, 60, 60].map((minutes) => minutes * minute)])
})

test('queries a waiting payment once more a minute before its order expires', () => {
  const minute = 60_000
  const payment = { createdAt: 0, status: 'REQUIRES_ACTION' } as const
  const order = { expiresAt: 60 * minute }
  expect(pollAt(payment, order, 45 * minute)).toBe(55 * minute)
  expect(pollAt(payment, order, 55 * minute)).toBe(59 * minute)
  expect(pollAt(payment, order, 59 * minute)).toBe(69 * minute)
})

describe('the refundable amount of an order', () => {
  const amounts = fc.record({
    captured: fc.integer({ min: 0, max: 1_000_000 }),
    cards: fc.array(fc.integer({ min: 1, max: 50_000 }), { maxLength: 4 }),
    requestedAmounts: fc.array(fc.option(fc.integer({ min: 1, max: 400_000 }), { nil: undefined }), { maxLength: 8 }),
  })

  test('never refunds more than was paid from any source, and all of it in the end', () => {
    fc.assert(
      fc.property(amounts, ({ captured, cards: balances, requestedAmounts }) => {
        const cards = balances.map((amount, at) => ({ giftCardId: `gift_${at}`, amount }) as OrderGiftCard)
        const refunds: { status: 'SUCCEEDED'; purpose: 'REFUND'; amount: number; giftCards: { giftCardId: string; amount: number }[] }[] =
          []
        for (const requested of [...requestedAmounts, undefined]) {
          const left = refundable({ capturedTotal: captured }, cards, refunds)
          const parts = refundParts(left, requested)
          const available = left.captured + left.cards.reduce((sum, { amount }) => sum + amount, 0)
          expect(parts === undefined).toBe(requested !== undefined && requested > available)
          if (!parts) continue
          expect(parts.amount + parts.giftCardAmount).toBe(requested ?? available)
          expect(parts.giftCards.reduce((sum, { amount }) => sum + amount, 0)).toBe(parts.giftCardAmount)
          // Gift cards are refunded only after all captured money.
          if (parts.giftCardAmount > 0) expect(parts.amount).toBe(left.captured)
          expect(parts.giftCards.every(({ amount }) => amount > 0)).toBe(true)
          refunds.push({ status: 'SUCCEEDED', purpose: 'REFUND', amount: parts.amount, giftCards: parts.giftCards })
        }
        expect(refunds.reduce((sum, { amount }) => sum + amount, 0)).toBe(captured)
        for (const card of cards) {
          const cardRefunds = refunds.flatMap(({ giftCards }) => giftCards).filter(({ giftCardId }) => giftCardId === card.giftCardId)
          expect(cardRefunds.reduce((sum, { amount }) => sum + amount, 0)).toBe(card.amount)
        }
      }),
    )
  })

  test('ignores failed refunds and counts pending refunds in the refundable amount', () => {
    const before = [
      { status: 'FAILED', purpose: 'REFUND', amount: 50, giftCards: [] },
      { status: 'PENDING', purpose: 'REFUND', amount: 30, giftCards: [] },
      { status: 'SUCCEEDED', purpose: 'LATE_CAPTURE', amount: 100, giftCards: [] },
    ] as const
    expect(refundable({ capturedTotal: 100 }, [], before as never).captured).toBe(70)
  })
})
