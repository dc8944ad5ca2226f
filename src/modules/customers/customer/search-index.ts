import type { Writer } from '../../../../db/engine.ts'
import { type Filling, fillSearch, fillUnknown } from '../../../core/backfill.ts'
import type { Piece } from '../../../core/csv-list.ts'
import { shortenList } from '../../../core/long-lists.ts'
import { storedMailAddress } from '../../../lib/mail-address.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import { type Customer, type CustomerQuery, type CustomerView, customerView } from './domain.ts'
import type { CustomerDeps } from './providers.ts'
import { findingStore as store } from './search-store.ts'
import type { Shop } from './service.ts'

const askedOf = ({ id: shopId }: Shop, { email, q }: CustomerQuery) => ({
  shopId,
  email: email === undefined ? undefined : normalEmail(email),
  q: q === undefined ? undefined : storedMailAddress(q.trim()),
})

async function viewsOf(deps: CustomerDeps, { currency, mode }: Shop, rows: readonly Customer[]): Promise<CustomerView[]> {
  const standings = await Promise.all(rows.map(({ id }) => deps.customerStore.standingOf(id, mode)))
  return rows.map((customer, at) => customerView(customer, currency, standings[at]))
}

/** A shop's customers, newest first, each as they are answered by themselves. */
export async function listCustomers(
  deps: CustomerDeps,
  shop: Shop,
  query: CustomerQuery,
  slice: Slice,
): Promise<Page<CustomerView> & { totalCapped?: true }> {
  const { rows, total, isCapped, isLong } = await store.list(deps.db.read, askedOf(shop, query), slice)
  if (isLong) shortenList(deps, store.shorten, shop.id, 'customer')
  const page = pageOf(await viewsOf(deps, shop, rows), total, slice)
  return isCapped ? { ...page, totalCapped: true } : page
}

/** A piece of the same list, where it is told whole. */
export async function pieceOfCustomers(deps: CustomerDeps, shop: Shop, query: CustomerQuery, slice: Slice): Promise<Piece<CustomerView>> {
  const { rows, lookedTo } = await store.piece(deps.db.read, askedOf(shop, query), slice)
  return { data: await viewsOf(deps, shop, rows), lookedTo }
}

/** Makes anew what a customer is found by, from what their row says now: for whoever changes it past the customer's store, in that write and behind the change. */
export async function reindexCustomer(tx: Writer, { customerStore }: Pick<CustomerDeps, 'customerStore'>, id: string): Promise<void> {
  const customer = await customerStore.lock(tx, id)
  if (customer) await customerStore.index(tx, customer)
}

type FillDeps = Pick<CustomerDeps, 'db' | 'clock' | 'log' | 'customerStore'>

const filling = (deps: FillDeps): Filling => ({
  ...store,
  subject: 'customers',
  kind: 'customer',
  index: (tx, id) => reindexCustomer(tx, deps, id),
})

/** Makes customers findable that are older than the search. @returns how many, and whether those were all */
export const fillCustomerSearch = (deps: FillDeps): Promise<{ filled: number; isDone: boolean }> => fillSearch(deps, filling(deps))

/** The same of those that a process of an older version has made lately. @returns how many */
export const fillUnknownCustomers = (deps: FillDeps): Promise<number> => fillUnknown(deps, filling(deps))
