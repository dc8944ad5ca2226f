import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/engine.ts'
import type { Side } from '../kpi/domain.ts'
import { orderPaymentStatuses, orderStatuses } from '../order/domain.ts'
import { type Counted, countedOf, disputesNamed, waitingMax } from './domain.ts'

type From = Pick<Reader, 'rows'>
type Shop = Pick<Side, 'shopId' | 'mode'>

const one = waitingMax + 1

async function counted(read: From, rows: SQL): Promise<Counted> {
  const [row] = await read.rows<{ n: number | string }>(sql`select count(*) as n from (${rows}) first_ones`)
  return countedOf(Number(row?.n ?? 0))
}

/**
 * The newest orders of some states, each state along the index that has them in order. A shop's orders in test are older than all others: those of its
 * mode are ahead.
 */
const ofStates = ({ shopId, mode }: Shop, states: readonly (readonly [string, string])[], more: SQL = sql.empty()): SQL =>
  sql.join(
    states.map(
      ([status, paid]) => sql`select 1 as one from (
        select * from (select mode, attempts from orders where shop_id = ${shopId} and status = ${status} and payment_status = ${paid}
          order by number desc limit ${one}) newest
        where mode = ${mode} ${more}) of_state`,
    ),
    sql` union all `,
  )

const inStates = (statuses: readonly string[], paid: readonly string[] = orderPaymentStatuses) =>
  statuses.flatMap((status) => paid.map((how) => [status, how] as const))

/** The newest that are open, with their orders, along the index of those. As of states, those of the shop's mode are ahead. */
const openDisputes = ({ shopId, mode }: Shop, limit: number): SQL =>
  sql`from (select id, order_id from disputes where shop_id = ${shopId} and status = 'OPEN' order by id desc limit ${limit}) d
      join orders o on o.id = d.order_id where o.mode = ${mode}`

/** How much waits for a shop's people, each up to so many. */
export const waitingStore = {
  ordersToSend: (read: From, shop: Shop): Promise<Counted> => counted(read, ofStates(shop, inStates(['CONFIRMED']))),
  paymentsProcessing: (read: From, shop: Shop): Promise<Counted> => counted(read, ofStates(shop, inStates(orderStatuses, ['PROCESSING']))),
  /** What comes next of them has failed. */
  ordersStuck: (read: From, shop: Shop): Promise<Counted> =>
    counted(read, ofStates(shop, inStates(['PAID', 'COMPENSATING']), sql`and attempts > 0`)),

  /** Newest first, as those of orders in test are older. */
  async refunds(read: From, { shopId, mode }: Shop, status: 'MANUAL' | 'CLAIMABLE'): Promise<Counted> {
    return counted(
      read,
      sql`select 1 as one from (select order_id from refunds where shop_id = ${shopId} and status = ${status} order by id desc limit ${one}) r
          join orders o on o.id = r.order_id where o.mode = ${mode}`,
    )
  },
  disputes: (read: From, shop: Shop): Promise<Counted> => counted(read, sql`select 1 as one ${openDisputes(shop, one)}`),
  /** The orders of the newest of them, each once. */
  async disputed(read: From, shop: Shop): Promise<{ id: string; number: number }[]> {
    const rows = await read.rows<{ id: string; number: number | string }>(
      sql`select o.id as id, o.number as number ${openDisputes(shop, disputesNamed)} order by d.id desc`,
    )
    return [...new Map(rows.map(({ id, number }) => [id, { id, number: Number(number) }])).values()]
  },
  /** Endpoints are few, and each has its deliveries along an index. */
  async webhooks(read: From, shopId: string, failures: number): Promise<{ disabled: number; failing: number; undelivered: Counted }> {
    const endpoints = sql`from webhook_endpoints where shop_id = ${shopId} and removed_at is null`
    const [row] = await read.rows<{ disabled: number | string | null; failing: number | string | null }>(sql`
      select sum(case when disabled_at is not null then 1 else 0 end) as disabled,
        sum(case when disabled_at is null and failures >= ${failures} then 1 else 0 end) as failing ${endpoints}`)
    const undelivered = await counted(
      read,
      sql`select 1 as one from webhook_deliveries d where d.status = 'PENDING' and d.attempts > 0
          and d.endpoint_id in (select id ${endpoints} and disabled_at is null) limit ${one}`,
    )
    return { disabled: Number(row?.disabled ?? 0), failing: Number(row?.failing ?? 0), undelivered }
  },

  /** Whether the public sees any product. */
  async hasProducts(read: From, shopId: string, now: number): Promise<boolean> {
    const rows = await read.rows(sql`select 1 as found from product_documents where shop_id = ${shopId} and visible_from <= ${now} limit 1`)
    return rows.length > 0
  },

  /** Whether an order is under way or gives money back: then a shop does not go live. */
  async hasUnfinished(read: From, shopId: string): Promise<boolean> {
    const states = inStates(['PENDING_PAYMENT', 'PAID', 'COMPENSATING']).map(
      ([status, paid]) => sql`exists (select 1 from orders where shop_id = ${shopId} and status = ${status} and payment_status = ${paid})`,
    )
    const refunds = sql`exists (select 1 from refunds where shop_id = ${shopId} and status = 'PENDING' and resume_at is not null)`
    const rows = await read.rows(sql`select 1 as found where ${sql.join([...states, refunds], sql` or `)}`)
    return rows.length > 0
  },
}
