/** Amounts of PayPal: decimals of major units, in its currencies (developer.paypal.com, currency codes). */
import { decimalOf, decimalsOf, isCurrency, parseAmount } from '../../../lib/money.ts'
import { rescaleAmount } from '../amounts.ts'
import { textAt } from '../answers.ts'
import type { Capabilities } from '../processor.ts'

type Amount = Parameters<Capabilities['supportsAmount']>[0]
export type PaypalMoney = { readonly currency_code: string; readonly value: string }

const supportedCurrencies = new Set(
  'AUD BRL CAD CNY CZK DKK EUR HKD HUF ILS JPY MYR MXN TWD NZD NOK PHP PLN GBP SGD SEK CHF THB USD'.split(' '),
)
/** Without decimals, unlike ISO 4217. */
const wholeOnly = new Set(['HUF', 'JPY', 'TWD'])

/** Returns whether PayPal lists the currency. */
export const paypalSupportsCurrency = (currency: string): boolean => supportedCurrencies.has(currency)

/** Converts an amount to PayPal's; undefined if it cannot be expressed exactly. */
export function paypalMoney({ amount, currency }: Amount): PaypalMoney | undefined {
  if (!supportedCurrencies.has(currency) || amount < 1) return undefined
  const decimals = wholeOnly.has(currency) ? 0 : 2
  const units = rescaleAmount(amount, decimalsOf(currency), decimals)
  return units === undefined ? undefined : { currency_code: currency, value: decimalOf(units, decimals) }
}

/** Returns whether an amount is exact in PayPal's decimals: HUF, JPY and TWD have none there. */
export const paypalSupports = (amount: Amount): boolean => paypalMoney(amount) !== undefined

/** Converts PayPal's money to minor units; undefined if invalid or in another currency. */
export const minorUnitsIn = (money: unknown, currency: string): number | undefined =>
  textAt(money, 'currency_code') === currency && isCurrency(currency) ? parseAmount(textAt(money, 'value') ?? '', currency) : undefined
