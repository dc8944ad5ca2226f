import { backfillSearch, indexMissed, type SearchBackfill } from '../../../core/backfill.ts'
import type { ListChunk } from '../../../core/csv-list.ts'
import { extendPageIndex } from '../../../core/long-lists.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { Optional } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { searchTermsOf } from '../../../lib/search-terms.ts'
import { stockStore } from '../stock/stock-store.ts'
import { adminProductStore as store, summaryFills } from './admin-products-store.ts'
import { type Sort, searchWords } from './domain.ts'
import { type AdminProductFilter, type FilterValue, filterValuesOf } from './listing.ts'
import type { CatalogDeps } from './providers.ts'
import { type ManagementProduct, managementViewWithUrls } from './service.ts'
import { summaryAndTagBitsOf } from './summary.ts'

/** The last word of `q` matches as a prefix. The other values match exactly. */
type AdminProductQuery = Optional<Record<FilterValue[0], string> & { q: string; sort: Sort }>

/** Further words of `q` are ignored. */
const queryWordsMax = 10

const filterOf = ({ id: shopId }: Pick<ShopContext, 'id'>, { q, sort: _, ...values }: AdminProductQuery): AdminProductFilter => ({
  shopId,
  words: q === undefined || q.trim() === '' ? undefined : searchTermsOf(q, queryWordsMax),
  values: filterValuesOf(values),
})

/** Lists the shop's products of every status. */
export async function listProducts(
  deps: CatalogDeps,
  shop: Pick<ShopContext, 'id'>,
  query: AdminProductQuery,
  slice: PageSlice,
): Promise<Page<ManagementProduct> & { totalCapped?: true }> {
  const { records, total, isCapped, isLong } = await store.list(deps.db.read, filterOf(shop, query), slice, query.sort ?? 'newest')
  if (isLong) extendPageIndex(deps, store.shorten, shop.id, 'product')
  const page = pageOf(
    records.map((record) => managementViewWithUrls(deps, record)),
    total,
    slice,
  )
  return isCapped ? { ...page, totalCapped: true } : page
}

/** Reads the next products of an export, oldest first. */
export async function readProductChunk(
  deps: CatalogDeps,
  shop: Pick<ShopContext, 'id'>,
  query: AdminProductQuery,
  slice: PageSlice,
): Promise<ListChunk<ManagementProduct>> {
  const { records, scannedTo } = await store.readChunk(deps.db.read, filterOf(shop, query), slice)
  return { data: records.map((record) => managementViewWithUrls(deps, record)), scannedTo }
}

type BackfillDeps = Pick<CatalogDeps, 'db' | 'clock' | 'log' | 'catalogStore'>

const searchBackfill = (deps: BackfillDeps): SearchBackfill => ({
  ...store,
  subject: 'products',
  kind: 'product',
  async index(tx, id) {
    const record = await deps.catalogStore.findProductById(tx, id)
    if (!record) return
    await store.put(tx, record)
    await deps.catalogStore.replaceSearchWords(tx, record, searchWords(record))
  },
})

/**
 * Indexes products of versions without the search, for staff and for the public. @returns the count, and whether all
 * are done
 */
export const backfillProductSearch = (deps: BackfillDeps): Promise<{ filled: number; isDone: boolean }> =>
  backfillSearch(deps, searchBackfill(deps))

/** Indexes products that a process of an older version has just created. @returns the count */
export const indexUnindexedProducts = (deps: BackfillDeps): Promise<number> => indexMissed(deps, searchBackfill(deps))

/**
 * Renders missing summaries of products from older versions.
 * @returns the count, and whether all are done
 */
export const backfillProductSummaries = (deps: BackfillDeps): Promise<{ filled: number; isDone: boolean }> =>
  backfillSearch(deps, {
    ...searchBackfill(deps),
    ...summaryFills,
    subject: 'summaries',
    async index(tx, id) {
      // Locks the product, so that a change at the same time does not lose its summary.
      await stockStore.lockProduct(tx, id)
      const found = await deps.catalogStore.documentOf(tx, id)
      if (found) await deps.catalogStore.addToDocument(tx, id, summaryAndTagBitsOf(found.document))
    },
  })
