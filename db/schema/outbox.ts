import { sql } from 'drizzle-orm'
import { enumText, index, instant, int, json, reference, table, text, uniqueIndex } from '../columns.ts'
import { shops } from './shop.ts'

/** Events for webhooks, stored in the commit of their cause. */
export const outbox = table(
  'outbox',
  {
    id: text('id').primaryKey(),
    /** Identifies the cause, so that it is sent once: `order.confirmed:order_…`. */
    key: text('key').notNull(),
    shopId: reference('shop_id', () => shops.id),
    event: text('event').notNull(),
    /** The exact body that is signed and sent. */
    body: text('body').notNull(),
    status: enumText('status', ['PENDING', 'DONE']).notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (row) => [uniqueIndex('outbox_key').on(row.key), index('outbox_status').on(row.status, row.id)],
)

/** URLs of shops that receive webhooks. */
export const webhookEndpoints = table(
  'webhook_endpoints',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    url: text('url').notNull(),
    events: json<string[]>('events').notNull(),
    sealedSecret: text('sealed_secret').notNull(),
    createdAt: instant('created_at').notNull(),
    /** Set when the shop deletes the endpoint: its deliveries are hidden and not retried. */
    removedAt: instant('removed_at'),
    /** Failed attempts since the last success. */
    failures: int('failures').notNull().default(0),
    /** Time of the first of these failures. */
    failingSince: instant('failing_since'),
    /** No delivery before this time, because of failures or a running probe. */
    retryAt: instant('retry_at'),
    /** Set when the endpoint is disabled. */
    disabledAt: instant('disabled_at'),
    /** GONE: it responded 410. FAILING: it failed for days. */
    disabledReason: enumText('disabled_reason', ['GONE', 'FAILING']),
    /** Messages that were dropped because too many waited, and the time of the last one. */
    skipped: int('skipped').notNull().default(0),
    skippedAt: instant('skipped_at'),
  },
  (endpoint) => [
    index('webhook_endpoints_shop').on(endpoint.shopId, endpoint.id),
    index('webhook_endpoints_removed').on(endpoint.removedAt).where(sql`removed_at is not null`),
  ],
)

/** A message to an endpoint. */
export const webhookDeliveries = table(
  'webhook_deliveries',
  {
    id: text('id').primaryKey(),
    endpointId: reference('endpoint_id', () => webhookEndpoints.id),
    outboxId: reference('outbox_id', () => outbox.id),
    event: text('event').notNull(),
    status: enumText('status', ['PENDING', 'DELIVERED', 'FAILED']).notNull(),
    attempts: int('attempts').notNull(),
    /** Next attempt. */
    nextAt: instant('next_at').notNull(),
    lastStatus: int('last_status'),
    lastError: text('last_error'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (delivery) => [
    uniqueIndex('webhook_deliveries_once').on(delivery.outboxId, delivery.endpointId),
    index('webhook_deliveries_due').on(delivery.nextAt).where(sql`status = 'PENDING'`),
    index('webhook_deliveries_lane').on(delivery.endpointId, delivery.nextAt).where(sql`status = 'PENDING'`),
    index('webhook_deliveries_endpoint').on(delivery.endpointId, delivery.id),
  ],
)
