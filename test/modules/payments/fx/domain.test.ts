import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addDays } from '../../../../src/lib/day.ts'
import { amountMax, currencies, decimalsOf } from '../../../../src/lib/money.ts'
import { fixedRateOf, pricedSpans, readRates, usdCentsOf } from '../../../../src/modules/payments/fx/domain.ts'

const today = '2026-01-06'
const responseText = (fields: object) => JSON.stringify({ base: 'USD', date: today, rates: { EUR: 0.92 }, ...fields })

function ratesOf(text: string) {
  const result = readRates(text, today)
  if ('problem' in result) throw new Error(result.problem)
  return { ...result, rates: Object.fromEntries(result.rates) }
}

describe('fixed rates', () => {
  test('fixed rates are those of the dollar and of currencies pegged to it, to twelve digits', () => {
    const fixed = currencies.map((currency) => [currency, fixedRateOf(currency)]).filter(([, rate]) => rate !== undefined)
    expect(Object.fromEntries(fixed)).toEqual({
      AED: '0.272294077604',
      AWG: '0.558659217877',
      BBD: '0.5',
      BHD: '2.65957446809',
      BMD: '1',
      BSD: '1',
      BZD: '0.5',
      DJF: '0.00562679705831',
      JOD: '1.41043723554',
      KYD: '1.2',
      OMR: '2.60078023407',
      PAB: '1',
      QAR: '0.274725274725',
      SAR: '0.266666666667',
      SVC: '0.114285714286',
      USD: '1',
      XCD: '0.37037037037',
      XCG: '0.558659217877',
    })
  })
})

