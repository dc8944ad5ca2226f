import type { Writer } from '../../../../db/engine.ts'
import type { CatalogDeps } from '../products/providers.ts'

/** Products and collections that a record refers to. */
type CatalogReferences = { readonly productIds: readonly string[]; readonly collectionIds: readonly string[] }

/** Returns the first id that the shop does not have, by field and index; undefined if the shop has all. */
export async function findUnknownReference(
  tx: Writer,
  { collectionStore: store }: Pick<CatalogDeps, 'collectionStore'>,
  shopId: string,
  { productIds, collectionIds }: CatalogReferences,
): Promise<{ readonly field: keyof CatalogReferences; readonly at: number } | undefined> {
  const existing = {
    productIds: await store.existingProducts(tx, shopId, productIds),
    collectionIds: await store.existingCollections(tx, shopId, collectionIds),
  }
  for (const [field, ids] of [
    ['productIds', productIds],
    ['collectionIds', collectionIds],
  ] as const) {
    const at = ids.findIndex((id) => !existing[field].has(id))
    if (at >= 0) return { field, at }
  }
  return undefined
}
