/** Which of a shop's shipping methods are offered, and what they cost: pure, so that a browser shows what the server will answer. */
import type { Money } from './money.ts'
import { isSameProvince, noProvinces, type Provinces } from './provinces.ts'

/** Without countries: every country that no other method names. Provinces stand beside one country only. */
type Zone = { countries?: string[] | undefined; provinces?: string[] | undefined }
/** A band that ends with its bound; without one it has no end. */
type Rate = { upToGrams?: number | undefined; upToAmount?: Money | undefined; amount: Money }
type Flat = { code: string; title: string; countries: string[]; price: Money }
type Zoned = { code: string; title: string; zones: Zone[]; rates: Rate[]; freeOver?: Money | undefined }
/** In one of its two forms: one price to some countries, or prices by weight or amount in some zones. */
export type Method = Flat | Zoned

/** Where something goes. */
export type Destination = { countryCode: string; province: string | null }
/** What a cart holds that has to be sent: how much it weighs. An empty cart may come to hold something. */
export type Parcel = { isNeeded: boolean; grams: number }
/** All that decides which methods are offered. `amount` is the subtotal after discounts, minor units. */
export type Sending = Parcel & { currency: string; amount: number; to: Destination | undefined }
/** A method as it is offered, at its price for what is sent. */
export type Offer = { code: string; title: string; price: Money }

export const isFlat = (method: Method): method is Flat => 'price' in method

/** A method's zones: those of the flat form are its countries, or all there are. */
type Reach = { everywhere: true } | { everywhere?: never; zones: readonly Zone[] }
export function reachOf(method: Method): Reach {
  if (!isFlat(method)) return { zones: method.zones }
  return method.countries.length === 0 ? { everywhere: true } : { zones: [{ countries: method.countries }] }
}

export const names = (method: Method, country: string): boolean => {
  const reach = reachOf(method)
  return !reach.everywhere && reach.zones.some(({ countries }) => countries?.includes(country))
}

/** Whether a zone is of those countries that no other method names. */
export const isRest = ({ countries }: Zone): boolean => countries === undefined

/**
 * Whether a method goes somewhere.
 * @param methods all of the shop's
 * @param provinces without them, provinces go by their spelling alone
 */
export function reaches(
  method: Method,
  methods: readonly Method[],
  { countryCode, province }: Destination,
  provinces: Provinces = noProvinces,
): boolean {
  const reach = reachOf(method)
  if (reach.everywhere) return true
  return reach.zones.some((zone) => {
    if (isRest(zone)) return !methods.some((other) => other !== method && names(other, countryCode))
    if (!zone.countries?.includes(countryCode)) return false
    return (
      zone.provinces === undefined ||
      (province !== null && zone.provinces.some((one) => isSameProvince(provinces, countryCode, one, province)))
    )
  })
}

/**
 * What a method asks for a parcel: the price of the first band that it fits into, bounds included; nothing from `freeOver` on.
 * @param amount the subtotal after discounts, minor units
 * @returns undefined beyond the last band: what is too heavy is not sent, free or not; bands of amounts end where it is free
 */
export function chargeOf(method: Method, { grams, amount }: { grams: number; amount: number }): Money | undefined {
  if (isFlat(method)) return method.price
  const { rates, freeOver } = method
  const isFree = freeOver !== undefined && amount >= freeOver.amount
  const band = rates.find(
    ({ upToGrams = Number.POSITIVE_INFINITY, upToAmount }) =>
      grams <= upToGrams && (isFree || upToAmount === undefined || amount <= upToAmount.amount),
  )
  return band && isFree ? { ...band.amount, amount: 0 } : band?.amount
}

const currencyOf = (method: Method): string | undefined => (isFlat(method) ? method.price : method.rates[0]?.amount)?.currency

/** A method for what is sent, where it is offered. No destination yet rules nothing out; what need not be sent goes no way. */
export function offerOf(
  method: Method,
  methods: readonly Method[],
  { isNeeded, grams, currency, amount, to }: Sending,
  provinces: Provinces,
): Offer | undefined {
  if (!isNeeded || currencyOf(method) !== currency || (to && !reaches(method, methods, to, provinces))) return undefined
  const price = chargeOf(method, { grams, amount })
  return price && { code: method.code, title: method.title, price }
}

/** Those of a shop's methods that are offered for what is sent, in its order. */
export const offersOf = (methods: readonly Method[], sending: Sending, provinces: Provinces): Offer[] =>
  methods.flatMap((method) => offerOf(method, methods, sending, provinces) ?? [])
