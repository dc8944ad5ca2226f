import { countryCodes } from '../../lib/country-code.ts'
import { country } from './format.ts'
import { language } from './words.ts'

let named: readonly (readonly [code: string, name: string])[] | undefined

/** Every country with its name, as a select wants them: by name, in the reader's language. */
export function countryOptions(): readonly (readonly [code: string, name: string])[] {
  const { compare } = new Intl.Collator(language)
  named ??= countryCodes.map((code) => [code, country(code)] as const).sort(([, one], [, other]) => compare(one, other))
  return named
}
