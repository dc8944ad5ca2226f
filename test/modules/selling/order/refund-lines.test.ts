import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { OrderLine, Refund } from '../../../../src/modules/selling/order/domain.ts'
import { refundable, refundParts } from '../../../../src/modules/selling/order/domain.ts'
import {
  amountPaidFor,
  linesToRefund,
  matchesRequest,
  type RefundedLine,
  requestedAmount,
  restockedUnits,
  unrefundedUnits,
  withRestocked,
} from '../../../../src/modules/selling/order/refunds/refund-lines.ts'

type EarlierRefund = Pick<Refund, 'status' | 'lines'>
const line = (fields: Partial<OrderLine>): OrderLine =>
  ({
    id: 'line_1',
    variantId: 'var_1',
    quantity: 1,
    total: 0,
    discount: 0,
    taxInclusive: false,
    taxAmount: 0,
    tracked: true,
    ...fields,
  }) as OrderLine
const units = (quantity: number, restock = false, lineId = 'line_1') => ({ lineId, quantity, restock })
const resultOrErrorKind = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return (error as { kind: string }).kind
  }
}
const sum = (lines: readonly RefundedLine[]) => lines.reduce((all, { amount }) => all + amount, 0)

const bought = fc.record({
  quantity: fc.integer({ min: 1, max: 40 }),
  total: fc.integer({ min: 0, max: 100_000 }),
  taxAmount: fc.integer({ min: 0, max: 20_000 }),
  taxInclusive: fc.boolean(),
})

test('refunds exactly what was paid for a line, in any number of steps and with any failed refunds', () => {
  const attempts = fc.array(fc.tuple(fc.integer({ min: 1, max: 10 }), fc.boolean()), { maxLength: 30 })
  fc.assert(
    fc.property(bought, attempts, (fields, steps) => {
      const orderLine = line(fields)
      const before: EarlierRefund[] = []
      let refundedQuantity = 0
      for (const [quantity, isFailed] of [...steps, ...Array.from({ length: fields.quantity }, () => [1, false] as const)]) {
        const result = resultOrErrorKind(() => linesToRefund([orderLine], before, [units(quantity)]))
        expect(result === 'CONFLICT').toBe(refundedQuantity + quantity > fields.quantity)
        if (result === 'CONFLICT') continue
        const lines = result as RefundedLine[]
        expect(sum(lines)).toBeGreaterThanOrEqual(0)
        before.push({ status: isFailed ? 'FAILED' : refundedQuantity % 2 === 0 ? 'PENDING' : 'SUCCEEDED', lines })
        if (!isFailed) refundedQuantity += quantity
        expect(sum(before.filter(({ status }) => status !== 'FAILED').flatMap((refund) => refund.lines))).toBeLessThanOrEqual(
          amountPaidFor(orderLine),
        )
      }
      expect(refundedQuantity).toBe(fields.quantity)
      expect(sum(before.filter(({ status }) => status !== 'FAILED').flatMap((refund) => refund.lines))).toBe(amountPaidFor(orderLine))
    }),
  )
})

test('rounds line refunds half to even, and adds exclusive but not included tax', () => {
  const amountOf = (fields: Partial<OrderLine>, quantity = 1, before: EarlierRefund[] = []) =>
    linesToRefund([line(fields)], before, [units(quantity)])[0]?.amount
  expect(amountOf({ quantity: 2, total: 5 })).toBe(2)
  expect(amountOf({ quantity: 2, total: 7 })).toBe(4)
  expect(amountOf({ quantity: 2, total: 7 }, 2)).toBe(7)
  expect(amountOf({ quantity: 4, total: 4_000, taxAmount: 330 })).toBe(1_082)
  expect(amountOf({ quantity: 4, total: 4_000, taxAmount: 330, taxInclusive: true })).toBe(1_000)
  // A discounted amount was not paid.
  expect(amountOf({ quantity: 4, total: 4_000, discount: 400, taxAmount: 297 })).toBe(974)
  const first: EarlierRefund = { status: 'SUCCEEDED', lines: [{ ...units(1), amount: 333 }] }
  expect(amountOf({ quantity: 3, total: 1_000 }, 2, [first])).toBe(667)
  // Large amounts are computed without loss of precision.
  expect(amountOf({ quantity: 3, total: 99_999_999_999_999 }, 2)).toBe(66_666_666_666_666)
})

