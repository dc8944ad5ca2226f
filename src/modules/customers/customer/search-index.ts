import type { Writer } from '../../../../db/engine.ts'
import { backfillSearch, indexMissed, type SearchBackfill } from '../../../core/backfill.ts'
import type { ListChunk } from '../../../core/csv-list.ts'
import { extendPageIndex } from '../../../core/long-lists.ts'
import { storedMailAddress } from '../../../lib/mail-address.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { tagKeyOf } from '../../../lib/search-terms.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import { type Customer, type CustomerQuery, type CustomerSort, type StaffCustomerView, staffCustomerView } from './domain.ts'
import type { CustomerDeps } from './providers.ts'
import { customerListStore as store } from './search-store.ts'
import type { Shop } from './service.ts'

const filterOf = ({ id: shopId }: Shop, { email, q, tag }: CustomerQuery) => ({
  shopId,
  email: email === undefined ? undefined : normalEmail(email),
  q: q === undefined ? undefined : storedMailAddress(q.trim()),
  tag: tag === undefined ? undefined : tagKeyOf(tag),
})

async function viewsOf(deps: CustomerDeps, { currency, mode }: Shop, rows: readonly Customer[]): Promise<StaffCustomerView[]> {
  const summaries = await Promise.all(rows.map(({ id }) => deps.customerStore.summaryOf(id, mode)))
  return rows.map((customer, at) => staffCustomerView(customer, currency, summaries[at]))
}

/** Lists a shop's customers. */
export async function listCustomers(
  deps: CustomerDeps,
  shop: Shop,
  query: CustomerQuery,
  slice: PageSlice,
  sort: CustomerSort = 'newest',
): Promise<Page<StaffCustomerView> & { totalCapped?: true }> {
  const { rows, total, isCapped, isLong } = await store.list(deps.db.read, filterOf(shop, query), slice, sort)
  if (isLong) extendPageIndex(deps, store.shorten, shop.id, 'customer')
  const page = pageOf(await viewsOf(deps, shop, rows), total, slice)
  return isCapped ? { ...page, totalCapped: true } : page
}

/** Reads the next customers of an export. */
export async function readCustomerChunk(
  deps: CustomerDeps,
  shop: Shop,
  query: CustomerQuery,
  slice: PageSlice,
): Promise<ListChunk<StaffCustomerView>> {
  const { rows, scannedTo } = await store.readChunk(deps.db.read, filterOf(shop, query), slice)
  return { data: await viewsOf(deps, shop, rows), scannedTo }
}

/** Indexes a customer again after a change that bypassed the customer store, inside the same write. */
export async function reindexCustomer(tx: Writer, { customerStore }: Pick<CustomerDeps, 'customerStore'>, id: string): Promise<void> {
  const customer = await customerStore.lock(tx, id)
  if (customer) await customerStore.index(tx, customer)
}

type BackfillDeps = Pick<CustomerDeps, 'db' | 'clock' | 'log' | 'customerStore'>

const searchBackfill = (deps: BackfillDeps): SearchBackfill => ({
  ...store,
  subject: 'customers',
  kind: 'customer',
  index: (tx, id) => reindexCustomer(tx, deps, id),
})

/** Indexes customers of versions without the search. @returns the count, and whether all are done */
export const backfillCustomerSearch = (deps: BackfillDeps): Promise<{ filled: number; isDone: boolean }> =>
  backfillSearch(deps, searchBackfill(deps))

/** Indexes customers that a process of an older version has just created. @returns the count */
export const indexUnindexedCustomers = (deps: BackfillDeps): Promise<number> => indexMissed(deps, searchBackfill(deps))
