import { api, ok, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { collectionChoice, loadChoices, productChoice } from '../../lib/api/record-search.ts'
import type { Choice } from '../../lib/forms/choice.ts'

/** A discount with the titles of its products and collections. */
export type NamedDiscount = Schema<'Discount'> & { readonly products: readonly Choice[]; readonly collections: readonly Choice[] }

/** Returns a choice without its record, because the draft compares values. */
export const withoutRecord = ({ id, text, detail }: Choice): Choice => ({ id, text, detail })

/** @throws ApiError */
export async function readDiscount(id: string, signal: AbortSignal): Promise<Versioned<NamedDiscount>> {
  const { data: discount, etag } = await readVersioned(api.GET('/discounts/{id}', { params: { path: { id } }, signal }))
  const [products, collections] = await Promise.all([
    loadChoices(
      discount.productIds ?? [],
      (id) => ok(api.GET('/product-v2/{id}', { params: { path: { id } }, signal })),
      (record) => withoutRecord(productChoice(record)),
    ),
    loadChoices(
      discount.collectionIds ?? [],
      (id) => ok(api.GET('/collection-v2/{id}', { params: { path: { id } }, signal })),
      (record) => withoutRecord(collectionChoice(record)),
    ),
  ])
  return { data: { ...discount, products, collections }, etag }
}
