import { type Filling, fillSearch, fillUnknown } from '../../../core/backfill.ts'
import type { Piece } from '../../../core/csv-list.ts'
import { shortenList } from '../../../core/long-lists.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { Optional } from '../../../lib/objects.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { wordsOf } from '../../../lib/search-terms.ts'
import { stockStore } from '../stock/stock-store.ts'
import { managedStore as store, summaryFills } from './admin-products-store.ts'
import { searchWords } from './domain.ts'
import { type ManagedFilter, type ManagedValue, valuesOf } from './listing.ts'
import type { CatalogDeps } from './providers.ts'
import { type ManagementProduct, viewOf } from './service.ts'
import { addedTo } from './summary.ts'

/** Of `q`, the last word may be how a word begins; the others are values as the products have them. */
export type ManagedQuery = Optional<Record<ManagedValue[0], string> & { q: string }>

/** More words of a `q` are not looked at. */
const queryWordsMax = 10

const filterOf = ({ id: shopId }: Pick<ShopContext, 'id'>, { q, ...asked }: ManagedQuery): ManagedFilter => ({
  shopId,
  words: q === undefined || q.trim() === '' ? undefined : wordsOf(q, queryWordsMax),
  values: valuesOf(asked),
})

/** The shop's products in every status, newest first. */
export async function listProducts(
  deps: CatalogDeps,
  shop: Pick<ShopContext, 'id'>,
  query: ManagedQuery,
  slice: Slice,
): Promise<Page<ManagementProduct> & { totalCapped?: true }> {
  const { wholes, total, isCapped, isLong } = await store.list(deps.db.read, filterOf(shop, query), slice)
  if (isLong) shortenList(deps, store.shorten, shop.id, 'product')
  const page = pageOf(
    wholes.map((whole) => viewOf(deps, whole)),
    total,
    slice,
  )
  return isCapped ? { ...page, totalCapped: true } : page
}

/** A piece of the same list, where it is told whole: oldest first. */
export async function pieceOfProducts(
  deps: CatalogDeps,
  shop: Pick<ShopContext, 'id'>,
  query: ManagedQuery,
  slice: Slice,
): Promise<Piece<ManagementProduct>> {
  const { wholes, lookedTo } = await store.piece(deps.db.read, filterOf(shop, query), slice)
  return { data: wholes.map((whole) => viewOf(deps, whole)), lookedTo }
}

type FillDeps = Pick<CatalogDeps, 'db' | 'clock' | 'log' | 'catalogStore'>

const filling = (deps: FillDeps): Filling => ({
  ...store,
  subject: 'products',
  kind: 'product',
  async index(tx, id) {
    const whole = await deps.catalogStore.wholeOf(tx, id)
    if (!whole) return
    await store.put(tx, whole)
    await deps.catalogStore.renewSearch(tx, whole, searchWords(whole))
  },
})

/** Makes products findable that are older than the search, by their shop's people and by the public. @returns how many, and whether those were all */
export const fillProductSearch = (deps: FillDeps): Promise<{ filled: number; isDone: boolean }> => fillSearch(deps, filling(deps))

/** The same of those that a process of an older version has made lately. @returns how many */
export const fillUnknownProducts = (deps: FillDeps): Promise<number> => fillUnknown(deps, filling(deps))

/**
 * Makes the summaries of products that were stored by a version without them.
 * @returns how many, and whether those were all
 */
export const fillProductSummaries = (deps: FillDeps): Promise<{ filled: number; isDone: boolean }> =>
  fillSearch(deps, {
    ...filling(deps),
    ...summaryFills,
    subject: 'summaries',
    async index(tx, id) {
      // A change that commits between the read and the write must not lose its summary.
      await stockStore.lockProduct(tx, id)
      const found = await deps.catalogStore.documentOf(tx, id)
      if (found) await deps.catalogStore.addToDocument(tx, id, addedTo(found.document))
    },
  })
