/** Tests that cached reads of orders equal those of the route. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import type { Writer } from '../../db/engine.ts'
import { payments } from '../../db/schema/payments.ts'
import { orderGiftCards } from '../../db/schema/selling.ts'
import { system } from '../../src/core/command-context.ts'
import { storesNothing } from '../../src/core/idempotency.ts'
import { answerDeadline, createFastPath } from '../../src/http/fast-path.ts'
import { createRequestCounts } from '../../src/http/metrics.ts'
import { browserHeaders } from '../../src/http/public-response.ts'
import { createRouteTable } from '../../src/http/route-table.ts'
import { createRefund } from '../../src/modules/selling/order/refunds/refunds.ts'
import { fulfilOrder } from '../../src/modules/selling/order/service.ts'
import { orderView } from '../../src/modules/selling/order/view.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { invalidQueries, serverAndRoute } from '../support/cached-and-routed.ts'
import { openCommandInstance } from '../support/command-process.ts'
import { changeProcessor, confirmAtSandbox, connectionLost, sandboxMessage } from '../support/sandbox.ts'
import { address, customerOf, ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000

/** Serves a selling shop on a real server. */
async function serveShop(app: TestApp) {
  const shop = await sellingIn(app)
  const key = { 'x-service-api-key': shop.secretKey }
  return { shop, key, ...serverAndRoute(app) }
}

