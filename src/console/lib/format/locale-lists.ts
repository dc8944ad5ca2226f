/** Countries, currencies and time zones for choosing: codes from one place, names in the reader's language. */
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
/** Every country, by its name. */
export const countryOptions = (): readonly Option[] => (countries ??= sorted(countryCodes.map((code) => [code, countryName(code)])))

/** A country as a picker shows it. */
export const countryChoice = (code: string): Choice => ({ id: code, text: countryName(code), detail: code })

/** Countries by what somebody types: a part of the name, or the code. For pickers. */
export async function findCountries(q: string): Promise<readonly Choice[]> {
  const asked = foldText(q)
  const found = countryOptions().filter(([code, name]) => code.toLowerCase() === asked || foldText(name).includes(asked))
  // The code itself, and what begins so, before what holds it somewhere.
  const rank = ([code, name]: Option) => (code.toLowerCase() === asked ? 0 : foldText(name).startsWith(asked) ? 1 : 2)
  return [...found].sort((a, b) => rank(a) - rank(b)).map(([code]) => countryChoice(code))
}

/** Every currency that souk knows, by its code, with its name. */
export const currencyOptions = (): readonly Option[] => currencies.map((code) => [code, `${code} · ${currencyName(code)}`])

/** @param present the one that is there, in case this browser lists it under another name */
export function timeZoneOptions(present: string): readonly Option[] {
  const names = new Set(['UTC', present, ...Intl.supportedValuesOf('timeZone')])
  return [...names].sort().map((name) => [name, name.replaceAll('_', ' ')])
}
