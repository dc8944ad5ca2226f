import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { truncatedUnitsOf, unitsOf } from '../../../src/clients/processors/decimals.ts'
import { decimalOf } from '../../../src/lib/money.ts'

const units = fc.integer({ min: 0, max: 100_000_000_000_000 })
const decimals = fc.integer({ min: 0, max: 4 })

test('reads a decimal to the units it was written from, with more or fewer zeros, as text or number', () => {
  fc.assert(
    fc.property(units, decimals, fc.integer({ min: 0, max: 20 }), (amount, digits, zeros) => {
      const text = decimalOf(amount, digits)
      const longer = `${text}${text.includes('.') ? '' : '.'}${'0'.repeat(zeros)}`
      for (const form of [text, longer, ...(digits > 0 ? [text.replace(/\.?0+$/, '')] : [])]) {
        expect(unitsOf(form, digits)).toBe(amount)
        expect(truncatedUnitsOf(form, digits)).toBe(amount)
      }
      if (amount < 1_000_000_000) expect(unitsOf(Number(text), digits)).toBe(amount)
    }),
  )
})

test('a fraction below one unit makes a decimal invalid, or is dropped by truncatedUnitsOf', () => {
  fc.assert(
    fc.property(units, decimals, fc.integer({ min: 1, max: 999 }), (amount, digits, rest) => {
      const text = decimalOf(amount, digits)
      const finer = `${text}${digits === 0 ? '.' : ''}${String(rest).padStart(3, '0')}`
      expect(unitsOf(finer, digits)).toBeUndefined()
      expect(truncatedUnitsOf(finer, digits)).toBe(amount)
    }),
  )
})

test('refuses everything that is not a plain exact number', () => {
  const odd = [
    '',
    ' ',
    '1 ',
    ' 1',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1,5',
    '.5',
    '1.2.3',
    'NaN',
    '1'.repeat(16),
    '९',
    null,
    undefined,
    true,
    {},
    [],
    ['1'],
    10n,
  ]
  for (const value of [...odd, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e21, 1e-7]) {
    expect([value, unitsOf(value, 2)]).toEqual([value, undefined])
    expect([value, truncatedUnitsOf(value, 2)]).toEqual([value, undefined])
  }
  expect(unitsOf('999999999999999', 2)).toBeUndefined()
  expect(unitsOf('90071992547409.91', 2)).toBe(Number.MAX_SAFE_INTEGER)
  expect(unitsOf('90071992547409.92', 2)).toBeUndefined()
  expect(unitsOf('5.', 2)).toBe(500)
})
