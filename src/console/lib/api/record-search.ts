/** Records by what somebody types, for pickers. */

import { foldText } from '../format/fold-text.ts'
import type { Choice } from '../forms/choice.ts'
import { api, ok, type Schema } from './api.ts'

const resultsMax = 12

export type FoundRecord<Of> = Choice & { readonly of: Of }

export const productChoice = (of: Schema<'Product'>): FoundRecord<Schema<'Product'>> => ({
  id: of.id,
  text: of.title,
  detail: of.handle,
  of,
})
/** Products of the shop, in every status. */
export async function findProducts(q: string, signal: AbortSignal): Promise<readonly FoundRecord<Schema<'Product'>>[]> {
  const { data } = await ok(api.GET('/product-v2', { params: { query: { ...(q && { q }), limit: resultsMax } }, signal }))
  return data.map(productChoice)
}

export const customerChoice = (of: Schema<'Customer'>): FoundRecord<Schema<'Customer'>> => ({
  id: of.id,
  text: of.name || of.email,
  detail: of.email,
  of,
})
/** Customers of the shop; of those who were erased none. */
export async function findCustomers(q: string, signal: AbortSignal): Promise<readonly FoundRecord<Schema<'Customer'>>[]> {
  const { data } = await ok(api.GET('/customer', { params: { query: { ...(q && { q }), limit: resultsMax } }, signal }))
  return data.filter(({ erasedAt }) => erasedAt === null).map(customerChoice)
}

export const collectionChoice = (of: Schema<'Collection'>): FoundRecord<Schema<'Collection'>> => ({
  id: of.id,
  text: of.title,
  detail: of.handle,
  of,
})
export const shopChoice = (of: Schema<'AdminShop'>): FoundRecord<Schema<'AdminShop'>> => ({
  id: of.id,
  text: of.title || of.name,
  detail: of.name,
  of,
})
/** Shops of the network, for operators. */
export async function findShops(q: string, signal: AbortSignal): Promise<readonly FoundRecord<Schema<'AdminShop'>>[]> {
  const { data } = await ok(api.GET('/admin/shops', { params: { query: { ...(q && { q }), limit: resultsMax } }, signal }))
  return data.map(shopChoice)
}

const pageMax = 100
const pagesMax = 20
/** Collections of the shop. The API does not search them: they are read page by page until enough fit. */
export async function findCollections(q: string, signal: AbortSignal): Promise<readonly FoundRecord<Schema<'Collection'>>[]> {
  const words = foldText(q).split(/\s+/).filter(Boolean)
  const fits = ({ title, handle }: Schema<'Collection'>) => words.every((word) => foldText(`${title} ${handle}`).includes(word))
  const found: FoundRecord<Schema<'Collection'>>[] = []
  for (let page = 1; page <= pagesMax && found.length < resultsMax; page++) {
    const list = await ok(api.GET('/collection-v2', { params: { query: { page, limit: pageMax } }, signal }))
    found.push(...list.data.filter(fits).map(collectionChoice))
    if (page >= list.pages) break
  }
  return found.slice(0, resultsMax)
}

/**
 * What records are called of which one has the ids alone, some at a time. Those that are gone stand by their id.
 * @param read one by its id
 */
export async function loadChoices<Of>(
  ids: readonly string[],
  read: (id: string) => Promise<Of>,
  choice: (of: Of) => Choice,
): Promise<readonly Choice[]> {
  const atOnce = 6
  const named: Choice[] = []
  for (let from = 0; from < ids.length; from += atOnce)
    named.push(...(await Promise.all(ids.slice(from, from + atOnce).map((id) => read(id).then(choice, (): Choice => ({ id, text: id }))))))
  return named
}
