import { sql } from 'drizzle-orm'
import { bool, index, instant, int, json, primaryKey, table, text, uniqueIndex, word } from '../columns.ts'
import { users } from './people.ts'

export type Contact = { email?: string | null; phone?: string | null }
export type PostalAddress = {
  line1?: string | null
  line2?: string | null
  city?: string | null
  province?: string | null
  postalCode?: string | null
  countryCode?: string | null
}
/** `class`: of the variants of that tax class alone; left out, of all that have no rate of their own. */
export type TaxRate = { country: string; region: string | null; rateBps: number; inclusive: boolean; class?: string }
type Price = { amount: number; currency: string }
/** One price to some countries. */
export type FlatMethod = {
  code: string
  title: string
  /** Empty: everywhere. */
  countries: string[]
  price: Price
}
/** Without countries: every country that no other method names. Provinces stand beside one country only. */
export type ShippingZone = { countries?: string[]; provinces?: string[] }
/** A band that ends with its bound; without one it has no end. */
export type ShippingRate = { upToGrams?: number; upToAmount?: Price; amount: Price }
/** Prices by weight or by amount, the same in all of its zones. */
export type ZonedMethod = { code: string; title: string; zones: ShippingZone[]; rates: ShippingRate[]; freeOver?: Price }
/** In the form in which it was put. */
export type ShippingMethod = FlatMethod | ZonedMethod
/** Where the links of mails lead, by what they are for; what is left out leads to pages of our own. */
export type ShopPages = { order?: string | null; reset?: string | null; verify?: string | null; invitation?: string | null }

export const shops = table(
  'shops',
  {
    id: text('id').primaryKey(),
    merchantId: text('merchant_id')
      .notNull()
      .references(() => users.id),
    /** The lower-case handle, unique in the instance; never contains a dot. */
    name: text('name').notNull(),
    title: text('title').notNull(),
    description: text('description').notNull(),
    logoUrl: text('logo_url'),
    currency: text('currency').notNull(),
    country: text('country').notNull(),
    mode: word('mode', ['TEST', 'LIVE']).notNull(),
    status: word('status', ['ACTIVE', 'KYB_VERIFIED', 'SUSPENDED']).notNull(),
    contact: json<Contact>('contact').notNull(),
    address: json<PostalAddress>('address').notNull(),
    /** Origins of the storefronts that may use the publishable key; empty: any. */
    origins: json<string[]>('origins').notNull(),
    taxRates: json<TaxRate[]>('tax_rates').notNull(),
    shippingMethods: json<ShippingMethod[]>('shipping_methods').notNull(),
    /** Whether the public sees how many there are of a variant. */
    showQuantity: bool('show_quantity').notNull().default(false),
    /** Whether an address of a cart with an unknown province is refused. */
    strictProvinces: bool('strict_provinces').notNull().default(false),
    pages: json<ShopPages>('pages').notNull().default(sql`'{}'`),
    /** By an IANA name: what its people read dates in. Days of reports and of the API are of UTC all the same. */
    timeZone: text('time_zone').notNull().default('UTC'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** When it was KYB_VERIFIED for the first time. */
    verifiedAt: instant('verified_at'),
    /** Each raised by whoever changes that part by hand: what `ETag` and `If-Match` go by. */
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

export const apiKeys = table(
  'api_keys',
  {
    id: text('id').primaryKey(),
    shopId: text('shop_id')
      .notNull()
      .references(() => shops.id),
    kind: word('kind', ['PUBLISHABLE', 'SECRET']).notNull(),
    mode: word('mode', ['TEST', 'LIVE']).notNull(),
    /** The first characters, to tell keys apart by eye. */
    prefix: text('prefix').notNull(),
    /** SHA-256 of the whole key, for look-up. */
    hash: text('hash').notNull(),
    scopes: json<('storefront' | 'server')[]>('scopes').notNull(),
    /** A secret key, sealed: the shop may read it back. */
    sealed: text('sealed'),
    /** A publishable key, as every storefront shows it. */
    publicValue: text('public_value'),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at'),
    /** Set by a rotation: the key works until then. */
    expiresAt: instant('expires_at'),
  },
  (key) => [uniqueIndex('api_keys_hash').on(key.hash), index('api_keys_shop').on(key.shopId, key.kind, key.createdAt)],
)

export const wallets = table('wallets', {
  shopId: text('shop_id')
    .primaryKey()
    .references(() => shops.id),
  address: text('address').notNull(),
  sealedKey: text('sealed_key').notNull(),
  createdAt: instant('created_at').notNull(),
})

/** Host names of storefronts. One counts once its owner has shown in the DNS that it is the shop's. */
export const shopHosts = table(
  'shop_hosts',
  {
    shopId: text('shop_id')
      .notNull()
      .references(() => shops.id),
    /** In its one spelling: ASCII, lower case. */
    host: text('host').notNull(),
    /** What the TXT record must say, guessed by nobody. */
    proof: text('proof').notNull(),
    createdAt: instant('created_at').notNull(),
    verifiedAt: instant('verified_at'),
    /** When the DNS was asked last, of one that is verified. */
    checkedAt: instant('checked_at'),
    /** Since when it has said that the proof is not there any more. */
    missingSince: instant('missing_since'),
    version: int('version').notNull(),
  },
  (host) => [
    primaryKey({ columns: [host.shopId, host.host] }),
    uniqueIndex('shop_hosts_verified').on(host.host).where(sql`verified_at is not null`),
    index('shop_hosts_checked').on(host.checkedAt).where(sql`verified_at is not null`),
  ],
)
