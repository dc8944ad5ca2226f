import { index, int, primaryKey, reference, table, text } from '../columns.ts'
import { customers } from './people.ts'
import { orders } from './selling.ts'

/** Tags of customers in the form in which they are compared: a list by tag reads one index in list order. */
export const customerTags = table(
  'customer_tags',
  {
    customerId: reference('customer_id', () => customers.id),
    tag: text('tag').notNull(),
    shopId: text('shop_id').notNull(),
  },
  (row) => [primaryKey({ columns: [row.customerId, row.tag] }), index('customer_tags_list').on(row.shopId, row.tag, row.customerId)],
)

/** Tags of orders, likewise. */
export const orderTags = table(
  'order_tags',
  {
    orderId: reference('order_id', () => orders.id),
    tag: text('tag').notNull(),
    shopId: text('shop_id').notNull(),
    /** Of the order. */
    number: int('number').notNull(),
  },
  (row) => [primaryKey({ columns: [row.orderId, row.tag] }), index('order_tags_list').on(row.shopId, row.tag, row.number)],
)
