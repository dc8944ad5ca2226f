import { and, asc, count, desc, eq, inArray, isNull, lte, notInArray, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../db/engine.ts'
import { insertOf, prepare } from '../../../db/prepared.ts'
import { outbox, webhookDeliveries, webhookEndpoints } from '../../../db/schema/outbox.ts'
import { selectSlice } from '../../../db/slice.ts'
import type { Slice } from '../../lib/page.ts'
import type { WebhookDelivery, WebhookEndpoint } from './domain.ts'

export type OutboxRow = typeof outbox.$inferSelect

const insertMessage = insertOf(outbox, 'skip')
const releaseMessage = prepare((queries) =>
  queries
    .update(outbox)
    .set({ status: 'PENDING' })
    .where(and(eq(outbox.key, sql.placeholder('key')), eq(outbox.status, 'HELD'))),
)

type Selects = Pick<Reader, 'select'>

/** A delivery that is due, with what its endpoint knows of it. */
export type DueDelivery = Pick<WebhookDelivery, 'id' | 'endpointId' | 'outboxId'> &
  Pick<WebhookEndpoint, 'shopId' | 'url' | 'sealedSecret' | 'removedAt'>

/** Spelt out, as the index of those that are due has it. */
const isDue = (now: number) => and(sql`${webhookDeliveries.status} = 'PENDING'`, lte(webhookDeliveries.nextAt, now))
const live = (shopId: string) => and(eq(webhookEndpoints.shopId, shopId), isNull(webhookEndpoints.removedAt))

export const webhookStore = {
  /** Leaves the one that is there under that key. */
  async insertMessage(tx: Writer, row: OutboxRow): Promise<void> {
    await insertMessage(tx, row)
  },
  /** Lets a held message go; one that is on its way already stays as it is. */
  async releaseMessage(tx: Writer, key: string): Promise<void> {
    await tx.run(releaseMessage, { key })
  },
  /** Removes a message that is still held. */
  async removeHeldMessage(tx: Writer, key: string): Promise<void> {
    await tx.delete(outbox).where(and(eq(outbox.key, key), eq(outbox.status, 'HELD')))
  },

  async insertEndpoint(tx: Writer, endpoint: WebhookEndpoint): Promise<void> {
    await tx.insert(webhookEndpoints).values(endpoint)
  },
  async countEndpoints(from: Selects, shopId: string): Promise<number> {
    const [row] = await from.select({ n: count() }).from(webhookEndpoints).where(live(shopId))
    return Number(row?.n ?? 0)
  },
  async findEndpoint(from: Selects, shopId: string, id: string): Promise<WebhookEndpoint | undefined> {
    const [endpoint] = await from
      .select()
      .from(webhookEndpoints)
      .where(and(live(shopId), eq(webhookEndpoints.id, id)))
      .limit(1)
    return endpoint
  },
  /** Newest first. */
  async listEndpoints(from: Selects, shopId: string, { limit, offset }: Slice): Promise<WebhookEndpoint[]> {
    return from.select().from(webhookEndpoints).where(live(shopId)).orderBy(desc(webhookEndpoints.id)).limit(limit).offset(offset)
  },
  /** False when there is none. */
  async removeEndpoint(tx: Writer, shopId: string, id: string, removedAt: number): Promise<boolean> {
    const rows = await tx
      .update(webhookEndpoints)
      .set({ removedAt })
      .where(and(live(shopId), eq(webhookEndpoints.id, id)))
      .returning({ id: webhookEndpoints.id })
    return rows.length > 0
  },
  /** Newest first. */
  listDeliveries(from: Selects, endpointId: string, slice: Slice): Promise<{ rows: WebhookDelivery[]; total: number }> {
    const ofEndpoint = eq(webhookDeliveries.endpointId, endpointId)
    return selectSlice(from, webhookDeliveries, { where: ofEndpoint, order: [desc(webhookDeliveries.id)], ...slice })
  },

  /** Whether a message waits to be handed out, or a delivery to be sent. */
  async hasWork(read: Reader, now: number): Promise<boolean> {
    const rows = await read.rows(
      sql`select 1 as found where exists (select 1 from ${outbox} where ${eq(outbox.status, 'PENDING')})
          or exists (select 1 from ${webhookDeliveries} where ${isDue(now)})`,
    )
    return rows.length > 0
  },
  /** Oldest first. */
  async pendingMessages(from: Selects, limit: number): Promise<Pick<OutboxRow, 'id' | 'shopId' | 'event'>[]> {
    return from
      .select({ id: outbox.id, shopId: outbox.shopId, event: outbox.event })
      .from(outbox)
      .where(eq(outbox.status, 'PENDING'))
      .orderBy(asc(outbox.id))
      .limit(limit)
  },
  async endpointsOf(from: Selects, shopIds: readonly string[]): Promise<Pick<WebhookEndpoint, 'id' | 'shopId' | 'events'>[]> {
    return from
      .select({ id: webhookEndpoints.id, shopId: webhookEndpoints.shopId, events: webhookEndpoints.events })
      .from(webhookEndpoints)
      .where(and(inArray(webhookEndpoints.shopId, [...shopIds]), isNull(webhookEndpoints.removedAt)))
  },
  /** Marks the messages as handed out; those that another process was faster with are not returned. */
  async finishMessages(tx: Writer, ids: readonly string[]): Promise<string[]> {
    const rows = await tx
      .update(outbox)
      .set({ status: 'DONE' })
      .where(and(inArray(outbox.id, [...ids]), eq(outbox.status, 'PENDING')))
      .returning({ id: outbox.id })
    return rows.map(({ id }) => id)
  },
  async insertDeliveries(tx: Writer, rows: WebhookDelivery[]): Promise<void> {
    await tx.insert(webhookDeliveries).values(rows).onConflictDoNothing()
  },

  /** Longest due first. */
  async dueDeliveries(
    from: Selects,
    { now, except, limit }: { now: number; except: { shops: string[]; endpoints: string[] }; limit: number },
  ): Promise<DueDelivery[]> {
    const { id, endpointId, outboxId } = webhookDeliveries
    const { shopId, url, sealedSecret, removedAt } = webhookEndpoints
    return from
      .select({ id, endpointId, outboxId, shopId, url, sealedSecret, removedAt })
      .from(webhookDeliveries)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, endpointId))
      .where(
        and(
          isDue(now),
          except.endpoints.length > 0 ? notInArray(endpointId, except.endpoints) : undefined,
          except.shops.length > 0 ? notInArray(shopId, except.shops) : undefined,
        ),
      )
      .orderBy(asc(webhookDeliveries.nextAt))
      .limit(limit)
  },
  /** Takes due deliveries for an attempt, until a moment; those that another process was faster with are not returned. */
  async claim(tx: Writer, ids: readonly string[], now: number, until: number): Promise<Pick<WebhookDelivery, 'id' | 'attempts'>[]> {
    return tx
      .update(webhookDeliveries)
      .set({ nextAt: until, attempts: sql`${webhookDeliveries.attempts} + 1`, updatedAt: now })
      .where(and(inArray(webhookDeliveries.id, [...ids]), isDue(now)))
      .returning({ id: webhookDeliveries.id, attempts: webhookDeliveries.attempts })
  },
  /** Gives up deliveries that nobody is to get. */
  async abandon(tx: Writer, ids: readonly string[], now: number, lastError: string): Promise<void> {
    await tx
      .update(webhookDeliveries)
      .set({ status: 'FAILED', lastError, updatedAt: now })
      .where(and(inArray(webhookDeliveries.id, [...ids]), isDue(now)))
  },
  async bodies(from: Selects, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await from
      .select({ id: outbox.id, body: outbox.body })
      .from(outbox)
      .where(inArray(outbox.id, [...ids]))
    return new Map(rows.map(({ id, body }) => [id, body]))
  },
  /** Keeps what came of an attempt, unless a later attempt has begun: of that one only a success matters still. */
  async settle(
    tx: Writer,
    { id, attempts }: Pick<WebhookDelivery, 'id' | 'attempts'>,
    change: Pick<WebhookDelivery, 'status' | 'nextAt' | 'lastStatus' | 'lastError' | 'updatedAt'>,
  ): Promise<void> {
    await tx
      .update(webhookDeliveries)
      .set(change)
      .where(
        and(
          eq(webhookDeliveries.id, id),
          eq(webhookDeliveries.status, 'PENDING'),
          change.status === 'DELIVERED' ? undefined : eq(webhookDeliveries.attempts, attempts),
        ),
      )
  },

  /** Removes some deliveries older than that id that are over; how many it was. */
  async removeOldDeliveries(tx: Writer, before: string, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from webhook_deliveries where id in
          (select id from webhook_deliveries where id < ${before} and status <> 'PENDING' order by id limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
  /** The same for messages that were handed out and whose deliveries are gone. */
  async removeOldMessages(tx: Writer, before: string, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from outbox where id in
          (select id from outbox where status = 'DONE' and id < ${before}
           and not exists (select 1 from webhook_deliveries where outbox_id = outbox.id) order by id limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
  /** The same for endpoints that were removed by then and whose deliveries are gone. */
  async removeOldEndpoints(tx: Writer, removedBefore: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from webhook_endpoints where id in
          (select id from webhook_endpoints where removed_at < ${removedBefore}
           and not exists (select 1 from webhook_deliveries where endpoint_id = webhook_endpoints.id) limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
}
