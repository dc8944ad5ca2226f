/** Amounts as they are typed: no browser is needed to read them. */
import { decimalOf, decimalsOf, parseAmount } from '../../lib/money.ts'

export type Money = { readonly amount: number; readonly currency: string }

/** An amount as it is typed into a field, in major units: `10.50`. */
export const moneyText = ({ amount, currency }: Money): string =>
  `${amount < 0 ? '-' : ''}${decimalOf(Math.abs(amount), decimalsOf(currency))}`

/** What was typed, or undefined where it is no amount of that currency. A comma counts as a point. */
export function parseMoney(text: string, currency: string): Money | undefined {
  const amount = parseAmount(text.trim().replace(',', '.'), currency)
  return amount === undefined ? undefined : { amount, currency }
}
