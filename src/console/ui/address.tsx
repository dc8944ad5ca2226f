import { type Signal, signal } from '@preact/signals'
import { cityLines } from '../../lib/city-lines.ts'
import type { Schema } from '../lib/api/api.ts'
import { countryOptions } from '../lib/format/locale-lists.ts'
import { countryName } from '../lib/format/names.ts'
import { common } from '../lib/i18n/common.ts'
import { SelectField, TextField } from './fields.tsx'

type Postal = Schema<'PostalAddress'>

/** Shows an address, with the country in the reader's language. */
export const Address = ({ of }: { of: Postal }) => (
  <address>
    {[of.name, of.company, of.line1, of.line2, ...cityLines(of), countryName(of.countryCode), of.phone]
      .filter(Boolean)
      .map((line, place) => (
        <span key={place}>
          <bdi>{line}</bdi>
        </span>
      ))}
  </address>
)

const names = ['name', 'company', 'line1', 'line2', 'city', 'province', 'postalCode', 'countryCode', 'phone'] as const
/** The fields of an address. */
export type AddressForm = { readonly [Name in (typeof names)[number]]: Signal<string> }

/** Returns the texts of an address for a form. */
export const addressTexts = (of: Postal | null): { readonly [Name in (typeof names)[number]]: string } =>
  Object.fromEntries(names.map((name) => [name, of?.[name] ?? ''])) as { [Name in (typeof names)[number]]: string }

export const createAddressForm = (of: Postal | null, countryCode = ''): AddressForm =>
  Object.fromEntries(names.map((name) => [name, signal(of?.[name] ?? (name === 'countryCode' ? countryCode : ''))])) as AddressForm

/** Returns the address of the fields; null if only the country is filled. */
export function addressOf(form: AddressForm): Postal | null {
  const typed = Object.fromEntries(names.map((name) => [name, form[name].value.trim() || null])) as {
    [Name in keyof Postal]: string | null
  }
  if (names.every((name) => name === 'countryCode' || typed[name] === null)) return null
  return { ...typed, name: typed.name ?? '', line1: typed.line1 ?? '', city: typed.city ?? '', countryCode: typed.countryCode ?? '' }
}

/** The fields of an address. The API checks which of them a country needs. */
export function AddressFields({ of, required }: { of: AddressForm; required?: boolean }) {
  const wanted = required ? { required: true } : {}
  return (
    <div class="fields">
      <TextField label={common('address.name')} bind={of.name} max={200} {...wanted} />
      <TextField label={common('address.company')} bind={of.company} max={200} />
      <TextField label={common('address.line1')} bind={of.line1} max={200} {...wanted} />
      <TextField label={common('address.line2')} bind={of.line2} max={200} />
      <TextField label={common('address.postalCode')} bind={of.postalCode} max={20} />
      <TextField label={common('address.city')} bind={of.city} max={100} {...wanted} />
      <TextField label={common('address.province')} bind={of.province} max={100} />
      <SelectField label={common('address.countryCode')} bind={of.countryCode} options={[['', '–'], ...countryOptions()]} />
      <TextField label={common('address.phone')} bind={of.phone} type="tel" max={40} />
    </div>
  )
}
