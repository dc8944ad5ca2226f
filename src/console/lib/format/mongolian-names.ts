/** Names of countries and currencies in Mongolian, by code, for browsers that do not know the language. */
import { countryNames, currencyNames } from './mongolian-names.macro.ts' with { type: 'macro' }

export const countries: Readonly<Record<string, string>> = countryNames()
export const currencies: Readonly<Record<string, string>> = currencyNames()
