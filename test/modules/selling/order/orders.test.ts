import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf as allBooks, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, withInstantTimeout } from '../../../support/sandbox.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const day = 24 * 60 * 60 * 1000
const hour = 60 * 60 * 1000
const eventTypes = (order: { events: { type: string }[] }) => order.events.map(({ type }) => type)

const booksOf = async (app: TestApp) => {
  const rows = await app.deps.db.read.rows<{ kind: string; processor: string; amount: number; usd_cents: number }>(
    sql`select kind, processor, amount, usd_cents from unified_transactions order by kind, amount`,
  )
  return rows.map(({ kind, processor, amount, usd_cents }) => `${kind} ${processor} ${Number(amount)} ${Number(usd_cents)}`)
}

describe('reading orders', () => {
  test('shows an order to its shop and its customer only, and answers all others with the same 404', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const owner = await customerOf(app, shop.shop.name)
    const stranger = await customerOf(app, shop.shop.name, 'stranger@example.com')
    const order = await shop.placeOrder({ token: owner.token })
    const path = `/v2/orders/${order.id}`
    expect(ok(await app.call('GET', path, { key: shop.secretKey })).body).toEqual(order)
    expect(ok(await app.call('GET', path, { token: shop.token })).body).toEqual(order)
    expect(ok(await app.call('GET', path, { token: owner.token })).body).toEqual(order)
    const missing = await app.call('GET', '/v2/orders/order_00000000000000000000000000', { key: shop.secretKey })
    expect(missing.status).toBe(404)
    for (const credentials of [{ token: stranger.token }, { key: other.secretKey }, { token: other.token }]) {
      const answer = await app.call('GET', path, credentials)
      expect(answer.status).toBe(404)
      expect(answer.body).toEqual(missing.body)
    }
    expect((await app.call('GET', path, { key: shop.publishableKey })).status).toBe(403)
    expect((await app.call('GET', path)).status).toBe(401)
    expect((await app.call('GET', path, { key: shop.secretKey })).headers.get('cache-control')).toBe('no-store')
  })

  test('lists orders newest first, filtered by status and by customer', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 100 })
    const customer = await customerOf(app, shop.shop.name)
    const ids: string[] = []
    for (let nth = 0; nth < 3; nth++) {
      app.clock.advance(1_000)
      ids.unshift((await shop.placeOrder(nth === 1 ? { token: customer.token } : {})).id)
    }
    const page = ok(await shop.get('/v2/orders?limit=2')).body
    expect(page).toMatchObject({ page: 1, limit: 2, total: 3, pages: 2 })
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2))
    expect(page.data.map(({ number }: { number: number }) => number)).toEqual([3, 2])
    expect(ok(await shop.get(`/v2/orders?customerId=${customer.id}`)).body).toMatchObject({ total: 1, data: [{ id: ids[1] }] })
    expect(ok(await shop.get('/v2/orders?status=CANCELLED')).body).toMatchObject({ total: 0, data: [] })
    expect((await shop.get('/v2/orders?status=NO_SUCH')).status).toBe(400)
    expect(ok(await shop.get(`/customer/${customer.id}/order-ids`)).body).toEqual({ customerId: customer.id, orderIds: [ids[1]], total: 1 })
    expect(ok(await shop.get(`/customer/${customer.id}`)).body).toMatchObject({ ordersCount: 1, totalSpent: shop.usd(1_000) })
  })
})

test("hides the shop's reasons for refunds and cancellations from the customer", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token } = await customerOf(app, shop.shop.name)
  const order = await shop.placeOrder({ token })
  ok(await shop.refund(order.id, { amount: shop.usd(100), reason: 'suspected fraud' }))
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, { reason: 'fraud indeed' }))
  expect(JSON.stringify(await shop.order(order.id))).toContain('suspected fraud')
  const customerView = ok(await app.call('GET', `/v2/orders/${order.id}`, { token }))
  expect(customerView.body).toMatchObject({ status: 'CANCELLED', refunds: [{ reason: null }, { reason: null }] })
  expect(customerView.text).not.toContain('fraud')
})