test('never computes a negative line refund after other refunds of the line failed', () => {
  const three = line({ quantity: 6, total: 3 })
  const lines = (quantity: number, amount: number): EarlierRefund => ({ status: 'SUCCEEDED', lines: [{ ...units(quantity), amount }] })
  // These refunds were rounded up.
  const before = [lines(2, 2), lines(1, 1)]
  expect(linesToRefund([three], before, [units(1)])[0]?.amount).toBe(0)
  expect(linesToRefund([three], before, [units(3)])[0]?.amount).toBe(0)
})

test('rejects refunds of unknown lines, repeated lines and more units than are left', () => {
  const lines = [line({ quantity: 2, total: 10 }), line({ id: 'line_2', quantity: 1, total: 5 })]
  expect(resultOrErrorKind(() => linesToRefund(lines, [], [units(1, false, 'line_3')]))).toBe('INVALID')
  expect(resultOrErrorKind(() => linesToRefund(lines, [], [units(1), units(1)]))).toBe('INVALID')
  expect(resultOrErrorKind(() => linesToRefund(lines, [], [units(3)]))).toBe('CONFLICT')
  expect(() => linesToRefund(lines, [], [units(3)])).toThrow(
    'lines.0.quantity: must be at most 2, the units of this line that can still be refunded',
  )
  expect(() => linesToRefund(lines, [], [units(1), units(1)])).toThrow('lines.1.lineId: must not be repeated')
  expect(() => linesToRefund(lines, [], [units(1), units(1, false, 'line_3')])).toThrow('lines.1.lineId: must be a line of the order')
  const before: EarlierRefund[] = [{ status: 'PENDING', lines: [{ ...units(1), amount: 5 }] }]
  expect(resultOrErrorKind(() => linesToRefund(lines, before, [units(2)]))).toBe('CONFLICT')
  expect(linesToRefund(lines, before, [units(1), units(1, true, 'line_2')])).toEqual([
    { lineId: 'line_1', quantity: 1, amount: 5, restock: false },
    { lineId: 'line_2', quantity: 1, amount: 5, restock: true },
  ])
  expect(linesToRefund(lines, [{ ...(before[0] as EarlierRefund), status: 'FAILED' }], [units(2)])[0]?.amount).toBe(10)
})

test('never refunds more than was paid by refunds of lines, amounts and the rest together', () => {
  const requests = fc.array(
    fc.oneof(
      fc.tuple(fc.constant('lines'), fc.nat(2), fc.integer({ min: 1, max: 4 })),
      fc.tuple(fc.constant('amount'), fc.integer({ min: 1, max: 9_000 }), fc.constant(0)),
    ),
  )
  fc.assert(
    fc.property(fc.array(bought, { minLength: 3, maxLength: 3 }), fc.nat(500), fc.nat(2_000), requests, (items, shipping, card, steps) => {
      const lines = items.map((fields, at) => line({ ...fields, id: `line_${at}` }))
      const total = lines.reduce((all, one) => all + amountPaidFor(one), shipping)
      const cards = [{ giftCardId: 'gift_1', amount: Math.min(card, total) }]
      const order = { capturedTotal: total - Math.min(card, total) }
      const refunds: Pick<Refund, 'status' | 'purpose' | 'amount' | 'giftCards' | 'lines'>[] = []
      for (const [kind, first, second] of steps) {
        const request = kind === 'lines' ? { lines: [units(Number(second), false, `line_${first}`)] } : { amount: Number(first) }
        const result = resultOrErrorKind(() => ('lines' in request ? linesToRefund(lines, refunds, request.lines) : []))
        if (!Array.isArray(result)) continue
        const parts = refundParts(refundable(order, cards as never, refunds), requestedAmount(request, result))
        if (parts) refunds.push({ status: 'SUCCEEDED', purpose: 'REFUND', lines: result, amount: parts.amount, giftCards: parts.giftCards })
      }
      const rest = refundParts(refundable(order, cards as never, refunds), undefined)
      const refundedTotal = refunds.reduce(
        (all, { amount, giftCards }) => all + amount + giftCards.reduce((some, share) => some + share.amount, 0),
        0,
      )
      expect(refundedTotal + (rest?.amount ?? 0) + (rest?.giftCardAmount ?? 0)).toBe(total)
    }),
  )
})

