/** Compares the overview of a shop with its records, and with the permissions of each role. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { locking } from '../../../../src/core/command-context.ts'
import { paymentsOf } from '../../../../src/modules/payments/payment/index.ts'
import { type ReportedDispute, recordDispute } from '../../../../src/modules/selling/order/saga/disputes.ts'
import { testApp } from '../../../support/app.ts'
import { requestedReturnOf } from '../../../support/returns.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { staffOf } from '../../../support/staff.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { registerEndpoint } from '../../../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const path = '/shops/v2/overview'
const dayMs = 24 * 60 * 60 * 1000
/** Uses the secret key, because tokens expire when days pass. */
const readOverview = async ({ app, secretKey }: Pick<Selling, 'app' | 'secretKey'>, query = '') =>
  ok(await app.call('GET', `${path}${query}`, { key: secretKey })).body
const refund = async ({ app, secretKey }: Selling, id: string, body: object) =>
  ok(await app.call('POST', `/v2/orders/${id}/refunds`, { key: secretKey, body, headers: { 'idempotency-key': randomUUID() } })).body
const usd = (amount: number) => ({ amount, currency: 'USD' })
const valuesOf = (series: { date: string }[], name = 'value') =>
  Object.fromEntries(series.map((one) => [one.date, (one as Record<string, unknown>)[name]]).filter(([, value]) => value !== 0))

test('sales are confirmed orders minus refunds of the days, compared with as many days before', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const first = await shop.placeOrder({ quantity: 2 })
  app.clock.advance(30 * dayMs)
  await shop.placeOrder({ quantity: 3 })
  app.clock.advance(dayMs)
  await shop.placeOrder()
  await refund(shop, first.id, { amount: usd(500) })

  const { sales, orders, startDate, endDate, currency, mode, asOf } = await readOverview(shop)
  expect({ startDate, endDate, currency, mode, asOf }).toEqual({
    startDate: '2026-01-08',
    endDate: '2026-02-06',
    currency: 'USD',
    mode: 'TEST',
    asOf: '2026-02-06T12:00:00.000Z',
  })
  const { series, ...sums } = sales
  expect(sums).toEqual({
    confirmed: usd(4_000),
    refunds: usd(500),
    net: usd(3_500),
    previous: { confirmed: usd(2_000), refunds: usd(0), net: usd(2_000) },
    percentChange: 75,
  })
  expect(series).toHaveLength(30)
  expect(valuesOf(series, 'net')).toEqual({ '2026-02-05': 3_000, '2026-02-06': 500 })
  expect(valuesOf(series, 'refunds')).toEqual({ '2026-02-06': 500 })
  expect([orders.confirmed, orders.previousConfirmed, orders.percentChange]).toEqual([2, 1, 100])
  expect(valuesOf(orders.series)).toEqual({ '2026-02-05': 1, '2026-02-06': 1 })

  const day = await readOverview(shop, '?startDate=2026-02-06&endDate=2026-02-06')
  expect([day.sales.net, day.sales.previous.net, day.orders.series]).toEqual([usd(500), usd(3_000), [{ date: '2026-02-06', value: 1 }]])
  for (const query of ['?startDate=2026-02-06', '?startDate=2026-02-06&endDate=2026-02-01', '?startDate=2025-01-01&endDate=2026-02-01'])
    expect((await app.call('GET', `${path}${query}`, { key: shop.secretKey })).status).toBe(400)
})

test('products are ranked by revenue and by units separately', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const lamp = await shop.add({ title: 'Lamp', variants: [{ price: usd(9_000), onHand: 9 }] })
  await shop.placeOrder({ quantity: 5 })
  await shop.placeOrder({ variants: [lamp.variants[0]?.id ?? ''] })
  const { topProducts } = await readOverview(shop)
  const row = (rank: number, productId: string, title: string, units: number, amount: number) => ({
    rank,
    productId,
    title,
    units,
    revenue: usd(amount),
  })
  expect(topProducts).toEqual({
    byRevenue: [row(1, lamp.id, 'Lamp', 1, 9_000), row(2, shop.productId, 'Mug', 5, 5_000)],
    byUnits: [row(1, shop.productId, 'Mug', 5, 5_000), row(2, lamp.id, 'Lamp', 1, 9_000)],
  })
})

test('conversion is the share of carts that became orders; null without carts', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  expect((await readOverview(shop)).carts).toEqual({ begun: 0, converted: 0, rate: null, previous: { begun: 0, converted: 0, rate: null } })
  await shop.cart()
  await shop.cart()
  await shop.cart()
  await shop.placeOrder()
  // A draft order has no shopper's cart.
  ok(await shop.post('/v2/orders/drafts', { lines: [{ variantId: shop.variantId, quantity: 1 }] }))
  expect((await readOverview(shop)).carts).toEqual({ begun: 4, converted: 1, rate: 0.25, previous: { begun: 0, converted: 0, rate: null } })
  expect((await readOverview(shop, '?startDate=2025-06-01&endDate=2026-01-31')).carts).toBeNull()
  app.clock.advance(40 * dayMs)
  const { carts } = await readOverview(shop)
  expect([carts.begun, carts.previous]).toEqual([0, { begun: 4, converted: 1, rate: 0.25 }])
})

