import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { amountMax, currencies, decimalsOf, isCurrency, parseAmount } from '../../src/lib/money.ts'

const byDecimals = [
  ['JPY', 0],
  ['USD', 2],
  ['KWD', 3],
  ['CLF', 4],
] as const

/** Formats minor units as a decimal, without floating point. */
function formatDecimal(amount: number, decimals: number): string {
  const digits = String(amount).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

describe('amounts', () => {
  for (const [currency, decimals] of byDecimals) {
    test(`amounts are read back exactly as written, with ${decimals} decimals`, () => {
      expect(decimalsOf(currency)).toBe(decimals)
      fc.assert(
        fc.property(fc.integer({ min: 0, max: amountMax }), (amount) => parseAmount(formatDecimal(amount, decimals), currency) === amount),
      )
    })

    test(`amounts with more than ${decimals} significant decimals are refused, and trailing zeros are ignored`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 1, max: 9 }), (amount, digit) => {
          const text = decimals === 0 ? `${amount}.` : formatDecimal(amount, decimals)
          return parseAmount(`${text}${digit}`, currency) === undefined && parseAmount(`${text}000`, currency) === amount
        }),
      )
    })
  }

  test('any text is a safe integer amount or undefined', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.float().map(String), fc.stringMatching(/^[\d.,eE+-]{1,25}$/)),
        fc.constantFrom(...currencies),
        (text, currency) => {
          const amount = parseAmount(text, currency)
          return amount === undefined || (Number.isSafeInteger(amount) && amount >= 0 && amount <= amountMax)
        },
      ),
    )
  })

  test('amounts that floating point gets wrong are exact', () => {
    expect(parseAmount('1.10', 'USD')).toBe(110)
    expect(parseAmount('0.29', 'USD')).toBe(29)
    expect(parseAmount('4.35', 'USD')).toBe(435)
    expect(parseAmount('1.005', 'KWD')).toBe(1005)
    expect(parseAmount('1000000000000', 'USD')).toBe(amountMax)
    expect(parseAmount('1000000000000.01', 'USD')).toBeUndefined()
  })

  test('amounts may have surrounding blanks', () => {
    expect(parseAmount(' \t42.50\n', 'USD')).toBe(4_250)
  })

  test('amounts that are not plain decimals are refused', () => {
    for (const text of ['', ' ', '-1', '+1', '1,5', '1e3', '0x10', '.5', '1.2.3', '١٢', 'NaN', 'Infinity', '1 000', '9'.repeat(16)])
      expect([text, parseAmount(text, 'USD')]).toEqual([text, undefined])
  })
})

describe('currencies', () => {
  test('currencies are the ISO 4217 codes in use, once each, in upper case', () => {
    expect(new Set(currencies).size).toBe(currencies.length)
    expect(currencies.every((code) => /^[A-Z]{3}$/.test(code))).toBe(true)
    expect(currencies).toEqual([...currencies].sort())
    for (const code of ['USD', 'EUR', 'AED', 'SAR', 'KWD', 'BHD', 'OMR', 'JPY', 'MNT'])
      expect([code, isCurrency(code)]).toEqual([code, true])
  })

  test('withdrawn codes, metals, test codes, lower case and object properties are not currencies', () => {
    for (const code of ['HRK', 'DEM', 'XAU', 'XXX', 'XTS', 'usd', 'USDT', '', 'constructor', '__proto__'])
      expect([code, isCurrency(code)]).toEqual([code, false])
    expect(() => decimalsOf('XXX')).toThrow(new RangeError('not an ISO 4217 currency'))
  })
})
