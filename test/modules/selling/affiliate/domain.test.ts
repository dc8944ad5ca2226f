import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { amountMax } from '../../../../src/lib/money.ts'
import { divideHalfEven } from '../../../../src/lib/rounding.ts'
import { afterRefund, commissionOf, isRecentClick } from '../../../../src/modules/selling/affiliate/domain.ts'

const amount = fc.integer({ min: 0, max: amountMax })
const rateBps = fc.integer({ min: 0, max: 10_000 })

const untaxedShipping = { shippingTax: 0, shippingTaxInclusive: false }

describe('the amount of a commission', () => {
  test('computes a commission from the goods less discounts and included tax, rounding half to even', () => {
    expect(commissionOf({ subtotal: 10_000, discountTotal: 0, taxIncluded: 0, ...untaxedShipping }, 1_000)).toBe(1_000)
    expect(commissionOf({ subtotal: 10_000, discountTotal: 2_500, taxIncluded: 0, ...untaxedShipping }, 1_000)).toBe(750)
    expect(
      [5, 15, 25, 35].map((subtotal) => commissionOf({ subtotal, discountTotal: 0, taxIncluded: 0, ...untaxedShipping }, 1_000)),
    ).toEqual([0, 2, 2, 4])
    expect(commissionOf({ subtotal: 999, discountTotal: 0, taxIncluded: 0, ...untaxedShipping }, 0)).toBe(0)
    expect(commissionOf({ subtotal: 999, discountTotal: 0, taxIncluded: 0, ...untaxedShipping }, 10_000)).toBe(999)
    expect(commissionOf({ subtotal: 11_900, discountTotal: 1_190, taxIncluded: 1_710, ...untaxedShipping }, 1_000)).toBe(900)
    // Tax that is included in the price of shipping does not reduce the goods.
    const inclusive = { taxIncluded: 200, shippingTax: 50, shippingTaxInclusive: true }
    expect(commissionOf({ subtotal: 1_200, discountTotal: 0, ...inclusive }, 1_000)).toBe(105)
    expect(commissionOf({ subtotal: 1_200, discountTotal: 0, ...inclusive, shippingTaxInclusive: false }, 1_000)).toBe(100)
    expect(commissionOf({ subtotal: 5, discountTotal: 9, taxIncluded: 0, ...untaxedShipping }, 5_000)).toBe(0)
  })

  test('keeps a commission between zero and its base, and within half a minor unit of the exact share', () => {
    fc.assert(
      fc.property(amount, amount, amount, rateBps, (subtotal, discountTotal, taxIncluded, bps) => {
        const commission = commissionOf({ subtotal, discountTotal, taxIncluded, ...untaxedShipping }, bps)
        const base = Math.max(0, subtotal - discountTotal - taxIncluded)
        expect(commission >= 0 && commission <= base).toBe(true)
        const off = BigInt(commission) * 10_000n - BigInt(base) * BigInt(bps)
        expect(off <= 5_000n && off >= -5_000n).toBe(true)
      }),
    )
  })
})

describe('the age of a click', () => {
  const day = 24 * 60 * 60 * 1000
  test('counts a click for thirty days, to the millisecond', () => {
    expect(isRecentClick(0, 30 * day)).toBe(true)
    expect(isRecentClick(0, 30 * day + 1)).toBe(false)
    expect(isRecentClick(5, 5)).toBe(true)
  })
})