describe('cached reads of orders equal those of the route', () => {
  test('an order is the same from the cache and the route: plain, with a query, cross-origin and with more credentials', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    const customer = await customerOf(app, on.shop.shop.name)
    const order = await on.shop.placeOrder({ token: customer.token, quantity: 2, shippingAddress: address })
    const path = `/v2/orders/${order.id}`
    const baseline = await on.same(path, { headers: on.key })
    expect(baseline).toEqual({
      status: 200,
      body: JSON.stringify(order),
      headers: {
        'content-type': 'application/json;charset=utf-8',
        'cache-control': 'no-store',
        etag: '"v1"',
        'x-content-type-options': 'nosniff',
        ...browserHeaders,
      },
    })
    for (const secret of ['sealedToken', 'attemptKey', 'clientParameters', 'cart_', 'actor', 'resumeAt', on.shop.secretKey])
      expect([secret, baseline.body.includes(secret)]).toEqual([secret, false])
    for (const query of ['?', '?a=b', '?limit=0&status=x', '?q=%2F%3F#'])
      expect([query, await on.same(path + query, { headers: on.key })]).toEqual([query, baseline])
    for (const more of [
      { origin: 'https://a.example' },
      { authorization: 'Bearer nonsense' },
      { authorization: `Bearer ${customer.token}` },
      { 'x-shop-id': 'shop_00000000000000000000000000' },
      { 'if-none-match': '*' },
      { accept: 'text/html' },
    ])
      expect([more, await on.same(path, { headers: { ...on.key, ...more } })]).toEqual([more, baseline])
  })

  test('without access or without an order, the cache and the route respond the same', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    const other = await sellingIn(app)
    const order = await on.shop.placeOrder()
    const path = `/v2/orders/${order.id}`
    expect((await on.same(path, { headers: on.key })).status).toBe(200)
    const last = on.shop.secretKey.endsWith('A') ? 'B' : 'A'
    const refusals: [status: number, headers: Record<string, string>][] = [
      [401, {}],
      [401, { 'x-service-api-key': 'nonsense' }],
      [401, { 'x-service-api-key': on.shop.secretKey.slice(0, -1) + last }],
      [401, { 'x-service-api-key': `${on.shop.secretKey}, ${on.shop.secretKey}` }],
      [401, { 'x-service-api-key': 'nonsense', authorization: `Bearer ${on.shop.token}` }],
      [403, { 'x-service-api-key': on.shop.publishableKey }],
      [404, { 'x-service-api-key': other.secretKey }],
    ]
    for (const [status, headers] of refusals) {
      const answer = await on.same(path, { headers })
      expect([headers, answer.status]).toEqual([headers, status])
      expect(answer.body).not.toContain(order.id)
    }
    const none = 'order_00000000000000000000000000'
    for (const id of [none, 'nothing', `${order.id}x`, 'x'.repeat(64), `${order.id}%2F`, '%20', `${order.id}/`, `${order.id}/more`])
      expect([id, (await on.same(`/v2/orders/${id}`, { headers: on.key })).status]).toEqual([id, 404])
    for (const id of ['x'.repeat(65), '%zz', '%00'])
      expect([id, (await on.same(`/v2/orders/${id}`, { headers: on.key })).status]).toEqual([id, 400])
    // The same id in another encoding.
    expect((await on.same(path.replace('order_', 'order%5F'), { headers: on.key })).status).toBe(200)
  })

  test('an invalid query string is 400 from the cache and the route, cached or not', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    const path = `/v2/orders/${(await on.shop.placeOrder()).id}`
    const statuses = async (headers: Record<string, string>) => {
      const found = []
      for (const query of invalidQueries) found.push((await on.same(path + query, { headers })).status)
      return found
    }
    const refused = invalidQueries.map(() => 400)
    expect(await statuses(on.key)).toEqual(refused)
    const baseline = await on.same(path, { headers: on.key })
    expect([baseline.status, await statuses(on.key), await statuses({})]).toEqual([200, refused, refused])
    for (const query of ['?', '?y=1', '?y=%20', '?y=/a?b'])
      expect([query, await on.same(path + query, { headers: on.key })]).toEqual([query, baseline])
  })

  test('merchants and customers get the same order from the cache and the route', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    const [buyer, stranger] = [
      await customerOf(app, on.shop.shop.name, 'buyer@example.com'),
      await customerOf(app, on.shop.shop.name, 'stranger@example.com'),
    ]
    const order = await on.shop.placeOrder({ token: buyer.token })
    const path = `/v2/orders/${order.id}`
    const as = async (token: string) => (await on.same(path, { headers: { authorization: `Bearer ${token}` } })).status
    await on.same(path, { headers: on.key })
    expect([await as(on.shop.token), await as(buyer.token), await as(stranger.token)]).toEqual([200, 200, 404])
    expect(await as((await sellingIn(app)).token)).toBe(404)
  })

  test('HEAD of an order is the same from the cache and the route, and other methods are not cached', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    const path = `/v2/orders/${(await on.shop.placeOrder()).id}`
    const get = await on.viaServer(path, { headers: on.key })
    for (let nth = 0; nth < 2; nth++) expect(await on.viaServer(path, { method: 'HEAD', headers: on.key })).toEqual({ ...get, body: '' })
    expect((await on.viaServer(path, { method: 'HEAD' })).status).toBe(401)
    expect((await on.same(path, { method: 'OPTIONS', headers: on.key })).headers).toMatchObject({ 'access-control-allow-methods': 'GET' })
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect([method, (await on.same(path, { method, headers: on.key })).status]).toEqual([method, 405])
  })

  test('an order is current after another process commits a change of the order or the key', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    await using command = await openCommandInstance(app)
    const order = await on.shop.placeOrder()
    const path = `/v2/orders/${order.id}`
    expect((await on.same(path, { headers: on.key })).body).toContain('"status":"CONFIRMED"')
    const request = {
      shopId: on.shop.shop.id,
      orderId: order.id,
      actor: system,
      attempt: { key: 'one', isResumed: false, ...storesNothing },
    }
    await fulfilOrder(command.deps, request, { trackingNumber: 'T-1', carrier: undefined })
    const firstResponse = await on.viaServer(path, { headers: on.key })
    expect(JSON.parse(firstResponse.body)).toMatchObject({ status: 'FULFILLED', tracking: { number: 'T-1', carrier: null } })
    expect((await on.same(path, { headers: on.key })).body).toBe(firstResponse.body)
    const key = await command.deps.shopStore.currentKey(on.shop.shop.id, 'SECRET', 'TEST')
    await command.deps.db.write((tx) => command.deps.shopStore.setKeyExpiry(tx, key?.id ?? '', app.clock.now()))
    expect((await on.viaServer(path, { headers: on.key })).status).toBe(401)
  })

  test('an order is refused from the moment its key is rotated', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    const path = `/v2/orders/${(await on.shop.placeOrder()).id}`
    const status = async (key: string) => (await on.same(path, { headers: { 'x-service-api-key': key } })).status
    expect(await status(on.shop.secretKey)).toBe(200)
    const rotate = (graceSeconds: number) =>
      app.call('POST', '/shops/v2/private-key/rotate', { token: on.shop.token, body: { graceSeconds } })
    const second = (await rotate(10)).body.privateKey
    expect([await status(on.shop.secretKey), await status(second)]).toEqual([200, 200])
    app.clock.advance(10_000)
    expect([await status(on.shop.secretKey), await status(second)]).toEqual([401, 200])
    const third = (await rotate(0)).body.privateKey
    expect([await status(second), await status(third)]).toEqual([401, 200])
  })
})

