/** Tests that a replay is authorized like a first request. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { auditLog, idempotencyKeys } from '../../db/schema/people.ts'
import { createApp } from '../../src/app.ts'
import { type Answer, type CallOptions, type TestApp, testApp } from '../support/app.ts'
import { approveBusiness } from '../support/kyb.ts'
import { createCompleteDraft, createDraft, applicationPath as lendingPath } from '../support/lending.ts'
import { manualOrderOf } from '../support/manual-payments.ts'
import { requestedReturnOf, returnableOf } from '../support/returns.ts'
import { manualRefundOf } from '../support/sandbox.ts'
import { address, customerOf, fulfilledOrderOf, ok, type Selling, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'
import { insertFailedDelivery } from '../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed')
const create = async (shop: Selling, path: string, body: unknown): Promise<string> => ok(await shop.post(path, body)).body.id

const draftOf = (shop: Selling): Promise<string> =>
  create(shop, '/v2/orders/drafts', { lines: [{ variantId: shop.variantId, quantity: 1 }], email: 'ann@example.com' })

/** A request with an idempotency key, and the table of the record in its path, which a shop or a merchant owns. */
type KeyedRequest = { path: string; body: unknown; other: unknown; by: CallOptions; table: string; id: string; isOfMerchant?: true }
type Prepare = (shop: Selling) => Promise<KeyedRequest>
const ofMerchant = ({ token }: Selling): CallOptions => ({ token })

