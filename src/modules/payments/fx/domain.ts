import { addDays, isDay } from '../../../lib/day.ts'
import { decimalText, type Fraction, fractionOf } from '../../../lib/decimal.ts'
import { isRecord } from '../../../lib/json.ts'
import { type Currency, decimalsOf, isCurrency } from '../../../lib/money.ts'
import { divideHalfEven } from '../../../lib/rounding.ts'

/** The value of one major unit in US dollars, as a decimal number, and its day. */
export type Rate = { readonly usdPerUnit: string; readonly day: string }

/** Rates are quotients, rounded once to this many significant digits. */
const rateDigits = 12
/** A rate applies to days at most this far away. */
export const rateAgeMaxDays = 7
/** The largest minor unit is worth less than this. Below it, dollars of any amount fit a number. */
const minorUnitMaxUsdCents = 50n
/** No circulating currency is worth less. */
const unitsPerUsdMax = 10n ** 9n

/**
 * Units for one dollar of currencies with a fixed rate, each with its source. Bands (HKD) and rates that exist only on
 * paper are left out.
 */
const unitsPerUsd: Readonly<Record<Currency, string>> = {
  /** The dollar itself. */
  USD: '1',
  /** Central Bank of the UAE: 3.6725 since November 1997. */
  AED: '3.6725',
  /** Centrale Bank van Aruba: 1.79 since January 1986. */
  AWG: '1.79',
  /** Central Bank of Barbados: 2 since July 1975. */
  BBD: '2',
  /** Central Bank of Bahrain: 0.376, by decree of 2001. */
  BHD: '0.376',
  /** Bermuda Monetary Authority: at par since July 1972. */
  BMD: '1',
  /** Central Bank of The Bahamas: at par since 1973. */
  BSD: '1',
  /** Central Bank of Belize: 2 since May 1976. */
  BZD: '2',
  /** Banque Centrale de Djibouti, a currency board: 177.721 since 1973. */
  DJF: '177.721',
  /** Central Bank of Jordan: 0.709 since October 1995, between its 0.708 and 0.710. */
  JOD: '0.709',
  /** Central Bank of Oman: 0.3845 since 1986. */
  OMR: '0.3845',
  /** Banco Nacional de Panamá: at par, by the agreement of 1904. */
  PAB: '1',
  /** Qatar Central Bank: 3.64, by Decree 34 of 2001. */
  QAR: '3.64',
  /** Saudi Central Bank: 3.75 since June 1986. */
  SAR: '3.75',
  /** Banco Central de Reserva de El Salvador: 8.75, by the Monetary Integration Law of 2001. */
  SVC: '8.75',
  /** Eastern Caribbean Central Bank: 2.70 since July 1976. */
  XCD: '2.7',
  /** Centrale Bank van Curaçao en Sint Maarten: 1.79, as the Antillean guilder before it until March 2025. */
  XCG: '1.79',
}

const fixedRates: ReadonlyMap<Currency, string> = new Map([
  ...Object.entries(unitsPerUsd).map(([currency, units]): [Currency, string] => [currency, rateText(inverseOf(decimal(units)))]),
  // Cayman Islands Monetary Authority: set in dollars per unit, 1.20 since 1974.
  ['KYD', '1.2'],
])

/** Returns the fixed rate of the dollar or a pegged currency: 1/3.6725 for AED, to 12 significant digits. */
export const fixedRateOf = (currency: Currency): string | undefined => fixedRates.get(currency)

/**
 * Converts an amount in minor units of any currency to US cents: exact, rounded half-even once.
 * @param usdPerUnit a decimal number, as `rateFor` gives it
 * @throws RangeError for an unknown currency, or a rate that is no positive decimal number
 */
export function usdCentsOf(amount: number, currency: Currency, usdPerUnit: string): number {
  const { numerator, denominator } = decimal(usdPerUnit)
  return Number(divideHalfEven(BigInt(amount) * numerator * 100n, denominator * minorUnitsOf(currency)))
}

