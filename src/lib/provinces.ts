import { foldText } from './search-terms.ts'

/** Compares provinces as people type them. Pure, so the browser decides like the server. */

/** ISO 3166-2 codes by country and by spelling (see `spellingOf`). */
export type Provinces = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
export const noProvinces: Provinces = new Map()

/** A province: its ISO 3166-2 code without the country, and its English name. */
export type Province = { code: string; name: string }

/** Normalizes a province for comparison: no capitals, diacritics and punctuation. */
const spellingOf = (text: string): string =>
  foldText(text)
    .replace(/[’'‘`.]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Builds the lookup table of provinces by name and code. A province may appear several times, once per name. */
export function provincesOf(parts: readonly (Province & { country: string })[]): Provinces {
  const found = new Map<string, Map<string, string[]>>()
  for (const { country, code, name } of parts) {
    const ofCountry = found.get(country) ?? new Map<string, string[]>()
    found.set(country, ofCountry)
    const counties = country === 'IE' ? [`County ${name}`, `Co ${name}`] : []
    for (const spelling of [name, code, `${country}-${code}`, ...counties].map(spellingOf)) {
      const codes = ofCountry.get(spelling) ?? []
      ofCountry.set(spelling, codes)
      if (!codes.includes(code)) codes.push(code)
    }
  }
  return found
}

/**
 * Returns the codes that a text may mean; the normalized text in a country without a list; empty if the country has no
 * such province.
 */
export function provinceCodes(table: Provinces, country: string, text: string): readonly string[] {
  const spelling = spellingOf(text)
  const ofCountry = table.get(country)
  return ofCountry ? (ofCountry.get(spelling) ?? []) : spelling === '' ? [] : [spelling]
}

/**
 * Returns whether an address has a province that is not in the list of its country. False without a list or a province.
 */
export const isUnknownProvince = (table: Provinces, { countryCode, province }: { countryCode: string; province: string | null }): boolean =>
  province !== null && table.has(countryCode) && provinceCodes(table, countryCode, province).length === 0

/** Returns whether two texts name the same province of a country, each by its code or one of its names. */
export function isSameProvince(table: Provinces, country: string, one: string, other: string): boolean {
  if (spellingOf(one) === spellingOf(other)) return spellingOf(one) !== ''
  const codes = provinceCodes(table, country, other)
  return provinceCodes(table, country, one).some((code) => codes.includes(code))
}
