/** Where the methods of a shop go, and what they cost: zones, and bands of weight or amount. */
import type { FlatMethod, ShippingMethod, ShippingRate, ShippingZone, ZonedMethod } from '../../../../db/schema/shop.ts'
import { AppError } from '../../../core/errors.ts'
import type { Money } from '../../../lib/money.ts'
import { defined, type Optional } from '../../../lib/objects.ts'
import { isFlat, isRest, names, type Parcel, reachOf } from '../../../lib/shipping-offers.ts'
import { assertCountry, type Provinces, provinceCodes } from '../countries/domain.ts'

export {
  chargeOf,
  type Destination,
  type Offer,
  offerOf,
  offersOf,
  type Parcel,
  reaches,
  type Sending,
} from '../../../lib/shipping-offers.ts'

export const methodsMax = 100
export const zonesMax = 50
export const zoneProvincesMax = 250
export const ratesMax = 50
/** A thousand tonnes: more than all lines of a cart may weigh is no band's business. */
export const gramsMax = 1_000_000_000_000

/** What a line tells of its parcel. */
export type Packed = { quantity: number; weightGrams: number; requiresShipping: boolean }

/** What has to be sent of some lines, and its weight in grams. */
export function parcelOf(lines: readonly Packed[]): Parcel {
  const sent = lines.filter(({ requiresShipping }) => requiresShipping)
  return {
    isNeeded: lines.length === 0 || sent.length > 0,
    grams: sent.reduce((grams, { quantity, weightGrams }) => grams + quantity * weightGrams, 0),
  }
}

/** Why nothing is offered. */
export const noOfferReasons = ['NO_METHODS', 'EMPTY_CART', 'NOTHING_TO_SHIP', 'NO_ADDRESS', 'NOT_REACHED', 'TOO_LARGE'] as const
export type NoOfferReason = (typeof noOfferReasons)[number]

/** Whether names of provinces decide anything. */
export const needsProvinces = (methods: readonly ShippingMethod[]): boolean =>
  methods.some((method) => !isFlat(method) && method.zones.some(({ provinces }) => provinces !== undefined))

/** Where the methods of a shop go: whole countries, and of others the provinces as they were put. */
export type Reached = { whole: boolean; provinces: readonly string[] }

/** How a country is reached by some method; undefined where none goes there. A shop without methods sends everywhere. */
export function reachedOf(methods: readonly ShippingMethod[], country: string): Reached | undefined {
  if (methods.length === 0) return { whole: true, provinces: [] }
  const provinces: string[] = []
  for (const method of methods) {
    const reach = reachOf(method)
    if (reach.everywhere) return { whole: true, provinces: [] }
    for (const zone of reach.zones) {
      const isOf = isRest(zone) ? !methods.some((other) => other !== method && names(other, country)) : zone.countries?.includes(country)
      if (!isOf) continue
      if (zone.provinces === undefined) return { whole: true, provinces: [] }
      provinces.push(...zone.provinces)
    }
  }
  return provinces.length > 0 ? { whole: false, provinces } : undefined
}

/** A method as a body says it: in one of its two forms, which is looked at here. */
export type MethodInput = { code: string; title: string } & Optional<
  Omit<FlatMethod, 'code' | 'title'> & {
    zones: Optional<ShippingZone>[]
    rates: (Optional<ShippingRate> & Pick<ShippingRate, 'amount'>)[]
    freeOver: Money | null
  }
>

/** The refusal of a row of a list that is replaced whole: by its place, from 0. */
export const invalidRow = (at: number, field: string, rule: string) => new AppError('INVALID', `data.${at}.${field} (body): ${rule}`)

/**
 * Methods as they are kept, each in the form in which it was put.
 * @throws AppError INVALID, naming the field, for a code that stands twice, a method of neither form or of both, an unknown country or
 *   province, zones of a method that overlap, and bands that do not rise
 */
export function methodsOf(input: readonly MethodInput[], table: Provinces): ShippingMethod[] {
  const codes = new Set<string>()
  return input.map((method, at) => {
    if (codes.has(method.code)) throw invalidRow(at, 'code', 'each code may stand once only')
    codes.add(method.code)
    return method.zones === undefined && method.rates === undefined && !method.freeOver ? flatOf(method, at) : zonedOf(method, at, table)
  })
}

function flatOf({ code, title, countries = [], price }: MethodInput, at: number): FlatMethod {
  if (!price) throw invalidRow(at, 'price', 'needed; or zones and rates in its place')
  for (const [nth, country] of countries.entries()) assertCountry(country, `data.${at}.countries.${nth}`)
  return { code, title, countries, price }
}

