/** Zones, rates and validation of shipping methods. */
import type { FlatMethod, ShippingMethod, ShippingRate, ShippingZone, ZonedMethod } from '../../../../db/schema/shop.ts'
import { invalidField } from '../../../core/errors.ts'
import type { Money } from '../../../lib/money.ts'
import { type Optional, withoutUndefined } from '../../../lib/objects.ts'
import { isFlat, isRestOfWorld, namesCountry, type ParcelContents, zonesOf } from '../../../lib/shipping-offers.ts'
import { assertCountry, type Provinces, provinceCodes } from '../countries/domain.ts'

export {
  chargeOf,
  offerOf,
  offersOf,
  type ParcelContents,
  type ShippingOffer,
  type ShippingQuery,
  shipsTo,
} from '../../../lib/shipping-offers.ts'

export const methodsMax = 100
export const zonesMax = 50
export const zoneProvincesMax = 250
export const ratesMax = 50
/** 1,000 tonnes, more than any cart weighs. */
export const gramsMax = 1_000_000_000_000

/** The fields of a line that shipping depends on. */
type PackedLine = { quantity: number; weightGrams: number; requiresShipping: boolean }

/** Returns what must be shipped and its weight in grams. */
export function parcelOf(lines: readonly PackedLine[]): ParcelContents {
  const sent = lines.filter(({ requiresShipping }) => requiresShipping)
  return {
    isNeeded: lines.length === 0 || sent.length > 0,
    grams: sent.reduce((grams, { quantity, weightGrams }) => grams + quantity * weightGrams, 0),
  }
}

/** Why no method is offered. */
export const noOfferReasons = ['NO_METHODS', 'EMPTY_CART', 'NOTHING_TO_SHIP', 'NO_ADDRESS', 'NOT_REACHED', 'TOO_LARGE'] as const
export type NoOfferReason = (typeof noOfferReasons)[number]

/** Returns whether any method depends on provinces. */
export const needsProvinces = (methods: readonly ShippingMethod[]): boolean =>
  methods.some((method) => !isFlat(method) && method.zones.some(({ provinces }) => provinces !== undefined))

/** How methods reach a country: as a whole, or only these provinces. */
type CountryCoverage = { whole: boolean; provinces: readonly string[] }

/** Returns how methods reach a country; undefined if none does. A shop without methods ships everywhere. */
export function coverageOf(methods: readonly ShippingMethod[], country: string): CountryCoverage | undefined {
  if (methods.length === 0) return { whole: true, provinces: [] }
  const provinces: string[] = []
  for (const method of methods) {
    const reach = zonesOf(method)
    if (reach.everywhere) return { whole: true, provinces: [] }
    for (const zone of reach.zones) {
      const isOf = isRestOfWorld(zone)
        ? !methods.some((other) => other !== method && namesCountry(other, country))
        : zone.countries?.includes(country)
      if (!isOf) continue
      if (zone.provinces === undefined) return { whole: true, provinces: [] }
      provinces.push(...zone.provinces)
    }
  }
  return provinces.length > 0 ? { whole: false, provinces } : undefined
}

/** A method in a request, in one of its two forms. `parseMethods` validates it. */
export type MethodInput = { code: string; title: string } & Optional<
  Omit<FlatMethod, 'code' | 'title'> & {
    zones: Optional<ShippingZone>[]
    rates: (Optional<ShippingRate> & Pick<ShippingRate, 'amount'>)[]
    freeOver: Money | null
  }
>

/** Creates the error for a row of a replaced list, by index from 0. */
export const invalidRow = (at: number, field: string, rule: string) => invalidField(`data.${at}.${field}`, rule)

/**
 * Validates methods and builds their stored form.
 * @throws AppError INVALID, naming the field, for a repeated code, a wrong form, an unknown country or province,
 * overlapping zones, or rates that do not rise
 */
export function parseMethods(input: readonly MethodInput[], table: Provinces): ShippingMethod[] {
  const codes = new Set<string>()
  return input.map((method, at) => {
    if (codes.has(method.code)) throw invalidRow(at, 'code', 'must not be repeated')
    codes.add(method.code)
    return method.zones === undefined && method.rates === undefined ? parseFlatMethod(method, at) : parseZonedMethod(method, at, table)
  })
}

function parseFlatMethod({ code, title, countries = [], price, freeOver }: MethodInput, at: number): FlatMethod {
  if (!price) throw invalidRow(at, 'price', 'required, unless zones and rates are sent')
  if (freeOver) throw invalidRow(at, 'freeOver', 'needs zones and rates instead of a price')
  for (const [nth, country] of countries.entries()) assertCountry(country, `data.${at}.countries.${nth}`)
  return { code, title, countries, price }
}

