import { createCache } from '../../core/cache.ts'
import type { Deps } from '../../core/deps.ts'
import type { Slice } from '../../lib/page.ts'
import { wordsOf } from '../../lib/words.ts'
import { type MediaDeps, withPictureAddresses } from '../media/index.ts'
import { newestKeyAt, type Sort, type SortOrder, sorts } from './domain.ts'
import { type Bucket, locate, totalOf, windowOf, withChanges } from './listing.ts'
import type { CatalogStore, DocumentFilter } from './store.ts'
import { withQuantities } from './view.ts'

export type ReadDeps = Pick<MediaDeps, 'db' | 'clock' | 'config' | 'life'> & {
  readonly catalogStore: CatalogStore
  readonly listings: Listings
}
export type PublicQuery = DocumentFilter & {
  shopId: string
  /** Whether variants show how many there are of them. */
  showQuantity: boolean
  sort: Sort | undefined
  q: string | undefined
  tag: string | undefined
  collectionId: string | undefined
}
export type PublicPage = { documents: string[]; total: number; totalCapped?: true }

/** With a search, totals are exact up to this. */
export const searchTotalMax = 1_000
const queryWordsMax = 10

/** A page of what the public sees of a shop's products. */
export async function publicProducts(deps: ReadDeps, query: PublicQuery, slice: Slice): Promise<PublicPage> {
  const page = await pageOfDocuments(deps, query, slice)
  return { ...page, documents: await asShown(deps, page.documents, query.showQuantity) }
}

/**
 * Public documents as they are answered: with the addresses of their pictures and, of a shop that shows quantities, with what there is of each
 * variant now.
 */
export async function asShown(
  deps: Pick<ReadDeps, 'catalogStore' | 'config' | 'life'>,
  documents: readonly string[],
  showQuantity: boolean,
): Promise<string[]> {
  const shown = showQuantity ? await withStocks(deps, documents) : documents
  return shown.map((document) => withPictureAddresses(deps, document))
}

async function withStocks({ catalogStore }: Pick<ReadDeps, 'catalogStore'>, documents: readonly string[]): Promise<string[]> {
  const stocks = await catalogStore.stocksOf(documents.map((document) => (JSON.parse(document) as { id: string }).id))
  return documents.map((document) => withQuantities(document, stocks))
}

async function pageOfDocuments(deps: ReadDeps, query: PublicQuery, slice: Slice): Promise<PublicPage> {
  if (query.q !== undefined && query.q.trim() !== '') return searched(deps, query, query.q, slice)
  const { collectionId } = query
  const tag = query.tag?.toLowerCase()
  const isFiltered = [query.vendor, query.type, query.available, query.minPrice, query.maxPrice].some((value) => value !== undefined)
  if (collectionId !== undefined || isFiltered) return filtered(deps, { ...query, tag }, slice)
  return tag === undefined ? listed(deps, query.shopId, sorts[query.sort ?? 'newest'], slice) : tagged(deps, query, tag, slice)
}

/** A collection has an order of its own, which holds unless another is asked for. */
async function filtered({ catalogStore, clock }: ReadDeps, { sort, ...query }: PublicQuery, slice: Slice): Promise<PublicPage> {
  const { shopId, tag, collectionId, vendor, type, available, minPrice, maxPrice } = query
  const filter = { shopId, now: clock.now(), tag, collectionId, vendor, type, available, minPrice, maxPrice }
  const own = collectionId === undefined ? sorts.newest : 'collection'
  return {
    documents: await catalogStore.filtered(filter, sort === undefined ? own : sorts[sort], slice),
    total: await catalogStore.countFiltered(filter),
  }
}

async function tagged(
  { catalogStore, clock, listings }: ReadDeps,
  { shopId, sort = 'newest' }: PublicQuery,
  tag: string,
  slice: Slice,
): Promise<PublicPage> {
  const now = clock.now()
  const keyBefore = newestKeyAt(now + 1)
  const total = await catalogStore.countTagged(shopId, tag, keyBefore)
  if (slice.offset >= total) return { documents: [], total }
  if (sort === 'newest') return { documents: await catalogStore.newestTagged(shopId, tag, keyBefore, slice), total }
  const inShop = totalOf((await listings.of(shopId, 'newest', now)).buckets)
  // Along the order, every (inShop / total)th document carries the tag; gathering touches each that does.
  const walk = ((slice.offset + slice.limit) * inShop) / total < total
  return { documents: await catalogStore.filtered({ shopId, now, tag }, sorts[sort], slice, walk), total }
}

async function listed(
  { catalogStore, clock, listings }: ReadDeps,
  shopId: string,
  { order, descending }: { order: SortOrder; descending: boolean },
  slice: Slice,
): Promise<PublicPage> {
  const now = clock.now()
  const { buckets, scheduled } = await listings.of(shopId, order, now)
  const total = totalOf(buckets)
  const { start, count } = windowOf(total, slice, descending)
  if (count === 0) return { documents: [], total }
  const documents = await catalogStore.documentsFrom(shopId, order, locate(buckets, start), { now, limit: count, scheduled })
  return { documents: descending ? documents.reverse() : documents, total }
}

async function searched(
  { catalogStore, clock }: ReadDeps,
  { shopId, tag, collectionId, vendor, type, available, minPrice, maxPrice }: PublicQuery,
  q: string,
  { offset, limit }: Slice,
): Promise<PublicPage> {
  const words = wordsOf(q, queryWordsMax)
  if (words.length === 0) return { documents: [], total: 0 }
  const query = { shopId, words, now: clock.now(), tag: tag?.toLowerCase(), collectionId, vendor, type, available, minPrice, maxPrice }
  const { ids: found, isWhole } = await catalogStore.search({ ...query, limit: searchTotalMax + 1 })
  const capped = found.length > searchTotalMax || !isWhole
  // Nothing lies past the total that is told: a page far out costs no more than the first.
  const ids = found.slice(0, searchTotalMax).slice(offset, offset + limit)
  return {
    documents: await catalogStore.documentsOf(ids),
    total: Math.min(found.length, searchTotalMax),
    ...(capped ? { totalCapped: true as const } : {}),
  }
}

/** The counted lists of what shops show, kept while the database does not change and no publication date passes. */
export type Listings = { of(shopId: string, order: SortOrder, now: number): Listing | Promise<Listing> }
/** `scheduled`: the shop has documents that are not visible yet, and that the buckets do not count. */
export type Listing = { buckets: Bucket[]; scheduled: boolean }

const listingsMax = 1_000

/** The listings of one process, bounded by number. */
export function createListings({ db, catalogStore }: Pick<Deps, 'db'> & { catalogStore: CatalogStore }): Listings {
  const cache = createCache<Listing & { from: number; until: number }>({ version: db.version, entriesMax: listingsMax })
  return {
    of(shopId, order, now) {
      const key = `${order} ${shopId}`
      const known = cache.get(key)
      if (known && known.from <= now && now < known.until) return known
      return cache.renew(key, async () => {
        const { anchors, changes, hidden } = await catalogStore.listing(shopId, order, newestKeyAt(now + 1))
        const buckets = withChanges(anchors, [...changes, ...hidden.map((one) => ({ key: one.key, documents: -1 }))])
        const until = hidden.reduce((soonest, { visibleFrom }) => Math.min(soonest, visibleFrom), Number.POSITIVE_INFINITY)
        return { buckets, scheduled: hidden.length > 0, from: now, until }
      })
    },
  }
}
