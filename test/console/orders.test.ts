/** Tests the calculations of the order pages: previews of refunds, request bodies, and timelines. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fulfilmentBody, parseUnits } from '../../src/console/screens/orders/fulfilment.domain.ts'
import {
  canSettle,
  isCancellable,
  isRefundable,
  lineRefundAmount,
  previewRefund,
  refundableAmounts,
  refundBody,
  unfulfilledUnits,
  unitsLeft,
} from '../../src/console/screens/orders/refund.domain.ts'
import { timelineOf } from '../../src/console/screens/orders/timeline.domain.ts'
import { hasNothingToFulfil } from '../../src/console/ui/status-badge.domain.ts'
import { linesToRefund } from '../../src/modules/selling/order/refunds/refund-lines.ts'

type Order = Parameters<typeof refundableAmounts>[0]
type Refund = Order['refunds'][number]

const usd = (amount: number) => ({ amount, currency: 'USD' })
type LineOf = { quantity?: number; total?: number; discount?: number; tax?: number; inclusive?: boolean; left?: number }
const line = (id: string, { quantity = 1, total = 1_000, discount = 0, tax = 0, inclusive = false, left }: LineOf = {}) =>
  ({
    id,
    quantity,
    unfulfilledQuantity: left ?? quantity,
    total: usd(total),
    discount: usd(discount),
    tax: { rateBps: 0, inclusive, amount: usd(tax) },
  }) as Order['lines'][number]
const refund = (amount: number, more: Partial<Refund> = {}) =>
  ({ status: 'SUCCEEDED', paymentId: 'pay_1', amount: usd(amount), giftCardAmount: usd(0), lines: [], ...more }) as unknown as Refund
const order = (more: Partial<Order> = {}) =>
  ({
    status: 'CONFIRMED',
    fulfilmentStatus: 'UNFULFILLED',
    currency: 'USD',
    lines: [line('a')],
    capturedTotal: usd(1_000),
    refundableTotal: usd(1_000),
    giftCardTotal: usd(0),
    refunds: [],
    events: [],
    notes: [],
    ...more,
  }) as unknown as Order

describe('the refundable amount', () => {
  test('is the captured amount without completed and pending refunds', () => {
    expect(refundableAmounts(order())).toEqual({ captured: 1_000, onCards: 0 })
    const refunds = [refund(300), refund(200, { status: 'PENDING' }), refund(400, { status: 'FAILED' })]
    expect(refundableAmounts(order({ refunds }))).toEqual({ captured: 500, onCards: 0 })
  })

  test('counts gift cards separately', () => {
    const refunds = [refund(700, { giftCardAmount: usd(100) })]
    expect(refundableAmounts(order({ giftCardTotal: usd(400), refunds }))).toEqual({ captured: 400, onCards: 300 })
  })

  test('is not reduced by refunds of late captures', () => {
    const events = [{ type: 'LATE_CAPTURE', at: '2026-11-23T00:00:00.000Z', detail: { payment: 'pay_2' } }]
    expect(refundableAmounts(order({ events, refunds: [refund(1_000, { paymentId: 'pay_2' })] }))).toEqual({ captured: 1_000, onCards: 0 })
  })
})

describe('the refund of lines', () => {
  test('equals the amount of souk for every series of refunds', () => {
    const lines = fc.record({
      quantity: fc.integer({ min: 1, max: 9 }),
      total: fc.integer({ min: 0, max: 100_000 }),
      discount: fc.integer({ min: 0, max: 100 }),
      tax: fc.integer({ min: 0, max: 5_000 }),
      inclusive: fc.boolean(),
    })
    fc.assert(
      fc.property(
        lines,
        fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 }),
        fc.array(fc.boolean(), { maxLength: 6 }),
        (of, steps, failures) => {
          const orderLine = line('a', { ...of, discount: Math.min(of.discount, of.total) })
          const storedLine = {
            id: 'a',
            quantity: of.quantity,
            total: of.total,
            discount: Math.min(of.discount, of.total),
            taxInclusive: of.inclusive,
            taxAmount: of.tax,
          } as Parameters<typeof linesToRefund>[0][number]
          const shownOrder = order({ lines: [orderLine] })
          const earlierRefunds: Parameters<typeof linesToRefund>[1][number][] = []
          steps.forEach((quantity, step) => {
            const preview = lineRefundAmount(shownOrder, orderLine, quantity)
            if (quantity > unitsLeft(shownOrder, orderLine)) {
              expect(preview).toBeNaN()
              return
            }
            const [actual] = linesToRefund([storedLine], earlierRefunds, [{ lineId: 'a', quantity, restock: false }])
            expect(preview).toBe(actual?.amount ?? -1)
            const status = failures[step] ? 'FAILED' : 'SUCCEEDED'
            const amount = actual?.amount ?? 0
            earlierRefunds.push({ status, lines: [{ lineId: 'a', quantity, amount, restock: false }] })
            shownOrder.refunds.push(refund(amount, { status, lines: [{ lineId: 'a', quantity, amount: usd(amount), restock: false }] }))
          })
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('the preview of a refund', () => {
  const mixed = order({ capturedTotal: usd(600), giftCardTotal: usd(400) })
  test('refunds to the payment method first, and then to gift cards', () => {
    expect(previewRefund(mixed, { kind: 'all' })).toEqual({ total: 1_000, captured: 600, onCards: 400, remaining: 0 })
    expect(previewRefund(mixed, { kind: 'amount', amount: usd(700) })).toEqual({ total: 700, captured: 600, onCards: 100, remaining: 300 })
    const lines = [{ lineId: 'a', quantity: 1, restock: true }]
    expect(previewRefund(mixed, { kind: 'lines', lines })).toEqual({ total: 1_000, captured: 600, onCards: 400, remaining: 0 })
  })

  test('names invalid input', () => {
    expect(previewRefund(mixed, { kind: 'amount', amount: usd(1_001) }).problem).toBe('tooMuch')
    expect(previewRefund(mixed, { kind: 'amount', amount: undefined }).problem).toBe('notAmount')
    expect(previewRefund(mixed, { kind: 'nothing' }).problem).toBe('nothing')
    expect(previewRefund(mixed, { kind: 'amount', amount: usd(0) }).problem).toBe('nothing')
    expect(previewRefund(mixed, { kind: 'lines', lines: [] }).problem).toBe('nothing')
    expect(previewRefund(mixed, { kind: 'lines', lines: [{ lineId: 'a', quantity: 2, restock: true }] }).problem).toBe('tooMuch')
    expect(previewRefund(mixed, { kind: 'lines', lines: [{ lineId: 'a', quantity: Number.NaN, restock: true }] }).problem).toBe('tooMuch')
    expect(previewRefund(order({ refunds: [refund(1_000)] }), { kind: 'all' }).problem).toBe('nothing')
  })

  test('allows a refund of free items', () => {
    const free = order({ lines: [line('a', { total: 0 }), line('b')] })
    const actual = previewRefund(free, { kind: 'lines', lines: [{ lineId: 'a', quantity: 1, restock: true }] })
    expect(actual).toEqual({ total: 0, captured: 0, onCards: 0, remaining: 1_000 })
  })

  test('is converted to the body of the API', () => {
    expect(refundBody({ kind: 'all' }, ' ')).toEqual({ all: true })
    expect(refundBody({ kind: 'amount', amount: usd(5) }, ' broken ')).toEqual({ amount: usd(5), reason: 'broken' })
    const lines = [{ lineId: 'a', quantity: 1, restock: true }]
    expect(refundBody({ kind: 'lines', lines }, '')).toEqual({ lines })
  })
})

test('the possible actions of an order follow from its state', () => {
  expect([isRefundable(order()), isCancellable(order()), unfulfilledUnits(order())]).toEqual([true, true, 1])
  const fulfilled = order({ status: 'FULFILLED', fulfilmentStatus: 'FULFILLED', lines: [line('a', { left: 0 })] })
  expect([isRefundable(fulfilled), isCancellable(fulfilled), unfulfilledUnits(fulfilled)]).toEqual([true, false, 0])
  const open = order({ status: 'PENDING_PAYMENT', refundableTotal: usd(0) })
  expect([isRefundable(open), isCancellable(open), unfulfilledUnits(open)]).toEqual([false, true, 0])
})

test('a refund is shown as to be paid by hand only if no processor will pay it', () => {
  const at = Date.parse('2026-11-23T00:00:00.000Z')
  const refundOf = (status: Refund['status']) => refund(1, { status, createdAt: new Date(at).toISOString() })
  const dayMs = 86_400_000
  expect(canSettle(refundOf('MANUAL'), at)).toBe(true)
  expect([canSettle(refundOf('PENDING'), at + 3 * dayMs - 1), canSettle(refundOf('PENDING'), at + 3 * dayMs)]).toEqual([false, true])
  expect([canSettle(refundOf('SUCCEEDED'), at + 9 * dayMs), canSettle(refundOf('CLAIMABLE'), at + 9 * dayMs)]).toEqual([false, false])
})

describe('a fulfilment', () => {
  const two = order({ lines: [line('a', { quantity: 3, left: 2 }), line('b'), line('c', { left: 0 })] })
  const none = { trackingNumber: ' ', carrier: '' }
  test('has its lines, and omits empty fields', () => {
    expect(fulfilmentBody(two, { a: 1, b: 0, c: 1 }, none)).toEqual({ lines: [{ lineId: 'a', quantity: 1 }] })
    expect(fulfilmentBody(two, { a: 2, b: 1 }, { trackingNumber: ' X1 ', carrier: 'Post' })).toEqual({
      lines: [
        { lineId: 'a', quantity: 2 },
        { lineId: 'b', quantity: 1 },
      ],
      trackingNumber: 'X1',
      carrier: 'Post',
    })
    expect(fulfilmentBody(two, { a: 0 }, none)).toBeUndefined()
  })

  test('has whole units, and no more than are unfulfilled', () => {
    expect(['', '0', ' 2 ', '٢', '3', '-1', '1.5', 'x', '1e1'].map((text) => parseUnits(text, 2))).toEqual([
      0,
      0,
      2,
      2,
      ...Array<undefined>(5).fill(undefined),
    ])
  })
})

test('an order that was refunded before anything was sent has nothing to fulfil, also once it is completed', () => {
  const fulfilled = order({ status: 'COMPLETED', fulfilmentStatus: 'FULFILLED', lines: [{ ...line('a'), fulfilledQuantity: 0 }] })
  expect(hasNothingToFulfil(fulfilled)).toBe(true)
  expect(hasNothingToFulfil({ ...fulfilled, lines: [{ ...line('a'), giftCard: true, fulfilledQuantity: 1 }] })).toBe(false)
  expect(hasNothingToFulfil({ ...fulfilled, fulfilmentStatus: 'UNFULFILLED' })).toBe(false)
})

test('an order that came from an abandoned-cart email says so in its timeline', () => {
  const placed = { type: 'PLACED', at: '2026-11-23T00:00:00.000Z', detail: {} }
  expect(timelineOf({ events: [placed], fromAbandonedCart: true })).toMatchObject([{ type: 'PLACED_FROM_CART' }])
  expect(timelineOf({ events: [placed], fromAbandonedCart: false })).toMatchObject([{ type: 'PLACED' }])
})

test('an order of an agent says so in its timeline, with the platform', () => {
  const placed = { type: 'PLACED', at: '2026-11-23T00:00:00.000Z', detail: {} }
  const agent = { profile: 'https://platform.example/profile' }
  expect(timelineOf({ events: [placed], fromAbandonedCart: true, agent })).toMatchObject([
    { type: 'PLACED_BY_AGENT', details: ['https://platform.example/profile'] },
  ])
  expect(timelineOf({ events: [placed], agent: { profile: null } })).toMatchObject([{ type: 'PLACED_BY_AGENT', details: [] }])
})

test('events and notes are one timeline, newest first', () => {
  const at = (second: number) => `2026-11-23T00:00:0${second}.000Z`
  const timeline = timelineOf({
    events: [
      { type: 'PLACED', at: at(1), detail: { total: usd(1_000) } },
      { type: 'PAYMENT_CAPTURED', at: at(2), detail: { payment: 'pay_1', processor: 'stripe', amount: usd(1_000) } },
      { type: 'CONFIRMED', at: at(2), detail: {} },
    ],
    notes: [{ id: 'note_1', text: '<b>hello</b>', actor: 'mer_1', at: at(3) }],
  })
  expect(timeline.map((one) => (one.kind === 'note' ? one.text : one.type))).toEqual([
    '<b>hello</b>',
    'CONFIRMED',
    'PAYMENT_CAPTURED',
    'PLACED',
  ])
  expect(timeline[2]).toEqual({ kind: 'event', id: '1', at: at(2), type: 'PAYMENT_CAPTURED', details: ['Stripe'], amount: usd(1_000) })
})
