/** Parses typed amounts. Runs without a browser. */
import { decimalOf, decimalsOf, parseAmount } from '../../../lib/money.ts'
import { toLatinDigits } from './number-input.ts'

export type Money = { readonly amount: number; readonly currency: string }

/** Formats an amount in major units, such as `10.50`. */
export const moneyText = ({ amount, currency }: Money): string => decimalOf(amount, decimalsOf(currency))

/** Returns an example for error messages. */
export const exampleOf = (currency: string): string => moneyText({ amount: Math.floor(1_250.5 * 10 ** decimalsOf(currency)), currency })

/** `1,250` and `1.250` mean a thousand to some people and one and a quarter to others. */
const ambiguous = /^-?[1-9]\d{0,2}([.,])\d{3}$/

/**
 * Parses an amount in any digits; undefined if invalid. A comma counts as a point unless it could separate thousands:
 * money is not guessed.
 * With a currency of three decimals, `1.250` is the API's own form.
 */
export function parseMoney(text: string, currency: string): Money | undefined {
  const input = toLatinDigits(text)
  const [, separator] = ambiguous.exec(input) ?? []
  if (separator !== undefined && !(separator === '.' && decimalsOf(currency) >= 3)) return undefined
  const amount = parseAmount(input.replace(',', '.'), currency)
  return amount === undefined ? undefined : { amount, currency }
}