describe('refunds of an order', () => {
  test('refunds an order in parts up to exactly the captured amount', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { price: 1_001 })
    const customer = await customerOf(app, shop.shop.name)
    const order = await shop.placeOrder({ token: customer.token })
    const partialRefund = ok(await shop.refund(order.id, { amount: shop.usd(333), reason: 'A chip' }), 201).body
    expect(partialRefund).toMatchObject({
      status: 'SUCCEEDED',
      amount: shop.usd(333),
      giftCardAmount: shop.usd(0),
      processor: 'sandbox',
      reason: 'A chip',
    })
    expect(await shop.order(order.id)).toMatchObject({
      status: 'CONFIRMED',
      paymentStatus: 'PARTIALLY_REFUNDED',
      refundedTotal: shop.usd(333),
    })
    expect((await shop.refund(order.id, { amount: shop.usd(669) })).status).toBe(409)
    expect(ok(await shop.refund(order.id), 201).body.amount).toEqual(shop.usd(668))
    const refundedOrder = await shop.order(order.id)
    expect(refundedOrder).toMatchObject({
      status: 'FULFILLED',
      paymentStatus: 'REFUNDED',
      refundedTotal: shop.usd(1_001),
      capturedTotal: shop.usd(1_001),
    })
    expect(refundedOrder.payments[0]).toMatchObject({ status: 'CAPTURED', refunded: shop.usd(1_001) })
    expect((await shop.refund(order.id)).status).toBe(409)
    expect(ok(await shop.get(`/customer/${customer.id}`)).body.totalSpent).toEqual(shop.usd(0))
    expect(await booksOf(app)).toEqual(['CAPTURE sandbox 1001 1001', 'REFUND sandbox 333 333', 'REFUND sandbox 668 668'])
  })

  test('requires an idempotency key for a refund, and replays its response', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder()
    expect((await shop.post(`/v2/orders/${order.id}/refunds`, {})).status).toBe(400)
    const first = ok(await shop.refund(order.id, { amount: shop.usd(100) }, 'once'), 201)
    expect((await shop.refund(order.id, { amount: shop.usd(100) }, 'once')).text).toBe(first.text)
    expect((await shop.refund(order.id, { amount: shop.usd(200) }, 'once')).status).toBe(422)
    expect((await shop.order(order.id)).refundedTotal).toEqual(shop.usd(100))
  })

  test('refunds captured money first, then what gift cards paid', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const card = await shop.giftCard(400)
    const cartId = await shop.cart()
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
    const { order } = ok(await shop.checkout(cartId)).body
    const balance = async () => (await shop.get('/giftcard')).body.data[0].balance.amount
    expect(await balance()).toBe(0)
    expect(ok(await shop.refund(order.id, { amount: shop.usd(700) })).body).toMatchObject({
      amount: shop.usd(700),
      giftCardAmount: shop.usd(100),
    })
    expect(await balance()).toBe(100)
    ok(await shop.refund(order.id))
    expect(await balance()).toBe(400)
    expect(await shop.order(order.id)).toMatchObject({
      paymentStatus: 'REFUNDED',
      capturedTotal: shop.usd(600),
      refundedTotal: shop.usd(600),
      giftCardRefundedTotal: shop.usd(400),
    })
    expect(await booksOf(app)).toEqual([
      'CAPTURE sandbox 600 600',
      'GIFT_CARD gift_card 400 400',
      'GIFT_CARD_REFUND gift_card 100 100',
      'GIFT_CARD_REFUND gift_card 300 300',
      'REFUND sandbox 600 600',
    ])
  })

  test('rejects an invalid refund amount with 400, a foreign order with 404 and an unpaid order with 409', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const order = await shop.placeOrder()
    for (const amount of [{ amount: 100, currency: 'EUR' }, shop.usd(0), shop.usd(-1), shop.usd(1.5), { amount: '1', currency: 'USD' }]) {
      expect((await shop.refund(order.id, { amount })).status, JSON.stringify(amount)).toBe(400)
    }
    expect((await other.refund(order.id)).status).toBe(404)
    const unpaid = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' })).body.order
    expect((await shop.refund(unpaid.id)).status).toBe(409)
    expect((await shop.order(order.id)).refundedTotal).toEqual(shop.usd(0))
  })
})

