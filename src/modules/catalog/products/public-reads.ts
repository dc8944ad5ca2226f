import { createCache } from '../../../core/cache.ts'
import type { Deps } from '../../../core/deps.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { searchTermsOf } from '../../../lib/search-terms.ts'
import { publicRecordsBytesMax, shortenTexts } from '../../../lib/shorten-texts.ts'
import { type MediaDeps, withPictureUrls } from '../media/index.ts'
import { newestKeyAt, type Sort, type SortOrder, sorts } from './domain.ts'
import { applyChanges, type Bucket, locatePosition, pageWindow, tagBitsOf, totalOf } from './listing.ts'
import type { CatalogStore, ProductFilter } from './store.ts'
import { shortSummary, summaryAndTagBitsOf } from './summary.ts'
import { variantIdsOf, withQuantities } from './view.ts'

export type ReadDeps = Pick<MediaDeps, 'db' | 'clock' | 'config' | 'life'> & {
  readonly catalogStore: CatalogStore
  readonly listings: ListingCache
}
export type PublicQuery = Omit<ProductFilter, 'now'> & {
  /** Whether variants show their stock. */
  readonly showQuantity: boolean
  readonly sort: Sort | undefined
  readonly q: string | undefined
}
/** @property summaries products as JSON, with the fields of lists */
type PublicPage = { summaries: string[]; total: number; totalCapped?: true }
type IdsPage = { ids: readonly string[]; total: number; totalCapped?: true }

/** With a search or a filter, totals are exact up to this number, and pages end there. */
const totalMax = 1_000
const queryWordsMax = 10
/** If at most this many products are candidates of the filter, the search tests each match. */
const candidatesMax = 1_000

/** Returns a page of a shop's public products. */
export async function listPublicProducts(deps: ReadDeps, query: PublicQuery, slice: PageSlice): Promise<PublicPage> {
  const { ids, ...page } = await findPublicProductIds(deps, query, slice)
  return { ...page, summaries: await summariesFor(deps, ids, query.showQuantity) }
}

/**
 * Returns summaries with picture URLs and, for shops with `showQuantity`, current quantities.
 * @param bytes limit of all summaries together
 */
export async function summariesFor(
  deps: Pick<ReadDeps, 'catalogStore' | 'config' | 'life'>,
  ids: readonly string[],
  showQuantity: boolean,
  bytes = publicRecordsBytesMax,
): Promise<string[]> {
  const stored = await loadSummaries(deps, ids)
  const summaries = showQuantity ? await addQuantities(deps, stored) : stored
  return shortenTexts(
    summaries.map((summary) => withPictureUrls(deps, summary)),
    // Reserves one byte for each comma between the texts.
    bytes - ids.length,
    shortSummary,
  )
}

/** In the order of `ids`. */
async function loadSummaries({ catalogStore }: Pick<ReadDeps, 'catalogStore'>, ids: readonly string[]): Promise<string[]> {
  const summaries = await catalogStore.summariesOf(ids)
  // Products of an older version whose summary the job has not rendered yet.
  const documents = await catalogStore.documentsOf(ids.filter((id) => !summaries.has(id)))
  for (const [id, document] of documents) summaries.set(id, summaryAndTagBitsOf(document).summary)
  return ids.flatMap((id) => summaries.get(id) ?? [])
}

async function addQuantities({ catalogStore }: Pick<ReadDeps, 'catalogStore'>, summaries: readonly string[]): Promise<string[]> {
  const stocks = await catalogStore.stocksOf(summaries.flatMap(variantIdsOf))
  return summaries.map((summary) => withQuantities(summary, stocks))
}

