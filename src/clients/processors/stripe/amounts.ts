/** Amounts in Stripe's units (docs.stripe.com/currencies), which differ from ISO 4217 for some currencies. */
import { decimalsOf, isCurrency } from '../../../lib/money.ts'
import { rescaleAmount } from '../amounts.ts'
import type { Capabilities } from '../processor.ts'

type Amount = Parameters<Capabilities['supportsAmount']>[0]

const wholeOnly = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
/** In hundredths, though only whole units can be paid. */
const wholeInHundredths = new Set(['ISK', 'UGX'])
/** The last of the three digits must be 0. */
const thousandths = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND'])
/** Stripe guarantees eight digits in every currency. */
const unitsMax = 99_999_999

/**
 * Decimals of Stripe's unit; undefined for currencies of three and four decimals that it does not list, and for funds.
 */
function exponentOf(currency: string): number | undefined {
  if (!isCurrency(currency)) return undefined
  if (wholeOnly.has(currency)) return 0
  if (wholeInHundredths.has(currency)) return 2
  if (thousandths.has(currency)) return 3
  return decimalsOf(currency) === 2 ? 2 : undefined
}

/**
 * Minimum charges of Stripe, in minor units of ISO 4217 (docs.stripe.com/currencies, minimum charge amounts). In other
 * currencies the minimum is about 0.50 USD at Stripe's exchange rate of the day, which souk does not know.
 */
export const stripeMinimums: Readonly<Record<string, number>> = {
  ...{ USD: 50, AED: 200, AUD: 50, BRL: 50, CAD: 50, CHF: 50, CZK: 1_500, DKK: 250, EUR: 50, GBP: 30, HKD: 400, HUF: 17_500 },
  ...{ INR: 50, JPY: 50, MXN: 1_000, MYR: 200, NOK: 300, NZD: 50, PLN: 200, RON: 200, SEK: 300, SGD: 50, THB: 1_000 },
}

/** Converts minor units to Stripe's; undefined if the amount cannot be expressed exactly. */
export function stripeUnits({ amount, currency }: Amount): number | undefined {
  const exponent = exponentOf(currency)
  if (exponent === undefined) return undefined
  const units = rescaleAmount(amount, decimalsOf(currency), exponent)
  if (units === undefined || units < 1 || units > unitsMax) return undefined
  return exponent === 3 && !String(units).endsWith('0') ? undefined : units
}

/** Converts Stripe's units to minor units; undefined without an amount. */
export function minorUnits(units: number | undefined, currency: string): number | undefined {
  const exponent = exponentOf(currency)
  return units === undefined || exponent === undefined ? undefined : rescaleAmount(units, exponent, decimalsOf(currency))
}

/** Returns whether an amount is exact in Stripe's unit and has at most eight digits there. */
export const stripeSupports = (amount: Amount): boolean => stripeUnits(amount) !== undefined
/** Returns whether the decimals of Stripe's unit are known for the currency. */
export const stripeSupportsCurrency = (currency: string): boolean => exponentOf(currency) !== undefined
