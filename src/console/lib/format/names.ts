import { locale, mongolianFallback } from '../i18n/catalog.ts'

const mongolian = mongolianFallback(() => import('./mongolian-names.ts'))
const [regions, currencies] = [new Intl.DisplayNames(locale, { type: 'region' }), new Intl.DisplayNames(locale, { type: 'currency' })]

/** Returns a country's name, or its code if it has none. */
export function countryName(code: string): string {
  try {
    return mongolian()?.countries[code] ?? regions.of(code) ?? code
  } catch {
    return code
  }
}

/** Returns a currency's name, or its code if it has none. */
export const currencyName = (code: string): string => mongolian()?.currencies[code] ?? currencies.of(code) ?? code