describe('conversion to US cents', () => {
  test('a conversion to US cents uses the decimals of the currency', () => {
    expect(usdCentsOf(1_999, 'USD', '1')).toBe(1_999)
    expect(usdCentsOf(100, 'JPY', '0.0064')).toBe(64)
    expect(usdCentsOf(1_000, 'KWD', '3.25')).toBe(325)
    expect(usdCentsOf(10_000, 'CLF', '41.5')).toBe(4_150)
    expect(usdCentsOf(36_725, 'AED', fixedRateOf('AED') ?? '')).toBe(10_000)
    expect(usdCentsOf(0, 'EUR', '1.1')).toBe(0)
  })

  test('a conversion to US cents rounds halves to the even cent', () => {
    expect([1, 3, 5, 7].map((amount) => usdCentsOf(amount, 'EUR', '0.5'))).toEqual([0, 2, 2, 4])
    expect([5, 15, 25].map((amount) => usdCentsOf(amount, 'KWD', '1'))).toEqual([0, 2, 2])
  })

  test('a conversion to US cents returns the whole number of cents nearest to amount × rate, for every currency', () => {
    const money = fc.record({ amount: fc.integer({ min: 0, max: amountMax }), currency: fc.constantFrom(...currencies) })
    // The highest stored rate is half a dollar for a minor unit.
    const rate = fc.record({ digits: fc.bigInt({ min: 1n, max: 10n ** 12n - 1n }), scale: fc.integer({ min: 13, max: 22 }) })
    fc.assert(
      fc.property(money, rate, ({ amount, currency }, { digits, scale }) => {
        const padded = String(digits).padStart(scale + 1, '0')
        const cents = usdCentsOf(amount, currency, `${padded.slice(0, -scale)}.${padded.slice(-scale)}`)
        expect(Number.isSafeInteger(cents)).toBe(true)
        const [numerator, denominator] = [BigInt(amount) * digits * 100n, 10n ** BigInt(scale + decimalsOf(currency))]
        const twiceOff = 2n * (BigInt(cents) * denominator - numerator)
        expect(twiceOff <= denominator && -twiceOff <= denominator).toBe(true)
        if (twiceOff === denominator || -twiceOff === denominator) expect(cents % 2).toBe(0)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a conversion to US cents rejects a rate that is not a positive number, and an unknown currency', () => {
    for (const rate of ['0', '-1', '', 'NaN'])
      expect(() => usdCentsOf(1, 'EUR', rate)).toThrow(new RangeError('a rate is a positive decimal number'))
    expect(() => usdCentsOf(1, 'XXX', '1')).toThrow(RangeError)
  })
})

describe('the response of a rate service', () => {
  test('the response of a rate service is read as dollars for a unit of each currency, and its day', () => {
    expect(ratesOf(responseText({ rates: { EUR: 0.8, JPY: 156.25, KWD: 0.3 } }))).toEqual({
      day: today,
      rates: { EUR: '1.25', JPY: '0.0064', KWD: '3.33333333333' },
      refused: [],
    })
    expect(ratesOf(responseText({ date: '2026-01-02' })).day).toBe('2026-01-02')
    expect(ratesOf(responseText({ date: undefined })).day).toBe(today)
  })

  test('the response of a rate service may have another base if its rates include the dollar; the base itself is converted exactly', () => {
    const read = ratesOf('{"base":"EUR","rates":{"USD":1.0850,"GBP":0.8500,"EUR":1,"AED":3.98}}')
    expect(read.rates).toEqual({ EUR: '1.085', GBP: '1.27647058824' })
    expect(readRates('{"base":"EUR","rates":{"GBP":0.85}}', today)).toEqual({ problem: '`rates` does not hold USD' })
    expect(ratesOf('{"base":"AED","rates":{"USD":0.2,"EUR":0.25}}').rates).toEqual({ EUR: '0.8' })
  })

  test('the response of a rate service is read digit by digit, without floats', () => {
    const euro = (dollars: string) => ratesOf(`{"base":"EUR","rates":{"USD":${dollars}}}`).rates['EUR']
    // Halfway between two rates of twelve digits, and above it by less than a float can represent.
    expect(euro('1.234567890125')).toBe('1.23456789012')
    expect(euro('1.2345678901250000000000001')).toBe('1.23456789013')
    expect(euro('12345678901250000001e-19')).toBe('1.23456789013')
  })

  test('unknown and pegged currencies in the response of a rate service are ignored', () => {
    const rates = { EUR: 0.92, XXX: 1, btc: 0.00001, BTC: 0.00001, eur: 5, USD: 7, AED: 99, '': 1, __proto__: 1, constructor: 1 }
    expect(ratesOf(responseText({ rates }))).toEqual({ day: today, rates: { EUR: '1.08695652174' }, refused: [] })
  })

  test('implausible rates in the response of a rate service are refused, and the others are used', () => {
    const text = `{"base":"USD","rates":{"EUR":0.92,"GBP":-0.8,"CHF":0,"JPY":1e999,"SEK":null,"NOK":"ten","DKK":{},"CNY":[7],
      "INR":1e-3,"KRW":1.9,"VND":1e10,"IDR":0.${'1'.repeat(50)},"PLN":true}}`
    const { rates, refused } = ratesOf(text)
    expect(rates).toEqual({ EUR: '1.08695652174' })
    expect(refused).toEqual(['GBP', 'CHF', 'JPY', 'SEK', 'NOK', 'DKK', 'CNY', 'INR', 'KRW', 'VND', 'IDR', 'PLN'])
  })

  test('the highest and the lowest real rates in the response of a rate service are accepted', () => {
    const { rates, refused } = ratesOf(
      responseText({ rates: { KWD: 0.305, GBP: 0.73, CLF: 0.0235, IRR: 1_200_000, LBP: 89_500, UYW: 0.25 } }),
    )
    expect(refused).toEqual([])
    expect(Object.keys(rates)).toEqual(['KWD', 'GBP', 'CLF', 'IRR', 'LBP', 'UYW'])
  })

  test('rates are accepted up to half a dollar for a minor unit, and down to a billion units for a dollar', () => {
    const rates = '{"JPY":2,"KRW":1.9999999,"VND":1e9,"LBP":1000000000.1}'
    expect(ratesOf(`{"base":"USD","rates":${rates}}`)).toMatchObject({ rates: { JPY: '0.5', VND: '0.000000001' }, refused: ['KRW', 'LBP'] })
  })

  test.each([
    ['nothing', '', 'not a JSON object'],
    ['a page', '<html></html>', 'not a JSON object'],
    ['half of it', '{"base":"USD","rates":{"EUR":0.92', 'not a JSON object'],
    ['a list', '[{"base":"USD"}]', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['a hundred thousand brackets', '['.repeat(100_000), 'not a JSON object'],
    ['no base', responseText({ base: undefined }), '`base` is not a currency'],
    ['a base that is no currency', responseText({ base: 'XXX' }), '`base` is not a currency'],
    ['a base that is a number', responseText({ base: 1 }), '`base` is not a currency'],
    ['no rates', responseText({ rates: undefined }), '`rates` is not an object'],
    ['rates in a list', responseText({ rates: [{ EUR: 0.92 }] }), '`rates` is not an object'],
    ['no rate that we know', responseText({ rates: { XXX: 1 } }), '`rates` holds no usable rate'],
    ['only rates that are not plausible', responseText({ rates: { EUR: -0.92 } }), '`rates` holds no usable rate'],
    ['a date that is none', responseText({ date: '2026-02-30' }), '`date` is not a day'],
    ['a date that is a number', responseText({ date: 20_260_106 }), '`date` is not a day'],
    ['tomorrow', responseText({ date: '2026-01-07' }), '`date` is in the future or too long ago'],
    ['more than a week ago', responseText({ date: '2025-12-29' }), '`date` is in the future or too long ago'],
    ['a base without its dollars', '{"base":"EUR","rates":{"USD":0,"GBP":0.85}}', '`rates` does not hold USD'],
  ])('the response of a rate service is refused with its problem when it has %s', (_, text, problem) => {
    expect(readRates(text, today)).toEqual({ problem })
  })

  test('the response of a rate service is accepted when it is a week old', () => {
    expect(ratesOf(responseText({ date: '2025-12-30' })).day).toBe('2025-12-30')
  })

  test('the response of a rate service leads to the same dollar rates for each base', () => {
    const unit = fc.integer({ min: 1_000, max: 100_000 })
    fc.assert(
      fc.property(unit, unit, unit, (euros, pounds, dollars) => {
        const direct = ratesOf(`{"base":"USD","rates":{"EUR":${euros}e-4,"GBP":${pounds}e-4}}`).rates
        const other = ratesOf(`{"base":"CHF","rates":{"EUR":${euros * dollars}e-8,"GBP":${pounds * dollars}e-8,"USD":${dollars}e-4}}`).rates
        expect(other).toEqual({ ...direct, CHF: expect.any(String) })
      }),
    )
  })
})

describe('the days that have a rate within a week', () => {
  const day = fc.integer({ min: 0, max: 400 }).map((n) => addDays('2025-01-01', n))
  const days = fc.uniqueArray(day, { maxLength: 12 }).map((all) => all.sort())

  test('a day can be priced if there is a rate at most seven days before or after it', () => {
    fc.assert(
      fc.property(days, day, (ratedDays, queriedDay) => {
        const near = ratedDays.some((one) => one >= addDays(queriedDay, -7) && one <= addDays(queriedDay, 7))
        expect(pricedSpans(ratedDays).some(({ from, to }) => from <= queriedDay && queriedDay <= to)).toBe(near)
      }),
    )
  })

  test('the days that can be priced are returned as ordered spans that do not overlap', () => {
    fc.assert(
      fc.property(days, (ratedDays) => {
        const spans = pricedSpans(ratedDays)
        for (const [nth, { from, to }] of spans.entries()) {
          expect(from <= to).toBe(true)
          expect((spans[nth - 1]?.to ?? '') < from).toBe(true)
        }
      }),
    )
  })
})
