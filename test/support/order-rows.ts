/** Inserts and changes orders as rows, without a checkout. */
import { eq } from 'drizzle-orm'
import { orders } from '../../db/schema/selling.ts'
import type { TestApp } from './app.ts'

let placed = 0

/** Inserts an order of a shop. Amounts that `fields` omits are 0. */
export async function insertOrder(app: TestApp, shopId: string, fields: Partial<typeof orders.$inferInsert> = {}) {
  const now = app.clock.now()
  const row = {
    id: app.deps.newId('order'),
    shopId,
    number: ++placed,
    cartId: app.deps.newId('cart'),
    email: 'shopper@example.com',
    currency: 'USD',
    subtotal: 0,
    discountTotal: 0,
    shippingTotal: 0,
    taxTotal: 0,
    taxIncluded: 0,
    giftCardTotal: 0,
    total: 0,
    amountDue: 0,
    capturedTotal: 0,
    refundedTotal: 0,
    giftCardRefundedTotal: 0,
    status: 'PAID',
    paymentStatus: 'CAPTURED',
    fulfilmentStatus: 'UNFULFILLED',
    expiresAt: now,
    createdAt: now,
    updatedAt: now,
    ...fields,
  } as const
  const [order] = await app.deps.db.write((tx) => tx.insert(orders).values(row).returning())
  if (!order) throw new Error('no order was inserted')
  return order
}

/** Changes fields of an order, also to states that no transition reaches. */
export const forceOrder = (app: TestApp, id: string, fields: Partial<typeof orders.$inferInsert>): Promise<void> =>
  app.deps.db.write(async (tx) => {
    const changed = await tx.update(orders).set(fields).where(eq(orders.id, id)).returning({ id: orders.id })
    if (changed.length !== 1) throw new Error('there is no such order')
    app.deps.orderChanged(tx, id)
  })
