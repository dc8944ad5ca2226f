/** Tests the parsing of typed amounts: ambiguous ones are refused. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { exampleOf, moneyText, parseMoney } from '../../src/console/lib/forms/amounts.ts'

test('an amount is read in major units, with a point or a comma', () => {
  expect(parseMoney(' 10.50 ', 'USD')).toEqual({ amount: 1_050, currency: 'USD' })
  expect(parseMoney('10,5', 'USD')).toEqual({ amount: 1_050, currency: 'USD' })
  expect(parseMoney('1.250', 'KWD')).toEqual({ amount: 1_250, currency: 'KWD' })
  expect(parseMoney('0,500', 'KWD')).toEqual({ amount: 500, currency: 'KWD' })
})

test('rejects amounts that could contain a thousands separator', () => {
  for (const text of ['1,000', '25,000', '2.500', '1,000,000', '1.000,00', '1,000.50']) {
    expect(parseMoney(text, 'USD')).toBeUndefined()
    expect(parseMoney(text, 'JPY')).toBeUndefined()
  }
  expect(parseMoney('1,250', 'KWD')).toBeUndefined()
})

test('an amount may be typed in Arabic and Persian digits, with their separators', () => {
  expect(parseMoney('١٠٫٥', 'KWD')).toEqual({ amount: 10_500, currency: 'KWD' })
  expect(parseMoney('۱۲۵۰', 'USD')).toEqual({ amount: 125_000, currency: 'USD' })
  expect(parseMoney('١٫٢٥٠', 'KWD')).toEqual({ amount: 1_250, currency: 'KWD' })
  for (const text of ['٤٥٬٠٠٠', '١٬٢٥٠٫٥٠', '١٫٢٥٠']) expect(parseMoney(text, 'USD')).toBeUndefined()
})

test('rejects text that is no amount', () => {
  for (const text of ['', '1.2.3', '-1', '1e3', '0.001', 'ten', '10 50', '9'.repeat(16)])
    expect([text, parseMoney(text, 'USD')]).toEqual([text, undefined])
})

test('parses what it formats', () => {
  fc.assert(
    fc.property(fc.nat(10_000_000), fc.constantFrom('USD', 'JPY', 'KWD', 'MNT'), (amount, currency) => {
      expect(parseMoney(moneyText({ amount, currency }), currency)).toEqual({ amount, currency })
    }),
  )
})

test('the example of every currency parses', () => {
  expect(['USD', 'JPY', 'KWD'].map(exampleOf)).toEqual(['1250.50', '1250', '1250.500'])
  for (const currency of ['USD', 'JPY', 'KWD', 'MNT'])
    expect(moneyText(parseMoney(exampleOf(currency), currency) ?? { amount: 0, currency })).toBe(exampleOf(currency))
})
