import alpha3 from 'countries-list/minimal/countries.2to3.min.json'

/** Codes that ISO 3166-1 reserves or leaves to its users: Ascension, Tristan da Cunha, Kosovo. */
const unassigned = new Set(['AC', 'TA', 'XK'])

/** Whether the text is a code of ISO 3166-1 alpha-2 that is in use. */
export const isCountry = (code: string): boolean => Object.hasOwn(alpha3, code) && !unassigned.has(code)

/** All of them, 249. */
export const countryCodes: readonly string[] = Object.keys(alpha3).filter(isCountry)

/** The code of three letters of a country. */
export const alpha3Of = (code: string): string => alpha3[code as keyof typeof alpha3]

/** Whether somebody can be said to be in it: databases of addresses say XK of Kosovo. */
export const isGeoCountry = (code: string): boolean => isCountry(code) || code === 'XK'
