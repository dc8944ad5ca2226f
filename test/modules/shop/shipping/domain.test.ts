/** Destinations and prices of shipping methods. A model with big integers checks the prices. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ShippingMethod } from '../../../../db/schema/shop.ts'
import { loadProvinceTable } from '../../../../src/modules/shop/countries/domain.ts'
import {
  assertCurrencies,
  chargeOf,
  coverageOf,
  type MethodInput,
  offersOf,
  parcelOf,
  parseMethods,
  shipsTo,
} from '../../../../src/modules/shop/shipping/domain.ts'

const usd = (amount: number) => ({ amount, currency: 'USD' })
const provinceTable = await loadProvinceTable()
const zoned = (more: Partial<MethodInput> = {}): MethodInput => ({
  code: 'post',
  title: 'Post',
  zones: [{}],
  rates: [{ amount: usd(500) }],
  ...more,
})
const refusalMessage = (...input: MethodInput[]) => {
  try {
    assertCurrencies(parseMethods(input, provinceTable), 'USD')
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

const measure = fc.constantFrom('upToGrams' as const, 'upToAmount' as const)
const bands = fc.record({
  by: measure,
  bounds: fc.uniqueArray(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 8 }).map((all) => all.sort((a, b) => a - b)),
  open: fc.boolean(),
  prices: fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 9, maxLength: 9 }),
  freeOver: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
})
const offset = fc.integer({ min: -1, max: 1 })

describe('bands', () => {
  test('the price is that of the first band whose bound is at least the weight or amount', () => {
    fc.assert(
      fc.property(
        bands,
        fc.nat({ max: 1_100_000 }),
        fc.nat({ max: 1_100_000 }),
        fc.nat({ max: 7 }),
        offset,
        (generated, someGrams, someAmount, nth, offsetFromBound) => {
          const { by, bounds, open, prices, freeOver } = generated
          // Half of the values are at or next to a bound.
          const at = Math.max(0, (bounds[nth % bounds.length] ?? 0) + offsetFromBound)
          const [grams, amount] = nth % 2 ? [someGrams, someAmount] : by === 'upToGrams' ? [at, someAmount] : [someGrams, at]
          const rates = bounds.map((bound, position) => ({
            ...(by === 'upToGrams' ? { upToGrams: bound } : { upToAmount: usd(bound) }),
            amount: usd(prices[position] ?? 0),
          }))
          const input = zoned({
            rates: open ? [...rates, { amount: usd(prices[8] ?? 0) }] : rates,
            ...(freeOver === undefined ? {} : { freeOver: usd(freeOver) }),
          })
          const [method] = parseMethods([input], provinceTable) as [ShippingMethod]
          const size = BigInt(by === 'upToGrams' ? grams : amount)
          const below = bounds.filter((bound) => BigInt(bound) < size).length
          const isFree = freeOver !== undefined && BigInt(amount) >= BigInt(freeOver)
          const paid = below < bounds.length ? prices[below] : open ? prices[8] : undefined
          const expected = isFree && (by === 'upToAmount' || paid !== undefined) ? 0 : paid
          expect(chargeOf(method, { grams, amount })?.amount).toBe(expected)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('bands that do not rise, mix measures, or are open before the last are refused with their position', () => {
    const rates = (...list: NonNullable<MethodInput['rates']>) => refusalMessage(zoned({ rates: list }))
    const grams = (upToGrams: number) => ({ upToGrams, amount: usd(1) })
    expect(rates(grams(1), grams(2), { amount: usd(3) })).toBeUndefined()
    expect(rates(grams(2), grams(2))).toBe('data.0.rates.1.upToGrams: must be more than that of the rate before')
    expect(rates({ upToAmount: usd(5), amount: usd(1) }, { upToAmount: usd(4), amount: usd(1) })).toBe(
      'data.0.rates.1.upToAmount.amount: must be more than that of the rate before',
    )
    expect(rates({ amount: usd(3) }, grams(2))).toBe('data.0.rates.0: only the last rate can omit upToGrams and upToAmount')
    expect(rates(grams(1), { upToAmount: usd(2), amount: usd(1) })).toStartWith(
      'data.0.rates.1.upToAmount: all rates of a method use the same measure',
    )
    expect(rates({ upToGrams: 1, upToAmount: usd(2), amount: usd(1) })).toStartWith(
      'data.0.rates.0.upToAmount: not allowed together with upToGrams',
    )
    const eur = { amount: 1, currency: 'EUR' }
    expect(rates({ upToGrams: 1, amount: eur })).toBe("data.0.rates.0.amount.currency: must be the shop's currency")
    expect(rates({ upToAmount: eur, amount: usd(1) })).toBe("data.0.rates.0.upToAmount.currency: must be the shop's currency")
    expect(refusalMessage(zoned({ freeOver: eur }))).toBe("data.0.freeOver.currency: must be the shop's currency")
  })
})

describe('zones', () => {
  test('overlapping zones and fields that exclude each other are refused with their position', () => {
    const zones = (...list: NonNullable<MethodInput['zones']>) => refusalMessage(zoned({ zones: list }))
    const overlaps = 'overlaps with another zone of the method'
    expect(zones({ countries: ['US'], provinces: ['CA', 'New York'] }, { countries: ['US'], provinces: ['ME'] }, {})).toBeUndefined()
    expect(zones({ countries: ['US', 'CA'] }, { countries: ['CA'] })).toBe(`data.0.zones.1.countries.0: ${overlaps}`)
    expect(zones({ countries: ['US'] }, { countries: ['US'], provinces: ['CA'] })).toBe(`data.0.zones.1.countries.0: ${overlaps}`)
    expect(zones({ countries: ['US'], provinces: ['CA'] }, { countries: ['US'] })).toBe(`data.0.zones.1.countries.0: ${overlaps}`)
    expect(zones({ countries: ['US'], provinces: ['CA', 'california'] })).toStartWith('data.0.zones.0.provinces.1: overlaps')
    expect(zones({ countries: ['US'], provinces: ['CA'] }, { countries: ['US'], provinces: ['US-CA'] })).toStartWith(
      'data.0.zones.1.provinces.0: overlaps',
    )
    expect(zones({}, {})).toStartWith('data.0.zones.1: overlaps')
    expect(zones({ provinces: ['CA'] })).toBe('data.0.zones.0.provinces: allowed only with exactly one country')
    expect(zones({ countries: ['US', 'CA'], provinces: ['CA'] })).toBe('data.0.zones.0.provinces: allowed only with exactly one country')
    expect(zones({ countries: ['US'], provinces: ['Ontario'] })).toStartWith('data.0.zones.0.provinces.0: must be an ISO 3166-2 code')
    expect(zones({ countries: ['XX'] })).toBe('data.0.zones.0.countries.0: must be an ISO 3166-1 country code')
    expect(refusalMessage(zoned({ price: usd(1) }))).toStartWith('data.0.price: not allowed together with zones')
    expect(refusalMessage({ code: 'a', title: 'A', price: usd(1), freeOver: usd(2) })).toBe(
      'data.0.freeOver: needs zones and rates instead of a price',
    )
    expect(refusalMessage(zoned({ countries: [] }))).toStartWith('data.0.countries: not allowed together with zones')
    expect(refusalMessage({ code: 'a', title: 'A', zones: [{}] })).toStartWith('data.0.rates: required')
    expect(refusalMessage({ code: 'a', title: 'A', rates: [{ amount: usd(1) }] })).toStartWith('data.0.zones: required')
    expect(refusalMessage({ code: 'a', title: 'A' })).toStartWith('data.0.price: required')
    expect(refusalMessage(zoned(), zoned())).toBe('data.1.code: must not be repeated')
  })

  test('a zone covers its countries and provinces, and an empty zone covers every country that no method names', () => {
    const methods = parseMethods(
      [
        zoned({ code: 'home', zones: [{ countries: ['US'], provinces: ['CA', 'New York'] }, { countries: ['CA'] }] }),
        zoned({ code: 'rest', zones: [{ countries: ['DE'] }, {}] }),
        zoned({ code: 'far', zones: [{}] }),
        { code: 'flat', title: 'Flat', countries: ['FR'], price: usd(1) },
      ],
      provinceTable,
    )
    const to = (countryCode: string, province: string | null = null) =>
      methods.filter((method) => shipsTo(method, methods, { countryCode, province }, provinceTable)).map(({ code }) => code)
    expect(to('US', 'California')).toEqual(['home'])
    expect(to('US', 'ny')).toEqual(['home'])
    // A method names the US for other provinces, so the empty zones do not cover it.
    expect([to('US', 'TX'), to('US')]).toEqual([[], []])
    expect([to('CA'), to('DE'), to('FR'), to('JP')]).toEqual([['home'], ['rest'], ['flat'], ['rest', 'far']])
    expect(coverageOf(methods, 'US')).toEqual({ whole: false, provinces: ['CA', 'New York'] })
    expect(coverageOf(methods, 'JP')).toEqual({ whole: true, provinces: [] })
    expect(coverageOf(methods.slice(0, 1), 'JP')).toBeUndefined()
    expect(coverageOf([], 'JP')).toEqual({ whole: true, provinces: [] })
  })

  test('a method is offered in its currency, for an address that it covers or without an address', () => {
    const methods: ShippingMethod[] = [
      { code: 'all', title: 'All', countries: [], price: usd(1) },
      { code: 'us', title: 'US', countries: ['US'], price: usd(2) },
    ]
    const offered = (country: string | undefined, currency = 'USD', isNeeded = true) =>
      offersOf(
        methods,
        { isNeeded, grams: 0, amount: 0, currency, to: country === undefined ? undefined : { countryCode: country, province: null } },
        provinceTable,
      ).map(({ code }) => code)
    expect([offered('FR'), offered('US'), offered(undefined)]).toEqual([['all'], ['all', 'us'], ['all', 'us']])
    expect([offered('US', 'EUR'), offered('US', 'USD', false)]).toEqual([[], []])
  })
})

test('a parcel has the weight of the lines that need shipping, and an empty cart counts as needing shipping', () => {
  const line = fc.record({
    quantity: fc.integer({ min: 1, max: 9_999 }),
    weightGrams: fc.integer({ min: 0, max: 100_000_000 }),
    requiresShipping: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(line, { maxLength: 100 }), (lines) => {
      const sent = lines.filter(({ requiresShipping }) => requiresShipping)
      const grams = sent.reduce((sum, { quantity, weightGrams }) => sum + BigInt(quantity) * BigInt(weightGrams), 0n)
      expect(parcelOf(lines)).toEqual({ isNeeded: lines.length === 0 || sent.length > 0, grams: Number(grams) })
    }),
  )
})
