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
  notBlank,
  nullable,
  oneOf,
  publicName,
  TaxRateBps,
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
  description: 'Handle: 3 to 63 lower-case letters, digits and hyphens',
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
    showQuantity: t.Boolean({ description: 'Whether the public sees the stock of variants' }),
    strictProvinces: t.Boolean({ description: 'Whether carts reject an address with an unknown province' }),
    returnDays: integer({ description: 'Days after a fulfilment in which shoppers can request returns. 0: they cannot' }),
    pages: t.Object(fieldsOf(nullable(t.String()), 'order', 'reset', 'verify', 'invitation', 'product', 'cart', 'checkout'), {
      description:
        "Pages to which e-mails link, with `?token=`. Null: souk's own pages. `cart` sends the token to `POST /cart/restore`, and `checkout`, which agents open, to `POST /cart/handoff`. The console opens `product` with `?handle=`",
    }),
    timeZone: t.String({
      description:
        "IANA time zone of the shop's days: in the overview, in `from` and `to` of lists and their CSV, in mails and in the console",
    }),
    ...fieldsOf(nullable(t.String()), 'legalName', 'taxNumber', 'invoiceNote'),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Shop' },
)

/** The fields of a new shop. */
export const OpenShop = t.Object({
  shopName: ShopName,
  title: text(200, notBlank),
  country: CountryCode,
  currency: CurrencyCode,
  timeZone: t.Optional(text(64, { description: 'IANA time zone such as `Asia/Dubai`. Default: `UTC`' })),
})

/** Converts the fields of a request, in which the shop's handle is `shopName`. */
export const newShopOf = ({ shopName: name, ...rest }: typeof OpenShop.static) => ({ name, ...rest })

export const ChangeShop = t.Object({
  title: t.Optional(text(200, { minLength: 1 })),
  description: t.Optional(text(5_000)),
  currency: t.Optional(CurrencyCode),
  logoUrl: maybe(Url),
  contact: t.Optional(Contact),
  address: t.Optional(Address),
  showQuantity: t.Optional(t.Boolean({ description: 'Whether public variants have `quantityAvailable`. Default: false' })),
  strictProvinces: t.Optional(
    t.Boolean({
      description:
        'Whether carts reject (400) an address whose province is unknown, if the shop has tax rates or shipping zones by province. Otherwise such carts have the notice `UNKNOWN_PROVINCE`. Default: false',
    }),
  ),
  returnDays: t.Optional(
    integer({
      minimum: 0,
      maximum: 365,
      description: 'Days after a fulfilment in which shoppers can request returns. 0: only the shop can. Default: 30',
    }),
  ),
  pages: t.Optional(
    t.Object(fieldsOf(maybe(Url), 'order', 'reset', 'verify', 'invitation', 'product', 'cart', 'checkout'), {
      description: 'Pages to which e-mails, agents and the console link: https, or http on this machine',
    }),
  ),
  timeZone: t.Optional(text(64, { description: 'IANA time zone such as `Asia/Dubai`. Default: `UTC`' })),
  legalName: maybe(text(200, { ...publicName, description: 'Name of the business on invoices. Null: `title`' })),
  taxNumber: maybe(text(50, { ...publicName, description: 'Tax or VAT number on invoices' })),
  invoiceNote: maybe(text(2_000, { description: 'Text at the end of invoices and credit notes. Lines are kept' })),
  storefrontOrigins: t.Optional(
    t.Array(text(300), { maxItems: 50, description: 'Origins such as https://shop.example. Empty: any origin' }),
  ),
})

export const PublicShop = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'name', 'title', 'description'),
    logoUrl: nullable(t.String()),
    currency: t.String(),
    country: t.String(),
    publishableKey: nullable(t.String()),
    walletAddress: nullable(t.String()),
    verified: t.Boolean({ description: "Whether the merchant's KYB record is approved" }),
    language: t.String({
      description: "Language of the shop's e-mails and pages (`PUT /shops/v2/mail`), for use by its storefront: `en`, `ar` or `mn`",
    }),
  },
  { title: 'PublicShop' },
)

