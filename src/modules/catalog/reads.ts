import type { Deps } from '../../deps.ts'
import { wordsOf } from '../../lib/words.ts'
import type { Slice } from '../../lib/page.ts'
import { newestKeyAt, type Sort, type SortOrder, sorts } from './domain.ts'
import { type Bucket, locate, totalOf, windowOf, withChanges } from './listing.ts'
import type { CatalogStore } from './store.ts'

export type ReadDeps = Pick<Deps, 'db' | 'clock'> & { readonly catalogStore: CatalogStore; readonly listings: Listings }
export type PublicQuery = { shopId: string; sort: Sort | undefined; q: string | undefined; tag: string | undefined; collectionId: string | undefined }
export type PublicPage = { documents: string[]; total: number; totalCapped?: true }

/** With a search, totals are exact up to this. */
export const searchTotalMax = 1_000
const queryWordsMax = 10

/** A page of what the public sees of a shop's products. */
export async function publicProducts(deps: ReadDeps, query: PublicQuery, slice: Slice): Promise<PublicPage> {
  if (query.q !== undefined) return searched(deps, query, query.q, slice)
  const { shopId, tag, collectionId } = query
  if (tag !== undefined || collectionId !== undefined) {
    // A collection has an order of its own, which holds unless another is asked for.
    const sort = query.sort === undefined && collectionId !== undefined ? 'collection' : sorts[query.sort ?? 'newest']
    return deps.catalogStore.filteredDocuments({ shopId, now: deps.clock.now(), tag: tag?.toLowerCase(), collectionId }, sort, slice)
  }
  return listed(deps, shopId, sorts[query.sort ?? 'newest'], slice)
}

async function listed({ catalogStore, clock, listings }: ReadDeps, shopId: string, { order, descending }: { order: SortOrder; descending: boolean }, slice: Slice): Promise<PublicPage> {
  const now = clock.now()
  const buckets = await listings.of(shopId, order)
  const scheduled = await catalogStore.countFrom(shopId, newestKeyAt(now + 1))
  const total = totalOf(buckets) - scheduled
  // Those to come are last among the newest, where the count leaves them out. Elsewhere they lie scattered: then we count by hand.
  if (scheduled > 0 && order !== 'newest') return catalogStore.filteredDocuments({ shopId, now }, { order, descending }, slice)
  const { start, count } = windowOf(total, slice, descending)
  if (count === 0) return { documents: [], total }
  const documents = await catalogStore.documentsFrom(shopId, order, locate(buckets, start), count)
  return { documents: descending ? documents.reverse() : documents, total }
}

async function searched({ catalogStore, clock }: ReadDeps, { shopId, tag, collectionId }: PublicQuery, q: string, { offset, limit }: Slice): Promise<PublicPage> {
  const words = wordsOf(q, queryWordsMax)
  if (words.length === 0) return { documents: [], total: 0 }
  const query = { shopId, words, now: clock.now(), tag: tag?.toLowerCase(), collectionId }
  const found = await catalogStore.search({ ...query, limit: searchTotalMax + 1, offset: 0 })
  const capped = found.length > searchTotalMax
  const ids = offset + limit <= found.length || !capped ? found.slice(offset, offset + limit) : await catalogStore.search({ ...query, limit, offset })
  return { documents: await catalogStore.documentsOf(ids), total: Math.min(found.length, searchTotalMax), ...(capped ? { totalCapped: true as const } : {}) }
}

/** The counted lists of shops, kept while the database does not change. */
export type Listings = { of(shopId: string, order: SortOrder): Promise<Bucket[]> }

const listingsMax = 1_000

export function createListings({ db, catalogStore }: Pick<Deps, 'db'> & { catalogStore: CatalogStore }): Listings {
  const kept = new Map<string, { version: number; buckets: Bucket[] }>()
  return {
    async of(shopId, order) {
      const key = `${order} ${shopId}`
      const version = db.version()
      const known = kept.get(key)
      if (known && known.version === version) return known.buckets
      const { anchors, changes } = await catalogStore.listing(shopId, order)
      const buckets = withChanges(anchors, changes)
      kept.delete(key)
      if (version !== undefined) kept.set(key, { version, buckets })
      if (kept.size > listingsMax) {
        const [oldest] = kept.keys()
        if (oldest !== undefined) kept.delete(oldest)
      }
      return buckets
    },
  }
}