function parseZonedMethod(
  { code, title, countries, price, zones, rates, freeOver }: MethodInput,
  at: number,
  table: Provinces,
): ZonedMethod {
  if (price) throw invalidRow(at, 'price', 'not allowed together with zones and rates')
  if (countries) throw invalidRow(at, 'countries', 'not allowed together with zones')
  if (!zones) throw invalidRow(at, 'zones', 'required together with rates')
  if (!rates) throw invalidRow(at, 'rates', 'required together with zones')
  assertZones(zones, at, table)
  return {
    code,
    title,
    zones: zones.map((zone) => withoutUndefined(zone)),
    rates: parseRates(rates, at),
    ...(freeOver ? { freeOver } : {}),
  }
}

function assertZones(zones: readonly Optional<ShippingZone>[], at: number, table: Provinces): void {
  /** The provinces of each country in earlier zones; `all` for a whole country. */
  const claimed = new Map<string, Set<string> | 'all'>()
  let hasRest = false
  for (const [nth, { countries, provinces }] of zones.entries()) {
    const path = `zones.${nth}`
    if (countries === undefined) {
      if (provinces) throw invalidRow(at, `${path}.provinces`, 'allowed only with exactly one country')
      if (hasRest) throw invalidRow(at, path, 'overlaps with another zone of the method: only one zone can cover all other countries')
      hasRest = true
      continue
    }
    if (provinces && countries.length !== 1) throw invalidRow(at, `${path}.provinces`, 'allowed only with exactly one country')
    for (const [index, country] of countries.entries()) {
      const field = `${path}.countries.${index}`
      assertCountry(country, `data.${at}.${field}`)
      const before = claimed.get(country)
      if (before === 'all' || (before && !provinces)) throw invalidRow(at, field, 'overlaps with another zone of the method')
      claimed.set(country, provinces ? addProvinces(before ?? new Set(), { country, provinces }, { at, path, table }) : 'all')
    }
  }
}

function addProvinces(
  claimed: Set<string>,
  { country, provinces }: { country: string; provinces: readonly string[] },
  { at, path, table }: { at: number; path: string; table: Provinces },
): Set<string> {
  for (const [nth, province] of provinces.entries()) {
    const codes = provinceCodes(table, country, province)
    const field = `${path}.provinces.${nth}`
    if (codes.length === 0) throw invalidRow(at, field, 'must be an ISO 3166-2 code or a name of a province of its country')
    if (codes.some((code) => claimed.has(code))) throw invalidRow(at, field, 'overlaps with another province of the method')
    for (const code of codes) claimed.add(code)
  }
  return claimed
}

/** Requires one measure and rising bounds; only the last rate may be unbounded. */
function parseRates(rates: NonNullable<MethodInput['rates']>, at: number): ShippingRate[] {
  const measures = rates.map(({ upToGrams, upToAmount }) => (upToGrams !== undefined ? 'upToGrams' : upToAmount ? 'upToAmount' : 'none'))
  const measure = measures.find((one) => one !== 'none')
  let before = -1
  for (const [nth, { upToGrams, upToAmount }] of rates.entries()) {
    const path = `rates.${nth}`
    if (upToGrams !== undefined && upToAmount) throw invalidRow(at, `${path}.upToAmount`, 'not allowed together with upToGrams')
    const measureOfRate = measures[nth]
    if (measureOfRate === 'none') {
      if (nth < rates.length - 1) throw invalidRow(at, path, 'only the last rate can omit upToGrams and upToAmount')
      continue
    }
    if (measureOfRate !== measure)
      throw invalidRow(at, `${path}.${measureOfRate}`, `all rates of a method use the same measure; the first uses ${measure}`)
    const bound = upToGrams ?? upToAmount?.amount ?? 0
    if (bound <= before)
      throw invalidRow(
        at,
        `${path}.${measureOfRate}${measureOfRate === 'upToAmount' ? '.amount' : ''}`,
        'must be more than that of the rate before',
      )
    before = bound
  }
  return rates.map(({ upToGrams, upToAmount, amount }) => ({ ...withoutUndefined({ upToGrams, upToAmount }), amount }))
}

/** @throws AppError INVALID, naming the field, for an amount in another currency than the shop's */
export function assertCurrencies(methods: readonly ShippingMethod[], currency: string): void {
  for (const [at, method] of methods.entries())
    for (const [field, money] of amountsOf(method))
      if (money.currency !== currency) throw invalidRow(at, `${field}.currency`, "must be the shop's currency")
}

function amountsOf(method: ShippingMethod): [field: string, money: Money][] {
  if (isFlat(method)) return [['price', method.price]]
  const ofRates = method.rates.flatMap(({ upToAmount, amount }, nth): [string, Money][] => [
    ...(upToAmount ? [[`rates.${nth}.upToAmount`, upToAmount] as [string, Money]] : []),
    [`rates.${nth}.amount`, amount],
  ])
  return method.freeOver ? [...ofRates, ['freeOver', method.freeOver]] : ofRates
}
