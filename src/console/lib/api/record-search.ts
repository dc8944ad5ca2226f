/** Searches of records for pickers. */

import { foldText } from '../format/fold-text.ts'
import type { Choice } from '../forms/choice.ts'
import { api, ok, type Schema } from './api.ts'

const resultsMax = 12

export type FoundRecord<Data> = Choice & { readonly record: Data }

/** Converts a product to an entry of a picker. */
export const productChoice = (product: Schema<'Product'>): FoundRecord<Schema<'Product'>> => ({
  id: product.id,
  text: product.title,
  detail: product.handle,
  record: product,
})
/** Finds products of the shop, in every status. */
export async function findProducts(q: string, signal: AbortSignal): Promise<readonly FoundRecord<Schema<'Product'>>[]> {
  const { data } = await ok(api.GET('/product-v2', { params: { query: { ...(q && { q }), limit: resultsMax } }, signal }))
  return data.map(productChoice)
}

/** Converts a customer to an entry of a picker. Without a name it shows the e-mail address. */
export const customerChoice = (customer: Schema<'Customer'>): FoundRecord<Schema<'Customer'>> => ({
  id: customer.id,
  text: customer.name || customer.email,
  detail: customer.email,
  record: customer,
})
/** Finds customers of the shop, without erased ones. */
export async function findCustomers(q: string, signal: AbortSignal): Promise<readonly FoundRecord<Schema<'Customer'>>[]> {
  const { data } = await ok(api.GET('/customer', { params: { query: { ...(q && { q }), limit: resultsMax } }, signal }))
  return data.filter(({ erasedAt }) => erasedAt === null).map(customerChoice)
}

/** Converts a collection to an entry of a picker. */
export const collectionChoice = (collection: Schema<'Collection'>): FoundRecord<Schema<'Collection'>> => ({
  id: collection.id,
  text: collection.title,
  detail: collection.handle,
  record: collection,
})
/** Converts a shop to an entry of a picker. Without a title it shows the handle. */
export const shopChoice = (shop: Schema<'AdminShop'>): FoundRecord<Schema<'AdminShop'>> => ({
  id: shop.id,
  text: shop.title || shop.name,
  detail: shop.name,
  record: shop,
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
  const matches = ({ title, handle }: Schema<'Collection'>) => words.every((word) => foldText(`${title} ${handle}`).includes(word))
  const found: FoundRecord<Schema<'Collection'>>[] = []
  for (let page = 1; page <= pagesMax && found.length < resultsMax; page++) {
    const list = await ok(api.GET('/collection-v2', { params: { query: { page, limit: pageMax } }, signal }))
    found.push(...list.data.filter(matches).map(collectionChoice))
    if (page >= list.pages) break
  }
  return found.slice(0, resultsMax)
}

/** Loads the names of records by id, several at a time. A record that is gone keeps its id as name. */
export async function loadChoices<Data>(
  ids: readonly string[],
  read: (id: string) => Promise<Data>,
  toChoice: (record: Data) => Choice,
): Promise<readonly Choice[]> {
  const batchSize = 6
  const choices: Choice[] = []
  for (let start = 0; start < ids.length; start += batchSize)
    choices.push(
      ...(await Promise.all(ids.slice(start, start + batchSize).map((id) => read(id).then(toChoice, (): Choice => ({ id, text: id }))))),
    )
  return choices
}
