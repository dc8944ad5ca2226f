/** Carts and refunds against an oracle of exact fractions; tax-oracle.heavy.ts does the same with 100,000. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import type { TaxRate } from '../../../../db/schema/shop.ts'
import { shippingTaxRateAt } from '../../../../src/modules/selling/cart/domain.ts'
import { checkPurchase } from '../../../support/purchase-checks.ts'
import { purchases } from '../../../support/random-purchases.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('prices 2,000 random carts as exact fractions do, and refunds all of each', () => {
  fc.assert(fc.property(purchases, checkPurchase), { numRuns: 2_000 })
})

test('taxes shipping by the standard rate, else by a rate of a class, and by no country rate behind its region', () => {
  const rate = (fields: Partial<TaxRate>): TaxRate => ({ country: 'US', region: null, rateBps: 100, inclusive: false, ...fields })
  const taxRateAt = (...rates: TaxRate[]) => shippingTaxRateAt(rates, { countryCode: 'US', province: 'CA' })?.rateBps
  const books = rate({ class: 'books', rateBps: 200, shipping: true })
  expect(taxRateAt(rate({}))).toBeUndefined()
  expect(taxRateAt(rate({ shipping: true }))).toBe(100)
  expect(taxRateAt(books, rate({ shipping: true }))).toBe(100)
  expect(taxRateAt(books, rate({}))).toBe(200)
  expect(taxRateAt(rate({ class: 'food', rateBps: 300, shipping: true }), books)).toBe(300)
  expect(taxRateAt(rate({ shipping: true }), rate({ region: 'CA', rateBps: 725 }))).toBeUndefined()
  expect(taxRateAt(rate({}), rate({ region: 'CA', rateBps: 725, shipping: true }))).toBe(725)
  expect(taxRateAt(rate({ country: 'JP', shipping: true }))).toBeUndefined()
})