describe('the reversed amount of a commission', () => {
  const status = fc.constantFrom('PENDING' as const, 'APPROVED' as const)
  /** The total of an order, and the growing sums of its refunds. */
  const refunds = fc
    .tuple(fc.integer({ min: 1, max: amountMax }), fc.array(fc.integer({ min: 0, max: amountMax }), { maxLength: 8 }))
    .map(([of, amounts]) => ({ of, totals: amounts.map((amount) => amount % (of + 1)).sort((a, b) => a - b) }))

  test('reverses a commission in proportion to all refunds so far, rounding half to even', () => {
    const commission = { amount: 1_000, reversed: 0, status: 'PENDING' as const }
    expect(afterRefund(commission, { refunded: 2_500, of: 10_000 })).toEqual({ reversed: 250, status: 'PENDING' })
    expect(afterRefund({ ...commission, reversed: 250 }, { refunded: 5_000, of: 10_000 })).toEqual({ reversed: 500, status: 'PENDING' })
    expect(afterRefund({ ...commission, amount: 1 }, { refunded: 5_000, of: 10_000 }).reversed).toBe(0)
    expect(afterRefund({ ...commission, amount: 3 }, { refunded: 5_000, of: 10_000 }).reversed).toBe(2)
    expect(afterRefund({ ...commission, status: 'APPROVED' }, { refunded: 1, of: 10 })).toEqual({ reversed: 100, status: 'APPROVED' })
  })

  test('reverses all of a commission after a full refund, in every state, also of a free order', () => {
    for (const before of ['PENDING', 'APPROVED', 'REVERSED'] as const)
      for (const refund of [
        { refunded: 7, of: 7 },
        { refunded: 0, of: 0 },
      ])
        expect(afterRefund({ amount: 9, reversed: 0, status: before }, refund)).toEqual({ reversed: 9, status: 'REVERSED' })
  })

  test('never lowers the reversed amount, never exceeds the commission, and ignores the number of refunds', () => {
    fc.assert(
      fc.property(amount, status, refunds, (earned, before, { of, totals }) => {
        let commission: { amount: number; reversed: number; status: 'PENDING' | 'APPROVED' | 'REVERSED' } = {
          amount: earned,
          reversed: 0,
          status: before,
        }
        for (const refunded of totals) {
          const after = afterRefund(commission, { refunded, of })
          expect(after.reversed >= commission.reversed && after.reversed <= earned).toBe(true)
          expect(afterRefund({ ...commission, ...after }, { refunded, of })).toEqual(after)
          // One refund of the same sum reverses the same amount.
          expect(afterRefund({ amount: earned, reversed: 0, status: before }, { refunded, of }).reversed).toBe(after.reversed)
          expect(after.status).toBe(refunded === of ? 'REVERSED' : before)
          const off = BigInt(after.reversed) * BigInt(of) - BigInt(earned) * BigInt(refunded)
          expect(2n * (off < 0n ? -off : off) <= BigInt(of)).toBe(true)
          commission = { ...commission, ...after }
        }
      }),
    )
  })

  test('adds the reversal for refunded goods to that for other amounts, up to the whole commission', () => {
    const share = fc
      .tuple(fc.integer({ min: 1, max: amountMax }), fc.integer({ min: 0, max: amountMax }))
      .map(([of, back]) => ({ of, back: back % (of + 1) }))
    fc.assert(
      fc.property(amount, status, share, share, fc.integer({ min: 0, max: amountMax }), (earned, before, refund, goods, seed) => {
        const forGoods = seed % (refund.back + 1)
        const after = afterRefund(
          { amount: earned, reversed: 0, status: before },
          { refunded: refund.back, of: refund.of, goods: { ...goods, refunded: forGoods } },
        )
        const isAll = goods.back === goods.of || refund.back === refund.of
        const expected =
          divideHalfEven(BigInt(earned) * BigInt(goods.back), BigInt(goods.of)) +
          divideHalfEven(BigInt(earned) * BigInt(refund.back - forGoods), BigInt(refund.of))
        expect(BigInt(after.reversed)).toBe(isAll || expected > BigInt(earned) ? BigInt(earned) : expected)
        expect(after.status).toBe(isAll ? 'REVERSED' : before)
      }),
    )
    const commission = { amount: 1_000, reversed: 0, status: 'PENDING' as const }
    expect(afterRefund(commission, { refunded: 50, of: 200, goods: { back: 50, of: 100, refunded: 50 } }).reversed).toBe(500)
    expect(afterRefund(commission, { refunded: 70, of: 200, goods: { back: 50, of: 100, refunded: 50 } }).reversed).toBe(600)
    expect(afterRefund(commission, { refunded: 50, of: 200, goods: { back: 0, of: 0, refunded: 0 } }).reversed).toBe(250)
  })

  test('ignores an older, smaller refund total that is processed late', () => {
    expect(afterRefund({ amount: 100, reversed: 80, status: 'APPROVED' }, { refunded: 5, of: 10 })).toEqual({
      reversed: 80,
      status: 'APPROVED',
    })
  })
})
