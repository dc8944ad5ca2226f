import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { divideHalfEven } from '../../../../src/lib/rounding.ts'
import { taxOf, totalsOf } from '../../../../src/modules/selling/cart/domain.ts'
import {
  allocate,
  bestReduction,
  codeKeyOf,
  type Discount,
  type DiscountInputLine,
  freeShipping,
  type Offer,
  type Offers,
  offerOf,
  reductionOf,
} from '../../../../src/modules/selling/discount/domain.ts'
import { amountPaidFor, linesToRefund } from '../../../../src/modules/selling/order/refunds/refund-lines.ts'

const baseDiscount: Discount = {
  id: 'disc_1',
  shopId: 'shop_1',
  title: 'Spring',
  code: null,
  codeKey: null,
  kind: 'PERCENT',
  valueBps: 1_000,
  amount: null,
  minSubtotal: null,
  currency: null,
  productIds: null,
  collectionIds: null,
  startsAt: null,
  endsAt: null,
  usageLimit: null,
  perCustomerLimit: null,
  status: 'ACTIVE',
  used: 0,
  createdAt: 0,
  updatedAt: 0,
  removedAt: null,
  version: 1,
}
const now = 1_000_000
const offerWith = (fields: Partial<Discount> = {}): Offer => offerOf({ ...baseDiscount, ...fields })
const offersOf = (...all: Offer[]): Offers => ({ all, collections: new Map([['p1', new Set(['c1'])]]), uses: new Map() })
const offered = (...lines: [total: number, productId?: string][]) => ({
  lines: lines.map(([total, productId]): DiscountInputLine => ({ total, productId })),
  currency: 'USD',
  now,
})

const total = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 1_000_000 }), fc.integer({ min: 0, max: 900_000_000_000 }))
const totals = fc.array(total, { minLength: 1, maxLength: 100 })
const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + amount, 0)