const cases: Record<string, Prepare> = {
  'PATCH /lending-application/:id': (shop) => loanRequest(shop, createDraft, '', { requestedTermMonths: 1 }, { requestedTermMonths: 2 }),
  'POST /lending-application/:id/submit': (shop) => loanRequest(shop, createCompleteDraft, '/submit', {}, {}),
  'POST /lending-application/:id/withdraw': (shop) => loanRequest(shop, createDraft, '/withdraw', {}, { reason: 'Another' }),
  'PATCH /product-v2/:id': async (shop) => {
    const { productId: id } = shop
    return { path: `/product-v2/${id}`, body: { title: 'Cup' }, other: { title: 'Jug' }, by: ofMerchant(shop), table: 'products', id }
  },
  'PATCH /blogs/:id': async (shop) => {
    const id = await create(shop, '/blogs', { title: 'News', bodyHtml: '<p>Soon</p>' })
    return { path: `/blogs/${id}`, body: { title: 'Old news' }, other: { title: 'No news' }, by: ofMerchant(shop), table: 'blogs', id }
  },
  'PATCH /collection-v2/:id': async (shop) => {
    const id = await create(shop, '/collection-v2', { title: 'Summer' })
    return {
      path: `/collection-v2/${id}`,
      body: { title: 'Autumn' },
      other: { title: 'Winter' },
      by: ofMerchant(shop),
      table: 'collections',
      id,
    }
  },
  'PATCH /affiliates/:id': async (shop) => {
    const id = await create(shop, '/affiliates', { name: 'Partner', code: 'partner', rateBps: 500 })
    return { path: `/affiliates/${id}`, body: { rateBps: 700 }, other: { rateBps: 800 }, by: ofMerchant(shop), table: 'affiliates', id }
  },
  'PATCH /discounts/:id': async (shop) => {
    const id = await create(shop, '/discounts', { title: 'Spring', kind: 'PERCENT', valueBps: 1_000 })
    return { path: `/discounts/${id}`, body: { valueBps: 500 }, other: { valueBps: 600 }, by: ofMerchant(shop), table: 'discounts', id }
  },
  'PATCH /giftcard/:id': async (shop) => {
    const { id } = await shop.giftCard(5_000)
    return {
      path: `/giftcard/${id}`,
      body: { status: 'DISABLED' },
      other: { status: 'ACTIVE' },
      by: ofMerchant(shop),
      table: 'gift_cards',
      id,
    }
  },
  'POST /customer/:customerId/addresses': async (shop) => {
    const id = await create(shop, '/customer', { email: 'a@example.com' })
    return {
      path: `/customer/${id}/addresses`,
      body: address,
      other: { ...address, city: 'Bath' },
      by: { key: shop.secretKey },
      table: 'customers',
      id,
    }
  },
  'POST /product-v2/:id/duplicate': async (shop) => {
    const { productId: id } = shop
    return { path: `/product-v2/${id}/duplicate`, body: {}, other: {}, by: ofMerchant(shop), table: 'products', id }
  },
  'POST /product-v2/:id/variants/:variantId/stock': async (shop) => {
    const { productId: id, variantId } = shop
    return {
      path: `/product-v2/${id}/variants/${variantId}/stock`,
      body: { delta: 1 },
      other: { delta: 2 },
      by: ofMerchant(shop),
      table: 'products',
      id,
    }
  },
  'POST /v2/orders/:orderId/refunds': async (shop) => {
    const { id } = await shop.placeOrder()
    return {
      path: `/v2/orders/${id}/refunds`,
      body: { amount: shop.money(100) },
      other: { amount: shop.money(200) },
      by: ofMerchant(shop),
      table: 'orders',
      id,
    }
  },
  'POST /v2/orders/:orderId/refunds/:refundId/settled': async (shop) => {
    const path = await manualRefundOf(shop)
    const [, , , id = ''] = path.split('/')
    return { path, body: { reference: 'SEPA 1' }, other: { reference: 'SEPA 2' }, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/cancel': async (shop) => {
    const { id } = await shop.placeOrder()
    return { path: `/v2/orders/${id}/cancel`, body: {}, other: { reason: 'Another' }, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/mark-paid': async (shop) => {
    const { orderId: id } = await manualOrderOf(shop)
    return { path: `/v2/orders/${id}/mark-paid`, body: {}, other: { reference: 'SEPA 1' }, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/fulfil': async (shop) => {
    const { id } = await shop.placeOrder()
    return { path: `/v2/orders/${id}/fulfil`, body: {}, other: { carrier: 'Post' }, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/fulfilments': async (shop) => {
    const { id } = await shop.placeOrder()
    return { path: `/v2/orders/${id}/fulfilments`, body: {}, other: { carrier: 'Post' }, by: ofMerchant(shop), table: 'orders', id }
  },
  'PATCH /customer/:customerId': async (shop) => {
    const id = await create(shop, '/customer', { email: 'ann@example.com' })
    return { path: `/customer/${id}`, body: { note: 'One' }, other: { note: 'Two' }, by: ofMerchant(shop), table: 'customers', id }
  },
  'PATCH /v2/orders/:orderId': async (shop) => {
    const { id } = await shop.placeOrder()
    return { path: `/v2/orders/${id}`, body: { tags: ['one'] }, other: { tags: ['two'] }, by: ofMerchant(shop), table: 'orders', id }
  },
  'PATCH /v2/orders/:orderId/fulfilments/:fulfilmentId': async (shop) => {
    const { orderId: id, path } = await fulfilledOrderOf(shop)
    return { path, body: { carrier: 'Post' }, other: { carrier: 'Caravan' }, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/notes': async (shop) => {
    const { id } = await shop.placeOrder()
    return { path: `/v2/orders/${id}/notes`, body: { text: 'One' }, other: { text: 'Two' }, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/returns': async (shop) => {
    const { orderId: id, path, body } = await returnableOf(shop)
    return { path, body, other: { lines: [{ ...body.lines[0], reason: 'Another' }] }, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/returns/:returnId/approve': async (shop) => {
    const { orderId: id, path } = await requestedReturnOf(shop)
    return { path: `${path}/approve`, body: {}, other: {}, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/returns/:returnId/reject': async (shop) => {
    const { orderId: id, path } = await requestedReturnOf(shop)
    return { path: `${path}/reject`, body: {}, other: { reason: 'Another' }, by: ofMerchant(shop), table: 'orders', id }
  },
  'POST /v2/orders/:orderId/returns/:returnId/receive': async (shop) => {
    const { orderId: id, path } = await requestedReturnOf(shop)
    ok(await shop.post(`${path}/approve`, {}))
    const body = { restock: true, refund: true }
    return { path: `${path}/receive`, body, other: { restock: true, refund: false }, by: ofMerchant(shop), table: 'orders', id }
  },
  'PATCH /v2/orders/drafts/:id': async (shop) => {
    const id = await draftOf(shop)
    return {
      path: `/v2/orders/drafts/${id}`,
      body: { note: 'One' },
      other: { note: 'Two' },
      by: ofMerchant(shop),
      table: 'draft_orders',
      id,
    }
  },
  'POST /v2/orders/drafts/:id/send': async (shop) => {
    const id = await draftOf(shop)
    return { path: `/v2/orders/drafts/${id}/send`, body: {}, other: {}, by: ofMerchant(shop), table: 'draft_orders', id }
  },
  'POST /webhook-endpoints/:id/deliveries/:deliveryId/resend': async (shop) => {
    const { path, endpointId: id } = await insertFailedDelivery(shop.app, shop)
    return { path: `${path}/resend`, body: {}, other: {}, by: ofMerchant(shop), table: 'webhook_endpoints', id }
  },
  'POST /cart/:id/items': async (shop) => {
    const id = await shop.cart()
    return {
      path: `/cart/${id}/items`,
      body: { variantId: shop.variantId, quantity: 1 },
      other: { variantId: shop.variantId, quantity: 2 },
      by: { key: shop.publishableKey },
      table: 'carts',
      id,
    }
  },
  'POST /cart/:id/checkout': async (shop) => {
    const id = await shop.cart()
    return {
      path: `/cart/${id}/checkout`,
      body: { method: 'card' },
      other: { method: 'card', processor: 'sandbox' },
      by: { key: shop.publishableKey },
      table: 'carts',
      id,
    }
  },
}

/** Creates an application of a merchant with an approved business. Returns a request about it. */
async function loanRequest(shop: Selling, make: typeof createDraft, rest: string, body: object, other: object): Promise<KeyedRequest> {
  await approveBusiness(shop.app, shop, await shop.app.superAdmin())
  const { id } = await make(shop.app, shop)
  return { path: lendingPath(id, rest), body, other, by: ofMerchant(shop), table: 'lending_applications', id, isOfMerchant: true }
}

/** Routes whose records every operator can access. */
const forOperators = new Set([
  'POST /admin/lending-application/:id/decision',
  'POST /admin/repayments/:id/reverse',
  'POST /admin/operations/jobs/:job/run',
  'POST /admin/service-providers/:id/webhook-secret',
])

/**
 * Pages, whose form contains the key and which show the current state, and links, which do not expire. Their replays
 * are tested in test/modules/selling/draft-order/pay-draft.test.ts and order-return/order-link.test.ts.
 */
const pages = new Set([
  'POST /pages/pay/:token',
  'POST /pages/cart/:token',
  'POST /pages/buy/:token',
  'POST /pages/returns/:token',
  'POST /v2/orders/public/:token/returns',
])

/** Returns the routes that take an Idempotency-Key and name a record in their path. */
const routesWithKeyAndRecord = (app: TestApp): string[] =>
  createApp(app.deps)
    .routes.filter(({ hooks }) => (hooks.detail as { 'x-idempotent'?: unknown } | undefined)?.['x-idempotent'] !== undefined)
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => route.includes(':') && !forOperators.has(route.replace(' /api/v3/', ' /')) && !pages.has(route))

test('every route with an idempotency key and a record has a case in this test', async () => {
  await using app = await testApp()
  expect(
    routesWithKeyAndRecord(app)
      .filter((route) => !route.includes(' /api/v3/'))
      .sort(),
  ).toEqual(Object.keys(cases).sort())
})

for (const [route, prepare] of Object.entries(cases))
  test(`${route} without access to the record gets the same 404 for a used key as for a new one`, async () => {
    const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example' }
    await using app = await testApp({ LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true', ...mail })
    const shop = await sellingIn(app)
    const { path, body, other, by, table, id, isOfMerchant } = await prepare(shop)
    const [method = ''] = route.split(' ')
    const send = (key: string, requestBody: unknown = body) =>
      app.call(method, path, { ...by, body: requestBody, headers: { 'idempotency-key': key } })
    const key = randomUUID()
    ok(await send(key))
    const repeated = ok(await send(key))
    expect([repeated.status < 300, replayed(repeated)]).toEqual([true, 'true'])

    const stranger = await app.merchant()
    const [column, owner] = isOfMerchant ? ['merchant_id', stranger.id] : ['shop_id', stranger.shop.id]
    await app.deps.db.write(async (tx) => {
      await tx.rows(sql`update ${sql.identifier(table)} set ${sql.identifier(column)} = ${owner} where id = ${id} returning 1 as done`)
    })
    // Another body with the key is 422, but only for callers with access to the record.
    const refused = [await send(key), await send(key, other)]
    for (const answer of refused) expect([answer.status, answer.text, replayed(answer)]).toEqual([404, refused[0]?.text ?? '', null])
    expect(refused[0]?.text).toContain('No such')
  })

test('a replayed cart response is built again: after the purchase it shows no personal data, and none was stored', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const id = await shop.cart({ email: 'planted@example.com', shippingAddress: address })
  const add = (key = 'add-1') =>
    app.call('POST', `/cart/${id}/items`, {
      key: shop.publishableKey,
      body: { variantId: shop.variantId, quantity: 1 },
      headers: { 'idempotency-key': key },
    })
  const first = ok(await add())
  expect(first.body).toMatchObject({ email: 'planted@example.com', shippingAddress: { line1: address.line1 } })
  ok(await app.call('PATCH', `/cart/${id}`, { key: shop.publishableKey, body: { email: 'another@example.com' } }))
  const second = ok(await add())
  expect([second.status, replayed(second), second.body.email, second.body.lines]).toEqual([
    201,
    'true',
    'another@example.com',
    first.body.lines,
  ])
  const stored = await app.deps.db.read.select().from(idempotencyKeys).where(eq(idempotencyKeys.key, 'add-1'))
  expect(stored.map(({ sealedAnswer, scope, key }) => app.deps.keyring.unseal(sealedAnswer ?? '', `idempotency/${scope}/${key}`))).toEqual([
    '201 null',
  ])

  const purchase = ok(await shop.checkout(id))
  expect(purchase.body.order.status).toBe('CONFIRMED')
  const third = ok(await add())
  expect([third.status, replayed(third), third.body.status]).toEqual([201, 'true', 'CONVERTED'])
  for (const personal of ['planted@example.com', 'another@example.com', address.line1, address.name])
    expect(third.text).not.toContain(personal)
})

test("a guest's cart that became a customer's is replayed only with the token of the customer", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token } = await customerOf(app, shop.shop.name)
  const id = await shop.cart()
  const add = (by: CallOptions) =>
    app.call('POST', `/cart/${id}/items`, {
      ...by,
      body: { variantId: shop.variantId, quantity: 1 },
      headers: { 'idempotency-key': 'add-1' },
    })
  ok(await add({ key: shop.publishableKey }))
  ok(await app.call('PATCH', `/cart/${id}`, { token, body: { shippingAddress: address } }))
  const answer = await add({ key: shop.publishableKey })
  expect([answer.status, replayed(answer)]).toEqual([404, null])
  expect(ok(await add({ token })).body.shippingAddress.line1).toBe(address.line1)
})

test('a checkout response is replayed byte for byte, even after the order changed', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const id = await shop.cart({ shippingAddress: address })
  const first = ok(await shop.checkout(id, {}, 'buy-1'))
  ok(await shop.refund(first.body.order.id))
  const repeated = ok(await shop.checkout(id, {}, 'buy-1'))
  expect([repeated.status, repeated.text, replayed(repeated)]).toEqual([201, first.text, 'true'])
})

test('a replay with a rotated key or an ended session is 401', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const send = (by: CallOptions) =>
    app.call('POST', '/blogs', { ...by, body: { title: 'News', bodyHtml: '' }, headers: { 'idempotency-key': 'k' } })
  ok(await send({ key: shop.secretKey }))
  ok(await send({ token: shop.token }))
  ok(await app.call('POST', '/shops/v2/private-key/rotate', { token: shop.token, body: {} }))
  ok(await app.call('POST', '/auth/logout', { body: { refreshToken: shop.refreshToken } }), 204)
  expect([(await send({ key: shop.secretKey })).status, (await send({ token: shop.token })).status]).toEqual([401, 401])
})

test('a replayed rotation shows the key again, and is audited as a read of it', async () => {
  await using app = await testApp({ ACCESS_TOKEN_SECONDS: '86400' })
  const { token, shop } = await app.merchant()
  const rotate = (key: string) =>
    app.call('POST', '/shops/v2/private-key/rotate', { token, body: { graceSeconds: 60 }, headers: { 'idempotency-key': key } })
  const readings = () => app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'shop.private_key_read'))
  const first = ok(await rotate('k'))
  expect(await readings()).toHaveLength(0)
  for (let nth = 1; nth <= 10; nth++) {
    const repeated = ok(await rotate('k'))
    expect([repeated.text, replayed(repeated)]).toEqual([first.text, 'true'])
    expect(await readings()).toHaveLength(nth)
  }
  expect((await readings())[0]).toMatchObject({ subject: shop.id, shopId: shop.id })
  const limited = await rotate('k')
  expect([limited.status, limited.headers.has('retry-after'), limited.text.includes(first.body.privateKey)]).toEqual([429, true, false])
  expect((await app.call('GET', '/shops/v2/private-key', { token })).status).toBe(429)
  app.clock.advance(60 * 60_000)
  expect(ok(await rotate('k')).text).toBe(first.text)
})

test('the secret key can be rotated ten times an hour', async () => {
  await using app = await testApp({ ACCESS_TOKEN_SECONDS: '86400' })
  const { token } = await app.merchant()
  const rotate = () => app.call('POST', '/shops/v2/private-key/rotate', { token, body: {} })
  const keys = new Set<string>()
  for (let nth = 0; nth < 10; nth++) keys.add(ok(await rotate()).body.privateKey)
  expect(keys.size).toBe(10)
  const limited = await rotate()
  expect([limited.status, limited.headers.has('retry-after')]).toEqual([429, true])
  expect(keys).toContain((await app.call('GET', '/shops/v2/private-key', { token })).body.privateKey)
  app.clock.advance(60 * 60_000)
  ok(await rotate())
})
