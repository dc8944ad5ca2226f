import { foldText } from './search-terms.ts'

/** Compares provinces as people type them. Pure, so the browser decides like the server. */

/** ISO 3166-2 codes by country and by spelling (see `spellingOf`). */
export type Provinces = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
/** A table without countries: provinces are then compared by spelling. */
export const noProvinces: Provinces = new Map()

/** A province: its ISO 3166-2 code without the country, and its English name. */
export type Province = { code: string; name: string }

/** Normalizes a province for comparison: no capitals, diacritics and punctuation; Arabic letters as Persian ones. */
const spellingOf = (text: string): string =>
  foldText(text)
    .replace(/[’'‘`.]/g, '')
    .replace(/[يى]/g, 'ی')
    .replace(/ك/g, 'ک')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Words that people add to names, in all countries and in some. Names that contain them are compared first. */
const addedWords = 'province|prefecture|governorate|محافظة|منطقة|ولاية'
const addedWordsOf: Readonly<Record<string, string>> = {
  BD: 'district|জেলা',
  BY: 'г|гор|город|горад',
  HU: 'vármegye|megye',
  IR: 'استان',
  JP: 'to|fu|ken',
  KZ: 'г|гор|город|қ|қаласы|city',
  LK: 'district',
  MA: 'جهة|إقليم|عمالة|région',
  PL: 'województwo|woj',
  RU: 'г|гор|город|респ|республика|city',
  UA: 'м|місто|г|город|city',
  VN: 'tp|thành|phố|tỉnh|city',
}

function withoutAddedWords(country: string, spelling: string): string {
  const added = new Set(`${addedWords}|${addedWordsOf[country] ?? ''}`.split('|').map(spellingOf))
  const words = spelling.split(' ')
  const isName = (word: string) => !added.has(word)
  return words.slice(Math.max(words.findIndex(isName), 0), words.findLastIndex(isName) + 1).join(' ')
}

/** Letters with diacritics as people write them in ASCII: `Wuerttemberg`, `Skaane`. */
const withoutWrittenUmlauts = (spelling: string): string => spelling.replace(/([aou])e|aa/g, (_, vowel: string | undefined) => vowel ?? 'a')

/** Returns the spellings under which a typed province that is not listed may be listed, the most exact first. */
function otherSpellingsOf(country: string, text: string): string[] {
  const spelling = spellingOf(text.replaceAll('.', ' ')).replace(/(^| )обл( |$)/, '$1область$2')
  const name = withoutAddedWords(country, spelling)
  return [spelling, name, withoutWrittenUmlauts(spelling), withoutWrittenUmlauts(name)]
}

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
  if (!ofCountry) return spelling === '' ? [] : [spelling]
  const listed = ofCountry.get(spelling)
  if (listed) return listed
  const other = otherSpellingsOf(country, text).find((one) => ofCountry.has(one))
  return other === undefined ? [] : (ofCountry.get(other) ?? [])
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
