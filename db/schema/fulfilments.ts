import { index, instant, int, json, reference, table, text } from '../columns.ts'
import { orders } from './selling.ts'

/** A parcel of an order. */
export const fulfilments = table(
  'fulfilments',
  {
    id: text('id').primaryKey(),
    orderId: reference('order_id', () => orders.id),
    /** Units per line; immutable. */
    lines: json<{ lineId: string; quantity: number }[]>('lines').notNull(),
    trackingNumber: text('tracking_number'),
    carrier: text('carrier'),
    /** Hash of the request's idempotency key; null in rows of older versions. */
    attemptKey: text('attempt_key'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Increases with corrections. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
  },
  (fulfilment) => [index('fulfilments_order').on(fulfilment.orderId, fulfilment.id)],
)

/** Internal notes of an order; append-only, and invisible to shoppers. */
export const orderNotes = table(
  'order_notes',
  {
    id: text('id').primaryKey(),
    orderId: reference('order_id', () => orders.id),
    text: text('text').notNull(),
    /** Id of the person or key. */
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (note) => [index('order_notes_order').on(note.orderId, note.id)],
)