/** Returns the ids of a page of a shop's public products. */
export async function findPublicProductIds(
  deps: ReadDeps,
  { showQuantity: _, sort, q, ...conditionsAndShop }: PublicQuery,
  slice: PageSlice,
): Promise<IdsPage> {
  const tag = conditionsAndShop.tag?.toLowerCase()
  const filter = { ...conditionsAndShop, tag, tagBits: tag === undefined ? undefined : tagBitsOf([tag]), now: deps.clock.now() }
  if (q !== undefined && q.trim() !== '') return searchProducts(deps, filter, q, slice)
  const { shopId, now: __, ...conditions } = filter
  const isFiltered = Object.values(conditions).some((value) => value !== undefined)
  if (!isFiltered) return listFromCounts(deps, shopId, sorts[sort ?? 'newest'], slice)
  // A collection has its own order, unless the request has another.
  const defaultSort = filter.collectionId === undefined ? sorts.newest : 'collection'
  const end = slice.offset < totalMax ? Math.min(slice.offset + slice.limit, totalMax) : 0
  const matches = await deps.catalogStore.filtered(filter, sort === undefined ? defaultSort : sorts[sort], { end, totalMax })
  return pageOfMatches(matches, slice)
}

type Matches = { readonly ids: readonly string[]; readonly total: number; readonly isComplete?: boolean }

/** Pages beyond `total` are empty, so a late page costs no more than the first. */
function pageOfMatches({ ids, total, isComplete = true }: Matches, { offset, limit }: PageSlice): IdsPage {
  const isCapped = total > totalMax || !isComplete
  return {
    ids: ids.slice(0, totalMax).slice(offset, offset + limit),
    total: Math.min(total, totalMax),
    ...(isCapped ? { totalCapped: true as const } : {}),
  }
}

async function listFromCounts(
  { catalogStore, clock, listings }: ReadDeps,
  shopId: string,
  { order, descending }: { order: SortOrder; descending: boolean },
  slice: PageSlice,
): Promise<IdsPage> {
  const now = clock.now()
  const { buckets, scheduled } = await listings.of(shopId, order, now)
  const total = totalOf(buckets)
  const { start, count } = pageWindow(total, slice, descending)
  if (count === 0) return { ids: [], total }
  const ids = await catalogStore.documentsFrom(shopId, order, locatePosition(buckets, start), { now, limit: count, scheduled })
  return { ids: descending ? ids.reverse() : ids, total }
}

async function searchProducts({ catalogStore }: ReadDeps, filter: ProductFilter, q: string, slice: PageSlice): Promise<IdsPage> {
  const words = searchTermsOf(q, queryWordsMax)
  if (words.length === 0) return { ids: [], total: 0 }
  const { shopId: _, now: __, tag: ___, tagBits: ____, ...conditions } = filter
  const isFiltered = Object.values(conditions).some((value) => value !== undefined)
  const among = isFiltered ? await catalogStore.findCandidates(filter, candidatesMax) : undefined
  const { ids, isComplete } = await catalogStore.search({ ...filter, words, among, limit: totalMax + 1 })
  return pageOfMatches({ ids, total: ids.length, isComplete }, slice)
}

/** Caches counted lists until the database changes or a publication date passes. */
type ListingCache = { of(shopId: string, order: SortOrder, now: number): Listing | Promise<Listing> }
/** `scheduled`: the shop has documents that are not visible yet and that the buckets do not count. */
type Listing = { buckets: Bucket[]; scheduled: boolean }

const listingsMax = 1_000

/** Creates the cache of a process, bounded by entries. */
export function createListingCache({ db, catalogStore }: Pick<Deps, 'db'> & { catalogStore: CatalogStore }): ListingCache {
  const cache = createCache<Listing & { from: number; until: number }>({ version: db.version, entriesMax: listingsMax })
  return {
    of(shopId, order, now) {
      const key = `${order} ${shopId}`
      const cached = cache.get(key)
      if (cached && cached.from <= now && now < cached.until) return cached
      return cache.reload(key, async () => {
        const { anchors, changes, hidden } = await catalogStore.listing(shopId, order, newestKeyAt(now + 1))
        const buckets = applyChanges(anchors, [...changes, ...hidden.map((one) => ({ key: one.key, documents: -1 }))])
        const until = hidden.reduce((soonest, { visibleFrom }) => Math.min(soonest, visibleFrom), Number.POSITIVE_INFINITY)
        return { buckets, scheduled: hidden.length > 0, from: now, until }
      })
    },
  }
}
