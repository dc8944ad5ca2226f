import { index, instant, int, json, table, text } from '../columns.ts'
import { orders } from './selling.ts'

const orderId = () =>
  text('order_id')
    .notNull()
    .references(() => orders.id)

/** What of an order left the house together: a parcel. */
export const fulfilments = table(
  'fulfilments',
  {
    id: text('id').primaryKey(),
    orderId: orderId(),
    /** How many of which lines; they never change: what was sent was sent. */
    lines: json<{ lineId: string; quantity: number }[]>('lines').notNull(),
    trackingNumber: text('tracking_number'),
    carrier: text('carrier'),
    /** The idempotency key of the request, hashed; null for those of older versions. */
    attemptKey: text('attempt_key'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Raised by whoever corrects the record: what `ETag` and `If-Match` go by. */
    version: int('version').notNull().default(1),
  },
  (fulfilment) => [index('fulfilments_order').on(fulfilment.orderId, fulfilment.id)],
)

/** What the shop's people wrote down of an order for each other; append-only, and in no answer that a shopper gets. */
export const orderNotes = table(
  'order_notes',
  {
    id: text('id').primaryKey(),
    orderId: orderId(),
    text: text('text').notNull(),
    /** The id of the person or key that wrote it. */
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (note) => [index('order_notes_order').on(note.orderId, note.id)],
)
