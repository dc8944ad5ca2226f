import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import { prepare } from '../../../../db/prepared.ts'
import { isToFulfil } from '../../../../db/units-to-send.ts'
import { orderPaymentStatuses, orderStatuses } from '../../selling/order/domain.ts'
import type { Side } from '../kpi/domain.ts'
import { type Counted, countedOf, disputesNamed, waitingMax } from './domain.ts'

type From = Pick<Reader, 'first' | 'all'>
type Shop = Pick<Side, 'shopId' | 'mode'>

// Written into the text: a plan that a server keeps for all values knows by these what of an index it needs.
const one = sql.raw(String(waitingMax + 1))
const word = (text: string): SQL => sql.raw(`'${text}'`)
const [ofShop, ofMode] = [sql`shop_id = ${sql.placeholder('shopId')}`, sql`mode = ${sql.placeholder('mode')}`]

/**
 * The newest orders of some states, each state along the index that has them in order. A shop's orders in test are older than all others: those of its
 * mode are ahead.
 */
const ofStates = (states: readonly (readonly [string, string])[], more: SQL = sql.empty()): SQL =>
  sql.join(
    states.map(
      ([status, paid]) => sql`select 1 as one from (
        select * from (select mode, attempts from orders where ${ofShop} and status = ${word(status)} and payment_status = ${word(paid)}
          order by number desc limit ${one}) newest
        where ${ofMode} ${more}) of_state`,
    ),
    sql` union all `,
  )

const inStates = (statuses: readonly string[], paid: readonly string[] = orderPaymentStatuses) =>
  statuses.flatMap((status) => paid.map((how) => [status, how] as const))

/** Newest first, as those of orders in test are older. */
const refundsIn = (status: 'MANUAL' | 'CLAIMABLE'): SQL =>
  sql`select 1 as one from (select order_id from refunds where ${ofShop} and status = ${word(status)} order by id desc limit ${one}) r
      join orders o on o.id = r.order_id where o.${ofMode}`

/** The newest that are open, with their orders, along the index of those. As of states, those of the shop's mode are ahead. */
const openDisputes = (limit: SQL): SQL =>
  sql`(select id, order_id from disputes where ${ofShop} and status = 'OPEN' order by id desc limit ${limit}) d
      join orders o on o.id = d.order_id where o.${ofMode}`

/** What waits, each with the rows that are counted of it. */
const waits = {
  ordersToSend: sql`select 1 as one from (
    select mode from orders where ${ofShop} and ${isToFulfil('orders')} order by number desc limit ${one}) newest
    where ${ofMode}`,
  paymentsProcessing: ofStates(inStates(orderStatuses, ['PROCESSING'])),
  /** What comes next of them has failed. */
  ordersStuck: ofStates(inStates(['PAID', 'COMPENSATING']), sql`and attempts > 0`),
  refundsManual: refundsIn('MANUAL'),
  refundsClaimable: refundsIn('CLAIMABLE'),
  disputes: sql`select 1 as one from ${openDisputes(one)}`,
} as const
type Waits = keyof typeof waits
const names = Object.keys(waits) as Waits[]

/** All of it by one statement, each up to so many. */
const counted = prepare((queries) =>
  queries
    .select(
      Object.fromEntries(
        names.map((name) => [name, sql<number | string>`(select count(*) from (${waits[name]}) first_ones)`.as(name)]),
      ) as Record<Waits, SQL.Aliased<number | string>>,
    )
    .from(sql`(select 1) once`),
)
const disputed = prepare((queries) =>
  queries
    .select({ id: sql<string>`o.id`.as('id'), number: sql<number | string>`o.number`.as('number') })
    .from(openDisputes(sql.raw(String(disputesNamed))))
    .orderBy(sql`d.id desc`),
)

const endpoints = sql`webhook_endpoints where ${ofShop} and removed_at is null`
const webhooks = prepare((queries) =>
  queries
    .select({
      disabled: sql<number | string | null>`sum(case when disabled_at is not null then 1 else 0 end)`.as('disabled'),
      failing: sql<
        number | string | null
      >`sum(case when disabled_at is null and failures >= ${sql.placeholder('failures')} then 1 else 0 end)`.as('failing'),
      // Each has its deliveries along an index.
      undelivered: sql<number | string>`(select count(*) from (
        select 1 as one from webhook_deliveries d where d.status = 'PENDING' and d.attempts > 0
          and d.endpoint_id in (select id from ${endpoints} and disabled_at is null) limit ${one}) first_ones)`.as('undelivered'),
    })
    .from(endpoints),
)

const product = prepare((queries) =>
  queries
    .select({ found: sql`1`.as('found') })
    .from(sql`product_documents where ${ofShop} and visible_from <= ${sql.placeholder('now')}`)
    .limit(1),
)
const unfinished = prepare((queries) => {
  const states = inStates(['PENDING_PAYMENT', 'PAID', 'COMPENSATING']).map(
    ([status, paid]) => sql`exists (select 1 from orders where ${ofShop} and status = ${word(status)} and payment_status = ${word(paid)})`,
  )
  const refunds = sql`exists (select 1 from refunds where ${ofShop} and status = 'PENDING' and resume_at is not null)`
  return queries
    .select({ found: sql`1`.as('found') })
    .from(sql`(select 1) once`)
    .where(sql.join([...states, refunds], sql` or `))
})

const countedIn = (n: number | string | null | undefined): Counted => countedOf(Number(n ?? 0))

/** How much waits for a shop's people, each up to so many. */
export const waitingStore = {
  async counts(read: From, { shopId, mode }: Shop): Promise<Readonly<Record<Waits, Counted>>> {
    const row = await read.first(counted, { shopId, mode })
    return Object.fromEntries(names.map((name) => [name, countedIn(row?.[name])])) as Record<Waits, Counted>
  },
  /** The orders of the newest disputes, each once. */
  async disputed(read: From, { shopId, mode }: Shop): Promise<{ id: string; number: number }[]> {
    const rows = await read.all(disputed, { shopId, mode })
    return [...new Map(rows.map(({ id, number }) => [id, { id, number: Number(number) }])).values()]
  },
  async webhooks(read: From, shopId: string, failures: number): Promise<{ disabled: number; failing: number; undelivered: Counted }> {
    const row = await read.first(webhooks, { shopId, failures })
    return { disabled: Number(row?.disabled ?? 0), failing: Number(row?.failing ?? 0), undelivered: countedIn(row?.undelivered) }
  },

  /** Whether the public sees any product. */
  hasProducts: async (read: From, shopId: string, now: number): Promise<boolean> =>
    (await read.first(product, { shopId, now })) !== undefined,

  /** Whether an order is under way or gives money back: then a shop does not go live. */
  hasUnfinished: async (read: From, shopId: string): Promise<boolean> => (await read.first(unfinished, { shopId })) !== undefined,
}
