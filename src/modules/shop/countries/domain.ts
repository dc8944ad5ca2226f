import type { ICountry } from 'countries-list'
import { AppError } from '../../../core/errors.ts'
import { alpha3Of, isCountry } from '../../../lib/country-code.ts'
import {
  isSameProvince,
  isUnknownProvince,
  noProvinces,
  type Province,
  type Provinces,
  provinceCodes,
  provincesOf,
} from '../../../lib/provinces.ts'

export { isCountry, isSameProvince, isUnknownProvince, noProvinces, type Province, type Provinces, provinceCodes }

export type Country = { code: string; code3: string; name: string; currency: string | null; callingCode: string | null; region: string }

const regions: Record<ICountry['continent'], string> = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
}

/** The 249 countries and territories of ISO 3166-1, by code. What there is to say of them is loaded when somebody asks. */
export async function countries(): Promise<Country[]> {
  const { countries: listed } = await import('countries-list')
  return Object.entries(listed)
    .filter(([code]) => isCountry(code))
    .map(([code, { name, currency, phone, continent }]) => ({
      code,
      code3: alpha3Of(code),
      name,
      currency: currency[0] ?? null,
      callingCode: phone[0] === undefined ? null : `+${phone[0]}`,
      region: regions[continent],
    }))
    .sort((a, b) => (a.code < b.code ? -1 : 1))
}

/** @throws AppError INVALID, naming the field of the body, for what is no such code */
export function assertCountry(code: string, field: string): void {
  if (!isCountry(code)) throw new AppError('INVALID', `${field} (body): not an ISO 3166-1 country`)
}

let known: Promise<Provinces> | undefined

/**
 * The provinces and states of all countries, by ISO 3166-2 code, English name and local names. Loaded when first
 * needed.
 */
export const provinces = (): Promise<Provinces> => (known ??= loadProvinces())

let listed: Promise<ReadonlyMap<string, readonly Province[]>> | undefined

/** The provinces of each country that has some, in the order of their names. Loaded when somebody first asks. */
export const provinceLists = (): Promise<ReadonlyMap<string, readonly Province[]>> => (listed ??= loadLists())

async function loadLists(): Promise<Map<string, Province[]>> {
  const lists = new Map<string, Map<string, string>>()
  for (const { country, code, name } of await partsOfCountries()) {
    const ofCountry = lists.getOrInsertComputed(country, () => new Map())
    // The first name is the table's.
    if (!ofCountry.has(code)) ofCountry.set(code, name)
  }
  const byName = (a: Province, b: Province) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.code < b.code ? -1 : 1)
  return new Map([...lists].map(([country, names]) => [country, [...names].map(([code, name]) => ({ code, name })).sort(byName)]))
}

/** Parts of a country that are countries of ISO 3166-1 too; the table of names has them there only. */
const alsoCountries: Readonly<Record<string, string>> = {
  CN: 'HK MO TW',
  FR: 'BL GF GP MF MQ NC PF PM RE TF WF YT',
  NL: 'AW CW SX',
  US: 'AS GU MP PR UM VI',
}
/** Codes that the table lacks: it has a former code instead. */
const alsoCalled = [['CN', 'NM', 'Inner Mongolia']] as const

async function partsOfCountries(): Promise<(Province & { country: string })[]> {
  const [{ default: table }, listed] = await Promise.all([
    import('cldr-subdivisions-full/subdivisions/en/en.json'),
    import('countries-list'),
  ])
  const parts: (Province & { country: string })[] = []
  const add = (country: string, code: string, name: string) => void parts.push({ country, code, name })
  for (const [joined, name] of Object.entries(table.subdivisions.localeDisplayNames.subdivisions)) {
    const code = joined.toUpperCase()
    add(code.slice(0, 2), code.slice(2), name)
  }
  for (const [country, codes] of Object.entries(alsoCountries))
    for (const code of codes.split(' ')) add(country, code, listed.countries[code as keyof typeof listed.countries].name)
  for (const [country, code, name] of alsoCalled) add(country, code, name)
  return parts
}

async function loadProvinces(): Promise<Provinces> {
  const [parts, { localProvinceNames }] = await Promise.all([partsOfCountries(), import('../../../lib/province-names.ts')])
  return provincesOf([...parts, ...localProvinceNames()])
}