/** Calls `look` with every order's id after every commit, and before the next. */
function afterEveryCommit({ deps: { db } }: TestApp, check: (ids: string[]) => void | Promise<void>): void {
  const { write } = db
  Object.assign(db, {
    async write(work: Parameters<typeof write>[0]) {
      const result = await write(work)
      const rows = await db.read.rows<{ id: string }>(sql`select id from orders`)
      await check(rows.map(({ id }) => id))
      return result
    },
  })
}

test.if(engine === 'sqlite')('the cached order equals the stored one after every commit of its life', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const { orderDocuments, orderStore } = app.deps
  const checkedStates = new Set<string>()
  afterEveryCommit(app, (ids) => {
    for (const id of ids) {
      const storedOrder = orderStore.loadFullOrder(id)
      if (!storedOrder || storedOrder instanceof Promise) throw new Error('an order was not read at once')
      const cached = orderDocuments.documentNow(shop.shop.id, id)?.text
      expect(cached).toBe(JSON.stringify(orderView(storedOrder, app.deps.orderLinks.now()?.urlOf(storedOrder.order.id) ?? '')))
      checkedStates.add(`${storedOrder.order.status} ${storedOrder.order.paymentStatus}`)
    }
  })
  const { giftCard, cart, checkout, refund } = shop
  const cancel = async (id: string) => ok(await shop.post(`/v2/orders/${id}/cancel`, {}))
  async function withGiftCard(): Promise<string> {
    const cartId = await cart({ shippingAddress: address })
    const { code } = await giftCard(300)
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
    return cartId
  }

  // Bought with a gift card, refunded in part and then the rest.
  const mixed = ok(await checkout(await withGiftCard())).body.order
  ok(await refund(mixed.id, { amount: shop.money(100) }))
  ok(await shop.post(`/v2/orders/${mixed.id}/fulfil`, { trackingNumber: 'T-1', carrier: 'Post' }))
  ok(await refund(mixed.id))
  // Declined, paid again, cancelled.
  const retriedCart = await cart()
  const declined = ok(await checkout(retriedCart, { paymentToken: 'tok_decline' })).body.order
  ok(await checkout(retriedCart))
  await cancel(declined.id)
  // Waits for the shopper until it expires. Its captured money is refunded.
  const expired = ok(await checkout(await withGiftCard(), { paymentToken: 'tok_action' })).body.order
  app.clock.advance(hour)
  changeProcessor(app, () => ({ void: () => Promise.reject(connectionLost()) }))
  await app.jobs.closeOrders()
  await confirmAtSandbox(app, expired.payments[0].id)
  ok(await sandboxMessage(app, expired.payments[0].id))
  // The response to its capture is lost.
  ok(await checkout(await cart(), { paymentToken: 'tok_crash' }))
  await cancel(ok(await checkout(await cart(), { paymentToken: 'tok_decline' })).body.order.id)
  app.clock.advance(15 * 24 * hour)
  await app.jobs.closeOrders()
  expect([...checkedStates].sort()).toEqual([
    'CANCELLED FAILED',
    'CANCELLED REFUNDED',
    'COMPLETED REFUNDED',
    'CONFIRMED CAPTURED',
    'CONFIRMED PARTIALLY_REFUNDED',
    'EXPIRED CAPTURED',
    'EXPIRED PENDING',
    'EXPIRED REFUNDED',
    'FULFILLED PARTIALLY_REFUNDED',
    'FULFILLED REFUNDED',
    'PENDING_PAYMENT AUTHORIZED',
    'PENDING_PAYMENT FAILED',
    'PENDING_PAYMENT PENDING',
  ])
})

