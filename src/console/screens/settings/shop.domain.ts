/** The form values of shop settings and their body. */
import type { Schema } from '../../lib/api/api.ts'

type Shop = Schema<'Shop'>

/** The form's values. */
export type ShopTexts = {
  title: string
  description: string
  logoUrl: string
  legalName: string
  taxNumber: string
  invoiceNote: string
  currency: string
  timeZone: string
  email: string
  phone: string
  line1: string
  line2: string
  city: string
  province: string
  postalCode: string
  countryCode: string
  storefrontOrigins: readonly string[]
  showQuantity: boolean
  strictProvinces: boolean
  returnDays: string
  order: string
  reset: string
  verify: string
  invitation: string
  product: string
  cart: string
  checkout: string
}

const ownTextFields = ['logoUrl', 'legalName', 'taxNumber', 'invoiceNote'] as const
const contactFields = ['email', 'phone'] as const
const addressFields = ['line1', 'line2', 'city', 'province', 'postalCode', 'countryCode'] as const
export const pageFields = ['order', 'reset', 'verify', 'invitation', 'product', 'cart', 'checkout'] as const

const pickTexts = <Name extends string>(names: readonly Name[], record: Readonly<Record<Name, string | null>>) =>
  Object.fromEntries(names.map((name) => [name, record[name] ?? ''])) as Record<Name, string>

/** Returns the form's values of a shop. Missing texts are empty. */
export const textsOfShop = (shop: Shop): ShopTexts => ({
  title: shop.title,
  description: shop.description,
  currency: shop.currency,
  timeZone: shop.timeZone,
  storefrontOrigins: shop.storefrontOrigins,
  showQuantity: shop.showQuantity,
  strictProvinces: shop.strictProvinces,
  returnDays: String(shop.returnDays),
  ...pickTexts(ownTextFields, shop),
  ...pickTexts(contactFields, shop.contact),
  ...pickTexts(addressFields, shop.address),
  ...pickTexts(pageFields, shop.pages),
})

/** Returns the fields that differ. */
export const changedFields = (from: ShopTexts, to: ShopTexts): (keyof ShopTexts)[] =>
  (Object.keys(to) as (keyof ShopTexts)[]).filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))

/**
 * Builds the body of `PATCH /shops/v2` with the changed fields.
 * @returns undefined without changes
 */
export function shopChange(from: ShopTexts, to: ShopTexts): Record<string, unknown> | undefined {
  const changed = new Set(changedFields(from, to))
  if (changed.size === 0) return undefined
  const plainFields = (
    ['title', 'description', 'currency', 'timeZone', 'storefrontOrigins', 'showQuantity', 'strictProvinces'] as const
  ).filter((name) => changed.has(name))
  const changedTexts = (names: readonly (keyof ShopTexts)[]) =>
    names.filter((name) => changed.has(name)).map((name) => [name, textOrNull(to[name])])
  const nestedFields = (
    [
      ['contact', changedTexts(contactFields)],
      ['address', changedTexts(addressFields)],
      ['pages', changedTexts(pageFields)],
    ] as const
  ).filter(([, entries]) => entries.length > 0)
  return {
    ...Object.fromEntries(plainFields.map((name) => [name, typeof to[name] === 'string' ? to[name].trim() : to[name]])),
    ...(changed.has('returnDays') ? { returnDays: Number(to.returnDays) } : {}),
    ...Object.fromEntries(changedTexts(ownTextFields)),
    ...Object.fromEntries(nestedFields.map(([name, entries]) => [name, Object.fromEntries(entries)])),
  }
}

/** Returns null for an empty text. */
const textOrNull = (text: ShopTexts[keyof ShopTexts]): string | null => String(text).trim() || null
