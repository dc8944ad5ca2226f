import { and, asc, desc, eq, isNull, lt, ne, or, sql } from 'drizzle-orm'
import { exactWordOf } from '../../../../db/admin-search.ts'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { countInBlock } from '../../../../db/list-pages.ts'
import { countRows } from '../../../../db/page-query.ts'
import { insertOf, lockedRowsOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { customers } from '../../../../db/schema/people.ts'
import { addresses, customerTotals, orders } from '../../../../db/schema/selling.ts'
import { customerTags } from '../../../../db/schema/tags.ts'
import { customerSearch } from '../../../../db/search.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { tagKeyOf } from '../../../lib/search-terms.ts'
import { type BookEntry, type Customer, type CustomerSummary, type CustomerTotals, customerWords, type OwnedAddress } from './domain.ts'

const byId = rowsOf(customers, ['id', 'shopId'])
const locked = lockedRowsOf(customers, ['id'])
const byEmail = rowsOf(customers, ['shopId', 'email'])
const addressById = rowsOf(addresses, ['id', 'shopId'])
/** Returns no row if the shop has no such customer. */
const orderTotal = prepare((queries) =>
  queries
    .select({ orders: sql<number>`cast(coalesce(sum(${customerTotals.orders} + ${customerTotals.liveOrders}), 0) as integer)` })
    .from(customers)
    .leftJoin(customerTotals, eq(customerTotals.customerId, customers.id))
    .where(and(eq(customers.id, sql.placeholder('customerId')), eq(customers.shopId, sql.placeholder('shopId'))))
    .groupBy(customers.id),
)
const orderIds = prepare((queries) =>
  queries
    .select({ id: orders.id })
    .from(orders)
    .where(valuesOf(orders, ['customerId', 'shopId']))
    .orderBy(desc(orders.number))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset')),
)
const orderIdsAfter = prepare((queries) =>
  queries
    .select({ id: orders.id })
    .from(orders)
    .where(and(valuesOf(orders, ['customerId', 'shopId']), lt(orders.id, sql.placeholder('after'))))
    .orderBy(desc(orders.id))
    .limit(sql.placeholder('limit')),
)

/** Excludes erased customers, so that no concurrent request stores personal data for them. */
const isNotErased = (id: string) => and(eq(customers.id, id), isNull(customers.erasedAt))

export function createCustomerStore({ read }: Pick<Database, 'read'>) {
  return {
    find: async (shopId: string, id: string): Promise<Customer | undefined> => read.first(byId, { id, shopId }),
    findByEmail: async (shopId: string, email: string): Promise<Customer | undefined> => read.first(byEmail, { shopId, email }),
    /** Locks a customer until the end of the write. */
    lock: async (tx: Writer, id: string): Promise<Customer | undefined> => tx.first(locked, { id }),
    /** Stores when the e-mail address was first proven. */
    async prove(tx: Writer, id: string, now: number): Promise<void> {
      await tx
        .update(customers)
        .set({ emailProvenAt: now, updatedAt: now })
        .where(and(isNotErased(id), isNull(customers.emailProvenAt)))
    },
    /** Raises the version. @returns the customer after the change; undefined if missing or erased */
    async change(tx: Writer, id: string, change: Partial<Customer> & Pick<Customer, 'updatedAt'>): Promise<Customer | undefined> {
      const version = sql`${customers.version} + 1`
      const [customer] = await tx
        .update(customers)
        .set({ ...change, version })
        .where(isNotErased(id))
        .returning()
      if (customer && change.tags !== undefined) await replaceTags(tx, customer)
      if (customer && [change.email, change.name, change.tags].some((value) => value !== undefined)) await index(tx, customer)
      return customer
    },
    /** Returns whether the customer still has this password hash. */
    async hasPassword(tx: Writer, id: string, passwordHash: string | undefined): Promise<boolean> {
      if (passwordHash === undefined) return false
      const same = and(eq(customers.id, id), eq(customers.passwordHash, passwordHash))
      return (await tx.select({ id: customers.id }).from(customers).where(same).limit(1)).length > 0
    },
    async setPassword(tx: Writer, id: string, passwordHash: string, updatedAt: number): Promise<void> {
      await tx.update(customers).set({ passwordHash, updatedAt }).where(isNotErased(id))
    },
    /** Indexes a customer for the search. Inserts and changes here do it themselves. */
    index,
    async insert(tx: Writer, customer: Customer): Promise<void> {
      await tx.insert(customers).values(customer)
      await countInBlock(tx, { list: 'CUSTOMERS', shopId: customer.shopId }, customer.id)
      await insertTags(tx, customer)
      await index(tx, customer)
    },
    /** @param mode of the shop; orders of the other mode do not count */
    async summaryOf(customerId: string, mode: Mode, from: Pick<Reader, 'select'> = read): Promise<CustomerSummary> {
      const book = await from
        .select({ id: addresses.id })
        .from(addresses)
        .where(eq(addresses.customerId, customerId))
        .orderBy(asc(addresses.id))
      const totals = await from
        .select({ currency: customerTotals.currency, ...totalColumns[mode] })
        .from(customerTotals)
        .where(eq(customerTotals.customerId, customerId))
      return { addressIds: book.map(({ id }) => id), totals }
    },
    /** Returns a customer's number of orders; undefined if the shop has no such customer. */
    async countOrders(shopId: string, customerId: string): Promise<number | undefined> {
      return (await read.first(orderTotal, { shopId, customerId }))?.orders
    },
    /** Newest first. */
    async orderIds(shopId: string, customerId: string, { limit, offset, after }: Omit<PageSlice, 'page'>): Promise<string[]> {
      const values = { shopId, customerId, limit }
      const rows = await (typeof after === 'string'
        ? read.all(orderIdsAfter, { ...values, after })
        : read.all(orderIds, { ...values, offset }))
      return rows.map(({ id }) => id)
    },

    async findAddress(shopId: string, id: string, from: Pick<Reader, 'first'> = read): Promise<OwnedAddress | undefined> {
      return from.first(addressById, { id, shopId })
    },
    /** Finds an address of the customer's book, or one that they entered and that is in no book. */
    async findAddressOf(customerId: string, shopId: string, id: string): Promise<OwnedAddress | undefined> {
      const entered = and(isNull(addresses.customerId), eq(addresses.enteredBy, customerId))
      const [address] = await read
        .select()
        .from(addresses)
        .where(and(eq(addresses.id, id), eq(addresses.shopId, shopId), or(eq(addresses.customerId, customerId), entered)))
        .limit(1)
      return address
    },
    countAddresses: (tx: Writer, customerId: string): Promise<number> => countRows(tx, addresses, eq(addresses.customerId, customerId)),
    insertAddress: insertOf(addresses),
    /** Puts an address into a customer's book. Returns false if it is in another. */
    async claimAddress(tx: Writer, { id, customerId, isDefaultShipping, isDefaultBilling, updatedAt }: BookEntry): Promise<boolean> {
      const free = or(isNull(addresses.customerId), eq(addresses.customerId, customerId))
      const rows = await tx
        .update(addresses)
        .set({ customerId, isDefaultShipping, isDefaultBilling, updatedAt })
        .where(and(eq(addresses.id, id), free))
        .returning({ id: addresses.id })
      return rows.length > 0
    },
    /** Clears the default of a kind from other addresses of the book. */
    async clearDefault(
      tx: Writer,
      kind: 'isDefaultShipping' | 'isDefaultBilling',
      { id, customerId, updatedAt }: BookEntry,
    ): Promise<void> {
      await tx
        .update(addresses)
        .set({ [kind]: false, updatedAt })
        .where(and(eq(addresses.customerId, customerId), eq(addresses[kind], true), ne(addresses.id, id)))
    },
  }
}

async function index(tx: Writer, customer: Customer): Promise<void> {
  const whole = [exactWordOf('email', customer.email), ...customer.tags.map((tag) => exactWordOf('tag', tagKeyOf(tag)))]
  await customerSearch.put(tx, customer, { words: customerWords(customer), whole })
}

async function replaceTags(tx: Writer, customer: Customer): Promise<void> {
  await tx.delete(customerTags).where(eq(customerTags.customerId, customer.id))
  await insertTags(tx, customer)
}

async function insertTags(tx: Writer, { id: customerId, shopId, tags }: Customer): Promise<void> {
  if (tags.length > 0) await tx.insert(customerTags).values(tags.map((tag) => ({ customerId, shopId, tag: tagKeyOf(tag) })))
}

type Mode = ShopContext['mode']
/** The columns that count the orders of a mode. */
const totalColumns = {
  TEST: { orders: customerTotals.orders, spent: customerTotals.spent },
  LIVE: { orders: customerTotals.liveOrders, spent: customerTotals.liveSpent },
} as const
const zeroTotals = { orders: 0, spent: 0, liveOrders: 0, liveSpent: 0 }
const prepareAdd = (mode: Mode, orders: 'orders' | 'liveOrders', spent: 'spent' | 'liveSpent') =>
  prepare((queries) => {
    const more = { [orders]: sql.placeholder('orders'), [spent]: sql.placeholder('spent') }
    return queries
      .insert(customerTotals)
      .values({ ...zeroTotals, ...more, customerId: sql.placeholder('customerId'), currency: sql.placeholder('currency') } as never)
      .onConflictDoUpdate({
        target: [customerTotals.customerId, customerTotals.currency],
        set: {
          [orders]: sql`${totalColumns[mode].orders} + ${more[orders]}`,
          [spent]: sql`${totalColumns[mode].spent} + ${more[spent]}`,
        },
      })
  })
const addByMode = { TEST: prepareAdd('TEST', 'orders', 'spent'), LIVE: prepareAdd('LIVE', 'liveOrders', 'liveSpent') } as const

export const customerTotalsStore = {
  /** Adds to a customer's orders and spending in a mode. Both can be 0, and `spent` negative. */
  async add(
    tx: Writer,
    { customerId, currency, mode, orders, spent }: Pick<CustomerTotals, 'customerId' | 'currency' | 'orders' | 'spent'> & { mode: Mode },
  ): Promise<void> {
    await tx.run(addByMode[mode], { customerId, currency, orders, spent })
  },
}
