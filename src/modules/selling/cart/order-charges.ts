import { isSameProvince, type Provinces } from '../../shop/countries/domain.ts'
import { offerOf } from '../../shop/shipping/domain.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { type Cart, shippingTaxRateAt, taxPlaceOf, taxRateAt, totalsOf } from './domain.ts'
import { type CartItem, isTaxed, parcelIn, taxClassOf } from './pricing.ts'

/** What the tax and shipping of a placed order depend on. `shippingMethod`: its code; null without one. */
type OrderContents = Pick<Cart, 'currency' | 'shippingMethod'> & {
  readonly items: readonly (CartItem & { readonly discount: number })[]
  readonly isShippingFree: boolean
}
type Addresses = Pick<Cart, 'shippingAddress' | 'billingAddress'>

/** Amounts in minor units; `shipping` null: the order's method is not offered. */
type Charges = { readonly shipping: number | null; readonly tax: number; readonly taxIncluded: number }

/** Returns what an order would be charged at its addresses, by the shop's present rates and methods. */
export function chargesAt(
  { shop, provinces }: { readonly shop: Shop; readonly provinces: Provinces },
  { currency, shippingMethod, items, isShippingFree }: OrderContents,
  addresses: Addresses,
): Charges {
  const location = taxPlaceOf(addresses, shop.country)
  const lines = items.map((item) => ({
    unitPrice: item.line.unitPrice,
    quantity: item.line.quantity,
    discount: item.discount,
    rate: isTaxed(item) ? taxRateAt(shop.taxRates, location, provinces, taxClassOf(item)) : undefined,
  }))
  const method = shop.shippingMethods.find(({ code }) => code === shippingMethod)
  let shipping: number | null = 0
  const shippingOf = (amount: number) => {
    const query = { ...parcelIn(items), isNeeded: true, currency, amount, to: addresses.shippingAddress ?? undefined }
    const offer = method && offerOf(method, shop.shippingMethods, query, provinces)
    if (shippingMethod !== null) shipping = offer ? (isShippingFree ? 0 : offer.price.amount) : null
    return shipping ?? 0
  }
  const shippingRate = shippingTaxRateAt(shop.taxRates, location, provinces)
  const { tax, taxIncluded } = totalsOf({ lines, shippingOf, shippingRate }, () => []).totals
  return { shipping, tax, taxIncluded }
}

/** Returns whether addresses differ in the country or province that decides on tax or shipping. */
export function hasMoved(provinces: Provinces, shopCountry: string, before: Addresses, after: Addresses): boolean {
  const isSame = (one: Place | null, other: Place | null) =>
    one === other ||
    (one !== null &&
      other !== null &&
      one.countryCode === other.countryCode &&
      (one.province === other.province ||
        (one.province !== null && other.province !== null && isSameProvince(provinces, one.countryCode, one.province, other.province))))
  return !isSame(before.shippingAddress, after.shippingAddress) || !isSame(taxPlaceOf(before, shopCountry), taxPlaceOf(after, shopCountry))
}

type Place = ReturnType<typeof taxPlaceOf>
