import { t } from 'elysia'
import {
  CountryCode,
  CurrencyCode,
  Email,
  fieldsOf,
  Instant,
  integer,
  MoneySchema,
  maybe,
  nullable,
  oneOf,
  taxClass,
  text,
  Url,
} from '../../../http/schema.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { gramsMax, methodsMax, ratesMax, zoneProvincesMax, zonesMax } from '../shipping/domain.ts'
import { graceSecondsMax, type PublicIdentity, type Shop, shopNamePattern, shopStatuses, type Wallet } from './domain.ts'

export const ShopName = text(63, {
  pattern: shopNamePattern,
  rule: '3 to 63 lower-case letters, digits and hyphens, no hyphen at the ends',
  description: 'The handle: lower-case letters, digits and hyphens, 3 to 63 of them',
})
export const ShopNameParam = t.Object({ shopName: text(63) })

const Contact = t.Object({ email: maybe(Email), phone: maybe(text(40)) })
const Address = t.Object({
  line1: maybe(text(200)),
  line2: maybe(text(200)),
  city: maybe(text(100)),
  province: maybe(text(100)),
  postalCode: maybe(text(20)),
  countryCode: maybe(CountryCode),
})

export const ShopRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'name', 'title', 'description'),
    logoUrl: nullable(t.String()),
    currency: t.String(),
    country: t.String(),
    mode: oneOf(['TEST', 'LIVE']),
    status: oneOf(shopStatuses),
    contact: t.Object({ email: nullable(t.String()), phone: nullable(t.String()) }),
    address: t.Object({
      ...fieldsOf(nullable(t.String()), 'line1', 'line2', 'city', 'province', 'postalCode', 'countryCode'),
    }),
    storefrontOrigins: t.Array(t.String()),
    showQuantity: t.Boolean({ description: 'Whether the public sees how many there are of a variant' }),
    strictProvinces: t.Boolean({ description: 'Whether carts refuse an address with an unknown province' }),
    pages: t.Object(fieldsOf(nullable(t.String()), 'order', 'reset', 'verify', 'invitation'), {
      description: "Where the links of mails lead; null: to a page of souk's own",
    }),
    timeZone: t.String({ description: 'What its people read dates in, by its IANA name; reports count days of UTC all the same' }),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Shop' },
)

export const ChangeShop = t.Object({
  title: t.Optional(text(200, { minLength: 1 })),
  description: t.Optional(text(5_000)),
  currency: t.Optional(CurrencyCode),
  logoUrl: maybe(Url),
  contact: t.Optional(Contact),
  address: t.Optional(Address),
  showQuantity: t.Optional(t.Boolean({ description: 'Public variants show `quantityAvailable`; default false' })),
  strictProvinces: t.Optional(
    t.Boolean({
      description:
        'Carts refuse an address whose country has no such province (400), while the shop has tax rates or shipping zones by province. Otherwise they have the notice `UNKNOWN_PROVINCE`. Default false',
    }),
  ),
  pages: t.Optional(
    t.Object(fieldsOf(maybe(Url), 'order', 'reset', 'verify', 'invitation'), {
      description: 'Where the links of mails lead: https, or http on this machine',
    }),
  ),
  timeZone: t.Optional(text(64, { description: 'An IANA name such as `Asia/Dubai`; default `UTC`' })),
  storefrontOrigins: t.Optional(t.Array(text(300), { maxItems: 50, description: 'Origins such as https://shop.example; none: any' })),
})

export const PublicShop = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'name', 'title', 'description'),
    logoUrl: nullable(t.String()),
    currency: t.String(),
    country: t.String(),
    publishableKey: nullable(t.String()),
    walletAddress: nullable(t.String()),
    verified: t.Boolean({ description: 'Whether KYB is complete' }),
    language: t.String({
      description: 'What its mails and pages speak (`PUT /shops/v2/mail`), for its storefront to speak, too: `en`, `ar`, `mn`',
    }),
  },
  { title: 'PublicShop' },
)

const region = text(100, {
  description:
    'ISO 3166-2 code (`CA`, `US-CA`), English name (`California`) or local name (`東京都`) of a part of the country; none: all of it',
})
const TaxRate = t.Object(
  {
    country: CountryCode,
    region: nullable(region),
    rateBps: integer({ minimum: 0, maximum: 10_000, description: 'Hundredths of a percent' }),
    inclusive: t.Boolean({ description: 'Whether prices hold the tax already' }),
    class: t.Optional(taxClass('Of the variants with this `taxClass` alone; left out: of all that have no rate of their own')),
  },
  { title: 'TaxRate' },
)
export const TaxRates = t.Object({ data: t.Array(TaxRate) })
export const SetTaxRates = t.Object({
  data: t.Array(
    t.Object({ ...TaxRate.properties, region: maybe(region), inclusive: t.Optional(t.Boolean()), class: maybe(TaxRate.properties.class) }),
    {
      maxItems: 500,
    },
  ),
})

