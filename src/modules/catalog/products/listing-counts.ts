import type { Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { applyChanges, bucketMax, bucketOf } from './listing.ts'
import type { CatalogStore } from './store.ts'

/** Folds the changes of a shop's listing before they grow long. */
type ListingCounts = {
  /** Call after each write to the shop's catalog. */
  countWrite(shopId: string): void
  /** Folds all current changes. */
  foldAll(shopId: string): Promise<void>
}

const foldAfterWrites = 256
const changesPerFold = 256

/** @param documentsMax documents of a bucket before it is split; even */
export function createListingCounts(
  deps: Pick<Deps, 'db' | 'log'> & { catalogStore: CatalogStore },
  documentsMax = bucketMax,
): ListingCounts {
  const writes = new Map<string, number>()
  const folding = new Map<string, Promise<void>>()

  async function foldAll(shopId: string): Promise<void> {
    writes.delete(shopId)
    while ((await foldChanges(deps, shopId, documentsMax)) > 0) await new Promise((resume) => setImmediate(resume))
  }

  return {
    countWrite(shopId) {
      const count = (writes.get(shopId) ?? 0) + 1
      writes.set(shopId, count)
      if (count < foldAfterWrites || folding.has(shopId)) return
      const work = foldAll(shopId)
        .catch((error: unknown) => deps.log.warn('catalog.fold_failed', { error }))
        .finally(() => folding.delete(shopId))
      folding.set(shopId, work)
    },
    foldAll,
  }
}

/** Folds some changes into the shop's anchors. Returns their number; zero when all are folded. */
async function foldChanges(
  { db, catalogStore: store }: Pick<Deps, 'db'> & { catalogStore: CatalogStore },
  shopId: string,
  documentsMax: number,
): Promise<number> {
  return db.write(async (tx) => {
    const changes = await store.changesOf(tx, shopId, changesPerFold)
    if (changes.length === 0) return 0
    // Only when all changes are folded do the anchors equal the index, so that a bucket can be split.
    const isExact = changes.length < changesPerFold
    for (const order of store.sortOrders) {
      const anchors = await store.anchors(tx, shopId, order)
      const buckets = applyChanges(
        anchors,
        changes.map((change) => ({ key: change[`${order}Key`], documents: change.documents })),
      )
      const touched = new Set([0, ...changes.map((change) => bucketOf(buckets, change[`${order}Key`]))])
      for (const [at, bucket] of buckets.entries()) {
        if (isExact && bucket.documents > documentsMax) await splitBucket(tx, shopId, order, bucket)
        else if (!touched.has(at)) continue
        else if (bucket.documents === 0 && bucket.key !== '') await store.removeAnchor(tx, shopId, order, bucket.key)
        else await store.putAnchor(tx, shopId, order, bucket)
      }
    }
    await store.removeChanges(
      tx,
      changes.map(({ id }) => id),
    )
    return changes.length
  })

  /** Splits a bucket that grew too large into half-full ones. */
  async function splitBucket(
    tx: Writer,
    shopId: string,
    order: (typeof store.sortOrders)[number],
    bucket: { key: string; documents: number },
  ): Promise<void> {
    let { key, documents } = bucket
    while (documents > documentsMax) {
      const next = await store.keyAt(tx, shopId, order, key, documentsMax / 2)
      if (next === undefined) break
      await store.putAnchor(tx, shopId, order, { key, documents: documentsMax / 2 })
      key = next
      documents -= documentsMax / 2
    }
    await store.putAnchor(tx, shopId, order, { key, documents })
  }
}
