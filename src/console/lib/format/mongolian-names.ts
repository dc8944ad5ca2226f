/** Mongolian names of countries and currencies, for browsers whose `Intl` lacks the language. */
import { countryNames, currencyNames } from './mongolian-names.macro.ts' with { type: 'macro' }

export const countries: Readonly<Record<string, string>> = countryNames()
export const currencies: Readonly<Record<string, string>> = currencyNames()
