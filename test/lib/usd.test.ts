import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { centsOf, unitsOf, usdEnd, usdOf } from '../../src/lib/usd.ts'

test('cents convert to dollars and back exactly, below ten trillion dollars and in any JSON form', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), (cents) => {
      const text = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
      expect(BigInt(centsOf(JSON.parse(text)) ?? -1)).toBe(cents)
      expect(centsOf(usdOf(Number(cents)))).toBe(Number(cents))
    }),
  )
})

test('centsOf refuses fractions of a cent, negative amounts and amounts too large to be exact', () => {
  expect([0, -0, 0.01, 0.1, 1.1, 9_999_999_999_999.99].map(centsOf)).toEqual([0, 0, 1, 10, 110, 999_999_999_999_999])
  expect(Object.is(centsOf(-0), 0)).toBe(true)
  for (const none of [0.001, 0.009, 1.005, 1234.567, -0.01, -1, usdEnd, 1e300, Number.POSITIVE_INFINITY, Number.NaN])
    expect([none, centsOf(none)]).toEqual([none, undefined])
})

test('unitsOf returns the figure in its smallest unit, or undefined if it has more decimals', () => {
  expect([unitsOf(0.65, 4), unitsOf(2.5, 4), unitsOf(0.33333, 4), unitsOf(3, 0), unitsOf(3.5, 0)]).toEqual([
    6_500,
    25_000,
    undefined,
    3,
    undefined,
  ])
})
