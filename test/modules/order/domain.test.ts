import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  backoffMs,
  type Move,
  nextMove,
  type Order,
  type OrderGiftCard,
  type OrderStatus,
  orderStatuses,
  orderTransitions,
  paymentTimeMs,
  pendingPaymentMs,
  refundable,
  refundParts,
  refundWindowMs,
  type SagaStep,
  stepNames,
} from '../../../src/modules/order/domain.ts'
import { isUnderWay, type Payment, type PaymentStatus, paymentStatuses, paymentTransitions } from '../../../src/modules/payment/domain.ts'

test('an order waits an hour for its payment, one begun late has a quarter of an hour, and goods may come back for two weeks', () => {
  expect([pendingPaymentMs, paymentTimeMs, refundWindowMs]).toEqual([3_600_000, 900_000, 1_209_600_000])
})

describe('the states of an order', () => {
  test('the states of an order change as the contract says, and in no other way', () => {
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

  test('the states of an order of a payment that has ended are final', () => {
    const final = paymentStatuses.filter((status) => paymentTransitions[status].length === 0)
    expect(final).toEqual(['CAPTURED', 'FAILED', 'VOIDED'])
    for (const status of paymentStatuses) expect(isUnderWay({ status })).toBe(!final.includes(status))
  })
})

const order = (status: OrderStatus, more: Partial<Order> = {}) => ({ status, amountDue: 100, confirmedAt: null, ...more }) as Order
const payment = (status: PaymentStatus, processorReference: string | null = null) => ({ status, processorReference }) as Payment
/** The first `done` steps are done, and of those the last `undone` undone again. */
const steps = (done: number, undone = 0): SagaStep[] =>
  stepNames.map(
    (step, position) =>
      ({ step, position, state: position >= done ? 'PENDING' : position >= done - undone ? 'UNDONE' : 'DONE' }) as SagaStep,
  )
const told = (move: Move) => (move.kind === 'run' || move.kind === 'undo' ? `${move.kind} ${move.step.step}` : move.kind)

describe('the next move of a saga', () => {
  test('the next move of a saga of an unpaid order depends on its payment alone', () => {
    const moves: [Payment | undefined, string][] = [
      [undefined, 'rest'],
      [payment('PENDING'), 'create'],
      [payment('PENDING', 'ref'), 'ask'],
      [payment('REQUIRES_ACTION', 'ref'), 'ask'],
      [payment('AUTHORIZED', 'ref'), 'capture'],
      [payment('CAPTURED'), 'rest'],
      [payment('FAILED'), 'rest'],
      [payment('VOIDED'), 'rest'],
    ]
    for (const [given, expected] of moves)
      expect(told(nextMove({ order: order('PENDING_PAYMENT'), steps: steps(2), payment: given }, 0)), given?.status).toBe(expected)
    expect(told(nextMove({ order: order('PENDING_PAYMENT', { amountDue: 0 }), steps: steps(2), payment: undefined }, 0))).toBe('payNothing')
  })

  test('the next move of a saga of an order whose time is over is to ask, and never to charge', () => {
    const moves: [Payment, string][] = [
      [payment('PENDING'), 'rest'],
      [payment('PENDING', 'ref'), 'ask'],
      [payment('REQUIRES_ACTION', 'ref'), 'ask'],
      [payment('AUTHORIZED', 'ref'), 'ask'],
    ]
    for (const [given, expected] of moves)
      expect(told(nextMove({ order: order('PENDING_PAYMENT', { expiresAt: 5 }), steps: steps(2), payment: given }, 5)), given.status).toBe(
        expected,
      )
  })

  test('the next move of a saga of a paid order is its first step that is not done', () => {
    for (let done = 4; done < stepNames.length; done++) {
      const move = nextMove({ order: order('PAID'), steps: steps(done), payment: payment('CAPTURED') }, 0)
      expect(told(move)).toBe(`run ${stepNames[done]}`)
    }
    expect(told(nextMove({ order: order('PAID'), steps: steps(stepNames.length), payment: undefined }, 0))).toBe('rest')
  })

  test('the next move of a saga of an order that turned back is its last step that is done, after its payment is given up', () => {
    for (const status of ['EXPIRED', 'COMPENSATING', 'CANCELLED'] as const) {
      for (const live of ['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED'] as const)
        expect(told(nextMove({ order: order(status), steps: steps(2), payment: payment(live) }, 0))).toBe('void')
      for (let done = 1; done <= stepNames.length; done++)
        for (let undone = 0; undone < done; undone++) {
          const move = nextMove({ order: order(status), steps: steps(done, undone), payment: payment('CAPTURED') }, 0)
          expect(told(move)).toBe(`undo ${stepNames[done - undone - 1]}`)
        }
      const end = nextMove({ order: order(status), steps: steps(5, 5), payment: payment('VOIDED') }, 0)
      expect(told(end)).toBe(status === 'COMPENSATING' ? 'endCompensation' : 'rest')
    }
  })

  test('the next move of a saga of a sale is none, also when it was cancelled', () => {
    for (const status of ['CONFIRMED', 'FULFILLED', 'COMPLETED'] as const)
      expect(told(nextMove({ order: order(status, { confirmedAt: 1 }), steps: steps(9), payment: payment('CAPTURED') }, 0))).toBe('rest')
    expect(told(nextMove({ order: order('CANCELLED', { confirmedAt: 1 }), steps: steps(9), payment: payment('CAPTURED') }, 0))).toBe('rest')
  })
})

test('waiting grows with every failure, up to half an hour', () => {
  expect([1, 2, 3, 4].map(backoffMs)).toEqual([15_000, 30_000, 60_000, 120_000])
  expect(backoffMs(50)).toBe(30 * 60 * 1000)
})

describe('what goes back of an order', () => {
  const amounts = fc.record({
    captured: fc.integer({ min: 0, max: 1_000_000 }),
    cards: fc.array(fc.integer({ min: 1, max: 50_000 }), { maxLength: 4 }),
    asked: fc.array(fc.option(fc.integer({ min: 1, max: 400_000 }), { nil: undefined }), { maxLength: 8 }),
  })

  test('what goes back of an order is never more than came in, from anywhere, and in the end all of it to the cent', () => {
    fc.assert(
      fc.property(amounts, ({ captured, cards: given, asked }) => {
        const cards = given.map((amount, at) => ({ giftCardId: `gift_${at}`, amount }) as OrderGiftCard)
        const done: { status: 'SUCCEEDED'; purpose: 'REFUND'; amount: number; giftCards: { giftCardId: string; amount: number }[] }[] = []
        for (const want of [...asked, undefined]) {
          const left = refundable({ capturedTotal: captured }, cards, done)
          const parts = refundParts(left, want)
          const available = left.captured + left.cards.reduce((sum, { amount }) => sum + amount, 0)
          expect(parts === undefined).toBe(want !== undefined && want > available)
          if (!parts) continue
          expect(parts.amount + parts.giftCardAmount).toBe(want ?? available)
          expect(parts.giftCards.reduce((sum, { amount }) => sum + amount, 0)).toBe(parts.giftCardAmount)
          // Nothing goes to a card while captured money is left.
          if (parts.giftCardAmount > 0) expect(parts.amount).toBe(left.captured)
          expect(parts.giftCards.every(({ amount }) => amount > 0)).toBe(true)
          done.push({ status: 'SUCCEEDED', purpose: 'REFUND', amount: parts.amount, giftCards: parts.giftCards })
        }
        expect(done.reduce((sum, { amount }) => sum + amount, 0)).toBe(captured)
        for (const card of cards) {
          const back = done.flatMap(({ giftCards }) => giftCards).filter(({ giftCardId }) => giftCardId === card.giftCardId)
          expect(back.reduce((sum, { amount }) => sum + amount, 0)).toBe(card.amount)
        }
      }),
    )
  })

  test('what goes back of an order leaves out refunds that failed, and counts those that are under way', () => {
    const before = [
      { status: 'FAILED', purpose: 'REFUND', amount: 50, giftCards: [] },
      { status: 'PENDING', purpose: 'REFUND', amount: 30, giftCards: [] },
      { status: 'SUCCEEDED', purpose: 'LATE_CAPTURE', amount: 100, giftCards: [] },
    ] as const
    expect(refundable({ capturedTotal: 100 }, [], before as never).captured).toBe(70)
  })
})
