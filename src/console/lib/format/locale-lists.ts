/** Countries, currencies and time zones for select fields. */
import { countryCodes } from '../../../lib/country-code.ts'
import { currencies } from '../../../lib/money.ts'
import type { Choice } from '../forms/choice.ts'
import { locale } from '../i18n/catalog.ts'
import { foldText } from './fold-text.ts'
import { countryName, currencyName } from './names.ts'

type Option = readonly [value: string, text: string]

const byText = new Intl.Collator(locale)
const sorted = (options: readonly Option[]): readonly Option[] => [...options].sort((a, b) => byText.compare(a[1], b[1]))

let countries: readonly Option[] | undefined
/** Returns all countries, sorted by name. */
export const countryOptions = (): readonly Option[] => (countries ??= sorted(countryCodes.map((code) => [code, countryName(code)])))

/** Returns a country for pickers. */
export const countryChoice = (code: string): Choice => ({ id: code, text: countryName(code), detail: code })

/** Finds countries by a part of their name or by their code. */
export async function findCountries(q: string): Promise<readonly Choice[]> {
  const text = foldText(q)
  const found = countryOptions().filter(([code, name]) => code.toLowerCase() === text || foldText(name).includes(text))
  // Sorts the exact code first, then names that start with the text.
  const rank = ([code, name]: Option) => (code.toLowerCase() === text ? 0 : foldText(name).startsWith(text) ? 1 : 2)
  return [...found].sort((a, b) => rank(a) - rank(b)).map(([code]) => countryChoice(code))
}

/** Returns all currencies for a select field, sorted by code. */
export const currencyOptions = (): readonly Option[] =>
  currencies.map((code) => [code, currencyName(code) === code ? code : `${code} · ${currencyName(code)}`])

/** @param current the stored time zone, which this browser may list under another name */
export const timeZoneNames = (current: string): readonly string[] =>
  [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])].sort()
