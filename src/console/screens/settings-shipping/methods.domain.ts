/** Shipping methods: as the fields of a form, back as the API takes them, and what they come to for a cart. */
import type { Money } from '../../../lib/money.ts'
import { type Province, type Provinces, provincesOf } from '../../../lib/provinces.ts'
import { chargeOf, type Destination, reaches } from '../../../lib/shipping-offers.ts'
import type { Schema } from '../../lib/api/api.ts'
import { moneyText, parseMoney } from '../../lib/forms/amounts.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'

export type Method = Schema<'ShippingMethod'>

export type ZoneTexts = { rest: 'some' | 'rest'; countries: readonly string[]; provinces: readonly string[] }
export type BandTexts = { upTo: string; amount: string }
export type Measure = 'none' | 'grams' | 'amount'
/** What is typed of a method; amounts in major units, weights in grams. */
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

const major = (money: Money | undefined): string => (money ? moneyText(money) : '')

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

/** Whether two lists are the same, as their fields show them. A method that stands twice in one, being added once more, counts once. */
export function isSameList(one: readonly Method[], other: readonly Method[]): boolean {
  const textsOf = (list: readonly Method[]) => [...new Map(list.map((method) => [method.code, textsOfMethod(method)])).values()]
  return JSON.stringify(textsOf(one)) === JSON.stringify(textsOf(other))
}

/** A method as its fields show it, in the form in which it was put. */
export function textsOfMethod({ code, title, countries, price, zones, rates, freeOver }: Method): MethodTexts {
  if (price) return { ...newMethod, code, title, countries: countries ?? [], price: major(price) }
  const measure = rates?.some(({ upToGrams }) => upToGrams !== undefined)
    ? 'grams'
    : rates?.some(({ upToAmount }) => upToAmount !== undefined)
      ? 'amount'
      : 'none'
  return {
    ...newMethod,
    ...{ code, title, form: 'zoned', measure, freeOver: major(freeOver) },
    zones: (zones ?? []).map((zone) => ({
      rest: zone.countries ? 'some' : 'rest',
      countries: zone.countries ?? [],
      provinces: zone.provinces ?? [],
    })),
    bands: (rates ?? []).map(({ upToGrams, upToAmount, amount }) => ({
      upTo: upToGrams === undefined ? major(upToAmount) : String(upToGrams),
      amount: major(amount),
    })),
  }
}

/** What keeps what was typed from being a method: the field, of the band with that place. */
export type Wrong = {
  readonly field: 'price' | 'freeOver' | 'upTo' | 'amount'
  readonly at?: number
  readonly is: 'notAmount' | 'notNumber'
}

const gramsTyped = (text: string): number | undefined => wholeNumber(text, 13)

/**
 * The method that was typed. Whether it holds together (codes that stand twice, zones that overlap, bands that do not rise) souk says.
 * @param currency of the shop
 */
export function methodOf(typed: MethodTexts, currency: string): { method: Method } | { wrong: Wrong } {
  const named = { code: typed.code.trim(), title: typed.title.trim() }
  if (typed.form === 'flat') {
    const price = parseMoney(typed.price, currency)
    return price ? { method: { ...named, countries: [...typed.countries], price } } : { wrong: { field: 'price', is: 'notAmount' } }
  }
  const freeOver = typed.freeOver.trim() === '' ? undefined : parseMoney(typed.freeOver, currency)
  if (typed.freeOver.trim() !== '' && !freeOver) return { wrong: { field: 'freeOver', is: 'notAmount' } }
  const rates: NonNullable<Method['rates']> = []
  // Without bounds there is one band.
  for (const [at, band] of typed.bands.slice(0, typed.measure === 'none' ? 1 : undefined).entries()) {
    const rate = bandOf(band, typed.measure, currency)
    if ('field' in rate) return { wrong: { ...rate, at } }
    rates.push(rate)
  }
  const zones = typed.zones.map(({ rest, countries, provinces }) => {
    if (rest === 'rest') return {}
    return { countries: [...countries], ...(countries.length === 1 && provinces.length > 0 ? { provinces: [...provinces] } : {}) }
  })
  return { method: { ...named, zones, rates, ...(freeOver ? { freeOver } : {}) } }
}

type Rate = NonNullable<Method['rates']>[number]
function bandOf({ upTo, amount }: BandTexts, measure: Measure, currency: string): Rate | Wrong {
  const costs = parseMoney(amount, currency)
  if (!costs) return { field: 'amount', is: 'notAmount' }
  // The last may be without a bound; any other that is souk refuses.
  if (measure === 'none' || upTo.trim() === '') return { amount: costs }
  if (measure === 'grams') {
    const upToGrams = gramsTyped(upTo)
    return upToGrams === undefined ? { field: 'upTo', is: 'notNumber' } : { upToGrams, amount: costs }
  }
  const upToAmount = parseMoney(upTo, currency)
  return upToAmount ? { upToAmount, amount: costs } : { field: 'upTo', is: 'notAmount' }
}

/** The list with a method in the place of the one that had this code, or at its end. */
export const withMethod = (methods: readonly Method[], code: string | undefined, method: Method): readonly Method[] =>
  methods.some((one) => one.code === code) ? methods.map((one) => (one.code === code ? method : one)) : [...methods, method]

/** The list in the order of these codes; what is not among them comes behind. */
export function inOrder(methods: readonly Method[], codes: readonly string[]): readonly Method[] {
  const place = (code: string) => (codes.includes(code) ? codes.indexOf(code) : codes.length)
  return [...methods].sort((a, b) => place(a.code) - place(b.code))
}

export type Cart = { readonly grams: number; readonly amount: Money; readonly to: Destination }
export type Seen = {
  readonly method: Method
  readonly price: Money | undefined
  /** Why it is not offered. */
  readonly because?: 'NOT_REACHED' | 'TOO_LARGE' | 'OTHER_CURRENCY'
}

/**
 * The names by which the server matches provinces: those that it serves with the countries, and local names.
 * @param localNames of `lib/province-names.ts`, which is loaded on demand
 */
export const provincesIn = (
  countries: readonly { readonly code: string; readonly provinces: readonly Province[] }[],
  localNames: readonly (Province & { country: string })[],
): Provinces =>
  provincesOf([...countries.flatMap(({ code: country, provinces }) => provinces.map((one) => ({ ...one, country }))), ...localNames])

/**
 * What a cart with something to send would see of each method: by the same functions as the server's.
 * @param provinces of the countries that the shop sends to; in others they go by their spelling alone
 */
export const seenBy = (methods: readonly Method[], { grams, amount, to }: Cart, provinces: Provinces): readonly Seen[] => {
  const known = methods.map(ruled)
  return methods.map((method, at) => {
    const rule = known[at]
    if (!rule || !reaches(rule, known, to, provinces)) return { method, price: undefined, because: 'NOT_REACHED' }
    const price = chargeOf(rule, { grams, amount: amount.amount })
    if (!price) return { method, price: undefined, because: 'TOO_LARGE' }
    return price.currency === amount.currency ? { method, price } : { method, price: undefined, because: 'OTHER_CURRENCY' }
  })
}

/** The document has both forms in one type; what there is of one of them. */
const ruled = ({ code, title, countries = [], price, zones = [], rates = [], freeOver }: Method) =>
  price ? { code, title, countries, price } : { code, title, zones, rates, freeOver }
