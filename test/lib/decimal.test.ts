import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decimalText, fractionOf } from '../../src/lib/decimal.ts'

test('fractionOf reads numbers exactly, with decimal points and exponents', () => {
  const read: [text: string, numerator: bigint, denominator: bigint][] = [
    ['42', 42n, 1n],
    ['0.92', 92n, 100n],
    ['0.10000000000000000001', 10_000_000_000_000_000_001n, 100_000_000_000_000_000_000n],
    ['1.5e-7', 15n, 100_000_000n],
    ['1.25E+1', 125n, 10n],
    ['1e3', 1_000n, 1n],
    ['1e20', 10n ** 20n, 1n],
    ['1e-20', 1n, 10n ** 20n],
    ['9'.repeat(40), 10n ** 40n - 1n, 1n],
  ]
  for (const [text, numerator, denominator] of read) {
    const fraction = fractionOf(text)
    if (!fraction) throw new Error(`${text} was not read`)
    expect([text, fraction.numerator * denominator]).toEqual([text, numerator * fraction.denominator])
  }
})

test('fractionOf refuses texts that are not positive numbers or are too long', () => {
  const none = [
    '',
    '0',
    '0.00',
    '-1',
    '+1',
    '.5',
    '1.',
    '1,5',
    '1e',
    '1e21',
    '1e-21',
    '1e999',
    'NaN',
    'Infinity',
    '0x10',
    ' 1',
    '1 ',
    '1n',
    '٣',
  ]
  for (const text of [...none, '9'.repeat(41), `0.${'1'.repeat(40)}`]) expect([text, fractionOf(text)]).toEqual([text, undefined])
})

test('decimalText rounds a quotient half-even to the given significant digits, without trailing zeros', () => {
  const cases: [numerator: bigint, denominator: bigint, text: string][] = [
    [1n, 1n, '1'],
    [100n, 1n, '100'],
    [10_000n, 36_725n, '0.2723'],
    [1n, 3n, '0.3333'],
    [2n, 3n, '0.6667'],
    [99_999n, 1n, '100000'],
    [99_995n, 10n, '10000'],
    [123_456n, 1n, '123500'],
    [1n, 8_000n, '0.000125'],
    [100_005n, 100_000n, '1'],
    [100_015n, 100_000n, '1'],
    [100_050n, 100_000n, '1'],
    [100_150n, 100_000n, '1.002'],
  ]
  for (const [numerator, denominator, text] of cases) expect(decimalText({ numerator, denominator }, 4)).toBe(text)
})

test('decimalText is exact to half a unit of its last digit, and reads back to the same text', () => {
  const positiveInteger = fc.bigInt({ min: 1n, max: 10n ** 20n })
  fc.assert(
    fc.property(positiveInteger, positiveInteger, (numerator, denominator) => {
      const text = decimalText({ numerator, denominator }, 12)
      expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
      expect(text.replace('.', '').replace(/^0+|0+$/g, '').length).toBeLessThanOrEqual(12)
      const [before = '', after = ''] = text.split('.')
      const scale = 10n ** BigInt(after.length)
      const off = BigInt(before + after) * denominator - numerator * scale
      // |written - exact| / exact ≤ 5e-12
      expect((off < 0n ? -off : off) * 10n ** 12n <= 5n * numerator * scale).toBe(true)
      if (text.length <= 40) {
        const reparsed = fractionOf(text)
        expect(reparsed && decimalText(reparsed, 12)).toBe(text)
      }
    }),
  )
})
