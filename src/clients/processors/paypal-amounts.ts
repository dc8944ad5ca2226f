/** Amounts as PayPal writes them: decimals of major units, for the currencies that it takes (developer.paypal.com, currency codes). */
import { decimalOf, decimalsOf, isCurrency, parseAmount } from '../../lib/money.ts'
import { rescaled } from './amounts.ts'
import { textAt } from './answers.ts'
import type { Capabilities } from './processor.ts'

type Amount = Parameters<Capabilities['supportsAmount']>[0]
export type PaypalMoney = { readonly currency_code: string; readonly value: string }

const taken = new Set('AUD BRL CAD CNY CZK DKK EUR HKD HUF ILS JPY MYR MXN TWD NZD NOK PHP PLN GBP SGD SEK CHF THB USD'.split(' '))
/** No decimals, whatever ISO 4217 says. */
const wholeOnly = new Set(['HUF', 'JPY', 'TWD'])

export const paypalSaysCurrency = (currency: string): boolean => taken.has(currency)

/** An amount as PayPal's; undefined for one that it cannot say exactly. */
export function paypalMoney({ amount, currency }: Amount): PaypalMoney | undefined {
  if (!taken.has(currency) || amount < 1) return undefined
  const decimals = wholeOnly.has(currency) ? 0 : 2
  const units = rescaled(amount, decimalsOf(currency), decimals)
  return units === undefined ? undefined : { currency_code: currency, value: decimalOf(units, decimals) }
}

export const paypalSays = (amount: Amount): boolean => paypalMoney(amount) !== undefined

/** PayPal's money as minor units; undefined where it is none, or in another currency. */
export const minorUnitsIn = (money: unknown, currency: string): number | undefined =>
  textAt(money, 'currency_code') === currency && isCurrency(currency) ? parseAmount(textAt(money, 'value') ?? '', currency) : undefined