describe('the amount of a discount', () => {
  test('rounds a percentage discount half to even', () => {
    expect([5, 15, 25, 35].map((subtotal) => reductionOf(offerWith({ valueBps: 1_000 }), subtotal))).toEqual([0, 2, 2, 4])
    fc.assert(
      fc.property(total, fc.integer({ min: 1, max: 10_000 }), (subtotal, valueBps) => {
        const reduction = BigInt(reductionOf(offerWith({ valueBps }), subtotal))
        expect(reduction).toBe(divideHalfEven(BigInt(subtotal) * BigInt(valueBps), 10_000n))
        expect(reduction >= 0n && reduction <= BigInt(subtotal)).toBe(true)
      }),
    )
  })

  test('deducts a fixed amount once, and never more than the subtotal', () => {
    expect(reductionOf(offerWith({ kind: 'FIXED', amount: 500, valueBps: null }), 2_000)).toBe(500)
    expect(reductionOf(offerWith({ kind: 'FIXED', amount: 500, valueBps: null }), 300)).toBe(300)
  })

  test('divides a discount among lines exactly, within each line and within one unit of its share', () => {
    fc.assert(
      fc.property(totals, fc.nat({ max: 10_000 }), (lines, bps) => {
        const subtotal = sum(lines)
        const amount = reductionOf(offerWith({ valueBps: bps }), subtotal)
        const parts = allocate(amount, lines)
        expect(sum(parts)).toBe(amount)
        lines.forEach((line, at) => {
          const part = parts[at] ?? -1
          expect(part >= 0 && part <= line).toBe(true)
          const difference = BigInt(part) * BigInt(subtotal) - BigInt(amount) * BigInt(line)
          expect(subtotal === 0 || (difference < BigInt(subtotal) && difference > -BigInt(subtotal))).toBe(true)
        })
      }),
    )
  })

  test('gives remaining units to the largest remainders, and the first line wins a tie', () => {
    expect(allocate(100, [1_000, 1_000, 1_000])).toEqual([34, 33, 33])
    expect(allocate(2, [1, 1, 1])).toEqual([1, 1, 0])
    expect(allocate(10, [33, 67, 0])).toEqual([3, 7, 0])
    expect(allocate(1, [1, 2])).toEqual([0, 1])
    expect(allocate(0, [0, 0])).toEqual([0, 0])
  })

  test('applies a discount to its products and to the products of its collections', () => {
    const reductionFor = (fields: Partial<Discount>) =>
      bestReduction(offersOf(offerWith(fields)), offered([1_000, 'p1'], [500, 'p2'], [100]))
    expect(reductionFor({})).toMatchObject({ amount: 160, lineAmounts: [100, 50, 10] })
    expect(reductionFor({ productIds: ['p2'] })).toMatchObject({ amount: 50, lineAmounts: [0, 50, 0] })
    expect(reductionFor({ collectionIds: ['c1'] })).toMatchObject({ amount: 100, lineAmounts: [100, 0, 0] })
    expect(reductionFor({ productIds: ['p2'], collectionIds: ['c1'] })).toMatchObject({ amount: 150 })
    expect(reductionFor({ collectionIds: ['c2'] })).toBeUndefined()
  })

  test('compares the minimum purchase with the subtotal of the discounted lines', () => {
    const reductionFor = (minSubtotal: number, productIds: string[] | null = null) =>
      bestReduction(offersOf(offerWith({ minSubtotal, currency: 'USD', productIds })), offered([1_000, 'p1'], [500, 'p2']))?.amount
    expect([reductionFor(1_500), reductionFor(1_501), reductionFor(500, ['p2']), reductionFor(501, ['p2'])]).toEqual([
      150,
      undefined,
      50,
      undefined,
    ])
  })

  test('ignores a disabled, future, ended, used-up or foreign-currency discount', () => {
    const reductionFor = (fields: Partial<Discount>, uses = 0) =>
      bestReduction({ ...offersOf(offerWith(fields)), uses: new Map([['disc_1', uses]]) }, offered([1_000]))?.amount
    expect(reductionFor({ status: 'DISABLED' })).toBeUndefined()
    expect([reductionFor({ startsAt: now + 1 }), reductionFor({ startsAt: now })]).toEqual([undefined, 100])
    expect([reductionFor({ endsAt: now }), reductionFor({ endsAt: now + 1 })]).toEqual([undefined, 100])
    expect([reductionFor({ usageLimit: 2, used: 2 }), reductionFor({ usageLimit: 2, used: 1 })]).toEqual([undefined, 100])
    expect([reductionFor({ perCustomerLimit: 2 }, 2), reductionFor({ perCustomerLimit: 2 }, 1)]).toEqual([undefined, 100])
    expect(reductionFor({ currency: 'EUR' })).toBeUndefined()
  })

  test('chooses the largest discount, then one with a code, then the oldest, in any input order', () => {
    const all = [
      offerWith({ id: 'a', valueBps: 900 }),
      offerWith({ id: 'b', createdAt: 2 }),
      offerWith({ id: 'c', createdAt: 1 }),
      offerWith({ id: 'd', createdAt: 3, code: 'X', codeKey: 'X' }),
    ]
    const best = (offers: readonly Offer[]) => bestReduction(offersOf(...offers), offered([1_000]))?.offer.id
    expect(best(all)).toBe('d')
    expect(best(all.slice(0, 3))).toBe('c')
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            valueBps: fc.integer({ min: 1, max: 5 }).map((n) => n * 2_000),
            createdAt: fc.nat({ max: 3 }),
            hasCode: fc.boolean(),
            kind: fc.constantFrom<Discount['kind']>('PERCENT', 'FIXED', 'FREE_SHIPPING'),
          }),
          { minLength: 1, maxLength: 8 },
        ),
        fc.infiniteStream(fc.nat()),
        (items, chance) => {
          const offers = items.map(({ hasCode, ...fields }, at) =>
            offerWith({
              ...fields,
              amount: fields.valueBps,
              id: `disc_${at}`,
              code: hasCode ? `C${at}` : null,
              codeKey: hasCode ? `C${at}` : null,
            }),
          )
          const keyed = offers.map((offer) => ({ offer, by: chance.next().value })).toSorted((a, b) => a.by - b.by)
          const shuffled = keyed.map(({ offer }) => offer)
          const cart = offered([10_000], [333])
          expect(bestReduction(offersOf(...shuffled), cart)).toEqual(bestReduction(offersOf(...offers), cart))
          expect(freeShipping(offersOf(...shuffled), cart, 500)).toEqual(freeShipping(offersOf(...offers), cart, 500))
        },
      ),
    )
  })

  test('applies free shipping only if shipping costs something', () => {
    const offers = offersOf(offerWith({ kind: 'FREE_SHIPPING', valueBps: null }))
    expect(freeShipping(offers, offered([1_000]), 500)).toMatchObject({ amount: 500 })
    expect(freeShipping(offers, offered([1_000]), 0)).toBeUndefined()
    expect(freeShipping(offers, offered(), 500)).toBeUndefined()
    expect(bestReduction(offers, offered([1_000]))).toBeUndefined()
  })

  test('normalizes the case and width of discount codes', () => {
    expect(new Set([' summer ', 'SUMMER', 'Summer', 'ｓｕｍｍｅｒ'].map(codeKeyOf))).toEqual(new Set(['SUMMER']))
  })
})

