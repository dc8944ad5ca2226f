/** Parses the forms of a pay page. Anyone can send them. */
import { isMailAddress } from '../../../lib/mail-address.ts'
import type { AddressFields } from '../../customers/customer/domain.ts'

/** Fields of an address in the order of the form: the longest value, and whether it is required. */
export const addressFields = {
  name: { most: 200, isNeeded: true },
  company: { most: 200, isNeeded: false },
  line1: { most: 200, isNeeded: true },
  line2: { most: 200, isNeeded: false },
  postalCode: { most: 20, isNeeded: false },
  city: { most: 100, isNeeded: true },
  province: { most: 100, isNeeded: false },
  countryCode: { most: 2, isNeeded: true },
  phone: { most: 40, isNeeded: false },
} as const
type AddressName = keyof typeof addressFields
export const addressNames = Object.keys(addressFields) as AddressName[]
export const emailMax = 254

export type Fields = ReadonlyMap<string, string>

const utf8 = new TextDecoder()

/** Returns the fields of a body; undefined if it contains a NUL. */
export function fieldsIn(body: Uint8Array): Fields | undefined {
  const fields = new Map(new URLSearchParams(utf8.decode(body)))
  return [...fields.values()].some((value) => value.includes('\0')) ? undefined : fields
}

const valueIn = (fields: Fields, name: string): string => fields.get(name)?.trim() ?? ''

/**
 * Returns the details of the person in a form; an empty field is left out.
 * @returns 'refused' for invalid values
 */
export function detailsIn(fields: Fields): { email?: string; shippingAddress?: AddressFields; shippingMethod?: string } | 'refused' {
  const email = valueIn(fields, 'email')
  if (email !== '' && !isMailAddress(email)) return 'refused'
  const address = addressIn(fields)
  if (address === 'refused') return 'refused'
  const method = valueIn(fields, 'shippingMethod')
  return {
    ...(email === '' ? {} : { email }),
    ...(address ? { shippingAddress: address } : {}),
    ...(method === '' ? {} : { shippingMethod: method }),
  }
}

/** An address with only a country is empty: the list preselects one. */
function addressIn(fields: Fields): AddressFields | 'refused' | undefined {
  const filled = addressNames.filter((name) => name !== 'countryCode' && valueIn(fields, name) !== '')
  if (filled.length === 0) return undefined
  const values = Object.fromEntries(addressNames.map((name) => [name, valueIn(fields, name)])) as Record<AddressName, string>
  const isWrong = addressNames.some((name) => {
    const { most, isNeeded } = addressFields[name]
    return values[name].length > most || (isNeeded && values[name] === '')
  })
  return isWrong || !/^[A-Z]{2}$/.test(values.countryCode) ? 'refused' : values
}

/** Returns the cart version and amount that the page showed; undefined if the form lacks them. */
export function shownIn(fields: Fields): { updatedAt: number; amountDue: number } | undefined {
  const [updatedAt, amountDue] = [fields.get('seen'), fields.get('due')].map((text) =>
    /^\d{1,16}$/.test(text ?? '') ? Number(text) : undefined,
  )
  return updatedAt === undefined || amountDue === undefined ? undefined : { updatedAt, amountDue }
}
