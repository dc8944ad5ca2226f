/** Searches of records for pickers. */

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
/** Finds products of the shop, in every status. */
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
/** Finds customers of the shop, without erased ones. */
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
/** Finds shops of the instance, for operators. */
export async function findShops(q: string, signal: AbortSignal): Promise<readonly FoundRecord<Schema<'AdminShop'>>[]> {
  const { data } = await ok(api.GET('/admin/shops', { params: { query: { ...(q && { q }), limit: resultsMax } }, signal }))
  return data.map(shopChoice)
}

const pageMax = 100
const pagesMax = 20
/** Finds collections of the shop. The API cannot search them, so it reads pages until enough match. */
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

/** Loads the names of records by id, several at a time. A record that is gone keeps its id as name. */
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
