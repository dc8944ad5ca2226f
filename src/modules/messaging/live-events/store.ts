import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import { changeFeed } from '../../../../db/change-feed.ts'
import type { ChangeQuery } from '../../../../db/change-feed-query.ts'
import type { Database, Writer } from '../../../../db/engine.ts'
import { insertOf } from '../../../../db/prepared.ts'
import { products, variants } from '../../../../db/schema/catalog.ts'
import { liveEvents } from '../../../../db/schema/live.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { orderEvents, orderLines, orders } from '../../../../db/schema/selling.ts'
import type { LiveRow, OrderEventRow, VariantStock } from './domain.ts'

export type { ChangePage } from '../../../../db/change-feed-query.ts'
export type LiveStore = ReturnType<typeof createLiveStore>

const insert = insertOf(liveEvents)
/** Inserts an event inside the write that it reports. */
export const append = async (tx: Writer, row: LiveRow): Promise<void> => {
  await insert(tx, row)
}
/** Engines limit the values of a statement. */
const idsPerQuery = 500

async function inChunks<Row>(ids: readonly string[], ask: (part: string[]) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for (let at = 0; at < ids.length; at += idsPerQuery) rows.push(...(await ask(ids.slice(at, at + idsPerQuery))))
  return rows
}

const auditColumns = { id: auditLog.id, action: auditLog.action, subject: auditLog.subject, shopId: auditLog.shopId, at: auditLog.at }
const orderColumns = {
  ...{ id: orderEvents.id, type: orderEvents.type, at: orderEvents.at, orderId: orderEvents.orderId, detail: orderEvents.detail },
  ...{ shopId: orders.shopId, number: orders.number, status: orders.status, paymentStatus: orders.paymentStatus },
  ...{ fulfilmentStatus: orders.fulfilmentStatus, total: orders.total, currency: orders.currency, mode: orders.mode },
}
const stockColumns = {
  ...{ shopId: products.shopId, productId: variants.productId, variantId: variants.id },
  ...{ onHand: variants.onHand, reserved: variants.reserved },
}

export const createLiveStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Returns the cursor behind all commits. */
  now: (): Promise<string> => changeFeed.now(read),
  since: (cursor: string, query: ChangeQuery) => changeFeed.since(read, cursor, query),
  /** @param shopId only this shop's; undefined: all */
  orderRows: (ids: readonly string[], shopId: string | undefined): Promise<OrderEventRow[]> =>
    inChunks(ids, (part) =>
      read
        .select(orderColumns)
        .from(orderEvents)
        .innerJoin(orders, eq(orders.id, orderEvents.orderId))
        .where(and(inArray(orderEvents.id, part), shopId === undefined ? undefined : eq(orders.shopId, shopId))),
    ),
  auditRows: (ids: readonly string[]) =>
    inChunks(ids, (part) => read.select(auditColumns).from(auditLog).where(inArray(auditLog.id, part))),
  liveRows: (ids: readonly string[]): Promise<LiveRow[]> =>
    inChunks(ids, (part) => read.select().from(liveEvents).where(inArray(liveEvents.id, part))),
  stockOf: (variantIds: readonly string[]): Promise<VariantStock[]> =>
    inChunks(variantIds, (part) =>
      read.select(stockColumns).from(variants).innerJoin(products, eq(products.id, variants.productId)).where(inArray(variants.id, part)),
    ),
  /** Returns the tracked variants of orders. */
  variantsOf: (orderIds: readonly string[]): Promise<{ orderId: string; variantId: string }[]> =>
    inChunks(orderIds, (part) =>
      read
        .select({ orderId: orderLines.orderId, variantId: orderLines.variantId })
        .from(orderLines)
        .where(and(inArray(orderLines.orderId, part), eq(orderLines.tracked, true))),
    ),
  /** Returns import events since `at`, oldest first. */
  importsSince: (at: number): Promise<LiveRow[]> =>
    read
      .select()
      .from(liveEvents)
      .where(and(gte(liveEvents.at, at), inArray(liveEvents.name, ['import.started', 'import.progress', 'import.finished'])))
      .orderBy(liveEvents.at, liveEvents.id),
  /** Deletes events before a time, except the last one, because cursors point behind it. @returns the number of rows */
  async forget(tx: Writer, before: number, limit: number): Promise<number> {
    const deleted = await tx
      .delete(liveEvents)
      .where(
        sql`${liveEvents.id} in (select id from live_events where at < ${before} and id <> (select max(id) from live_events where at < ${before}) order by at limit ${limit})`,
      )
      .returning({ id: liveEvents.id })
    return deleted.length
  },
})