test.if(engine === 'sqlite')('every store function that changes what an order shows invalidates its cache entry', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { db, orderDocuments, orderStore: store, fulfilmentStore, paymentStore } = app.deps
  const { id: giftCardId } = await shop.giftCard(500)
  const { id: orderId } = await shop.placeOrder()
  const [payment] = await paymentStore.ofOrder(orderId)
  const order = await store.find(orderId)
  if (!payment || !order) throw new Error('nothing was bought')
  await db.write((tx) =>
    tx.insert(orderGiftCards).values({ orderId, giftCardId, last4: '0000', amount: 500, refunded: 0, settledAt: null }),
  )
  const another = { ...payment, id: app.deps.newId('payment'), processorReference: null, attemptKey: 'another', status: 'PENDING' as const }
  // An order has at most one payment in progress.
  await db.write(async (tx) => void (await tx.update(payments).set({ status: 'FAILED' }).where(eq(payments.id, payment.id))))
  const parts = { amount: 100, giftCardAmount: 0, giftCards: [] }
  const firstRefund = await db.write((tx) =>
    createRefund(tx, app.deps, { order, purpose: 'REFUND', attemptKey: 'one', payment, parts, holder: 'test' }),
  )
  const refund = { ...firstRefund, id: app.deps.newId('refund'), attemptKey: 'two' }
  const disputed = {
    orderId,
    shopId: shop.shop.id,
    paymentId: payment.id,
    reference: 'dp_1',
    amount: 100,
    currency: 'USD',
    status: 'OPEN' as const,
  }
  const dispute = { ...disputed, id: app.deps.newId('dispute'), createdAt: app.clock.now(), updatedAt: app.clock.now() }
  const event = { id: app.deps.newId('event'), orderId, type: 'LOOKED_AT', at: app.clock.now(), actor: 'system', detail: {} }
  const at = app.clock.now()
  const fulfilmentFields = { lines: [], trackingNumber: null, carrier: null, attemptKey: null, createdAt: at, updatedAt: at, version: 1 }
  const fulfilment = { id: app.deps.newId('fulfilment'), orderId, ...fulfilmentFields }
  const note = { id: app.deps.newId('note'), orderId, text: 'Call first', actor: 'system', at }
  const changes: Record<string, (tx: Writer) => Promise<unknown>> = {
    replaceTags: async (tx) => store.replaceTags(tx, (await store.change(tx, orderId, ['CONFIRMED'], { tags: ['one'] })) ?? order),
    change: (tx) => store.change(tx, orderId, ['CONFIRMED'], { carrier: 'Post' }),
    move: (tx) => store.move(tx, orderId, ['CONFIRMED'], 'FULFILLED', {}),
    appendEvents: (tx) => store.appendEvents(tx, orderId, [event]),
    insertPayment: (tx) => paymentStore.insert(tx, another),
    movePayment: (tx) => paymentStore.move(tx, another.id, ['PENDING'], 'FAILED', {}),
    changePayment: (tx) => paymentStore.change(tx, another.id, ['FAILED'], { failureCode: 'card_declined' }),
    insertRefund: (tx) => store.insertRefund(tx, refund),
    moveRefund: (tx) => store.moveRefund(tx, refund.id, ['PENDING'], 'FAILED', {}),
    changeRefund: (tx) => store.changeRefund(tx, refund.id, ['FAILED'], { failureCode: 'no' }),
    insertDispute: (tx) => store.insertDispute(tx, dispute),
    moveDispute: (tx) => store.moveDispute(tx, dispute.id, ['OPEN'], 'LOST', {}),
    insertFulfilment: (tx) => fulfilmentStore.insert(tx, fulfilment),
    changeFulfilment: (tx) => fulfilmentStore.change(tx, fulfilment, { trackingNumber: 'T 1', carrier: null, updatedAt: 1 }),
    insertNote: (tx) => fulfilmentStore.insertNote(tx, note),
    refundGiftCard: (tx) => store.refundGiftCard(tx, orderId, giftCardId, 100),
  }
  for (const [name, change] of Object.entries(changes)) {
    const before = orderDocuments.documentNow(shop.shop.id, orderId)?.text
    await db.write((tx) => change(tx).then(() => Promise.reject(new Error('undone')))).catch(() => undefined)
    expect([name, orderDocuments.documentNow(shop.shop.id, orderId)?.text]).toEqual([name, before])
    await db.write(change)
    const after = orderDocuments.documentNow(shop.shop.id, orderId)?.text
    expect([name, after === before]).toEqual([name, false])
    expect([name, after]).toEqual([name, (await app.call('GET', `/v2/orders/${orderId}`, { key: shop.secretKey })).text])
  }
})

