import { sql } from 'drizzle-orm'
import { bool, enumText, index, instant, int, json, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import { users } from './people.ts'

/** Contact details that the public sees. */
export type Contact = { email?: string | null; phone?: string | null }
/** The shop's own address. Unlike addresses of orders, every field is optional. */
export type PostalAddress = {
  line1?: string | null
  line2?: string | null
  city?: string | null
  province?: string | null
  postalCode?: string | null
  countryCode?: string | null
}
/**
 * `rateBps`: at most two decimals. `shipping`: also applies to shipping; false if missing. `class`: tax class of
 * variants; without it, all variants without their own rate.
 */
export type TaxRate = { country: string; region: string | null; rateBps: number; inclusive: boolean; shipping?: boolean; class?: string }
type Price = { amount: number; currency: string }
/** A method with one price for some countries. */
export type FlatMethod = {
  code: string
  title: string
  /** Empty: everywhere. */
  countries: string[]
  price: Price
}
/** Without countries: every country that no other method names. Provinces need exactly one country. */
export type ShippingZone = { countries?: string[]; provinces?: string[] }
/** A price band up to its bounds; without one it is unlimited. */
export type ShippingRate = { upToGrams?: number; upToAmount?: Price; amount: Price }
/** A method with prices by weight or amount, equal in all zones. */
export type ZonedMethod = { code: string; title: string; zones: ShippingZone[]; rates: ShippingRate[]; freeOver?: Price }
/** A method in the form that was sent. */
export type ShippingMethod = FlatMethod | ZonedMethod
/** URLs of the shop's pages for links in mails; souk's own pages by default. */
export type ShopPages = {
  order?: string | null
  reset?: string | null
  verify?: string | null
  invitation?: string | null
  product?: string | null
  cart?: string | null
  checkout?: string | null
}

export const shops = table(
  'shops',
  {
    id: text('id').primaryKey(),
    merchantId: reference('merchant_id', () => users.id),
    /** Lower-case handle, unique in the instance, without dots. */
    name: text('name').notNull(),
    title: text('title').notNull(),
    description: text('description').notNull(),
    logoUrl: text('logo_url'),
    currency: text('currency').notNull(),
    country: text('country').notNull(),
    mode: enumText('mode', ['TEST', 'LIVE']).notNull(),
    status: enumText('status', ['ACTIVE', 'KYB_VERIFIED', 'SUSPENDED']).notNull(),
    contact: json<Contact>('contact').notNull(),
    address: json<PostalAddress>('address').notNull(),
    /** Origins that may use the publishable key; empty: any. */
    origins: json<string[]>('origins').notNull(),
    taxRates: json<TaxRate[]>('tax_rates').notNull(),
    shippingMethods: json<ShippingMethod[]>('shipping_methods').notNull(),
    /** Whether the public sees stock quantities. */
    showQuantity: bool('show_quantity').notNull().default(false),
    /** Whether cart addresses with an unknown province are refused. */
    strictProvinces: bool('strict_provinces').notNull().default(false),
    /** Days after a fulfilment in which shoppers can request returns; 0: they cannot. */
    returnDays: int('return_days').notNull().default(30),
    pages: json<ShopPages>('pages').notNull().default(sql`'{}'`),
    /** IANA time zone for display. Days of reports and of the API are UTC. */
    timeZone: text('time_zone').notNull().default('UTC'),
    /** For invoices; `address` is on them too. */
    legalName: text('legal_name'),
    taxNumber: text('tax_number'),
    invoiceNote: text('invoice_note'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** First time of KYB_VERIFIED. */
    verifiedAt: instant('verified_at'),
    /** Versions of the parts. `ETag` and `If-Match` use them. */
    version: int('version').notNull().default(1),
    taxRatesVersion: int('tax_rates_version').notNull().default(1),
    shippingMethodsVersion: int('shipping_methods_version').notNull().default(1),
  },
  (shop) => [
    uniqueIndex('shops_name').on(shop.name),
    index('shops_merchant').on(shop.merchantId, shop.id),
    index('shops_status').on(shop.status, shop.id),
    index('shops_verified').on(shop.verifiedAt).where(sql`verified_at is not null`),
  ],
)

/** Publishable and secret keys of shops. */
export const apiKeys = table(
  'api_keys',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    kind: enumText('kind', ['PUBLISHABLE', 'SECRET']).notNull(),
    mode: enumText('mode', ['TEST', 'LIVE']).notNull(),
    /** First characters, to recognise keys. */
    prefix: text('prefix').notNull(),
    /** SHA-256 of the key, for lookups. */
    hash: text('hash').notNull(),
    scopes: json<('storefront' | 'server')[]>('scopes').notNull(),
    /** A sealed secret key, which the shop can read. */
    sealed: text('sealed'),
    /** A publishable key in plain text. */
    publicValue: text('public_value'),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at'),
    /** Set by a rotation: the end of the key's validity. */
    expiresAt: instant('expires_at'),
  },
  (key) => [uniqueIndex('api_keys_hash').on(key.hash), index('api_keys_shop').on(key.shopId, key.kind, key.createdAt)],
)

/** The EVM wallet of a shop, with its sealed private key. */
export const wallets = table('wallets', {
  shopId: reference('shop_id', () => shops.id).primaryKey(),
  address: text('address').notNull(),
  sealedKey: text('sealed_key').notNull(),
  createdAt: instant('created_at').notNull(),
})

/** Storefront host names. A host counts once its owner has proved it by DNS. */
export const shopHosts = table(
  'shop_hosts',
  {
    shopId: reference('shop_id', () => shops.id),
    /** Normalized: ASCII, lower case. */
    host: text('host').notNull(),
    /** Value of the TXT record; it cannot be guessed. */
    proof: text('proof').notNull(),
    createdAt: instant('created_at').notNull(),
    verifiedAt: instant('verified_at'),
    /** Last DNS check of a verified host. */
    checkedAt: instant('checked_at'),
    /** Since when the proof is missing. */
    missingSince: instant('missing_since'),
    version: int('version').notNull(),
  },
  (host) => [
    primaryKey({ columns: [host.shopId, host.host] }),
    uniqueIndex('shop_hosts_verified').on(host.host).where(sql`verified_at is not null`),
    index('shop_hosts_checked').on(host.checkedAt).where(sql`verified_at is not null`),
  ],
)
