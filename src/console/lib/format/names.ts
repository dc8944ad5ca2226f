/** Names of countries and currencies in the reader's language. */
import { locale, mongolianFallback } from '../i18n/catalog.ts'

const mongolian = mongolianFallback(() => import('./mongolian-names.ts'))
const [regions, currencies] = [new Intl.DisplayNames(locale, { type: 'region' }), new Intl.DisplayNames(locale, { type: 'currency' })]

/** A country by its code; the code where nobody knows it. */
export function countryName(code: string): string {
  try {
    return mongolian()?.countries[code] ?? regions.of(code) ?? code
  } catch {
    return code
  }
}

/** A currency by its code. */
export const currencyName = (code: string): string => mongolian()?.currencies[code] ?? currencies.of(code) ?? code
