import type { ICountry } from 'countries-list'
import { invalidField } from '../../../core/errors.ts'
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

type Country = { code: string; code3: string; name: string; currency: string | null; callingCode: string | null; region: string }

const regions: Record<ICountry['continent'], string> = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
}

/** Returns the 249 countries and territories of ISO 3166-1, by code. Loads the data at the first use. */
export async function listCountries(): Promise<Country[]> {
  const { countries } = await import('countries-list')
  return Object.entries(countries)
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

/** @throws AppError INVALID for an unknown code, naming the field of the body */
export function assertCountry(code: string, field: string): void {
  if (!isCountry(code)) throw invalidField(field, 'must be an ISO 3166-1 country code')
}

let provinceTable: Promise<Provinces> | undefined

/**
 * Returns the provinces of all countries by ISO 3166-2 code, English name and local names. Loads them at the first use.
 */
export const loadProvinceTable = (): Promise<Provinces> => (provinceTable ??= loadProvinces())

let provinceListsCache: Promise<ReadonlyMap<string, readonly Province[]>> | undefined

/** Returns each country's provinces by name. Loads them at the first use. */
export const provinceLists = (): Promise<ReadonlyMap<string, readonly Province[]>> => (provinceListsCache ??= loadLists())

async function loadLists(): Promise<Map<string, Province[]>> {
  const lists = new Map<string, Map<string, string>>()
  for (const { country, code, name } of await loadCountryParts()) {
    const ofCountry = lists.getOrInsertComputed(country, () => new Map())
    // The table's name comes first.
    if (!ofCountry.has(code)) ofCountry.set(code, name)
  }
  const byName = (a: Province, b: Province) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.code < b.code ? -1 : 1)
  return new Map([...lists].map(([country, names]) => [country, [...names].map(([code, name]) => ({ code, name })).sort(byName)]))
}

/** Parts of countries that ISO 3166-1 also lists as countries; the table of provinces lacks them. */
const territoriesOf: Readonly<Record<string, string>> = {
  CN: 'HK MO TW',
  FR: 'BL GF GP MF MQ NC PF PM RE TF WF YT',
  NL: 'AW CW SX',
  US: 'AS GU MP PR UM VI',
}
/** Codes that ISO 3166-2 has replaced. The local names contain them, so that they still name their province. */
const formerCodes: ReadonlySet<string> = new Set(['INCT', 'INDD', 'INDN', 'INTG', 'INUT', 'MXDIF'])
/** China: the table has only a former code. United States: codes of the postal service for military addresses. */
const missingCodes = [
  ['CN', 'NM', 'Inner Mongolia'],
  ['US', 'AA', 'Armed Forces Americas'],
  ['US', 'AE', 'Armed Forces Europe'],
  ['US', 'AP', 'Armed Forces Pacific'],
] as const

async function loadCountryParts(): Promise<(Province & { country: string })[]> {
  const [{ default: table }, { countries }] = await Promise.all([
    import('cldr-subdivisions-full/subdivisions/en/en.json'),
    import('countries-list'),
  ])
  const parts: (Province & { country: string })[] = []
  const add = (country: string, code: string, name: string) => void parts.push({ country, code, name })
  for (const [joined, name] of Object.entries(table.subdivisions.localeDisplayNames.subdivisions)) {
    const code = joined.toUpperCase()
    if (!formerCodes.has(code)) add(code.slice(0, 2), code.slice(2), name)
  }
  for (const [country, codes] of Object.entries(territoriesOf))
    for (const code of codes.split(' ')) add(country, code, countries[code as keyof typeof countries].name)
  for (const [country, code, name] of missingCodes) add(country, code, name)
  return parts
}

async function loadProvinces(): Promise<Provinces> {
  const [parts, { localProvinceNames }] = await Promise.all([loadCountryParts(), import('../../../lib/province-names.ts')])
  return provincesOf([...parts, ...localProvinceNames()])
}
