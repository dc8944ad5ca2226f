import { and, asc, count, desc, eq, inArray, isNull, lt, lte, min, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { countRows, selectSlice } from '../../../../db/page-query.ts'
import { insertOf, lockedRowsOf } from '../../../../db/prepared.ts'
import { outbox, webhookDeliveries, webhookEndpoints } from '../../../../db/schema/outbox.ts'
import { numberOrUndefined } from '../../../lib/objects.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { Backlog, Health, WebhookDelivery, WebhookEndpoint } from './domain.ts'

/**
 * Numbers of pending messages and deliveries, when the oldest message was created, and when the first delivery was due.
 */
export type QueueFigures = {
  readonly messages: number
  readonly deliveries: number
  readonly oldestAt: number | undefined
  readonly dueAt: number | undefined
}

export type OutboxMessage = Pick<typeof outbox.$inferSelect, 'id' | 'shopId' | 'event' | 'body'>

const lockedEndpoint = lockedRowsOf(webhookEndpoints, ['shopId', 'id'])
const lockedDelivery = lockedRowsOf(webhookDeliveries, ['id', 'endpointId'])
type SelectReader = Pick<Reader, 'select'>

/** An endpoint with a due delivery. */
export type Lane = Pick<WebhookEndpoint, 'shopId' | 'url' | 'sealedSecret' | 'failures'> & {
  endpointId: string
  /** The delivery that has been due longest. */
  deliveryId: string
  /** Why nothing more is sent to it. */
  over: 'removed' | 'disabled' | null
}
type LaneQuery = { now: number; after: string; except: { shops: string[]; endpoints: string[] }; onlyHealthy: boolean; limit: number }
export type ClaimedRow = Pick<WebhookDelivery, 'id' | 'outboxId' | 'attempts' | 'lastError'>

const endReasons = [null, 'removed', 'disabled'] as const
const excludingCondition = (column: string, ids: readonly string[]) =>
  ids.length === 0
    ? sql.empty()
    : sql` and ${sql.raw(column)} not in (${sql.join(
        ids.map((id) => sql`${id}`),
        sql`, `,
      )})`

/** Literal, so that the partial index applies. */
const isDue = (now: number) => and(sql`${webhookDeliveries.status} = 'PENDING'`, lte(webhookDeliveries.nextAt, now))
const isActive = (shopId: string) => and(eq(webhookEndpoints.shopId, shopId), isNull(webhookEndpoints.removedAt))

export const webhookStore = {
  /** Ignores a message whose key exists. */
  insertMessage: insertOf(outbox, 'leave'),
  insertEndpoint: insertOf(webhookEndpoints),
  countEndpoints: (from: SelectReader, shopId: string): Promise<number> => countRows(from, webhookEndpoints, isActive(shopId)),
  async findEndpoint(from: SelectReader, shopId: string, id: string): Promise<WebhookEndpoint | undefined> {
    const [endpoint] = await from
      .select()
      .from(webhookEndpoints)
      .where(and(isActive(shopId), eq(webhookEndpoints.id, id)))
      .limit(1)
    return endpoint
  },
  /** Locks an endpoint, removed or not. Call it before locking its deliveries. */
  lockEndpoint: async (tx: Writer, shopId: string, id: string): Promise<WebhookEndpoint | undefined> =>
    tx.first(lockedEndpoint, { shopId, id }),
  /** Newest first. */
  async listEndpoints(from: SelectReader, shopId: string, slice: PageSlice): Promise<{ rows: WebhookEndpoint[]; total: number }> {
    return selectSlice(from, webhookEndpoints, { where: isActive(shopId), order: [desc(webhookEndpoints.id)], ...slice })
  },
  /** Returns false if there is none. */
  async removeEndpoint(tx: Writer, shopId: string, id: string, removedAt: number): Promise<boolean> {
    const rows = await tx
      .update(webhookEndpoints)
      .set({ removedAt })
      .where(and(isActive(shopId), eq(webhookEndpoints.id, id)))
      .returning({ id: webhookEndpoints.id })
    return rows.length > 0
  },
  /** Newest first. */
  listDeliveries(from: SelectReader, endpointId: string, slice: PageSlice): Promise<{ rows: WebhookDelivery[]; total: number }> {
    const ofEndpoint = eq(webhookDeliveries.endpointId, endpointId)
    return selectSlice(from, webhookDeliveries, { where: ofEndpoint, order: [desc(webhookDeliveries.id)], ...slice })
  },

  async findDelivery(from: SelectReader, endpointId: string, id: string): Promise<WebhookDelivery | undefined> {
    const which = and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.id, id))
    const [delivery] = await from.select().from(webhookDeliveries).where(which).limit(1)
    return delivery
  },
  /** Locks a delivery. Call it after locking its endpoint. */
  lockDelivery: async (tx: Writer, endpointId: string, id: string): Promise<WebhookDelivery | undefined> =>
    tx.first(lockedDelivery, { endpointId, id }),
  /** The delivery must be locked. */
  async changeDelivery(tx: Writer, id: string, change: Partial<WebhookDelivery>): Promise<void> {
    await tx.update(webhookDeliveries).set(change).where(eq(webhookDeliveries.id, id))
  },
  /** Ends the rest of a failing endpoint. */
  async wake(tx: Writer, id: string, now: number): Promise<void> {
    await tx
      .update(webhookEndpoints)
      .set({ retryAt: now })
      .where(and(eq(webhookEndpoints.id, id), sql`${webhookEndpoints.retryAt} > ${now}`))
  },

  /** Returns whether messages or deliveries are due. */
  async hasWork(read: Reader, now: number): Promise<boolean> {
    const rows = await read.rows(
      sql`select 1 as found where exists (select 1 from ${outbox} where ${eq(outbox.status, 'PENDING')})
          or exists (select 1 from ${webhookDeliveries} where ${isDue(now)})`,
    )
    return rows.length > 0
  },
  /** Uses the partial indexes of pending rows. */
  async queue(read: Reader): Promise<QueueFigures> {
    const [row] = await read.rows<Record<keyof QueueFigures, number | string | null>>(
      sql`select (select count(*) from outbox where status = 'PENDING') as messages,
            (select count(*) from webhook_deliveries where status = 'PENDING') as deliveries,
            (select created_at from outbox where status = 'PENDING' order by id limit 1) as "oldestAt",
            (select min(next_at) from webhook_deliveries where status = 'PENDING') as "dueAt"`,
    )
    return {
      messages: Number(row?.messages ?? 0),
      deliveries: Number(row?.deliveries ?? 0),
      oldestAt: numberOrUndefined(row?.oldestAt),
      dueAt: numberOrUndefined(row?.dueAt),
    }
  },
  /** Oldest first. */
  async pendingMessages(from: SelectReader, limit: number): Promise<OutboxMessage[]> {
    return from
      .select({ id: outbox.id, shopId: outbox.shopId, event: outbox.event, body: outbox.body })
      .from(outbox)
      .where(eq(outbox.status, 'PENDING'))
      .orderBy(asc(outbox.id))
      .limit(limit)
  },
  /** Returns endpoints that are neither removed nor disabled. */
  async endpointsOf(
    from: SelectReader,
    shopIds: readonly string[],
  ): Promise<Pick<WebhookEndpoint, 'id' | 'shopId' | 'events' | 'failures' | 'skippedAt'>[]> {
    const { id, shopId, events, failures, skippedAt, removedAt, disabledAt } = webhookEndpoints
    return from
      .select({ id, shopId, events, failures, skippedAt })
      .from(webhookEndpoints)
      .where(and(inArray(shopId, [...shopIds]), isNull(removedAt), isNull(disabledAt)))
  },
  /** Marks messages as done. Those that another process took are not returned. */
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

  /**
   * Returns endpoints by id with the delivery that has been due longest. One index seek per endpoint, however many
   * deliveries it has. Resting endpoints are left out, removed and disabled ones are not.
   * @param after the id to continue after
   * @param onlyHealthy leaves out those that failed last time
   */
  async lanes(read: Reader, { now, after, except, onlyHealthy, limit }: LaneQuery): Promise<Lane[]> {
    const pending = sql`from webhook_deliveries d where d.status = 'PENDING'`
    const rows = await read.rows<Omit<Lane, 'over'> & { over: number | string }>(
      sql`with recursive lane (id) as (
            select min(d.endpoint_id) ${pending} and d.endpoint_id > ${after}
            union all
            select (select min(d.endpoint_id) ${pending} and d.endpoint_id > lane.id) from lane where lane.id is not null
          ), due as (
            select e.id, e.shop_id, e.url, e.sealed_secret, e.failures,
              case when e.removed_at is not null then 1 when e.disabled_at is not null then 2 else 0 end as over,
              (select d.id ${pending} and d.endpoint_id = e.id and d.next_at <= ${now} order by d.next_at limit 1) as delivery_id
            from lane join webhook_endpoints e on e.id = lane.id
            where (e.retry_at is null or e.retry_at <= ${now} or e.removed_at is not null or e.disabled_at is not null)
              ${onlyHealthy ? sql`and (e.failures = 0 or e.removed_at is not null or e.disabled_at is not null)` : sql.empty()}
              ${excludingCondition('e.id', except.endpoints)} ${excludingCondition('e.shop_id', except.shops)}
          )
          select id as "endpointId", shop_id as "shopId", url, sealed_secret as "sealedSecret", failures, over, delivery_id as "deliveryId"
          from due where delivery_id is not null order by id limit ${limit}`,
    )
    return rows.map(({ over, ...lane }) => ({ ...lane, over: endReasons[Number(over)] ?? null }))
  },
  /** Claims due deliveries until `until`. Those that another process took are not returned. */
  async claim(tx: Writer, ids: readonly string[], now: number, until: number): Promise<ClaimedRow[]> {
    const { id, outboxId, attempts, lastError } = webhookDeliveries
    return tx
      .update(webhookDeliveries)
      .set({ nextAt: until, attempts: sql`${attempts} + 1`, updatedAt: now })
      .where(and(inArray(id, [...ids]), isDue(now)))
      .returning({ id, outboxId, attempts, lastError })
  },
  /** Claims failing endpoints for one attempt each, until `until`. Those that another process took are not returned. */
  async claimEndpoints(tx: Writer, ids: readonly string[], now: number, until: number): Promise<string[]> {
    const { id, retryAt } = webhookEndpoints
    const rows = await tx
      .update(webhookEndpoints)
      .set({ retryAt: until })
      .where(and(inArray(id, [...ids]), or(isNull(retryAt), lte(retryAt, now))))
      .returning({ id })
    return rows.map((row) => row.id)
  },
  /** Gives up due deliveries of an endpoint, up to `limit`. Returns their number. */
  async abandon(tx: Writer, endpointId: string, now: number, lastError: string, limit: number): Promise<number> {
    return abandonDue(tx, eq(webhookDeliveries.endpointId, endpointId), { now, lastError, limit })
  },
  /** Gives up due deliveries created before a time. Returns their number. */
  async abandonOld(tx: Writer, { before, now, lastError, limit }: { before: number; now: number; lastError: string; limit: number }) {
    return abandonDue(tx, lt(webhookDeliveries.createdAt, before), { now, lastError, limit })
  },
  async setHealth(tx: Writer, endpointId: string, health: Health): Promise<void> {
    await tx.update(webhookEndpoints).set(health).where(eq(webhookEndpoints.id, endpointId))
  },
  /** Counts messages that are skipped because too many are pending. */
  async addSkipped(tx: Writer, endpointId: string, skipped: number, now: number): Promise<void> {
    await tx
      .update(webhookEndpoints)
      .set({ skipped: sql`${webhookEndpoints.skipped} + ${skipped}`, skippedAt: now })
      .where(eq(webhookEndpoints.id, endpointId))
  },
  /** Returns the pending deliveries of endpoints that have any. */
  async backlogs(from: SelectReader, endpointIds: readonly string[]): Promise<Map<string, Backlog>> {
    if (endpointIds.length === 0) return new Map()
    const { endpointId, nextAt } = webhookDeliveries
    const rows = await from
      .select({ endpointId, waiting: count(), dueAt: min(nextAt) })
      .from(webhookDeliveries)
      .where(and(sql`${webhookDeliveries.status} = 'PENDING'`, inArray(endpointId, [...endpointIds])))
      .groupBy(endpointId)
    return new Map(rows.map(({ endpointId: id, waiting, dueAt }) => [id, { waiting: Number(waiting), dueAt: Number(dueAt) }]))
  },
  async loadBodies(from: SelectReader, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await from
      .select({ id: outbox.id, body: outbox.body })
      .from(outbox)
      .where(inArray(outbox.id, [...ids]))
    return new Map(rows.map(({ id, body }) => [id, body]))
  },
  /** Stores the result of an attempt. If a later attempt has begun, only success is stored. */
  async settle(
    tx: Writer,
    { id, attempts }: Pick<WebhookDelivery, 'id' | 'attempts'>,
    change: Pick<WebhookDelivery, 'status' | 'nextAt' | 'lastStatus' | 'lastError' | 'updatedAt'> & { attempts?: number },
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

  /** Deletes finished deliveries with an id before `before`. Returns their number. */
  async removeOldDeliveries(tx: Writer, before: string, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from webhook_deliveries where id in
          (select id from webhook_deliveries where id < ${before} and status <> 'PENDING' order by id limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
  /** Deletes old messages without deliveries. Returns their number. */
  async removeOldMessages(tx: Writer, before: string, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from outbox where id in
          (select id from outbox where status = 'DONE' and id < ${before}
           and not exists (select 1 from webhook_deliveries where outbox_id = outbox.id) order by id limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
  /** Deletes removed endpoints without deliveries. Returns their number. */
  async removeOldEndpoints(tx: Writer, removedBefore: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from webhook_endpoints where id in
          (select id from webhook_endpoints where removed_at < ${removedBefore}
           and not exists (select 1 from webhook_deliveries where endpoint_id = webhook_endpoints.id) limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
}

/** Gives up due deliveries that meet a condition. Returns their number. */
async function abandonDue(
  tx: Writer,
  which: SQL,
  { now, lastError, limit }: { now: number; lastError: string; limit: number },
): Promise<number> {
  const { id } = webhookDeliveries
  const due = tx
    .select({ id })
    .from(webhookDeliveries)
    .where(and(isDue(now), which))
    .limit(limit)
  const set = { status: 'FAILED', lastError, updatedAt: now } as const
  const rows = await tx
    .update(webhookDeliveries)
    .set(set)
    .where(and(inArray(id, due), isDue(now)))
    .returning({ id })
  return rows.length
}
