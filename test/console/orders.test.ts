/** What the pages of orders reckon by themselves: what a refund would come to, what is sent, and in which order things happened. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fulfilmentBody, parseUnits } from '../../src/console/screens/orders/fulfilment.domain.ts'
import {
  isCancellable,
  isRefundable,
  lineRefundAmount,
  maySettle,
  previewRefund,
  refundableAmounts,
  refundBody,
  unfulfilledUnits,
  unitsLeft,
} from '../../src/console/screens/orders/refund.domain.ts'
import { timelineOf } from '../../src/console/screens/orders/timeline.domain.ts'
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

describe('what is left to refund', () => {
  test('is what came, less what went back or is on its way', () => {
    expect(refundableAmounts(order())).toEqual({ captured: 1_000, onCards: 0 })
    const refunds = [refund(300), refund(200, { status: 'PENDING' }), refund(400, { status: 'FAILED' })]
    expect(refundableAmounts(order({ refunds }))).toEqual({ captured: 500, onCards: 0 })
  })

  test('counts gift cards apart', () => {
    const refunds = [refund(700, { giftCardAmount: usd(100) })]
    expect(refundableAmounts(order({ giftCardTotal: usd(400), refunds }))).toEqual({ captured: 400, onCards: 300 })
  })

  test('is not lessened by money that came too late and went back', () => {
    const events = [{ type: 'LATE_CAPTURE', at: '2026-11-23T00:00:00.000Z', detail: { payment: 'pay_2' } }]
    expect(refundableAmounts(order({ events, refunds: [refund(1_000, { paymentId: 'pay_2' })] }))).toEqual({ captured: 1_000, onCards: 0 })
  })
})

describe('what lines give back', () => {
  test('is, refund after refund, what souk gives', () => {
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
          const bought = line('a', { ...of, discount: Math.min(of.discount, of.total) })
          const known = {
            id: 'a',
            quantity: of.quantity,
            total: of.total,
            discount: Math.min(of.discount, of.total),
            taxInclusive: of.inclusive,
            taxAmount: of.tax,
          } as Parameters<typeof linesToRefund>[0][number]
          const shown = order({ lines: [bought] })
          const kept: Parameters<typeof linesToRefund>[1][number][] = []
          steps.forEach((quantity, step) => {
            const mine = lineRefundAmount(shown, bought, quantity)
            if (quantity > unitsLeft(shown, bought)) {
              expect(mine).toBeNaN()
              return
            }
            const [given] = linesToRefund([known], kept, [{ lineId: 'a', quantity, restock: false }])
            expect(mine).toBe(given?.amount ?? -1)
            const status = failures[step] ? 'FAILED' : 'SUCCEEDED'
            const amount = given?.amount ?? 0
            kept.push({ status, lines: [{ lineId: 'a', quantity, amount, restock: false }] })
            shown.refunds.push(refund(amount, { status, lines: [{ lineId: 'a', quantity, amount: usd(amount), restock: false }] }))
          })
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('the preview of a refund', () => {
  const mixed = order({ capturedTotal: usd(600), giftCardTotal: usd(400) })
  test('gives back by the way of payment first, and to gift cards then', () => {
    expect(previewRefund(mixed, { way: 'all' })).toEqual({ total: 1_000, captured: 600, onCards: 400, rest: 0 })
    expect(previewRefund(mixed, { way: 'amount', amount: usd(700) })).toEqual({ total: 700, captured: 600, onCards: 100, rest: 300 })
    const lines = [{ lineId: 'a', quantity: 1, restock: true }]
    expect(previewRefund(mixed, { way: 'lines', lines })).toEqual({ total: 1_000, captured: 600, onCards: 400, rest: 0 })
  })

  test('says what cannot be', () => {
    expect(previewRefund(mixed, { way: 'amount', amount: usd(1_001) }).problem).toBe('tooMuch')
    expect(previewRefund(mixed, { way: 'amount', amount: undefined }).problem).toBe('notAmount')
    expect(previewRefund(mixed, { way: 'nothing' }).problem).toBe('nothing')
    expect(previewRefund(mixed, { way: 'amount', amount: usd(0) }).problem).toBe('nothing')
    expect(previewRefund(mixed, { way: 'lines', lines: [] }).problem).toBe('nothing')
    expect(previewRefund(mixed, { way: 'lines', lines: [{ lineId: 'a', quantity: 2, restock: true }] }).problem).toBe('tooMuch')
    expect(previewRefund(mixed, { way: 'lines', lines: [{ lineId: 'a', quantity: Number.NaN, restock: true }] }).problem).toBe('tooMuch')
    expect(previewRefund(order({ refunds: [refund(1_000)] }), { way: 'all' }).problem).toBe('nothing')
  })

  test('lets goods go back that cost nothing', () => {
    const free = order({ lines: [line('a', { total: 0 }), line('b')] })
    const given = previewRefund(free, { way: 'lines', lines: [{ lineId: 'a', quantity: 1, restock: true }] })
    expect(given).toEqual({ total: 0, captured: 0, onCards: 0, rest: 1_000 })
  })

  test('is sent as the API takes it', () => {
    expect(refundBody({ way: 'all' }, ' ')).toEqual({ all: true })
    expect(refundBody({ way: 'amount', amount: usd(5) }, ' broken ')).toEqual({ amount: usd(5), reason: 'broken' })
    const lines = [{ lineId: 'a', quantity: 1, restock: true }]
    expect(refundBody({ way: 'lines', lines }, '')).toEqual({ lines })
  })
})

test('an order says by itself what may be done with it', () => {
  expect([isRefundable(order()), isCancellable(order()), unfulfilledUnits(order())]).toEqual([true, true, 1])
  const sent = order({ status: 'FULFILLED', fulfilmentStatus: 'FULFILLED', lines: [line('a', { left: 0 })] })
  expect([isRefundable(sent), isCancellable(sent), unfulfilledUnits(sent)]).toEqual([true, false, 0])
  const open = order({ status: 'PENDING_PAYMENT', refundableTotal: usd(0) })
  expect([isRefundable(open), isCancellable(open), unfulfilledUnits(open)]).toEqual([false, true, 0])
})

test('a refund is said to be paid by hand when nobody else is about to pay it', () => {
  const at = Date.parse('2026-11-23T00:00:00.000Z')
  const made = (status: Refund['status']) => refund(1, { status, createdAt: new Date(at).toISOString() })
  const dayMs = 86_400_000
  expect(maySettle(made('MANUAL'), at)).toBe(true)
  expect([maySettle(made('PENDING'), at + 3 * dayMs - 1), maySettle(made('PENDING'), at + 3 * dayMs)]).toEqual([false, true])
  expect([maySettle(made('SUCCEEDED'), at + 9 * dayMs), maySettle(made('CLAIMABLE'), at + 9 * dayMs)]).toEqual([false, false])
})

describe('a parcel', () => {
  const two = order({ lines: [line('a', { quantity: 3, left: 2 }), line('b'), line('c', { left: 0 })] })
  const none = { trackingNumber: ' ', carrier: '' }
  test('names what is in it, and leaves out what is not known', () => {
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

  test('holds whole units, and no more than are left', () => {
    expect(['', '0', ' 2 ', '٢', '3', '-1', '1.5', 'x', '1e1'].map((text) => parseUnits(text, 2))).toEqual([
      0,
      0,
      2,
      2,
      ...Array<undefined>(5).fill(undefined),
    ])
  })
})

test('an order that came from an abandoned-cart email says so in its story', () => {
  const placed = { type: 'PLACED', at: '2026-11-23T00:00:00.000Z', detail: {} }
  expect(timelineOf({ events: [placed], fromAbandonedCart: true })).toMatchObject([{ type: 'PLACED_FROM_CART' }])
  expect(timelineOf({ events: [placed], fromAbandonedCart: false })).toMatchObject([{ type: 'PLACED' }])
})

test('an order of an agent says so in its story, with the platform', () => {
  const placed = { type: 'PLACED', at: '2026-11-23T00:00:00.000Z', detail: {} }
  const agent = { profile: 'https://platform.example/profile' }
  expect(timelineOf({ events: [placed], fromAbandonedCart: true, agent })).toMatchObject([
    { type: 'PLACED_BY_AGENT', details: ['https://platform.example/profile'] },
  ])
  expect(timelineOf({ events: [placed], agent: { profile: null } })).toMatchObject([{ type: 'PLACED_BY_AGENT', details: [] }])
})

test('events and notes are one story, the newest first', () => {
  const at = (second: number) => `2026-11-23T00:00:0${second}.000Z`
  const story = timelineOf({
    events: [
      { type: 'PLACED', at: at(1), detail: { total: usd(1_000) } },
      { type: 'PAYMENT_CAPTURED', at: at(2), detail: { payment: 'pay_1', processor: 'stripe', amount: usd(1_000) } },
      { type: 'CONFIRMED', at: at(2), detail: {} },
    ],
    notes: [{ id: 'note_1', text: '<b>hello</b>', actor: 'mer_1', at: at(3) }],
  })
  expect(story.map((one) => (one.kind === 'note' ? one.text : one.type))).toEqual([
    '<b>hello</b>',
    'CONFIRMED',
    'PAYMENT_CAPTURED',
    'PLACED',
  ])
  expect(story[2]).toEqual({ kind: 'event', id: '1', at: at(2), type: 'PAYMENT_CAPTURED', details: ['Stripe'], amount: usd(1_000) })
})