/**
 * Returns the spans of days with a rate near enough.
 * @param days the days with rates, ascending
 */
export function pricedSpans(days: readonly string[]): { from: string; to: string }[] {
  const spans: { from: string; to: string }[] = []
  for (const day of days) {
    const [from, to] = [addDays(day, -rateAgeMaxDays), addDays(day, rateAgeMaxDays)]
    const last = spans.at(-1)
    if (last && from <= last.to) last.to = to
    else spans.push({ from, to })
  }
  return spans
}

/** The usable rates of a service's answer, or why it is rejected. */
export type RatesAnswer =
  | { readonly day: string; readonly rates: ReadonlyMap<Currency, string>; readonly refused: readonly Currency[] }
  | { readonly problem: string }

/**
 * Reads `{ "base": "USD", "date"?: "2026-01-06", "rates": { "EUR": 0.92 } }`: units of each currency for one of the
 * base. No number passes through a float. With another base than USD, `rates` must hold USD. Unknown currencies and
 * those with a fixed rate are skipped; `refused` names those whose rate is not a plausible number.
 * @param today the day of the rates if the answer names none. A later day, or one more than seven days ago, is a
 *   problem
 */
export function readRates(text: string, today: string): RatesAnswer {
  const answer = parseKeepingDigits(text)
  if (!isRecord(answer)) return { problem: 'not a JSON object' }
  const { base, date = today, rates } = answer
  if (typeof base !== 'string' || !isCurrency(base)) return { problem: '`base` is not a currency' }
  if (typeof date !== 'string' || !isDay(date)) return { problem: '`date` is not a day' }
  if (date > today || date < addDays(today, -rateAgeMaxDays)) return { problem: '`date` is in the future or too long ago' }
  if (!isRecord(rates)) return { problem: '`rates` is not an object' }
  const dollars = base === 'USD' ? fractionOf('1') : numberOf(rates['USD'])
  if (!dollars) return { problem: '`rates` does not hold USD' }
  const read = ratesIn({ ...rates, [base]: '1' }, dollars)
  return read.rates.size > 0 ? { day: date, ...read } : { problem: '`rates` holds no usable rate' }
}

function ratesIn(units: Record<string, unknown>, dollars: Fraction): { rates: Map<Currency, string>; refused: Currency[] } {
  const rates = new Map<Currency, string>()
  const refused: Currency[] = []
  for (const [currency, value] of Object.entries(units)) {
    if (!isCurrency(currency) || fixedRates.has(currency)) continue
    const unit = numberOf(value)
    const rate = unit && { numerator: dollars.numerator * unit.denominator, denominator: dollars.denominator * unit.numerator }
    if (rate && isPlausible(rate, currency)) rates.set(currency, rateText(rate))
    else refused.push(currency)
  }
  return { rates, refused }
}

const isPlausible = ({ numerator, denominator }: Fraction, currency: Currency): boolean =>
  numerator * 100n <= minorUnitMaxUsdCents * denominator * minorUnitsOf(currency) && numerator * unitsPerUsdMax >= denominator

/** Parses JSON and keeps the digits of numbers; undefined for invalid text. */
function parseKeepingDigits(text: string): unknown {
  const digits = (_: string, value: unknown, context?: { source?: string }) => (typeof value === 'number' ? context?.source : value)
  try {
    return JSON.parse(text, digits)
  } catch {
    return undefined
  }
}

const numberOf = (value: unknown): Fraction | undefined => (typeof value === 'string' ? fractionOf(value) : undefined)

function decimal(text: string): Fraction {
  const fraction = fractionOf(text)
  if (!fraction) throw new RangeError('a rate is a positive decimal number')
  return fraction
}

function rateText(fraction: Fraction): string {
  return decimalText(fraction, rateDigits)
}

function inverseOf({ numerator, denominator }: Fraction): Fraction {
  return { numerator: denominator, denominator: numerator }
}

const minorUnitsOf = (currency: Currency): bigint => 10n ** BigInt(decimalsOf(currency))
