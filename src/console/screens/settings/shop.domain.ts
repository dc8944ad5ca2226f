/** The form of a shop's own settings: what stands in its fields, and what of it changes. */
import type { Schema } from '../../lib/api/api.ts'

type Shop = Schema<'Shop'>

/** What is typed, field by field. */
export type ShopTexts = {
  title: string
  description: string
  logoUrl: string
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
  order: string
  reset: string
  verify: string
  invitation: string
}

const contactFields = ['email', 'phone'] as const
const addressFields = ['line1', 'line2', 'city', 'province', 'postalCode', 'countryCode'] as const
export const pageFields = ['order', 'reset', 'verify', 'invitation'] as const

const texts = <Name extends string>(names: readonly Name[], of: Readonly<Record<Name, string | null>>) =>
  Object.fromEntries(names.map((name) => [name, of[name] ?? ''])) as Record<Name, string>

/** A shop as its fields show it: what there is none of is empty. */
export const textsOfShop = (shop: Shop): ShopTexts => ({
  title: shop.title,
  description: shop.description,
  logoUrl: shop.logoUrl ?? '',
  currency: shop.currency,
  timeZone: shop.timeZone,
  storefrontOrigins: shop.storefrontOrigins,
  showQuantity: shop.showQuantity,
  strictProvinces: shop.strictProvinces,
  ...texts(contactFields, shop.contact),
  ...texts(addressFields, shop.address),
  ...texts(pageFields, shop.pages),
})

/** The fields in which two differ. */
export const changedFields = (from: ShopTexts, to: ShopTexts): (keyof ShopTexts)[] =>
  (Object.keys(to) as (keyof ShopTexts)[]).filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))

/**
 * The body of `PATCH /shops/v2`: only what was changed, so that what somebody else changed elsewhere stays.
 * @returns undefined where nothing was
 */
export function shopChange(from: ShopTexts, to: ShopTexts): Record<string, unknown> | undefined {
  const changed = new Set(changedFields(from, to))
  if (changed.size === 0) return undefined
  const plain = (['title', 'description', 'currency', 'timeZone', 'storefrontOrigins', 'showQuantity', 'strictProvinces'] as const).filter(
    (name) => changed.has(name),
  )
  const part = (names: readonly (keyof ShopTexts)[]) => names.filter((name) => changed.has(name)).map((name) => [name, given(to[name])])
  const parts = (
    [
      ['contact', part(contactFields)],
      ['address', part(addressFields)],
      ['pages', part(pageFields)],
    ] as const
  ).filter(([, entries]) => entries.length > 0)
  return {
    ...Object.fromEntries(plain.map((name) => [name, typeof to[name] === 'string' ? to[name].trim() : to[name]])),
    ...(changed.has('logoUrl') ? { logoUrl: given(to.logoUrl) } : {}),
    ...Object.fromEntries(parts.map(([name, entries]) => [name, Object.fromEntries(entries)])),
  }
}

/** What is empty is none. */
const given = (text: ShopTexts[keyof ShopTexts]): string | null => String(text).trim() || null
