import { and, asc, desc, eq, gte, inArray, or, sql } from 'drizzle-orm'
import type { Reader } from '../../../../../db/engine.ts'
import { outbox, webhookDeliveries } from '../../../../../db/schema/outbox.ts'
import { paymentMessages } from '../../../../../db/schema/payments.ts'
import { orders } from '../../../../../db/schema/selling.ts'
import { shops } from '../../../../../db/schema/shop.ts'

/** An unfinished order, the time of its last event, and the number of all of them. */
type UnfinishedOrder = { readonly id: string; readonly since: number; readonly total: number }

/** Rows for one order. */
const shownMax = 200

export const diagnosisStore = {
  async orderByNumber(read: Reader, shopName: string, number: number): Promise<string | undefined> {
    const [row] = await read
      .select({ id: orders.id })
      .from(orders)
      .innerJoin(shops, eq(shops.id, orders.shopId))
      .where(and(eq(shops.name, shopName), eq(orders.number, number)))
      .limit(1)
    return row?.id
  },
  async shopName(read: Reader, shopId: string): Promise<string | undefined> {
    const [row] = await read.select({ name: shops.name }).from(shops).where(eq(shops.id, shopId)).limit(1)
    return row?.name
  },
  async hasShop(read: Reader, shopName: string): Promise<boolean> {
    return (await read.select({ id: shops.id }).from(shops).where(eq(shops.name, shopName)).limit(1)).length > 0
  },

  /** Messages of processors about payments since a moment, by our ids or their references. */
  async messagesAbout(read: Reader, { ids, references, since }: { ids: readonly string[]; references: readonly string[]; since: number }) {
    if (ids.length === 0) return []
    const { id, processor, paymentId, reference, messageId, dispute, attempts, resumeAt, receivedAt } = paymentMessages
    return read
      .select({ id, processor, paymentId, reference, messageId, dispute, attempts, resumeAt, receivedAt })
      .from(paymentMessages)
      .where(
        and(
          gte(receivedAt, since),
          or(inArray(paymentId, [...ids]), references.length === 0 ? undefined : inArray(reference, [...references])),
        ),
      )
      .orderBy(asc(receivedAt), asc(id))
      .limit(shownMax)
  },
  /** Webhook deliveries with these outbox keys. */
  async deliveriesOf(read: Reader, keys: readonly string[]) {
    const { id, endpointId, event, status, attempts, nextAt, lastStatus, lastError, createdAt } = webhookDeliveries
    return read
      .select({ id, endpointId, event, status, attempts, nextAt, lastStatus, lastError, createdAt })
      .from(outbox)
      .innerJoin(webhookDeliveries, eq(webhookDeliveries.outboxId, outbox.id))
      .where(inArray(outbox.key, [...keys]))
      .orderBy(desc(createdAt), asc(id))
      .limit(shownMax)
  },

  /**
   * Orders that are unfinished, or have a pending refund, and had no event since `before`; the longest first. Orders
   * that wait for their shopper are left out. Each part uses an index of unfinished rows: SQLite needs the cross
   * join's order for that, and `union all`.
   */
  unfinished: (read: Reader, before: number, limit: number): Promise<UnfinishedOrder[]> =>
    read.rows<UnfinishedOrder>(sql`
      with unfinished as (
        select id from orders where resume_at is not null and resume_at > 0 and (status <> 'PENDING_PAYMENT' or attempts > 0)
        union all select o.id from shops s cross join orders o where o.shop_id = s.id and o.status in ('PAID', 'COMPENSATING')
        union all select id from orders where status = 'PENDING_PAYMENT' and expires_at <= ${before}
        union all select order_id from refunds where resume_at is not null and resume_at > 0 and status = 'PENDING'),
      looked as (
        select o.id as id, coalesce((select max(e.at) from order_events e where e.order_id = o.id), o.created_at) as since
        from orders o where o.id in (select id from unfinished))
      select id, since, cast(count(*) over () as integer) as total from looked where since <= ${before} order by since, id limit ${limit}`),
}