function zonedOf({ code, title, countries, price, zones, rates, freeOver }: MethodInput, at: number, table: Provinces): ZonedMethod {
  if (price) throw invalidRow(at, 'price', 'not beside zones and rates, which say what it costs')
  if (countries) throw invalidRow(at, 'countries', 'not beside zones, which say where it goes')
  if (!zones) throw invalidRow(at, 'zones', 'needed beside rates: at least one')
  if (!rates) throw invalidRow(at, 'rates', 'needed beside zones: at least one')
  assertZones(zones, at, table)
  return { code, title, zones: zones.map((zone) => defined(zone)), rates: bandsOf(rates, at), ...(freeOver ? { freeOver } : {}) }
}

function assertZones(zones: readonly Optional<ShippingZone>[], at: number, table: Provinces): void {
  /** Of each country the provinces that stand in a zone before; `all` where it stood whole. */
  const taken = new Map<string, Set<string> | 'all'>()
  let hasRest = false
  for (const [nth, { countries, provinces }] of zones.entries()) {
    const path = `zones.${nth}`
    if (countries === undefined) {
      if (provinces) throw invalidRow(at, `${path}.provinces`, 'only beside one country')
      if (hasRest) throw invalidRow(at, path, 'overlaps with another zone of the method: one may be of all other countries')
      hasRest = true
      continue
    }
    if (provinces && countries.length !== 1) throw invalidRow(at, `${path}.provinces`, 'only beside one country')
    for (const [place, country] of countries.entries()) {
      const field = `${path}.countries.${place}`
      assertCountry(country, `data.${at}.${field}`)
      const before = taken.get(country)
      if (before === 'all' || (before && !provinces)) throw invalidRow(at, field, 'overlaps with another zone of the method')
      taken.set(country, provinces ? withProvinces(before ?? new Set(), { country, provinces }, { at, path, table }) : 'all')
    }
  }
}

function withProvinces(
  taken: Set<string>,
  { country, provinces }: { country: string; provinces: readonly string[] },
  { at, path, table }: { at: number; path: string; table: Provinces },
): Set<string> {
  for (const [nth, province] of provinces.entries()) {
    const codes = provinceCodes(table, country, province)
    const field = `${path}.provinces.${nth}`
    if (codes.length === 0) throw invalidRow(at, field, 'no ISO 3166-2 code or name of a part of its country')
    if (codes.some((code) => taken.has(code))) throw invalidRow(at, field, 'overlaps with another province of the method')
    for (const code of codes) taken.add(code)
  }
  return taken
}

/** All of one measure, each beyond the one before; the last may have no end. */
function bandsOf(rates: NonNullable<MethodInput['rates']>, at: number): ShippingRate[] {
  const measures = rates.map(({ upToGrams, upToAmount }) => (upToGrams !== undefined ? 'upToGrams' : upToAmount ? 'upToAmount' : 'none'))
  const measure = measures.find((one) => one !== 'none')
  let before = -1
  for (const [nth, { upToGrams, upToAmount }] of rates.entries()) {
    const path = `rates.${nth}`
    if (upToGrams !== undefined && upToAmount)
      throw invalidRow(at, `${path}.upToAmount`, 'not beside upToGrams: a band is of one of the two')
    const own = measures[nth]
    if (own === 'none') {
      if (nth < rates.length - 1) throw invalidRow(at, path, 'only the last band may be without upToGrams or upToAmount')
      continue
    }
    if (own !== measure)
      throw invalidRow(at, `${path}.${own}`, `the bands of a method are all of one measure, and the first is of ${measure}`)
    const bound = upToGrams ?? upToAmount?.amount ?? 0
    if (bound <= before) throw invalidRow(at, `${path}.${own}${own === 'upToAmount' ? '.amount' : ''}`, 'more than that of the band before')
    before = bound
  }
  return rates.map(({ upToGrams, upToAmount, amount }) => ({ ...defined({ upToGrams, upToAmount }), amount }))
}

/** @throws AppError INVALID, naming the field, where an amount of a method is in another currency than the shop's */
export function assertCurrencies(methods: readonly ShippingMethod[], currency: string): void {
  for (const [at, method] of methods.entries())
    for (const [field, money] of amountsOf(method))
      if (money.currency !== currency) throw invalidRow(at, `${field}.currency`, "not the shop's currency")
}

function amountsOf(method: ShippingMethod): [field: string, money: Money][] {
  if (isFlat(method)) return [['price', method.price]]
  const ofRates = method.rates.flatMap(({ upToAmount, amount }, nth): [string, Money][] => [
    ...(upToAmount ? [[`rates.${nth}.upToAmount`, upToAmount] as [string, Money]] : []),
    [`rates.${nth}.amount`, amount],
  ])
  return method.freeOver ? [...ofRates, ['freeOver', method.freeOver]] : ofRates
}
