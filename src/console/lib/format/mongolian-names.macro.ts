/** Runs in the bundler, whose `Intl` knows Mongolian; the bundle contains the results. */
import { countryCodes } from '../../../lib/country-code.ts'
import { currencies } from '../../../lib/money.ts'

const namesOf = (codes: readonly string[], type: 'region' | 'currency'): Record<string, string> => {
  const names = new Intl.DisplayNames('mn', { type })
  return Object.fromEntries(codes.map((code) => [code, names.of(code) ?? code]))
}
/** Returns the Mongolian names of all countries by code. */
export const countryNames = () => namesOf(countryCodes, 'region')
/** Returns the Mongolian names of all currencies by code. */
export const currencyNames = () => namesOf(currencies, 'currency')