const purchase = fc.array(
  fc.record({ unitPrice: fc.nat({ max: 1_000_000 }), quantity: fc.integer({ min: 1, max: 20 }), taxable: fc.boolean() }),
  { minLength: 1, maxLength: 12 },
)
const taxRate = fc.record({
  country: fc.constant('US'),
  region: fc.constant(null),
  rateBps: fc.nat({ max: 5_000 }),
  inclusive: fc.boolean(),
})

describe('a purchase with a discount', () => {
  test('computes the total from lines, shipping, tax and discount, and taxes each line after its discount', () => {
    fc.assert(
      fc.property(purchase, taxRate, fc.nat({ max: 10_000 }), fc.nat({ max: 5_000 }), (lines, rate, bps, shipping) => {
        const before = lines.map(({ unitPrice, quantity }) => unitPrice * quantity)
        const parts = allocate(reductionOf(offerWith({ valueBps: bps }), sum(before)), before)
        const items = lines.map(({ taxable, ...line }, at) => ({ ...line, rate: taxable ? rate : undefined, discount: parts[at] ?? 0 }))
        const { totals: all, lines: taxedLines } = totalsOf({ lines: items, shippingOf: () => shipping }, () => [])
        const exclusive = taxedLines.filter(({ taxInclusive }) => !taxInclusive)
        expect(BigInt(all.total)).toBe(
          taxedLines.reduce((acc, line) => acc + BigInt(line.total), 0n) +
            BigInt(shipping) +
            exclusive.reduce((acc, line) => acc + BigInt(line.taxAmount), 0n) -
            BigInt(all.discount),
        )
        expect(all.discount).toBe(sum(parts))
        expect(all.total).toBeGreaterThanOrEqual(shipping)
        taxedLines.forEach((line, at) => {
          expect(line.total - line.discount).toBeGreaterThanOrEqual(0)
          expect(line.taxAmount).toBe(lines[at]?.taxable ? taxOf(line.total - line.discount, rate) : 0)
        })
      }),
    )
  })

  test('refunds exactly what was paid for each line, in any number of steps', () => {
    fc.assert(
      fc.property(purchase, taxRate, fc.nat({ max: 10_000 }), fc.infiniteStream(fc.nat()), (lines, rate, bps, chance) => {
        const before = lines.map(({ unitPrice, quantity }) => unitPrice * quantity)
        const parts = allocate(reductionOf(offerWith({ valueBps: bps }), sum(before)), before)
        const items = lines.map(({ taxable, ...line }, at) => ({ ...line, rate: taxable ? rate : undefined, discount: parts[at] ?? 0 }))
        const { totals: all, lines: taxedLines } = totalsOf({ lines: items, shippingOf: () => 0 }, () => [])
        const rows = taxedLines.map((line, at) => ({ ...line, id: `line_${at}`, quantity: lines[at]?.quantity ?? 0 }))
        const left = new Map(rows.map(({ id, quantity }) => [id, quantity]))
        const refunds: { status: 'SUCCEEDED'; lines: ReturnType<typeof linesToRefund> }[] = []
        while (left.size > 0) {
          const [id, most] = [...left][chance.next().value % left.size] as [string, number]
          const quantity = 1 + (chance.next().value % most)
          const refundLines = linesToRefund(rows as never, refunds, [{ lineId: id, quantity, restock: false }])
          expect(refundLines.every(({ amount }) => amount >= 0)).toBe(true)
          refunds.push({ status: 'SUCCEEDED', lines: refundLines })
          if (quantity === most) left.delete(id)
          else left.set(id, most - quantity)
        }
        const refundedLines = refunds.flatMap((refund) => refund.lines)
        for (const row of rows) {
          const ofLine = refundedLines.filter(({ lineId }) => lineId === row.id).reduce((acc, { amount }) => acc + BigInt(amount), 0n)
          expect(ofLine).toBe(BigInt(amountPaidFor(row)))
        }
        expect(refundedLines.reduce((acc, { amount }) => acc + BigInt(amount), 0n)).toBe(BigInt(all.total))
      }),
    )
  })
})
