import { amountMax, type Currency, decimalsOf, parseAmount } from '../../../lib/money.ts'
import { distinctTags, handleOf, isHandle } from '../../../lib/search-terms.ts'
import { type Product, productStatuses } from '../products/domain.ts'

/** The reason why a cell is refused. Says what to write instead and never repeats the cell. */
export class Fault {
  constructor(readonly message: string) {}
}

/** Reads a cell's trimmed, non-blank text. */
export type CellParser<T> = (text: string) => T | Fault

const tagsMax = 250
const tagMaxLength = 255
const urlMaxLength = 2_048
const quantityMax = 1_000_000
const positionMax = 1_000_000
const weightMaxGrams = 100_000_000

/** Accepts text of at most `max` UTF-16 units, as the API counts. */
export const textUpTo =
  (max: number): CellParser<string> =>
  (text) =>
    text.length <= max ? text : new Fault(`Must be at most ${max} characters long.`)

/** Reads an amount in minor units of `currency`. */
export function amountIn(currency: Currency): CellParser<number> {
  const decimals = decimalsOf(currency)
  const form =
    decimals === 0 ? 'without decimals, such as 1234' : `with at most ${decimals} decimals, such as 1234.${'5678'.slice(0, decimals)}`
  const fault = new Fault(`Must be a plain ${currency} amount of zero or more, ${form}: no thousands separator and no currency sign.`)
  const tooLarge = new Fault(`Must be at most ${amountMax / 10 ** decimals} ${currency}.`)
  // Tests the format with one integer digit, so that only the size is wrong.
  const isTooLarge = (text: string) => parseAmount(text.trim().replace(/^\d+/, '0'), currency) !== undefined
  // A comma before one or two digits is a decimal comma. Not for currencies with other than two decimals.
  const plain = (text: string) => (decimals === 2 ? text.replace(/^(\d+),(\d{1,2})$/, '$1.$2') : text)
  return (text) => parseAmount(plain(text), currency) ?? (isTooLarge(plain(text)) ? tooLarge : fault)
}

const booleans: ReadonlyMap<string, boolean> = new Map(
  Object.entries({ true: true, yes: true, 1: true, false: false, no: false, 0: false }),
)

/** Reads TRUE or FALSE, and the words that other shops' exports use, in any case. */
export const parseBoolean: CellParser<boolean> = (text) =>
  booleans.get(text.toLowerCase()) ?? new Fault('Must be TRUE or FALSE (yes, no, 1 and 0 are read as well).')

/** Normalises a tax class to lower case. */
export const parseTaxClass: CellParser<string> = (text) =>
  /^[a-z0-9][a-z0-9_-]{0,39}$/i.test(text) ? text.toLowerCase() : new Fault('Must be at most 40 letters, digits, - and _.')

/** Reads "deny" or "continue" of the old dialect and TRUE or FALSE of the new one. */
export const parseBackorder: CellParser<boolean> = (text) => {
  const word = text.toLowerCase()
  if (word === 'continue' || word === 'deny') return word === 'continue'
  return booleans.get(word) ?? new Fault('Must be "deny" or "continue", or TRUE or FALSE.')
}

/** Reads a product status in any case. */
export const parseStatus: CellParser<Product['status']> = (text) =>
  productStatuses.find((status) => status.toLowerCase() === text.toLowerCase()) ?? new Fault('Must be active, draft or archived.')

/** Reads a stock count, which may be negative: backorders take it below 0. */
export const parseQuantity: CellParser<number> = (text) => {
  const quantity = /^[+-]?\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  // Adding zero turns -0 into 0.
  return Math.abs(quantity) <= quantityMax
    ? quantity + 0
    : new Fault('Must be a whole number from -1000000 to 1000000, without separators.')
}

/** Reads the low-stock threshold. */
export const parseLowStock: CellParser<number> = (text) => {
  const quantity = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  return quantity <= quantityMax ? quantity : new Fault('Must be a whole number from 0 to 1000000, without separators.')
}

/** Reads grams and rounds them to whole ones. */
export const parseWeight: CellParser<number> = (text) => {
  const grams = /^\d{1,12}(\.\d{0,20})?$/.test(text) ? Number(text) : Number.NaN
  return grams <= weightMaxGrams
    ? Math.round(grams)
    : new Fault('Must be a weight in grams from 0 to 100000000, without unit or separators.')
}

/** Reads a position, from 1. */
export const parsePosition: CellParser<number> = (text) => {
  const position = /^\d{1,9}$/.test(text) ? Number(text) : 0
  return position >= 1 && position <= positionMax ? position : new Fault('Must be a whole number from 1 to 1000000.')
}

/** Reads distinct tags in order, ignoring case; null if the cell has only commas. */
export const parseTags: CellParser<string[] | null> = (text) => {
  const tags = distinctTags(text.split(','))
  if (tags.length > tagsMax) return new Fault(`Must hold at most ${tagsMax} tags.`)
  if (tags.some((tag) => tag.length > tagMaxLength)) return new Fault(`Each tag must be at most ${tagMaxLength} characters long.`)
  return tags.length > 0 ? tags : null
}

/** Reads an absolute http or https URL without spaces. */
export const parseUrl: CellParser<string> = (text) => {
  if (text.length > urlMaxLength) return new Fault(`Must be at most ${urlMaxLength} characters long.`)
  // URL.parse accepts white space and a missing slash, which browsers treat differently.
  const isWeb = /^https?:\/\/[^\s/]/i.test(text) && !/\s/.test(text) && URL.canParse(text)
  return isWeb ? text : new Fault('Must be one full address that starts with http:// or https://, without spaces.')
}

const handleMaxLength = 255

/**
 * Normalises a handle: lower case, letters and digits of any script, `-` and `_`. Combining marks belong to letters in
 * scripts such as Devanagari.
 */
export const parseHandle: CellParser<string> = (text) => {
  const handle = text.toLowerCase().normalize('NFC')
  if (handle.length > handleMaxLength) return new Fault(`Must be at most ${handleMaxLength} characters long.`)
  return isHandle(handle) ? handle : new Fault('Must contain only letters, digits, hyphens and underscores, without spaces.')
}

/** Makes a handle from a title: `Crème Brûlée, 2 pcs` becomes `creme-brulee-2-pcs`. */
export const handleFromTitle: CellParser<string> = (title) => {
  const handle = handleOf(title)
  return handle === '' ? new Fault('Has no letter or digit, so no handle can be made from it. Add a handle.') : parseHandle(handle)
}