describe('cancelling an order', () => {
  test('releases the holds of an unpaid order when it is cancelled', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart({ quantity: 4 })
    const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_action' })).body
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 4 })
    const cancelled = ok(await shop.post(`/v2/orders/${order.id}/cancel`, { reason: 'Changed their mind' }), 200).body
    expect(cancelled).toMatchObject({ status: 'CANCELLED' })
    expect(cancelled).toMatchObject({ paymentStatus: 'VOIDED', payments: [{ status: 'VOIDED' }] })
    expect(cancelled.events.find(({ type }: { type: string }) => type === 'CANCELLED').detail).toEqual({ reason: 'Changed their mind' })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect((await shop.post(`/v2/orders/${order.id}/cancel`, {})).status).toBe(409)
  })

  test('refunds all money and restocks the goods of a confirmed order when it is cancelled', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder({ quantity: 4 })
    ok(await shop.refund(order.id, { amount: shop.usd(500) }))
    const cancelled = ok(await shop.post(`/v2/orders/${order.id}/cancel`, {})).body
    expect(cancelled).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: shop.usd(4_000) })
    expect(cancelled.refunds.map(({ amount }: { amount: { amount: number } }) => amount.amount)).toEqual([500, 3_500])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect((await shop.refund(order.id)).status).toBe(409)
  })

  test("rejects cancelling a fulfilled order with 409 and another shop's order with 404", async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const order = await shop.placeOrder()
    expect((await other.post(`/v2/orders/${order.id}/cancel`, {})).status).toBe(404)
    ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))
    expect((await shop.post(`/v2/orders/${order.id}/cancel`, {})).status).toBe(409)
  })

  test('cancels a paid order whose saga is stuck, and refunds its money', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { deps } = app
    const cartId = await shop.cart({ quantity: 2 })
    // Without its outbox table, the saga cannot confirm the order.
    const rename = (from: string, to: string) =>
      deps.db.write(async (tx) => void (await tx.rows(sql.raw(`alter table ${from} rename to ${to}`))))
    await rename('outbox', 'outbox_away')
    const { order } = ok(await shop.checkout(cartId), 201).body
    expect(order).toMatchObject({ status: 'PAID', paymentStatus: 'CAPTURED' })
    // A sale is one write, so none of its effects exist.
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 2 })
    await rename('outbox_away', 'outbox')
    const cancelled = ok(await shop.post(`/v2/orders/${order.id}/cancel`, { reason: 'Stuck' })).body
    expect(cancelled).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: shop.usd(2_000) })
    expect(eventTypes(cancelled)).toEqual(['PLACED', 'PAYMENT_AUTHORIZED', 'PAYMENT_CAPTURED', 'COMPENSATING', 'REFUNDED', 'CANCELLED'])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  })

  test('refunds a paid order after 20 failed attempts to make it a sale, with pauses up to half an hour', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderStore } = app.deps
    const { move } = orderStore
    const fail = (): never => {
      throw new Error('the sale cannot be written')
    }
    orderStore.moveThrough = fail
    orderStore.move = (tx, order, from, to, change) => (to === 'CONFIRMED' ? fail() : move(tx, order, from, to, change))
    const { order } = ok(await shop.checkout(await shop.cart()), 201).body
    // The write that also records the captured money logs its failure with the payment, and counts no attempt.
    const failures = () => app.logged.filter(({ event, fields }) => event === 'order.not_confirmed' && !('payment' in fields))
    expect(failures()).toMatchObject([{ level: 'error', fields: { order: order.id } }])
    for (let attempt = 2; attempt <= 20; attempt++) {
      expect((await shop.order(order.id)).status).toBe('PAID')
      app.clock.advance(30 * 60_000)
      await app.jobs.resume()
      expect(failures()).toHaveLength(attempt)
    }
    app.clock.advance(30 * 60_000)
    await app.jobs.resume()
    expect(failures()).toHaveLength(20)
    expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', refundedTotal: shop.usd(1_000) })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  })

  test('confirms a paid order by the job after its saga was stuck', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { deps } = app
    const rename = (from: string, to: string) =>
      deps.db.write(async (tx) => void (await tx.rows(sql.raw(`alter table ${from} rename to ${to}`))))
    await rename('unified_transactions', 'away')
    const { order } = ok(await shop.checkout(await shop.cart()), 201).body
    expect(order.status).toBe('PAID')
    await rename('away', 'unified_transactions')
    await app.jobs.resume()
    expect((await shop.order(order.id)).status).toBe('PAID')
    app.clock.advance(60_000)
    await app.jobs.resume()
    expect((await shop.order(order.id)).status).toBe('CONFIRMED')
  })
})

