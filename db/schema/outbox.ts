import { sql } from 'drizzle-orm'
import { index, instant, int, json, table, text, uniqueIndex, word } from '../columns.ts'
import { shops } from './shop.ts'

const shopId = () =>
  text('shop_id')
    .notNull()
    .references(() => shops.id)

/** What the outside is to be told, written in the same commit as what happened. */
export const outbox = table(
  'outbox',
  {
    id: text('id').primaryKey(),
    /** Names what happened, so that it is told once: `order.confirmed:order_…`. */
    key: text('key').notNull(),
    shopId: shopId(),
    event: text('event').notNull(),
    /** The body, byte for byte as it is signed and sent. */
    body: text('body').notNull(),
    status: word('status', ['PENDING', 'DONE']).notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (row) => [uniqueIndex('outbox_key').on(row.key), index('outbox_status').on(row.status, row.id)],
)

export const webhookEndpoints = table(
  'webhook_endpoints',
  {
    id: text('id').primaryKey(),
    shopId: shopId(),
    url: text('url').notNull(),
    events: json<string[]>('events').notNull(),
    sealedSecret: text('sealed_secret').notNull(),
    createdAt: instant('created_at').notNull(),
    /** Set when the shop took it away; its deliveries stay visible to nobody and are not tried again. */
    removedAt: instant('removed_at'),
    /** Attempts that failed since the last one that was answered well. */
    failures: int('failures').notNull().default(0),
    /** When the first of those failed. */
    failingSince: instant('failing_since'),
    /** Nothing is sent to it before: it failed repeatedly, or one attempt is under way that tells how it is now. */
    retryAt: instant('retry_at'),
    /** Nothing more is sent to it. */
    disabledAt: instant('disabled_at'),
    /** GONE: it answered 410. FAILING: nothing else came of it for days. */
    disabledReason: word('disabled_reason', ['GONE', 'FAILING']),
    /** Messages that were not kept for it because too many waited already, and when the last of them was skipped. */
    skipped: int('skipped').notNull().default(0),
    skippedAt: instant('skipped_at'),
  },
  (endpoint) => [
    index('webhook_endpoints_shop').on(endpoint.shopId, endpoint.id),
    index('webhook_endpoints_removed').on(endpoint.removedAt).where(sql`removed_at is not null`),
  ],
)

/** One message to one endpoint. */
export const webhookDeliveries = table(
  'webhook_deliveries',
  {
    id: text('id').primaryKey(),
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => webhookEndpoints.id),
    outboxId: text('outbox_id')
      .notNull()
      .references(() => outbox.id),
    event: text('event').notNull(),
    status: word('status', ['PENDING', 'DELIVERED', 'FAILED']).notNull(),
    attempts: int('attempts').notNull(),
    /** When it is tried next. */
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
