import type { ICountry } from 'countries-list'
import alpha3 from 'countries-list/minimal/countries.2to3.min.json'

export type Country = { code: string; code3: string; name: string; currency: string | null; callingCode: string | null; region: string }

/** Codes that ISO 3166-1 reserves or leaves to its users: Ascension, Tristan da Cunha, Kosovo. */
const unassigned = new Set(['AC', 'TA', 'XK'])
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
      code3: alpha3[code as keyof typeof alpha3],
      name,
      currency: currency[0] ?? null,
      callingCode: phone[0] === undefined ? null : `+${phone[0]}`,
      region: regions[continent],
    }))
    .sort((a, b) => (a.code < b.code ? -1 : 1))
}

/** Whether the text is a code of ISO 3166-1 alpha-2 that is in use. */
export const isCountry = (code: string): boolean => Object.hasOwn(alpha3, code) && !unassigned.has(code)
