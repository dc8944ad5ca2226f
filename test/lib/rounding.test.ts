import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { divideHalfEven, multiplyHalfEven } from '../../src/lib/rounding.ts'

test('divideHalfEven rounds halves to the even neighbour, on both sides of zero', () => {
  const halves: [numerator: bigint, quotient: bigint][] = [
    [1n, 0n],
    [3n, 2n],
    [5n, 2n],
    [7n, 4n],
    [-1n, 0n],
    [-3n, -2n],
    [-5n, -2n],
  ]
  for (const [numerator, quotient] of halves) {
    expect([numerator, divideHalfEven(numerator, 2n)]).toEqual([numerator, quotient])
    expect(divideHalfEven(-numerator, -2n)).toBe(quotient)
  }
})

test('divideHalfEven of zero is zero', () => {
  for (const denominator of [1n, 2n, -3n]) expect(divideHalfEven(0n, denominator)).toBe(0n)
})

test('divideHalfEven returns the nearest integer, and the even one of two', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (numerator, denominator) => {
      const quotient = divideHalfEven(numerator, denominator)
      const twiceOff = 2n * (numerator - quotient * denominator)
      const off = twiceOff < 0n ? -twiceOff : twiceOff
      expect(off <= denominator).toBe(true)
      if (off === denominator) expect(quotient % 2n).toBe(0n)
    }),
  )
})

test('multiplyHalfEven is exact where floating point is not', () => {
  expect(multiplyHalfEven(99_999_999_999_999, 3_333, 10_000)).toBe(33_330_000_000_000)
  expect(multiplyHalfEven(100_000_000_000_000, 100_000_000_000_000, 100_000_000_000_000)).toBe(100_000_000_000_000)
  expect(multiplyHalfEven(90_071_992_547_409, 9_999, 10_000)).toBe(90_062_985_348_154)
})
