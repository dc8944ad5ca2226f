/** Selects and prices a shop's shipping methods. Pure, so the browser shows what the server responds. */
import type { Money } from './money.ts'
import { isSameProvince, noProvinces, type Provinces } from './provinces.ts'

/** Without countries: every country that no other method names. Provinces need exactly one country. */
type Zone = { countries?: string[] | undefined; provinces?: string[] | undefined }
/** A price band up to its bounds; without one it is unlimited. */
type Rate = { upToGrams?: number | undefined; upToAmount?: Money | undefined; amount: Money }
type Flat = { code: string; title: string; countries: string[]; price: Money }
type Zoned = { code: string; title: string; zones: Zone[]; rates: Rate[]; freeOver?: Money | undefined }
/** A method: one price for some countries, or prices by weight or amount in zones. */
type ShippingMethodRule = Flat | Zoned

/** The destination of a delivery. */
export type Destination = { countryCode: string; province: string | null }
/** What a cart ships. `isNeeded` is true for an empty cart too, because goods can still be added. */
export type ParcelContents = { isNeeded: boolean; grams: number }
/** The inputs of the selection. `amount`: subtotal after discounts, minor units. */
export type ShippingQuery = ParcelContents & { currency: string; amount: number; to: Destination | undefined }
/** A method with its price for this cart. */
export type ShippingOffer = { code: string; title: string; price: Money }

/** Returns whether a method has one price instead of zones and rates. */
export const isFlat = (method: ShippingMethodRule): method is Flat => 'price' in method

/** The zones of a method. A flat method has its countries, or everywhere. */
type MethodZones = { everywhere: true } | { everywhere?: never; zones: readonly Zone[] }
/** Returns where a method ships to. A flat method without countries ships everywhere. */
export function zonesOf(method: ShippingMethodRule): MethodZones {
  if (!isFlat(method)) return { zones: method.zones }
  return method.countries.length === 0 ? { everywhere: true } : { zones: [{ countries: method.countries }] }
}

/** Returns whether a method lists a country. Then methods without countries do not ship there. */
export const namesCountry = (method: ShippingMethodRule, country: string): boolean => {
  const reach = zonesOf(method)
  return !reach.everywhere && reach.zones.some(({ countries }) => countries?.includes(country))
}

/** Returns whether a zone covers the countries that no other method names. */
export const isRestOfWorld = ({ countries }: Zone): boolean => countries === undefined

/**
 * Returns whether a method ships to a destination.
 * @param methods all methods of the shop
 * @param provinces without it, provinces match by spelling only
 */
export function shipsTo(
  method: ShippingMethodRule,
  methods: readonly ShippingMethodRule[],
  { countryCode, province }: Destination,
  provinces: Provinces = noProvinces,
): boolean {
  const reach = zonesOf(method)
  if (reach.everywhere) return true
  return reach.zones.some((zone) => {
    if (isRestOfWorld(zone)) return !methods.some((other) => other !== method && namesCountry(other, countryCode))
    if (!zone.countries?.includes(countryCode)) return false
    return (
      zone.provinces === undefined ||
      (province !== null && zone.provinces.some((one) => isSameProvince(provinces, countryCode, one, province)))
    )
  })
}

/**
 * Returns the price of the first band that fits, bounds included; 0 from `freeOver` on.
 * @param amount subtotal after discounts, minor units
 * @returns undefined above the last band: too heavy, even if it would be free
 */
export function chargeOf(method: ShippingMethodRule, { grams, amount }: { grams: number; amount: number }): Money | undefined {
  if (isFlat(method)) return method.price
  const { rates, freeOver } = method
  const isFree = freeOver !== undefined && amount >= freeOver.amount
  const band = rates.find(
    ({ upToGrams = Number.POSITIVE_INFINITY, upToAmount }) =>
      grams <= upToGrams && (isFree || upToAmount === undefined || amount <= upToAmount.amount),
  )
  return band && isFree ? { ...band.amount, amount: 0 } : band?.amount
}

const currencyOf = (method: ShippingMethodRule): string | undefined => (isFlat(method) ? method.price : method.rates[0]?.amount)?.currency

/**
 * Returns the offer of a method; undefined if it is not offered. Without a destination, all destinations are possible.
 * A cart that ships nothing has no offers.
 */
export function offerOf(
  method: ShippingMethodRule,
  methods: readonly ShippingMethodRule[],
  { isNeeded, grams, currency, amount, to }: ShippingQuery,
  provinces: Provinces,
): ShippingOffer | undefined {
  if (!isNeeded || currencyOf(method) !== currency || (to && !shipsTo(method, methods, to, provinces))) return undefined
  const price = chargeOf(method, { grams, amount })
  return price && { code: method.code, title: method.title, price }
}

/** Returns the offers of a shop's methods, in their order. */
export const offersOf = (methods: readonly ShippingMethodRule[], sending: ShippingQuery, provinces: Provinces): ShippingOffer[] =>
  methods.flatMap((method) => offerOf(method, methods, sending, provinces) ?? [])
