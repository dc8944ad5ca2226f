/** Problems that `souk check` finds in orders, stock, payments and the ledger, on both engines. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { bookFindings } from '../../../../src/modules/payments/ledger/check-store.ts'
import { paymentsOf } from '../../../../src/modules/payments/payment/index.ts'
import { recordAnswer } from '../../../../src/modules/selling/order/saga/order-payments.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { changeProcessor } from '../../../support/sandbox.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function findProblems(app: TestApp): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for await (const { subject, problems } of bookFindings(app.deps.db)) if (problems.length > 0) found[subject] = problems
  return found
}

/** Opens a shop with sold, partially refunded, cancelled, unpaid, expired and partly gift-card-paid orders. */
async function openBusyShop(app: TestApp) {
  const shop = await sellingIn(app, { onHand: 100 })
  const sold = await shop.placeOrder({ quantity: 2 })
  ok(await shop.refund((await shop.placeOrder()).id, { amount: shop.usd(100) }))
  ok(await shop.post(`/v2/orders/${(await shop.placeOrder()).id}/cancel`, {}))
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

test('finds no problem in a shop with orders of every kind', async () => {
  await using app = await testApp()
  const shop = await openBusyShop(app)
  expect(await shop.stock()).toEqual({ onHand: 96, reserved: 5 })
  expect(await findProblems(app)).toEqual({})
})

test('names every record whose amounts or counts do not add up', async () => {
  await using app = await testApp()
  const { sold, card, variantId, shop } = await openBusyShop(app)
  const run = (statement: SQL) => app.deps.db.write((tx) => tx.rows(statement))
  await run(sql`update gift_cards set balance = 1 where id = ${card.id}`)
  await run(sql`update variants set reserved = 4 where id = ${variantId}`)
  await run(sql`update orders set shipping_total = 1 where id = ${sold.id}`)
  await run(sql`update order_numbers set last = 99 where shop_id = ${shop.id}`)
  await run(sql`delete from unified_transactions where order_id = ${sold.id}`)
  expect(await findProblems(app)).toEqual({
    'gift cards': [`Gift card ${card.id} holds 1, and its transactions add up to 0`],
    stock: [`Variant ${variantId} has 4 reserved, and held orders need 5`],
    orders: [`The amounts of order ${sold.id} do not add up`],
    'order numbers': [`Shop ${shop.id} has 6 orders with numbers up to 6, and its counter stands at 99`],
    books: [`Order ${sold.id} was sold for 2000, and the books have 0`],
    payments: [`Payment ${sold.payments[0].id} has 2000 captured and 0 refunded: its refunds add up to 0, and the books have 0 of 2000`],
  })
})

test('names an order if one of its amounts differs from its lines, payments or refunds', async () => {
  await using app = await testApp()
  const { sold } = await openBusyShop(app)
  const run = (statement: string) => app.deps.db.write((tx) => tx.rows(sql.raw(statement)))
  const subjectsAfter = async (table: string, idColumn: string, change: string, revert: string) => {
    await run(`update ${table} set ${change} where ${idColumn} = '${sold.id}'`)
    const found = await findProblems(app)
    await run(`update ${table} set ${revert} where ${idColumn} = '${sold.id}'`)
    return Object.entries(found).flatMap(([subject, problems]) => problems.map((problem) => [subject, problem.includes(sold.id)]))
  }
  const incrementAndRevert = (column: string) => [`${column} = ${column} + 1`, `${column} = ${column} - 1`] as const
  const orderFinding = ['orders', true]
  for (const column of ['total', 'unit_price', 'tax_amount'])
    expect(await subjectsAfter('order_lines', 'order_id', ...incrementAndRevert(column))).toEqual([orderFinding])
  for (const column of ['subtotal', 'tax_included'])
    expect(await subjectsAfter('orders', 'id', ...incrementAndRevert(column))).toContainEqual(orderFinding)
  const moneyFinding = ['money of orders', true]
  for (const column of ['captured_total', 'refunded_total'])
    expect(await subjectsAfter('orders', 'id', ...incrementAndRevert(column))).toContainEqual(moneyFinding)
  for (const status of ['REFUNDED', 'PARTIALLY_REFUNDED', 'FAILED'])
    expect(await subjectsAfter('orders', 'id', `payment_status = '${status}'`, "payment_status = 'CAPTURED'")).toEqual([moneyFinding])
  const amountsFinding = [['amounts of payments', true]]
  for (const [change, revert] of [incrementAndRevert('amount'), ['authorized = 1', 'authorized = 2000']] as const)
    expect(await subjectsAfter('payments', 'order_id', change, revert)).toEqual(amountsFinding)
  expect(await findProblems(app)).toEqual({})
})

test('finds no problem in an order that refunded a late payment or excess money', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { order } = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_action' })).body
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  // The payment was captured before the void reached the processor.
  const [payment] = await paymentsOf(app.deps, order.id)
  if (!payment) throw new Error('no payment')
  const answer = { reference: payment.id, state: 'CAPTURED', authorized: 1_200, captured: 1_200 } as const
  changeProcessor(app, () => ({ refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }) }))
  await recordAnswer(app.deps, payment, answer, { holder: 'a' })
  expect(await shop.order(order.id)).toMatchObject({ capturedTotal: shop.usd(1_200), refundedTotal: shop.usd(1_200) })
  expect(await findProblems(app)).toEqual({})
  const paid = await shop.placeOrder()
  const [captured] = await paymentsOf(app.deps, paid.id)
  if (!captured) throw new Error('no payment')
  await recordAnswer(app.deps, captured, { ...answer, reference: captured.id }, { holder: 'a' })
  expect(await shop.order(paid.id)).toMatchObject({ capturedTotal: shop.usd(1_000), refundedTotal: shop.usd(0), paymentStatus: 'CAPTURED' })
  expect(await findProblems(app)).toEqual({})
})