test('pending work is counted, and missing steps before going live are named', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  await shop.placeOrder()
  const sent = await shop.placeOrder()
  ok(await shop.post(`/v2/orders/${sent.id}/fulfil`, {}))
  await requestedReturnOf(shop)
  for (const next of ['approve', 'reject']) ok(await shop.post(`${(await requestedReturnOf(shop)).path}/${next}`, {}))
  await shop.add({ title: 'Few', variants: [{ price: usd(100), trackInventory: true, onHand: 1, lowStockAt: 2 }] })
  ok(await shop.post('/v2/orders/drafts', { lines: [{ variantId: shop.variantId, quantity: 1 }] }))
  await registerEndpoint(app, shop, 'https://hooks.example/one')
  const { waiting, kyb, goLive } = ok(await app.call('GET', path, { token: shop.token })).body
  expect(waiting).toEqual({
    ordersToSend: { total: 1 },
    paymentsProcessing: { total: 0 },
    ordersStuck: { total: 0 },
    returnsRequested: { total: 1 },
    returnsApproved: { total: 1 },
    refundsManual: { total: 0 },
    refundsClaimable: { total: 0 },
    disputes: { total: 0, orders: [] },
    drafts: { total: 1 },
    lowStock: { total: 1 },
    webhooks: { disabled: 0, failing: 0, undelivered: { total: 0 } },
  })
  expect(kyb).toEqual({ status: 'NONE', reason: null })
  expect(goLive.steps).toEqual([
    { step: 'PRODUCTS', done: true, required: false },
    { step: 'SHIPPING', done: false, required: false },
    { step: 'TAXES', done: false, required: false },
    { step: 'PROCESSOR_ACCOUNT', done: false, required: false },
    { step: 'KYB', done: false, required: true },
    { step: 'ORDERS_FINISHED', done: true, required: true },
  ])
  ok(await app.call('PUT', '/shops/v2/tax-rates', { token: shop.token, body: { data: [{ country: 'US', rateBps: 500 }] } }))
  const later = ok(await app.call('GET', path, { token: shop.token })).body.goLive.steps
  expect(later).toContainEqual({ step: 'TAXES', done: true, required: false })

  const cash = { code: 'cash', title: 'Cash on delivery', instructions: 'Pay the courier.', expiresAfterDays: 30 }
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { manual: [cash] } }))
  const withCash = ok(await app.call('GET', path, { token: shop.token })).body.goLive.steps
  expect(withCash).toContainEqual({ step: 'PROCESSOR_ACCOUNT', done: true, required: false })
})

test('parts that a role may not read by their own routes are null', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const nullPartsFor = async (caller: { token: string } | { key: string }) => {
    const { body } = await app.call('GET', path, caller)
    const { returnsRequested, returnsApproved, lowStock, webhooks } = body.waiting
    const parts = { carts: body.carts, returnsRequested, returnsApproved, lowStock, webhooks, kyb: body.kyb, goLive: body.goLive }
    expect(body.sales).not.toBeNull()
    return Object.entries(parts).flatMap(([name, part]) => (part === null ? [] : [name]))
  }
  const tokenOf = async (role: 'MANAGER' | 'FULFILMENT' | 'READ_ONLY') => ({ token: (await staffOf(app, shop, role)).token })
  const managed = ['carts', 'returnsRequested', 'returnsApproved', 'lowStock']
  expect(await nullPartsFor({ token: shop.token })).toEqual([...managed, 'webhooks', 'kyb', 'goLive'])
  expect(await nullPartsFor(await tokenOf('MANAGER'))).toEqual(managed)
  expect(await nullPartsFor(await tokenOf('READ_ONLY'))).toEqual(['lowStock'])
  expect(await nullPartsFor(await tokenOf('FULFILMENT'))).toEqual([])
  expect(await nullPartsFor({ key: shop.secretKey })).toEqual([...managed, 'webhooks'])
  expect((await app.call('GET', path, { key: shop.publishableKey })).status).toBe(403)
})

test('open disputes name their orders, newest first and once each', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const disputed = [await shop.placeOrder(), await shop.placeOrder(), await shop.placeOrder()]
  const report = async (orderId: string, dispute: ReportedDispute) => {
    const [payment] = await paymentsOf(app.deps, orderId)
    if (!payment) throw new Error('no payment')
    await app.deps.db.write((tx) => recordDispute(tx, app.deps, { payment, dispute }), locking)
  }
  const dispute = (reference: string, state: ReportedDispute['state'] = 'OPEN'): ReportedDispute => ({
    reference,
    amount: 100,
    currency: 'USD',
    state,
  })
  for (const [nth, { id }] of disputed.entries()) await report(id, dispute(`dp_${nth}`))
  await report(disputed[0]?.id, dispute('dp_again'))
  await report(disputed[1]?.id, dispute('dp_1', 'WON'))
  const { disputes } = (await readOverview(shop)).waiting
  expect(disputes).toEqual({ total: 3, orders: [disputed[0], disputed[2]].map((order) => ({ id: order?.id, number: order?.number })) })
})