const ShippingMethod = t.Object(
  {
    code: text(50, { minLength: 1, pattern: '^[a-z0-9_-]+$', rule: 'lower-case letters, digits, - and _' }),
    title: text(200, { minLength: 1 }),
    countries: t.Optional(t.Array(CountryCode, { description: 'Beside `price`. None: everywhere', maxItems: 249 })),
    price: t.Optional(t.Object(MoneySchema.properties, { description: 'One price wherever it goes; or `zones` and `rates`' })),
    zones: t.Optional(
      t.Array(
        t.Object({
          countries: t.Optional(
            t.Array(CountryCode, { minItems: 1, maxItems: 249, description: 'Left out: every country that no other method names' }),
          ),
          provinces: t.Optional(
            t.Array(text(100), {
              minItems: 1,
              maxItems: zoneProvincesMax,
              description:
                'ISO 3166-2 codes, English names or local names of parts of the country, of which there is one then; left out: all of it',
            }),
          ),
        }),
        { minItems: 1, maxItems: zonesMax, description: 'Where it goes' },
      ),
    ),
    rates: t.Optional(
      t.Array(
        t.Object({
          upToGrams: t.Optional(integer({ minimum: 0, maximum: gramsMax, description: 'Of all that has to be sent, inclusive' })),
          upToAmount: t.Optional(t.Object(MoneySchema.properties, { description: 'Of the subtotal after discounts, inclusive' })),
          amount: t.Object(MoneySchema.properties, { description: 'What it costs' }),
        }),
        {
          minItems: 1,
          maxItems: ratesMax,
          description: 'Bands that rise, all by weight or all by amount; the last may be without a bound. What is beyond it is not offered',
        },
      ),
    ),
    freeOver: t.Optional(
      t.Object(MoneySchema.properties, {
        description: 'From this subtotal after discounts on it costs nothing, whatever bands of amounts say',
      }),
    ),
  },
  { title: 'ShippingMethod' },
)
export const ShippingMethods = t.Object({ data: t.Array(ShippingMethod) })
export const SetShippingMethods = t.Object({
  data: t.Array(t.Object({ ...ShippingMethod.properties, freeOver: maybe(ShippingMethod.properties.freeOver) }), { maxItems: methodsMax }),
})

export const PrivateKey = t.Object({ privateKey: t.String() })
export const RotateKey = t.Object({
  graceSeconds: t.Optional(integer({ minimum: 0, maximum: graceSecondsMax, description: 'How long the old key stays valid; default 0' })),
})
export const RotatedKey = t.Object({ privateKey: t.String(), previousKeyExpiresAt: Instant })
export const WalletRecord = t.Object({ address: t.String(), network: t.Literal('evm'), createdAt: Instant }, { title: 'Wallet' })

export const shopView = (shop: Shop) => ({
  ...shop,
  contact: { email: shop.contact.email ?? null, phone: shop.contact.phone ?? null },
  address: {
    line1: shop.address.line1 ?? null,
    line2: shop.address.line2 ?? null,
    city: shop.address.city ?? null,
    province: shop.address.province ?? null,
    postalCode: shop.address.postalCode ?? null,
    countryCode: shop.address.countryCode ?? null,
  },
  storefrontOrigins: shop.origins,
  pages: {
    order: shop.pages.order ?? null,
    reset: shop.pages.reset ?? null,
    verify: shop.pages.verify ?? null,
    invitation: shop.pages.invitation ?? null,
  },
  ...isoTimes(pick(shop, 'createdAt', 'updatedAt')),
})

/** Separate versions, so that changing one does not conflict with changing the other. */
export const taxRatesView = (shop: Readonly<Shop>) => ({ data: shop.taxRates, version: shop.taxRatesVersion })
export const shippingMethodsView = (shop: Readonly<Shop>) => ({ data: shop.shippingMethods, version: shop.shippingMethodsVersion })

export const walletView = (wallet: Wallet) => ({ address: wallet.address, network: 'evm' as const, ...isoTimes(pick(wallet, 'createdAt')) })

export const publicShopView = (shop: Shop, { publishableKey, walletAddress, language }: PublicIdentity) => ({
  ...pick(shop, 'id', 'name', 'title', 'description', 'logoUrl', 'currency', 'country'),
  publishableKey,
  walletAddress,
  verified: shop.status === 'KYB_VERIFIED',
  language,
})
