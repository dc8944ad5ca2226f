/** The fields of an address, with the countries that the shop ships to. */
import { ask, type Schema, shopName } from './api.ts'
import { h, refill } from './dom.ts'
import { field, select, typed } from './form.ts'
import type { Words } from './i18n.ts'

type Country = Schema<'ServedCountry'>
export type PostalAddress = Schema<'PostalAddress'>

export const servedCountries = async (): Promise<Country[]> =>
  (await ask('GET /shops/v2/public/name/{shopName}/countries', { path: { shopName } })).data

/** @param known initial values */
export function addressFields(countries: readonly Country[], words: Words, known: Partial<PostalAddress> = {}): HTMLElement[] {
  const province = h('div', {})
  const named = countries.map(({ code, name }) => ({ value: code, label: words.country(code, name) }))
  const sorted = named.toSorted((one, other) => one.label.localeCompare(other.label, words.language))
  const first = known.countryCode ?? (countries.length === 1 ? countries[0]?.code : '')
  function choose(code: string): void {
    const provinces = countries.find((country) => country.code === code)?.provinces ?? []
    const choices = [{ value: '', label: words.choose }, ...provinces.map((one) => ({ value: one.code, label: one.name }))]
    const value = code === known.countryCode ? (known.province ?? '') : ''
    refill(
      province,
      provinces.length > 0 && select({ label: words.province, name: 'province', value, choices, autocomplete: 'address-level1' }),
    )
  }
  choose(first ?? '')
  return [
    field({ label: words.name, name: 'name', required: true, maxlength: 200, autocomplete: 'name', value: known.name }),
    select({
      label: words.countryLabel,
      name: 'countryCode',
      value: first,
      required: true,
      autocomplete: 'country',
      choices: [{ value: '', label: words.choose }, ...sorted],
      onchange: choose,
    }),
    field({ label: words.street, name: 'line1', required: true, maxlength: 200, autocomplete: 'address-line1', value: known.line1 }),
    field({ label: words.street2, name: 'line2', maxlength: 200, autocomplete: 'address-line2', value: known.line2 }),
    field({ label: words.city, name: 'city', required: true, maxlength: 100, autocomplete: 'address-level2', value: known.city }),
    province,
    field({ label: words.postalCode, name: 'postalCode', maxlength: 20, autocomplete: 'postal-code', value: known.postalCode }),
    field({ label: words.phone, name: 'phone', type: 'tel', maxlength: 40, autocomplete: 'tel', value: known.phone }),
  ]
}

/** Returns the entered address. Empty optional fields are null. */
export function typedAddress(values: FormData): PostalAddress {
  const of = (name: string) => typed(values, name) || null
  return {
    name: typed(values, 'name'),
    company: null,
    line1: typed(values, 'line1'),
    line2: of('line2'),
    city: typed(values, 'city'),
    province: of('province'),
    postalCode: of('postalCode'),
    countryCode: typed(values, 'countryCode'),
    phone: of('phone'),
  }
}

/** City, province and postal code in the order of the country's post: add the countries that you ship to. */
function cityLines({ city, province, postalCode, countryCode }: PostalAddress): (string | null)[] {
  const join = (parts: (string | null)[], between = ' ') => parts.filter(Boolean).join(between)
  if (countryCode === 'US' || countryCode === 'CA') return [join([city, join([province, postalCode])], ', ')]
  if (countryCode === 'MN') return [join([city, postalCode]), province]
  return [join([postalCode, city]), province]
}

export const addressText = (address: PostalAddress, words: Words): HTMLElement =>
  h(
    'address',
    {},
    [address.name, address.line1, address.line2, ...cityLines(address)]
      .filter((part): part is string => part !== null && part !== '')
      .flatMap((part) => [h('bdi', {}, part), h('br')]),
    words.country(address.countryCode),
  )
