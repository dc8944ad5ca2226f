import alpha3 from 'countries-list/minimal/countries.2to3.min.json'

/** Codes that ISO 3166-1 reserves or leaves to users: Ascension, Tristan da Cunha, Kosovo. */
const unassigned = new Set(['AC', 'TA', 'XK'])

/** Checks for an assigned code of ISO 3166-1 alpha-2. */
export const isCountry = (code: string): boolean => Object.hasOwn(alpha3, code) && !unassigned.has(code)

/** All 249 codes. */
export const countryCodes: readonly string[] = Object.keys(alpha3).filter(isCountry)

/** Returns the alpha-3 code of a country. */
export const alpha3Of = (code: string): string => alpha3[code as keyof typeof alpha3]

/** Returns whether a code is a country, or XK, which geo databases use for Kosovo. */
export const isGeoCountry = (code: string): boolean => isCountry(code) || code === 'XK'
