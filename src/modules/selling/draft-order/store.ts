import { and, count, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { countRows, selectSlice } from '../../../../db/page-query.ts'
import { insertOf, rowsOf, updateOfVersion } from '../../../../db/prepared.ts'
import { draftOrders } from '../../../../db/schema/drafts.ts'
import { carts, orders } from '../../../../db/schema/selling.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { Draft, DraftStatus } from './domain.ts'

const byId = rowsOf(draftOrders, ['id'])

type Reads = Pick<Reader, 'first'>

/** The SQL of `draftStatusOf`. */
function statusIs(status: DraftStatus, now: number): SQL {
  const standing = sql`(select case
      when o.confirmed_at is not null then 'COMPLETED'
      when o.status not in ('EXPIRED', 'CANCELLED') then 'PENDING_PAYMENT'
      when o.captured_total > 0 then 'CANCELLED'
      else 'OPEN' end
    from ${orders} o where o.cart_id = c.id order by o.number desc limit 1)`
  const stands = sql`case when c.status = 'CONVERTED' then coalesce(${standing}, 'OPEN') else c.status end`
  return sql`exists (select 1 from ${carts} c where c.id = ${draftOrders.cartId}
    and case when ${stands} = 'OPEN' and c.expires_at <= ${now} then 'EXPIRED' else ${stands} end = ${status})`
}

export const createDraftStore = ({ read }: Pick<Database, 'read'>) => ({
  find: async (id: string, from: Reads = read): Promise<Draft | undefined> => from.first(byId, { id }),
  /** Newest first. */
  list: (filter: { shopId: string; status?: DraftStatus | undefined }, now: number, slice: PageSlice) =>
    selectSlice(read, draftOrders, {
      where: and(eq(draftOrders.shopId, filter.shopId), filter.status && statusIs(filter.status, now)),
      order: [desc(draftOrders.id)],
      ...slice,
    }),
  /** Counts the drafts of a status, up to `most`. */
  async countIn(shopId: string, status: DraftStatus, now: number, most: number): Promise<number> {
    const some = read
      .select({ id: draftOrders.id })
      .from(draftOrders)
      .where(and(eq(draftOrders.shopId, shopId), statusIs(status, now)))
      .limit(most)
    const [counted] = await read.select({ n: count() }).from(some.as('some'))
    return Number(counted?.n ?? 0)
  },
  countOf: (tx: Writer, shopId: string): Promise<number> => countRows(tx, draftOrders, eq(draftOrders.shopId, shopId)),
  insert: insertOf(draftOrders),
  change: updateOfVersion(draftOrders),
  /** Counts a mail of its link; undefined at the limit, or if it is gone. */
  async noteSent(tx: Writer, id: string, sentAt: number, most: number): Promise<Draft | undefined> {
    const [draft] = await tx
      .update(draftOrders)
      .set({ sentAt, sends: sql`${draftOrders.sends} + 1` })
      .where(and(eq(draftOrders.id, id), sql`${draftOrders.sends} < ${most}`))
      .returning()
    return draft
  },
})
