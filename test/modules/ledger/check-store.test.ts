/** What `souk check` says of books that do not add up, on both engines. */
import { expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { bookFindings } from '../../../src/modules/ledger/check-store.ts'
import { type TestApp, testApp } from '../../support/app.ts'
import { ok, sellingIn } from '../../support/selling.ts'

async function wrong(app: TestApp): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for await (const { subject, problems } of bookFindings(app.deps.db)) if (problems.length > 0) found[subject] = problems
  return found
}

/** Orders of every kind: sold, refunded in part, cancelled, waiting, expired, and one that gift cards paid a part of. */
async function busyShop(app: TestApp) {
  const shop = await sellingIn(app, { onHand: 100 })
  const sold = await shop.bought({ quantity: 2 })
  ok(await shop.refund((await shop.bought()).id, { amount: shop.usd(100) }))
  ok(await shop.post(`/v2/orders/${(await shop.bought()).id}/cancel`, {}))
  ok(await shop.checkout(await shop.cart({ quantity: 3 }), { paymentToken: 'tok_decline' }))
  app.clock.advance(60 * 60 * 1000)
  await app.jobs.closeOrders()
  const waiting = ok(await shop.checkout(await shop.cart({ quantity: 5 }), { paymentToken: 'tok_action' })).body.order
  const card = await shop.giftCard(700)
  const cartId = await shop.cart()
  ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
  ok(await shop.checkout(cartId))
  return { ...shop, sold, waiting, card }
}

test('a busy shop adds up', async () => {
  await using app = await testApp()
  const shop = await busyShop(app)
  expect(await shop.stock()).toEqual({ onHand: 96, reserved: 5 })
  expect(await wrong(app)).toEqual({})
})

test('what does not add up is named', async () => {
  await using app = await testApp()
  const { sold, card, variantId, shop } = await busyShop(app)
  const run = (statement: SQL) => app.deps.db.write((tx) => tx.rows(statement))
  await run(sql`update gift_cards set balance = 1 where id = ${card.id}`)
  await run(sql`update variants set reserved = 4 where id = ${variantId}`)
  await run(sql`update orders set shipping_total = 1 where id = ${sold.id}`)
  await run(sql`update order_numbers set last = 99 where shop_id = ${shop.id}`)
  await run(sql`delete from unified_transactions where order_id = ${sold.id}`)
  expect(await wrong(app)).toEqual({
    'gift cards': [`Gift card ${card.id} holds 1, and its transactions add up to 0`],
    stock: [`Variant ${variantId} has 4 reserved, and orders under way want 5`],
    orders: [`The amounts of order ${sold.id} do not add up`],
    'order numbers': [`Shop ${shop.id} has 6 orders with numbers up to 6, and its counter stands at 99`],
    books: [`Order ${sold.id} was sold for 2000, and the books have 0`],
    payments: [`Payment ${sold.payments[0].id} has 2000 captured and 0 refunded: its refunds add up to 0, and the books have 0 of 2000`],
  })
})