describe('metrics and limits of cached order reads', () => {
  test('a cached read of an order is counted and timed, and updates the last use of the key', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    const path = `/v2/orders/${(await on.shop.placeOrder()).id}`
    const reads = async () =>
      Number(/requests_total\{method="GET",status="200"\} (\d+)/.exec((await app.call('GET', '/metrics')).text)?.[1])
    const lastUsed = async () => (await app.deps.shopStore.currentKey(on.shop.shop.id, 'SECRET', 'TEST'))?.lastUsedAt
    await on.viaServer(path, { headers: on.key })
    while ((await lastUsed()) === null) await new Promise((resolve) => setImmediate(resolve))
    const [before, first] = [await reads(), await lastUsed()]
    for (let nth = 0; nth < 5; nth++) await on.viaServer(path, { headers: on.key })
    // The request of the metrics counts, too.
    expect(await reads()).toBe(before + 6)
    app.clock.advance(60_000)
    await on.viaServer(path, { headers: on.key })
    while ((await lastUsed()) === first) await new Promise((resolve) => setImmediate(resolve))
    expect(await lastUsed()).toBe(app.clock.now())
  })

  test('a cached read of an order returns a valid request id, or a new one', async () => {
    await using app = await testApp()
    await using on = await serveShop(app)
    const path = `/v2/orders/${(await on.shop.placeOrder()).id}`
    const idFor = async (headers: Record<string, string>) =>
      (await fetch(on.server.url + path, { headers: { ...on.key, ...headers } })).headers.get('x-request-id')
    for (let nth = 0; nth < 2; nth++) {
      expect(await idFor({ 'x-request-id': 'mine-1' })).toBe('mine-1')
      expect(await idFor({ 'x-request-id': 'not one' })).toMatch(/^[\w-]{12}-[0-9a-z]+$/)
    }
  })

  test('a cached read of an order is served only on allowed hosts', async () => {
    await using app = await testApp({ ALLOWED_HOSTS: 'localhost,127.0.0.1' })
    await using on = await serveShop(app)
    const order = await on.shop.placeOrder()
    const path = `/v2/orders/${order.id}`
    expect((await on.viaServer(path, { headers: on.key })).status).toBe(200)
    const stranger = await on.viaServer(path, { headers: { ...on.key, host: 'evil.example' } })
    expect(stranger.status).toBe(400)
    expect(stranger.body).not.toContain(order.id)
  })

  test('a slow cached read of an order is logged without its query', () => {
    const logged: unknown[] = []
    let now = 0
    const nothing = () => undefined
    const respond = (request: Request, id: string, requestId: string) => {
      now += id === 'slow' ? 1_000 : 999
      return new Response(`${request.method} ${requestId}`)
    }
    const routeTable = createRouteTable()
    routeTable.fill([{ method: 'GET', path: '/v2/orders/:orderId', hooks: { detail: { 'x-fast-read': 'order' } } }])
    const edge = createFastPath({
      reads: {
        ...{ record: nothing, cachedResponse: nothing, resolver: nothing, stats: nothing, profile: nothing, lastRoute: nothing },
        order: respond,
      },
      handle: () => new Response(null, { status: 500 }),
      log: { debug: nothing, info: (event, fields) => void logged.push([event, fields]), warn: nothing, error: nothing },
      requestCounts: createRequestCounts(),
      routeTable,
      allowedHosts: [],
      monotonicMs: () => now,
      newRequestId: () => 'id-1',
      peers: new WeakMap(),
      deadline: answerDeadline,
    })
    const request = (id: string) => new Request(`http://localhost/v2/orders/${id}?secret=1`, { headers: { host: 'localhost' } })
    for (const id of ['quick', 'slow']) edge.fastReads[0]?.fetch(request(id), id)
    expect(logged).toEqual([['request', { method: 'GET', path: '/v2/orders/slow', status: 200, ms: 1_000, requestId: 'id-1' }]])
  })
})
