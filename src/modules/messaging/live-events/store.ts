import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import { tail } from '../../../../db/change-feed.ts'
import type { TailAsked } from '../../../../db/change-feed-query.ts'
import type { Database, Writer } from '../../../../db/engine.ts'
import { insertOf } from '../../../../db/prepared.ts'
import { products, variants } from '../../../../db/schema/catalog.ts'
import { liveEvents } from '../../../../db/schema/live.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { orderEvents, orderLines, orders } from '../../../../db/schema/selling.ts'
import type { LiveRow, OrderEventRow, StockFigures } from './domain.ts'

export type { TailPage } from '../../../../db/change-feed-query.ts'
export type LiveStore = ReturnType<typeof createLiveStore>

const insert = insertOf(liveEvents)
/** Inside the write that it tells of. */
export const append = async (tx: Writer, row: LiveRow): Promise<void> => {
  await insert(tx, row)
}
/** More would be a statement with more values than an engine takes. */
const idsAtOnce = 500

async function inParts<Row>(ids: readonly string[], ask: (part: string[]) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for (let at = 0; at < ids.length; at += idsAtOnce) rows.push(...(await ask(ids.slice(at, at + idsAtOnce))))
  return rows
}

const audited = { id: auditLog.id, action: auditLog.action, subject: auditLog.subject, shopId: auditLog.shopId, at: auditLog.at }
const ofOrder = {
  ...{ id: orderEvents.id, type: orderEvents.type, at: orderEvents.at, orderId: orderEvents.orderId, detail: orderEvents.detail },
  ...{ shopId: orders.shopId, number: orders.number, status: orders.status, paymentStatus: orders.paymentStatus },
  ...{ fulfilmentStatus: orders.fulfilmentStatus, total: orders.total, currency: orders.currency, mode: orders.mode },
}
const ofStock = {
  ...{ shopId: products.shopId, productId: variants.productId, variantId: variants.id },
  ...{ onHand: variants.onHand, reserved: variants.reserved },
}

export const createLiveStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Behind all that was committed. */
  now: (): Promise<string> => tail.now(read),
  since: (place: string, asked: TailAsked) => tail.since(read, place, asked),
  /** @param shopId of this shop alone; undefined: of all */
  orderRows: (ids: readonly string[], shopId: string | undefined): Promise<OrderEventRow[]> =>
    inParts(ids, (part) =>
      read
        .select(ofOrder)
        .from(orderEvents)
        .innerJoin(orders, eq(orders.id, orderEvents.orderId))
        .where(and(inArray(orderEvents.id, part), shopId === undefined ? undefined : eq(orders.shopId, shopId))),
    ),
  auditRows: (ids: readonly string[]) => inParts(ids, (part) => read.select(audited).from(auditLog).where(inArray(auditLog.id, part))),
  liveRows: (ids: readonly string[]): Promise<LiveRow[]> =>
    inParts(ids, (part) => read.select().from(liveEvents).where(inArray(liveEvents.id, part))),
  stockOf: (variantIds: readonly string[]): Promise<StockFigures[]> =>
    inParts(variantIds, (part) =>
      read.select(ofStock).from(variants).innerJoin(products, eq(products.id, variants.productId)).where(inArray(variants.id, part)),
    ),
  /** Which variants orders hold, or held, some of. */
  variantsOf: (orderIds: readonly string[]): Promise<{ orderId: string; variantId: string }[]> =>
    inParts(orderIds, (part) =>
      read
        .select({ orderId: orderLines.orderId, variantId: orderLines.variantId })
        .from(orderLines)
        .where(and(inArray(orderLines.orderId, part), eq(orderLines.tracked, true))),
    ),
  /** What was told of imports since then, the first first. */
  importsSince: (at: number): Promise<LiveRow[]> =>
    read
      .select()
      .from(liveEvents)
      .where(and(gte(liveEvents.at, at), inArray(liveEvents.name, ['import.started', 'import.progress', 'import.finished'])))
      .orderBy(liveEvents.at, liveEvents.id),
  /** Removes what nobody can go on from any more; the last of it stays, since places are behind it. @returns how many rows went */
  async forget(tx: Writer, before: number, limit: number): Promise<number> {
    const gone = await tx
      .delete(liveEvents)
      .where(
        sql`${liveEvents.id} in (select id from live_events where at < ${before} and id <> (select max(id) from live_events where at < ${before}) order by at limit ${limit})`,
      )
      .returning({ id: liveEvents.id })
    return gone.length
  },
})
