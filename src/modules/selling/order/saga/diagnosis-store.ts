import { and, asc, desc, eq, gte, inArray, or, sql } from 'drizzle-orm'
import type { Reader } from '../../../../../db/engine.ts'
import { outbox, webhookDeliveries } from '../../../../../db/schema/outbox.ts'
import { paymentMessages } from '../../../../../db/schema/payments.ts'
import { orders } from '../../../../../db/schema/selling.ts'
import { shops } from '../../../../../db/schema/shop.ts'

/** An order that is unfinished, since when nothing has happened to it, and how many there are in all. */
export type Unfinished = { readonly id: string; readonly since: number; readonly total: number }

/** Of one order. */
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

  /** What processors said of payments, by our ids or by their names, since a moment. */
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
  /** What shops' endpoints were told under these keys of the outbox. */
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
   * Orders whose saga is not at its end, or whose money is on its way back, and to which nothing has happened since `before`; the longest first.
   * What waits for its shopper as it should is none. Each part goes by an index of what is unfinished: SQLite takes them for what is asked by a
   * range, in the order of a cross join, and not in a union that leaves out what it has twice.
   */
  unfinished: (read: Reader, before: number, limit: number): Promise<Unfinished[]> =>
    read.rows<Unfinished>(sql`
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
