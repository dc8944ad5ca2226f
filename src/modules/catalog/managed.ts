import { type Filling, fillSearch, fillUnknown } from '../../core/filling.ts'
import type { ShopContext } from '../../core/principal.ts'
import { type Page, pageOf, type Slice } from '../../lib/page.ts'
import type { Optional } from '../../lib/records.ts'
import { wordsOf } from '../../lib/words.ts'
import { searchWords } from './domain.ts'
import { type ManagedValue, valuesOf } from './listing.ts'
import { managedStore as store } from './managed-store.ts'
import type { CatalogDeps } from './parts.ts'
import { type ManagementProduct, viewOf } from './service.ts'

/** Of `q`, the last word may be how a word begins; the others are values as the products have them. */
export type ManagedQuery = Optional<Record<ManagedValue[0], string> & { q: string }>

/** More words of a `q` are not looked at. */
const queryWordsMax = 10

/** The shop's products in every status, newest first. */
export async function listProducts(
  deps: CatalogDeps,
  { id: shopId }: Pick<ShopContext, 'id'>,
  { q, ...asked }: ManagedQuery,
  slice: Slice,
): Promise<Page<ManagementProduct> & { totalCapped?: true }> {
  const words = q === undefined || q.trim() === '' ? undefined : wordsOf(q, queryWordsMax)
  const { wholes, total, isCapped } = await store.list(deps.db.read, { shopId, words, values: valuesOf(asked) }, slice)
  const page = pageOf(
    wholes.map((whole) => viewOf(deps, whole)),
    total,
    slice,
  )
  return isCapped ? { ...page, totalCapped: true } : page
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
