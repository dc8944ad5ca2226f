import { api, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { collectionChoice, loadChoices, productChoice } from '../../lib/api/record-search.ts'
import type { Choice } from '../../lib/forms/choice.ts'

/** A discount with its version and the titles of its products and collections. */
export type VersionedDiscount = {
  readonly data: Schema<'Discount'>
  readonly etag: string
  readonly products: readonly Choice[]
  readonly collections: readonly Choice[]
}

const withoutRecord = ({ id, text, detail }: Choice): Choice => ({ id, text, detail })

/** @throws ApiError */
export async function readDiscount(id: string, signal?: AbortSignal): Promise<VersionedDiscount> {
  const more = signal ? { signal } : {}
  const { data, etag } = await readVersioned(api.GET('/discounts/{id}', { params: { path: { id } }, ...more }))
  const discount = data as Schema<'Discount'>
  const [products, collections] = await Promise.all([
    loadChoices(
      discount.productIds ?? [],
      (one) => ok(api.GET('/product-v2/{id}', { params: { path: { id: one } }, ...more })),
      (of) => withoutRecord(productChoice(of)),
    ),
    loadChoices(
      discount.collectionIds ?? [],
      (one) => ok(api.GET('/collection-v2/{id}', { params: { path: { id: one } }, ...more })),
      (of) => withoutRecord(collectionChoice(of)),
    ),
  ])
  return { data: discount, etag, products, collections }
}
