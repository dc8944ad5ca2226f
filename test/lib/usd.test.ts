import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { centsOf, unitsOf, usdEnd, usdOf } from '../../src/lib/usd.ts'

test('every amount of cents below ten trillion dollars goes to its number of dollars and back, whichever way JSON writes it', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), (cents) => {
      const text = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
      expect(BigInt(centsOf(JSON.parse(text)) ?? -1)).toBe(cents)
      expect(centsOf(usdOf(Number(cents)))).toBe(Number(cents))
    }),
  )
})

test('what is no whole number of cents, negative, or too large to be known to the cent has none', () => {
  expect([0, -0, 0.01, 0.1, 1.1, 9_999_999_999_999.99].map(centsOf)).toEqual([0, 0, 1, 10, 110, 999_999_999_999_999])
  expect(Object.is(centsOf(-0), 0)).toBe(true)
  for (const none of [0.001, 0.009, 1.005, 1234.567, -0.01, -1, usdEnd, 1e300, Number.POSITIVE_INFINITY, Number.NaN])
    expect([none, centsOf(none)]).toEqual([none, undefined])
})

test('a figure is told in its smallest unit where it has so many decimals, and not where it has more', () => {
  expect([unitsOf(0.65, 4), unitsOf(2.5, 4), unitsOf(0.33333, 4), unitsOf(3, 0), unitsOf(3.5, 0)]).toEqual([
    6_500,
    25_000,
    undefined,
    3,
    undefined,
  ])
})
