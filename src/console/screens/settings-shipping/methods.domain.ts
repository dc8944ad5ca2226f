/** Form values, bodies and offers of shipping methods. */
import type { Money } from '../../../lib/money.ts'
import { type Province, type Provinces, provincesOf } from '../../../lib/provinces.ts'
import { chargeOf, type Destination, shipsTo } from '../../../lib/shipping-offers.ts'
import type { Schema } from '../../lib/api/api.ts'
import { moneyText, parseMoney } from '../../lib/forms/amounts.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'
import { handleOf } from '../new-shop/new-shop.domain.ts'

export type Method = Schema<'ShippingMethod'>

export type ZoneTexts = { rest: 'some' | 'rest'; countries: readonly string[]; provinces: readonly string[] }
export type BandTexts = { upTo: string; amount: string }
type Measure = 'none' | 'grams' | 'amount'
/** The form's values; amounts in major units, weights in grams. */
export type MethodTexts = {
  code: string
  title: string
  form: 'flat' | 'zoned'
  countries: readonly string[]
  price: string
  zones: readonly ZoneTexts[]
  measure: Measure
  bands: readonly BandTexts[]
  freeOver: string
}

const majorUnits = (money: Money | undefined): string => (money ? moneyText(money) : '')

export const newMethod: MethodTexts = {
  code: '',
  title: '',
  form: 'flat',
  countries: [],
  price: '',
  zones: [{ rest: 'some', countries: [], provinces: [] }],
  measure: 'none',
  bands: [{ upTo: '', amount: '' }],
  freeOver: '',
}

/** Compares two lists by their form values. A method that was added twice counts once. */
export function isSameList(methods: readonly Method[], other: readonly Method[]): boolean {
  const textsOf = (list: readonly Method[]) => [...new Map(list.map((method) => [method.code, textsOfMethod(method)])).values()]
  return JSON.stringify(textsOf(methods)) === JSON.stringify(textsOf(other))
}

/** Returns the form's values of a method. */
export function textsOfMethod({ code, title, countries, price, zones, rates, freeOver }: Method): MethodTexts {
  if (price) return { ...newMethod, code, title, countries: countries ?? [], price: majorUnits(price) }
  const measure = rates?.some(({ upToGrams }) => upToGrams !== undefined)
    ? 'grams'
    : rates?.some(({ upToAmount }) => upToAmount !== undefined)
      ? 'amount'
      : 'none'
  return {
    ...newMethod,
    ...{ code, title, form: 'zoned', measure, freeOver: majorUnits(freeOver) },
    zones: (zones ?? []).map((zone) => ({
      rest: zone.countries ? 'some' : 'rest',
      countries: zone.countries ?? [],
      provinces: zone.provinces ?? [],
    })),
    bands: (rates ?? []).map(({ upToGrams, upToAmount, amount }) => ({
      upTo: upToGrams === undefined ? majorUnits(upToAmount) : String(upToGrams),
      amount: majorUnits(amount),
    })),
  }
}

/** The wrong field, with the index of its band. */
type MethodError = {
  readonly field: 'price' | 'freeOver' | 'upTo' | 'amount'
  readonly bandIndex?: number
  readonly problem: 'notAmount' | 'notNumber'
}

/** Length limit of a code. */
export const codeMax = 50
const parseGrams = (text: string): number | undefined => wholeNumber(text, 13)

/** Generates a code from a name. One without Latin letters gets a common code, which the API accepts once. */
export const codeOf = (title: string): string => handleOf(title).slice(0, codeMax).replace(/-+$/, '') || 'shipping'

/**
 * Parses a method. The API checks codes, zones and bands against each other.
 * @param currency the shop's
 */