test('takes the requested amount, the sum of the lines, or everything that is left', () => {
  const lines = [5, 7].map((amount) => ({ ...units(1), amount }))
  expect(requestedAmount({ amount: 3 }, [])).toBe(3)
  expect(requestedAmount({ lines: [] }, lines)).toBe(12)
  expect(requestedAmount({ all: true }, [])).toBeUndefined()
})

test('matches a repeated refund request by its amount or by its lines in order', () => {
  const lines = [{ ...units(1, true), amount: 5 }]
  const ofLines = { amount: 3, giftCardAmount: 2, lines }
  const ofAmount = { amount: 3, giftCardAmount: 2, lines: [] }
  expect(matchesRequest({ lines: [units(1, true)] }, ofLines)).toBe(true)
  for (const other of [
    { lines: [units(1)] },
    { lines: [units(2, true)] },
    { lines: [units(1, true, 'line_2')] },
    { lines: [] },
    { amount: 5 },
    { all: true } as const,
  ])
    expect(matchesRequest(other, ofLines)).toBe(false)
  const ofTwo = { ...ofLines, lines: [...lines, { ...units(1, false, 'line_2'), amount: 5 }] }
  expect(matchesRequest({ lines: [units(1, true), units(1, false, 'line_2')] }, ofTwo)).toBe(true)
  expect(matchesRequest({ lines: [units(1, true), units(1, true, 'line_2')] }, ofTwo)).toBe(false)
  expect(matchesRequest({ lines: [units(1, true)] }, ofTwo)).toBe(false)
  expect(matchesRequest({ amount: 5 }, ofAmount)).toBe(true)
  expect(matchesRequest({ all: true }, ofAmount)).toBe(true)
  expect(matchesRequest({ amount: 3 }, ofAmount)).toBe(false)
  expect(matchesRequest({ lines: [units(1, true)] }, ofAmount)).toBe(false)
})

test('restocks tracked units that a refund asks for, and unrefunded units when the order is cancelled', () => {
  const lines = [
    line({ quantity: 3 }),
    line({ id: 'line_2', variantId: 'var_2', quantity: 2, tracked: false }),
    line({ id: 'line_3', variantId: 'var_3', quantity: 2 }),
  ]
  const refunded = [units(1, true), units(1, true, 'line_2'), units(2, false, 'line_3')].map((one) => ({ ...one, amount: 1 }))
  const restocked = (restockable: number) => withRestocked({ lines: refunded }, lines, () => restockable)
  expect(restocked(1).map((one) => one.restocked)).toEqual([1, 0, undefined])
  expect(restockedUnits(restocked(1), lines)).toEqual([{ variantId: 'var_1', quantity: 1 }])
  // Its return restocked it.
  expect(restocked(0).map((one) => one.restocked)).toEqual([0, 0, undefined])
  expect(restockedUnits(restocked(0), lines)).toEqual([])
  expect(unrefundedUnits(lines, [{ status: 'SUCCEEDED', lines: refunded }])).toEqual([{ variantId: 'var_1', quantity: 2 }])
  expect(unrefundedUnits(lines, [{ status: 'FAILED', lines: refunded }])).toEqual([
    { variantId: 'var_1', quantity: 3 },
    { variantId: 'var_3', quantity: 2 },
  ])
})
