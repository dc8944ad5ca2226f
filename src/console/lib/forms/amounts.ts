/** Amounts as they are typed: no browser is needed to read them. */
import { decimalOf, decimalsOf, parseAmount } from '../../../lib/money.ts'
import { latinOf } from './number-input.ts'

export type Money = { readonly amount: number; readonly currency: string }

/** An amount as it is typed into a field, in major units: `10.50`. */
export const moneyText = ({ amount, currency }: Money): string => decimalOf(amount, decimalsOf(currency))

/** An amount as it may be typed, for whoever typed something else. */
export const exampleOf = (currency: string): string => moneyText({ amount: Math.floor(1_250.5 * 10 ** decimalsOf(currency)), currency })

/** `1,250` and `1.250`: to one a thousand and more, to another one and a quarter. */
const ambiguous = /^-?[1-9]\d{0,2}([.,])\d{3}$/

/**
 * What was typed, in whatever digits, or undefined where it is no amount of that currency. A comma counts as a point, but where it may part thousands: money is
 * not guessed. Of a currency with three decimals `1.250` is how souk writes it itself.
 */
export function parseMoney(text: string, currency: string): Money | undefined {
  const typed = latinOf(text)
  const [, mark] = ambiguous.exec(typed) ?? []
  if (mark !== undefined && !(mark === '.' && decimalsOf(currency) >= 3)) return undefined
  const amount = parseAmount(typed.replace(',', '.'), currency)
  return amount === undefined ? undefined : { amount, currency }
}
