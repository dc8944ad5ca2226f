import { type Signal, signal } from '@preact/signals'
import { cityLines } from '../../lib/city-lines.ts'
import type { Schema } from '../lib/api/api.ts'
import { countryOptions } from '../lib/format/locale-lists.ts'
import { countryName } from '../lib/format/names.ts'
import { common } from '../lib/i18n/common.ts'
import { SelectField, TextField } from './fields.tsx'

type Postal = Schema<'PostalAddress'>

/** Shows an address, with the country in the reader's language. */
export const Address = ({ address }: { address: Postal }) => (
  <address>
    {[address.name, address.company, address.line1, address.line2, ...cityLines(address), countryName(address.countryCode), address.phone]
      .filter(Boolean)
      .map((line, index) => (
        <span key={index}>
          <bdi>{line}</bdi>
        </span>
      ))}
  </address>
)

/** Returns an address in one line, for conflicts. */
export const addressLine = (address: Postal | null): string => (address ? Object.values(address).filter(Boolean).join(', ') : '–')

const names = ['name', 'company', 'line1', 'line2', 'city', 'province', 'postalCode', 'countryCode', 'phone'] as const
/** The fields of an address. */
export type AddressForm = { readonly [Name in (typeof names)[number]]: Signal<string> }

/** Returns the texts of an address for a form. */
export const addressTexts = (address: Postal | null): { readonly [Name in (typeof names)[number]]: string } =>
  Object.fromEntries(names.map((name) => [name, address?.[name] ?? ''])) as { [Name in (typeof names)[number]]: string }

/**
 * Creates the fields of an address.
 * @param countryCode of an address without one
 */
export const createAddressForm = (address: Postal | null, countryCode = ''): AddressForm =>
  Object.fromEntries(names.map((name) => [name, signal(address?.[name] ?? (name === 'countryCode' ? countryCode : ''))])) as AddressForm

/** Returns the address of the fields; null if only the country is filled. */
export function addressOf(form: AddressForm): Postal | null {
  const input = Object.fromEntries(names.map((name) => [name, form[name].value.trim() || null])) as {
    [Name in keyof Postal]: string | null
  }
  if (names.every((name) => name === 'countryCode' || input[name] === null)) return null
  return { ...input, name: input.name ?? '', line1: input.line1 ?? '', city: input.city ?? '', countryCode: input.countryCode ?? '' }
}

/** The fields of an address. The API checks which of them a country needs. */
export function AddressFields({ form, required }: { form: AddressForm; required?: boolean }) {
  const requiredProps = required ? { required: true } : {}
  return (
    <div class="fields">
      <TextField label={common('address.name')} bind={form.name} max={200} {...requiredProps} />
      <TextField label={common('address.company')} bind={form.company} max={200} />
      <TextField label={common('address.line1')} bind={form.line1} max={200} {...requiredProps} />
      <TextField label={common('address.line2')} bind={form.line2} max={200} />
      <TextField label={common('address.postalCode')} bind={form.postalCode} max={20} />
      <TextField label={common('address.city')} bind={form.city} max={100} {...requiredProps} />
      <TextField label={common('address.province')} bind={form.province} max={100} />
      <SelectField label={common('address.countryCode')} bind={form.countryCode} options={[['', '–'], ...countryOptions()]} />
      <TextField label={common('address.phone')} bind={form.phone} type="tel" max={40} />
    </div>
  )
}