describe('fulfilling an order', () => {
  test('stores the tracking of a fulfilment, and completes the order after the refund window', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder()
    const sent = ok(await shop.post(`/v2/orders/${order.id}/fulfil`, { trackingNumber: 'Z1', carrier: 'Caravan' }), 200).body
    expect(sent).toMatchObject({ status: 'FULFILLED', fulfilmentStatus: 'FULFILLED', tracking: { number: 'Z1', carrier: 'Caravan' } })
    expect((await shop.post(`/v2/orders/${order.id}/fulfil`, {})).status).toBe(409)
    app.clock.advance(14 * day - 1)
    await app.jobs.closeOrders()
    expect((await shop.order(order.id)).status).toBe('FULFILLED')
    app.clock.advance(1)
    await app.jobs.closeOrders()
    expect((await shop.order(order.id)).status).toBe('COMPLETED')
    expect(ok(await shop.refund(order.id)).body.status).toBe('SUCCEEDED')
  })

  test('rejects fulfilling an unpaid order with 409', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const unpaid = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' })).body.order
    expect((await shop.post(`/v2/orders/${unpaid.id}/fulfil`, {})).status).toBe(409)
  })
})

test('shows amounts in order events as money to the shop and the customer', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { currency: 'EUR' })
  const { token } = await customerOf(app, shop.shop.name)
  const { id } = await shop.placeOrder({ quantity: 2, token })
  const { id: refund } = ok(await shop.refund(id, { amount: shop.money(100) })).body
  const { events, payments } = await shop.order(id)
  const details = Object.fromEntries(events.map(({ type, detail }: { type: string; detail: object }) => [type, detail]))
  expect(details).toMatchObject({
    PLACED: { total: shop.money(2_000) },
    PAYMENT_CAPTURED: { payment: payments[0].id, processor: 'sandbox', amount: shop.money(2_000) },
    REFUND_REQUESTED: { refund, amount: shop.money(100) },
    REFUNDED: { refund, amount: shop.money(100) },
  })
  expect(Object.keys(details['PLACED'])).toEqual(['total'])
  expect(ok(await app.call('GET', `/v2/orders/${id}`, { token })).body.events).toEqual(events)
})

describe('cancelling an order that cost nothing', () => {
  test('cancels a free order without a refund, and restocks its goods', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { price: 0 })
    const { id } = await shop.placeOrder({ quantity: 2 })
    const cancelled = ok(await shop.post(`/v2/orders/${id}/cancel`, {}), 200).body
    expect(cancelled).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED', refunds: [] })
    expect(eventTypes(cancelled).at(-1)).toBe('CANCELLED')
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(violationsAtRest(await allBooks(app))).toEqual([])
  })

  test('returns the amount of a gift card that paid the whole order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const card = await shop.giftCard(1_000)
    const cartId = await shop.cart()
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
    const { id } = ok(await shop.checkout(cartId)).body.order
    const cancelled = ok(await shop.post(`/v2/orders/${id}/cancel`, {}), 200).body
    expect(cancelled).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED', amountDue: shop.usd(0) })
    expect((await shop.get(`/giftcard/${card.id}`)).body.balance).toEqual(shop.usd(1_000))
    expect(violationsAtRest(await allBooks(app))).toEqual([])
  })
})

for (const paymentToken of ['tok_action', 'tok_decline'])
  test(`shows how the payment ended of an order that ends unpaid after ${paymentToken}`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const unpaid = async () => {
      const cartId = await shop.cart()
      return { cartId, id: ok(await shop.checkout(cartId, { paymentToken })).body.order.id }
    }
    const [byShop, byShopper, byTime] = [await unpaid(), await unpaid(), await unpaid()]
    ok(await shop.post(`/v2/orders/${byShop.id}/cancel`, {}), 200)
    ok(await app.call('DELETE', `/cart/${byShopper.cartId}/checkout`, { key: shop.publishableKey }), 200)
    app.clock.advance(hour)
    await app.jobs.closeOrders()
    const expectedStatus = paymentToken === 'tok_action' ? 'VOIDED' : 'FAILED'
    for (const { id } of [byShop, byShopper, byTime]) {
      const { paymentStatus, payments } = await shop.order(id)
      expect([paymentStatus, payments[0].status]).toEqual([expectedStatus, expectedStatus])
    }
  })

test('shows an undecided payment as FAILED while its order waits, and as VOIDED after the order expired', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  changeProcessor(app, withInstantTimeout(app))
  const { order } = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_timeout' }), 201).body
  for (let queries = 0; queries < 4; queries++) {
    app.clock.advance(10 * 60 * 1000)
    await app.jobs.resume()
  }
  expect(await shop.order(order.id)).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'FAILED', payments: [{ status: 'VOIDED' }] })
  app.clock.advance(hour)
  await app.jobs.closeOrders()
  expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', paymentStatus: 'VOIDED' })
})
