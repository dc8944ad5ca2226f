/** Run by the bundler, whose `Intl` knows Mongolian: what it answers is in the bundle. */
import { countryCodes } from '../../../lib/country-code.ts'
import { currencies } from '../../../lib/money.ts'

const named = (codes: readonly string[], type: 'region' | 'currency'): Record<string, string> => {
  const names = new Intl.DisplayNames('mn', { type })
  return Object.fromEntries(codes.map((code) => [code, names.of(code) ?? code]))
}
/** Every country of the program, by its code. */
export const countryNames = () => named(countryCodes, 'region')
/** Every currency of the program, by its code. */
export const currencyNames = () => named(currencies, 'currency')
