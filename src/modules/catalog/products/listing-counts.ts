import type { Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { bucketMax, bucketOf, withChanges } from './listing.ts'
import type { CatalogStore } from './store.ts'

/** Folds the listing of a shop before its changes grow long. */
export type Folds = {
  /** Something was written to the shop's catalog. */
  noteWrite(shopId: string): void
  /** Folds all there is now. */
  foldAll(shopId: string): Promise<void>
}

const foldAfterWrites = 256
const changesPerFold = 256

/** @param most documents of a bucket before it is parted; even */
export function createFolds(deps: Pick<Deps, 'db' | 'log'> & { catalogStore: CatalogStore }, most = bucketMax): Folds {
  const writes = new Map<string, number>()
  const folding = new Map<string, Promise<void>>()

  async function foldAll(shopId: string): Promise<void> {
    writes.delete(shopId)
    while ((await foldSome(deps, shopId, most)) > 0) await new Promise((resume) => setImmediate(resume))
  }

  return {
    noteWrite(shopId) {
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

/** Adds some changes to the shop's anchors. Returns how many there were; zero when all are folded. */
async function foldSome(
  { db, catalogStore: store }: Pick<Deps, 'db'> & { catalogStore: CatalogStore },
  shopId: string,
  most: number,
): Promise<number> {
  return db.write(async (tx) => {
    const changes = await store.changesOf(tx, shopId, changesPerFold)
    if (changes.length === 0) return 0
    // With every change taken, the anchors count exactly what the index holds, and only then can a bucket be parted.
    const exact = changes.length < changesPerFold
    for (const order of store.sortOrders) {
      const anchors = await store.anchors(tx, shopId, order)
      const buckets = withChanges(
        anchors,
        changes.map((change) => ({ key: change[`${order}Key`], documents: change.documents })),
      )
      const touched = new Set([0, ...changes.map((change) => bucketOf(buckets, change[`${order}Key`]))])
      for (const [at, bucket] of buckets.entries()) {
        if (exact && bucket.documents > most) await part(tx, shopId, order, bucket)
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

  /** Parts a bucket that grew too large into half-full ones. */
  async function part(
    tx: Writer,
    shopId: string,
    order: (typeof store.sortOrders)[number],
    bucket: { key: string; documents: number },
  ): Promise<void> {
    let { key, documents } = bucket
    while (documents > most) {
      const next = await store.keyAt(tx, shopId, order, key, most / 2)
      if (next === undefined) break
      await store.putAnchor(tx, shopId, order, { key, documents: most / 2 })
      key = next
      documents -= most / 2
    }
    await store.putAnchor(tx, shopId, order, { key, documents })
  }
}