const region = text(100, {
  description:
    'Province or state: ISO 3166-2 code (`CA`, `US-CA`), English name (`California`) or local name (`東京都`). Default: the whole country',
})
const TaxRate = t.Object(
  {
    country: CountryCode,
    region: nullable(region),
    rateBps: TaxRateBps,
    inclusive: t.Boolean({ description: 'Whether prices include the tax' }),
    shipping: t.Boolean({ description: 'Whether the rate also applies to shipping' }),
    class: t.Optional(taxClass('Applies to variants with this `taxClass`. Default: variants without a rate of their own')),
  },
  { title: 'TaxRate' },
)
export const TaxRates = t.Object({ data: t.Array(TaxRate) })
export const SetTaxRates = t.Object({
  data: t.Array(
    t.Object({
      ...TaxRate.properties,
      region: maybe(region),
      inclusive: t.Optional(t.Boolean()),
      shipping: t.Optional(t.Boolean()),
      class: maybe(TaxRate.properties.class),
    }),
    {
      maxItems: 500,
    },
  ),
})

const ShippingMethod = t.Object(
  {
    code: text(50, { minLength: 1, pattern: '^[a-z0-9_-]+$', rule: 'lower-case letters, digits, - and _' }),
    title: text(200, { minLength: 1 }),
    countries: t.Optional(t.Array(CountryCode, { description: 'For use with `price`. Empty: every country', maxItems: 249 })),
    price: t.Optional(t.Object(MoneySchema.properties, { description: 'One price for all destinations. Or use `zones` and `rates`' })),
    zones: t.Optional(
      t.Array(
        t.Object({
          countries: t.Optional(
            t.Array(CountryCode, { minItems: 1, maxItems: 249, description: 'Default: every country that no other method covers' }),
          ),
          provinces: t.Optional(
            t.Array(text(100), {
              minItems: 1,
              maxItems: zoneProvincesMax,
              description:
                'ISO 3166-2 codes, English names or local names, in which case there must be one country. Default: the whole country',
            }),
          ),
        }),
        { minItems: 1, maxItems: zonesMax, description: 'Destinations' },
      ),
    ),
    rates: t.Optional(
      t.Array(
        t.Object({
          upToGrams: t.Optional(integer({ minimum: 0, maximum: gramsMax, description: 'Total weight of the shipped lines, inclusive' })),
          upToAmount: t.Optional(t.Object(MoneySchema.properties, { description: 'Subtotal after discounts, inclusive' })),
          amount: t.Object(MoneySchema.properties, { description: 'Shipping price' }),
        }),
        {
          minItems: 1,
          maxItems: ratesMax,
          description:
            'Ascending ranges, all by weight or all by amount. The last may have no upper limit. Above it, the method is not offered',
        },
      ),
    ),
    freeOver: t.Optional(
      t.Object(MoneySchema.properties, {
        description: 'Shipping is free from this subtotal after discounts',
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
  graceSeconds: t.Optional(
    integer({ minimum: 0, maximum: graceSecondsMax, description: 'How long the previous key stays valid. Default: 0' }),
  ),
})
export const RotatedKey = t.Object({ privateKey: t.String(), previousKeyExpiresAt: Instant })
export const WalletRecord = t.Object({ address: t.String(), network: t.Literal('evm'), createdAt: Instant }, { title: 'Wallet' })

/** Renders a shop for its staff. Fields of contact, address and pages are null if they are not set. */
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
    product: shop.pages.product ?? null,
    cart: shop.pages.cart ?? null,
    checkout: shop.pages.checkout ?? null,
  },
  ...isoTimes(pick(shop, 'createdAt', 'updatedAt')),
})

/** Renders the tax rates with a version of their own, so that changing them does not conflict with other changes. */
export const taxRatesView = (shop: Readonly<Shop>) => ({
  data: shop.taxRates.map((rate) => ({ ...rate, shipping: rate.shipping ?? false })),
  version: shop.taxRatesVersion,
})
/** Renders the methods as they were sent, with a version of their own. */
export const shippingMethodsView = (shop: Readonly<Shop>) => ({ data: shop.shippingMethods, version: shop.shippingMethodsVersion })

/** Renders a wallet without its key. */
export const walletView = (wallet: Wallet) => ({ address: wallet.address, network: 'evm' as const, ...isoTimes(pick(wallet, 'createdAt')) })

/** Renders what storefronts and shoppers see. `verified`: the merchant's business is approved. */
export const publicShopView = (shop: Shop, { publishableKey, walletAddress, language }: PublicIdentity) => ({
  ...pick(shop, 'id', 'name', 'title', 'description', 'logoUrl', 'currency', 'country'),
  publishableKey,
  walletAddress,
  verified: shop.status === 'KYB_VERIFIED',
  language,
})