export function parseMethod(input: MethodTexts, currency: string): { method: Method } | { error: MethodError } {
  const title = input.title.trim()
  const identity = { code: input.code.trim() || codeOf(title), title }
  if (input.form === 'flat') {
    const price = parseMoney(input.price, currency)
    return price ? { method: { ...identity, countries: [...input.countries], price } } : { error: { field: 'price', problem: 'notAmount' } }
  }
  const freeOver = input.freeOver.trim() === '' ? undefined : parseMoney(input.freeOver, currency)
  if (input.freeOver.trim() !== '' && !freeOver) return { error: { field: 'freeOver', problem: 'notAmount' } }
  const rates: NonNullable<Method['rates']> = []
  // Without limits there is one band.
  for (const [index, band] of input.bands.slice(0, input.measure === 'none' ? 1 : undefined).entries()) {
    const rate = parseBand(band, input.measure, currency)
    if ('field' in rate) return { error: { ...rate, bandIndex: index } }
    rates.push(rate)
  }
  const zones = input.zones.map(({ rest, countries, provinces }) => {
    if (rest === 'rest') return {}
    return { countries: [...countries], ...(countries.length === 1 && provinces.length > 0 ? { provinces: [...provinces] } : {}) }
  })
  return { method: { ...identity, zones, rates, ...(freeOver ? { freeOver } : {}) } }
}

type Rate = NonNullable<Method['rates']>[number]
function parseBand({ upTo, amount }: BandTexts, measure: Measure, currency: string): Rate | MethodError {
  const charge = parseMoney(amount, currency)
  if (!charge) return { field: 'amount', problem: 'notAmount' }
  // The last band can be unlimited; the API refuses others.
  if (measure === 'none' || upTo.trim() === '') return { amount: charge }
  if (measure === 'grams') {
    const upToGrams = parseGrams(upTo)
    return upToGrams === undefined ? { field: 'upTo', problem: 'notNumber' } : { upToGrams, amount: charge }
  }
  const upToAmount = parseMoney(upTo, currency)
  return upToAmount ? { upToAmount, amount: charge } : { field: 'upTo', problem: 'notAmount' }
}

/** Replaces the method of a code, or appends it. */
export const replaceMethod = (methods: readonly Method[], code: string | undefined, method: Method): readonly Method[] =>
  methods.some((existing) => existing.code === code)
    ? methods.map((existing) => (existing.code === code ? method : existing))
    : [...methods, method]

/** Sorts methods by codes; others come last. */
export function sortByCodes(methods: readonly Method[], codes: readonly string[]): readonly Method[] {
  const position = (code: string) => (codes.includes(code) ? codes.indexOf(code) : codes.length)
  return [...methods].sort((a, b) => position(a.code) - position(b.code))
}

type Cart = { readonly grams: number; readonly amount: Money; readonly to: Destination }
type MethodOffer = {
  readonly method: Method
  readonly price: Money | undefined
  /** Why it is not offered. */
  readonly reason?: 'NOT_REACHED' | 'TOO_LARGE' | 'OTHER_CURRENCY'
}

/**
 * Returns the province names that the server matches: of served countries, and local names.
 * @param localNames of `lib/province-names.ts`, loaded on demand
 */
export const provincesOfCountries = (
  countries: readonly { readonly code: string; readonly provinces: readonly Province[] }[],
  localNames: readonly (Province & { country: string })[],
): Provinces =>
  provincesOf([
    ...countries.flatMap(({ code: country, provinces }) => provinces.map((province) => ({ ...province, country }))),
    ...localNames,
  ])

/**
 * Returns the offers for a cart, by the server's own functions.
 * @param provinces of served countries; others match by spelling
 */
export const offersFor = (methods: readonly Method[], { grams, amount, to }: Cart, provinces: Provinces): readonly MethodOffer[] => {
  const rules = methods.map(toRule)
  return methods.map((method, index) => {
    const rule = rules[index]
    if (!rule || !shipsTo(rule, rules, to, provinces)) return { method, price: undefined, reason: 'NOT_REACHED' }
    const price = chargeOf(rule, { grams, amount: amount.amount })
    if (!price) return { method, price: undefined, reason: 'TOO_LARGE' }
    return price.currency === amount.currency ? { method, price } : { method, price: undefined, reason: 'OTHER_CURRENCY' }
  })
}

/** The schema merges both forms of a method; this returns one. */
const toRule = ({ code, title, countries = [], price, zones = [], rates = [], freeOver }: Method) =>
  price ? { code, title, countries, price } : { code, title, zones, rates, freeOver }
