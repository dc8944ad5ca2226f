import type { Writer } from '../../../../db/engine.ts'
import type { CatalogDeps } from '../products/providers.ts'

/** What somebody names of a shop's catalog. */
export type Named = { readonly productIds: readonly string[]; readonly collectionIds: readonly string[] }

/** The first of what is named, inside a write, that is not the shop's, by its field and its place in it; undefined when all of it is. */
export async function firstUnknown(
  tx: Writer,
  { collectionStore: store }: Pick<CatalogDeps, 'collectionStore'>,
  shopId: string,
  { productIds, collectionIds }: Named,
): Promise<{ readonly field: keyof Named; readonly at: number } | undefined> {
  const known = {
    productIds: await store.knownProducts(tx, shopId, productIds),
    collectionIds: await store.knownCollections(tx, shopId, collectionIds),
  }
  for (const [field, ids] of [
    ['productIds', productIds],
    ['collectionIds', collectionIds],
  ] as const) {
    const at = ids.findIndex((id) => !known[field].has(id))
    if (at >= 0) return { field, at }
  }
  return undefined
}
