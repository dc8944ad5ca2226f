import { searchTermsOf } from '../../../lib/search-terms.ts'
import type { Fulfilment, Order, OrderLine, OrderSort } from './domain.ts'

/** By total and then number, or by number alone. */
export type ListOrder = { readonly isByTotal: boolean; readonly isDescending: boolean }

/** Numbers are drawn when orders are placed, so they also give the order of `createdAt`. */
export const listOrderOf = (sort: OrderSort = '-createdAt'): ListOrder => ({
  isByTotal: sort.endsWith('total'),
  isDescending: sort.startsWith('-'),
})

/** Words stored for an order. Titles come last, so that only they are cut. */
const wordsMax = 150

/**
 * Returns the words that find an order, besides its number: e-mail address, names, tracking numbers, SKUs and titles.
 */
export function searchWordsOf(
  order: Pick<Order, 'email' | 'shippingAddress' | 'billingAddress'>,
  lines: readonly Pick<OrderLine, 'title' | 'variantTitle' | 'sku'>[],
  parcels: readonly Pick<Fulfilment, 'trackingNumber'>[],
): readonly string[] {
  const names = [order.shippingAddress, order.billingAddress].flatMap((address) => (address ? [address.name, address.company] : []))
  const texts = [
    order.email,
    ...names,
    ...parcels.map(({ trackingNumber }) => trackingNumber),
    ...lines.map(({ sku }) => sku),
    ...lines.flatMap(({ title, variantTitle }) => [title, variantTitle]),
  ]
  return searchTermsOf(texts.filter((text) => text !== null).join(' '), wordsMax)
}

/** Returns whether an order with this number and these words matches a query's words. */
export function matchesSearch(number: number, words: readonly string[], queryWords: readonly string[]): boolean {
  const whole = new Set([...words, String(number)])
  const last = queryWords.at(-1) ?? ''
  return queryWords.slice(0, -1).every((word) => whole.has(word)) && (whole.has(last) || words.some((word) => word.startsWith(last)))
}
