import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import { prepare } from '../../../../db/prepared.ts'
import { isToFulfil } from '../../../../db/units-to-send.ts'
import { orderPaymentStatuses, orderStatuses } from '../../selling/order/domain.ts'
import type { ShopCurrency } from '../kpi/domain.ts'
import { type CappedCount, cappedCountOf, disputesNamed, waitingMax } from './domain.ts'

type From = Pick<Reader, 'first' | 'all'>
type Shop = Pick<ShopCurrency, 'shopId' | 'mode'>

// A literal, so that PostgreSQL's generic plan knows the limit.
const rowLimit = sql.raw(String(waitingMax + 1))
const sqlText = (text: string): SQL => sql.raw(`'${text}'`)
const [ofShop, ofMode] = [sql`shop_id = ${sql.placeholder('shopId')}`, sql`mode = ${sql.placeholder('mode')}`]

/**
 * The newest orders of some states, each by an index in order. Test orders are older than live ones, so those of the
 * shop's mode come first.
 */
const ofStates = (states: readonly (readonly [string, string])[], more: SQL = sql.empty()): SQL =>
  sql.join(
    states.map(
      ([status, paid]) => sql`select 1 as one from (
        select * from (select mode, attempts from orders where ${ofShop} and status = ${sqlText(status)} and payment_status = ${sqlText(paid)}
          order by number desc limit ${rowLimit}) newest
        where ${ofMode} ${more}) of_state`,
    ),
    sql` union all `,
  )

const inStates = (statuses: readonly string[], paid: readonly string[] = orderPaymentStatuses) =>
  statuses.flatMap((status) => paid.map((how) => [status, how] as const))

/** Newest first, since those of test orders are older. */
const countIn = (table: 'refunds' | 'returns', status: 'MANUAL' | 'CLAIMABLE' | 'REQUESTED' | 'APPROVED'): SQL =>
  sql`select 1 as one from (
        select order_id from ${sql.raw(table)} where ${ofShop} and status = ${sqlText(status)} order by id desc limit ${rowLimit}) r
      join orders o on o.id = r.order_id where o.${ofMode}`

/** The newest open disputes with their orders, by index. Those of the shop's mode come first. */
const openDisputes = (limit: SQL): SQL =>
  sql`(select id, order_id from disputes where ${ofShop} and status = 'OPEN' order by id desc limit ${limit}) d
      join orders o on o.id = d.order_id where o.${ofMode}`

/** The rows of each kind of pending work. */
const pendingRows = {
  ordersToSend: sql`select 1 as one from (
    select mode from orders where ${ofShop} and ${isToFulfil('orders')} order by number desc limit ${rowLimit}) newest
    where ${ofMode}`,
  paymentsProcessing: ofStates(inStates(orderStatuses, ['PROCESSING'])),
  /** Their next step has failed. */
  ordersStuck: ofStates(inStates(['PAID', 'COMPENSATING']), sql`and attempts > 0`),
  returnsRequested: countIn('returns', 'REQUESTED'),
  returnsApproved: countIn('returns', 'APPROVED'),
  refundsManual: countIn('refunds', 'MANUAL'),
  refundsClaimable: countIn('refunds', 'CLAIMABLE'),
  disputes: sql`select 1 as one from ${openDisputes(rowLimit)}`,
} as const
type PendingWork = keyof typeof pendingRows
const names = Object.keys(pendingRows) as PendingWork[]

/** Counts everything in one statement, each up to the limit. */
const pendingCounts = prepare((queries) =>
  queries
    .select(
      Object.fromEntries(
        names.map((name) => [name, sql<number | string>`(select count(*) from (${pendingRows[name]}) first_ones)`.as(name)]),
      ) as Record<PendingWork, SQL.Aliased<number | string>>,
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
      // Each endpoint's deliveries are read by an index.
      undelivered: sql<number | string>`(select count(*) from (
        select 1 as one from webhook_deliveries d where d.status = 'PENDING' and d.attempts > 0
          and d.endpoint_id in (select id from ${endpoints} and disabled_at is null) limit ${rowLimit}) first_ones)`.as('undelivered'),
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
    ([status, paid]) =>
      sql`exists (select 1 from orders where ${ofShop} and status = ${sqlText(status)} and payment_status = ${sqlText(paid)})`,
  )
  const refunds = sql`exists (select 1 from refunds where ${ofShop} and status = 'PENDING' and resume_at is not null)`
  return queries
    .select({ found: sql`1`.as('found') })
    .from(sql`(select 1) once`)
    .where(sql.join([...states, refunds], sql` or `))
})

const toCappedCount = (n: number | string | null | undefined): CappedCount => cappedCountOf(Number(n ?? 0))

/** Counts the pending work of a shop. */
export const pendingWorkStore = {
  async counts(read: From, { shopId, mode }: Shop): Promise<Readonly<Record<PendingWork, CappedCount>>> {
    const row = await read.first(pendingCounts, { shopId, mode })
    return Object.fromEntries(names.map((name) => [name, toCappedCount(row?.[name])])) as Record<PendingWork, CappedCount>
  },
  /** Orders of the newest disputes, without duplicates. */
  async listDisputed(read: From, { shopId, mode }: Shop): Promise<{ id: string; number: number }[]> {
    const rows = await read.all(disputed, { shopId, mode })
    return [...new Map(rows.map(({ id, number }) => [id, { id, number: Number(number) }])).values()]
  },
  async webhooks(read: From, shopId: string, failures: number): Promise<{ disabled: number; failing: number; undelivered: CappedCount }> {
    const row = await read.first(webhooks, { shopId, failures })
    return { disabled: Number(row?.disabled ?? 0), failing: Number(row?.failing ?? 0), undelivered: toCappedCount(row?.undelivered) }
  },

  /** Returns whether the public sees any product. */
  hasProducts: async (read: From, shopId: string, now: number): Promise<boolean> =>
    (await read.first(product, { shopId, now })) !== undefined,

  /** Returns whether an order or refund is in progress. A shop does not go live then. */
  hasUnfinished: async (read: From, shopId: string): Promise<boolean> => (await read.first(unfinished, { shopId })) !== undefined,
}
