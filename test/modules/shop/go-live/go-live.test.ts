/** A shop goes live: its test keys, gift cards and test orders, and requests in parallel. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { and, eq, ne } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { orders } from '../../../../db/schema/selling.ts'
import { apiKeys } from '../../../../db/schema/shop.ts'
import { loadCart, priced } from '../../../../src/modules/selling/cart/index.ts'
import { placeOrder } from '../../../../src/modules/selling/order/index.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness } from '../../../support/kyb.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const goLive = (app: TestApp, { token }: { readonly token: string }, headers: Record<string, string> = {}): Promise<Answer> =>
  app.call('POST', '/shops/v2/go-live', { token, headers })
const modeIn = async (app: TestApp, { token }: Selling) => ok(await app.call('GET', '/shops/v2', { token })).body.mode
async function openApprovedShop(settings: Record<string, string> = {}) {
  const app = await testApp(settings)
  const shop = await sellingIn(app)
  await approveBusiness(app, shop, await app.superAdmin())
  return { app, shop, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

describe('going live', () => {
  test('going live requires an approved KYB record, and succeeds only once', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const refused = await goLive(app, shop)
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('KYB')])
    expect((await app.call('POST', '/shops/v2/go-live', { key: shop.secretKey })).status).toBe(401)
    expect(await modeIn(app, shop)).toBe('TEST')
    await approveBusiness(app, shop, await app.superAdmin())
    const live = ok(await goLive(app, shop))
    expect(live.body).toMatchObject({
      shop: { id: shop.shop.id, mode: 'LIVE', status: 'KYB_VERIFIED' },
      publishableKey: expect.stringMatching(/^pk_live_/),
    })
    expect(Object.keys(live.body)).toEqual(['shop', 'publishableKey'])
    expect(live.headers.get('cache-control')).toBe('no-store')
    expect(await modeIn(app, shop)).toBe('LIVE')
    expect((await goLive(app, shop)).status).toBe(409)
  })

  test('going live ends the test keys at once, and creates live keys that are read by the usual routes', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    // These requests cache the keys, so the cache must be invalidated.
    ok(await shop.get('/product-v2'))
    ok(await app.call('GET', '/blogs', { key: shop.publishableKey }))
    const { publishableKey } = ok(await goLive(app, shop)).body
    expect((await shop.get('/product-v2')).status).toBe(401)
    expect((await app.call('GET', '/blogs', { key: shop.publishableKey })).status).toBe(401)
    ok(await app.call('GET', '/blogs', { key: publishableKey }))
    expect(ok(await app.call('GET', `/shops/v2/public/name/${shop.shop.name}`)).body.publishableKey).toBe(publishableKey)
    const { privateKey } = ok(await app.call('GET', '/shops/v2/private-key', { token: shop.token })).body
    expect(privateKey).toStartWith('sk_live_')
    ok(await app.call('GET', '/product-v2', { key: privateKey }))
    const testKeys = await app.deps.db.read
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.shopId, shop.shop.id), eq(apiKeys.mode, 'TEST')))
    expect(testKeys.map(({ expiresAt }) => expiresAt)).toEqual([app.clock.now(), app.clock.now()])
    const trail = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'shop.went_live'))
    expect(trail.map(({ actor, shopId, before, after }) => [actor, shopId, before, after])).toEqual([
      [
        shop.id,
        shop.shop.id,
        { mode: 'TEST' },
        { mode: 'LIVE', keys: [expect.any(String), expect.any(String)], giftCardsDisabled: 0, discountsDisabled: 0 },
      ],
    ])
    expect(JSON.stringify(trail)).not.toMatch(/[ps]k_live_\w{10}/)
  })

  test('going live is refused while an order is unpaid, unconfirmed or compensating, but not for sold and ended orders', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    const sold = await shop.placeOrder()
    const declined = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' })).body.order
    const waiting = await goLive(app, shop)
    expect(waiting.body).toMatchObject({
      statusCode: 409,
      code: 'open_orders',
      message: expect.stringContaining(`Order ${declined.number} `),
    })
    expect(await modeIn(app, shop)).toBe('TEST')
    // The refused request changed nothing, so the test keys still work.
    ok(await shop.get('/product-v2'))
    ok(await shop.post(`/v2/orders/${declined.id}/cancel`, {}))
    for (const status of ['PAID', 'COMPENSATING'] as const) {
      await app.deps.db.write((tx) => tx.update(orders).set({ status }).where(eq(orders.id, sold.id)))
      expect([status, (await goLive(app, shop)).status]).toEqual([status, 409])
    }
    await app.deps.db.write((tx) => tx.update(orders).set({ status: 'CONFIRMED' }).where(eq(orders.id, sold.id)))
    const refund = ok(await shop.refund(sold.id, { amount: shop.money(100) })).body
    expect(refund.status).toBe('SUCCEEDED')
    ok(await goLive(app, shop))
  })

  test('going live is refused with 409 while a refund of the shop is pending', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    const sold = await shop.placeOrder()
    const other = await sellingIn(app)
    const otherOrder = await other.placeOrder()
    const insertPendingRefund = (shopId: string, orderId: string) =>
      app.deps.db.write((tx) =>
        app.deps.orderStore.insertRefund(tx, {
          id: app.deps.newId('refund'),
          orderId,
          shopId,
          paymentId: null,
          processor: null,
          processorReference: null,
          currency: 'USD',
          amount: 1,
          giftCardAmount: 0,
          giftCards: [],
          lines: [],
          reason: null,
          purpose: 'REFUND',
          attemptKey: 'a',
          actor: 'system',
          status: 'PENDING',
          failureCode: null,
          attempts: 0,
          resumeAt: app.clock.now() + 1_000,
          sentAt: null,
          leaseHolder: null,
          leaseUntil: null,
          createdAt: app.clock.now(),
          updatedAt: app.clock.now(),
        } as never),
      )
    await insertPendingRefund(other.shop.id, otherOrder.id)
    await insertPendingRefund(shop.shop.id, sold.id)
    const { status, body } = await goLive(app, shop)
    expect([status, body.message]).toEqual([409, expect.stringContaining(`Order ${sold.number} `)])
  })

  test('going live disables gift cards that were issued in test mode', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    const card = await shop.giftCard(5_000)
    const { publishableKey } = ok(await goLive(app, shop)).body
    const cards = ok(await app.call('GET', '/giftcard', { token: shop.token })).body.data
    expect(cards).toMatchObject([{ id: card.id, status: 'DISABLED', balance: { amount: 5_000 } }])
    const cart = ok(await app.call('POST', '/cart', { key: publishableKey, body: {} })).body
    const applied = await app.call('PATCH', '/giftcard/apply', { token: shop.token, body: { code: card.code, cartId: cart.id } })
    expect(applied.status).toBe(404)
  })

  test('activates only gift cards that were issued after going live', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    const testCard = await shop.giftCard(5_000)
    app.clock.advance(1_000)
    ok(await goLive(app, shop))
    app.clock.advance(1_000)
    const patch = (id: string, body: object) => app.call('PATCH', `/giftcard/${id}`, { token: shop.token, body })
    const revived = await patch(testCard.id, { status: 'ACTIVE' })
    expect(revived.body).toMatchObject({
      statusCode: 409,
      code: 'invalid_transition',
      message: 'The gift card was issued in test mode, so it cannot pay in a live shop. Issue a new one',
    })
    expect(ok(await patch(testCard.id, { note: 'of a test' })).body.status).toBe('DISABLED')
    const amount = { amount: 5_000, currency: shop.shop.currency }
    const { id } = ok(await app.call('POST', '/giftcard', { token: shop.token, body: { amount } })).body
    ok(await patch(id, { status: 'DISABLED' }))
    expect(ok(await patch(id, { status: 'ACTIVE' })).body.status).toBe('ACTIVE')
  })

  test('going live excludes the sandbox, keeps the mode of orders, and limits the totals of customers to live orders', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    const customer = await customerOf(app, shop.shop.name)
    const sold = await shop.placeOrder({ token: customer.token })
    expect(sold.mode).toBe('TEST')
    const customerTotals = async () => {
      const { ordersCount, totalSpent } = ok(
        await app.call('GET', `/customer/${customer.id}`, { key: await readSecretKey(app, shop) }),
      ).body
      return [ordersCount, totalSpent.amount]
    }
    expect(await customerTotals()).toEqual([1, 1_000])
    const { publishableKey } = ok(await goLive(app, shop)).body
    expect(await customerTotals()).toEqual([0, 0])
    const cart = ok(await app.call('POST', '/cart', { key: publishableKey, body: { email: 'guest@example.com' } })).body
    ok(await app.call('POST', `/cart/${cart.id}/items`, { key: publishableKey, body: { variantId: shop.variantId, quantity: 1 } }))
    const refused = await app.call('POST', `/cart/${cart.id}/checkout`, {
      key: publishableKey,
      body: { method: 'card', processor: 'sandbox' },
      headers: { 'idempotency-key': 'a' },
    })
    expect([400, 409]).toContain(refused.status)
    // A test order can still be refunded, which does not change the live totals.
    const key = await readSecretKey(app, shop)
    const refund = await app.call('POST', `/v2/orders/${sold.id}/refunds`, {
      key,
      body: { all: true },
      headers: { 'idempotency-key': 'b' },
    })
    expect(ok(refund).body.status).toBe('SUCCEEDED')
    expect(await customerTotals()).toEqual([0, 0])
    const listed = ok(await app.call('GET', '/v2/orders', { key })).body
    expect(listed.data.map(({ id, mode }: { id: string; mode: string }) => [id, mode])).toEqual([[sold.id, 'TEST']])
    expect(ok(await app.call('GET', `/customer/${customer.id}/order-ids`, { key })).body.total).toBe(1)
  })

  test('one of two parallel requests to go live succeeds, and its response is replayed under the same idempotency key', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    const answers = await Promise.all([goLive(app, shop, { 'idempotency-key': 'a' }), goLive(app, shop, { 'idempotency-key': 'b' })])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const winner = answers.findIndex(({ status }) => status === 200)
    const replayed = ok(await goLive(app, shop, { 'idempotency-key': 'ab'[winner] ?? '' }))
    expect(replayed.text).toBe(answers[winner]?.text ?? '')
    const keys = await app.deps.db.read
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.shopId, shop.shop.id), eq(apiKeys.mode, 'LIVE')))
    expect(keys.map(({ kind }) => kind).sort()).toEqual(['PUBLISHABLE', 'SECRET'])
  })

  test('a test checkout that started before its shop went live places no order', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    const { deps } = app
    const cartId = await shop.cart()
    const caller = { shop: shop.shop, principal: { kind: 'merchant', id: shop.id, sessionId: '' } } as const
    const { cart, snapshot } = await loadCart(deps, caller, cartId)
    await app.deps.db.write((tx) => deps.shopStore.update(tx, shop.shop.id, { mode: 'LIVE' }))
    const purchase = {
      snapshot,
      mode: 'TEST',
      priced: priced(snapshot, app.clock.now()),
      email: 'guest@example.com',
      placedFrom: null,
    } as const
    const sandboxChoice = { method: 'card', processor: 'sandbox', accountId: '', mode: 'TEST' } as const
    const choice = { ...sandboxChoice, token: undefined, returnUrl: undefined, attemptKey: 'a' }
    expect(cart.status).toBe('OPEN')
    await expect(placeOrder(deps, purchase, { first: choice, fallbacks: [] }, { holder: 'a' })).rejects.toMatchObject({ kind: 'CONFLICT' })
    expect(await deps.db.read.select().from(orders)).toEqual([])
  })

  test('going live in parallel with checkouts leaves no live order from the sandbox and no unfinished test order', async () => {
    await using world = await openApprovedShop()
    const { app, shop } = world
    const carts = await Promise.all(Array.from({ length: 6 }, () => shop.cart()))
    const [live, ...sales] = await Promise.all([
      Promise.resolve().then(() => goLive(app, shop)),
      ...carts.map((cart) => shop.checkout(cart)),
    ])
    expect([200, 409]).toContain(live?.status ?? 0)
    for (const { status } of sales) expect([201, 400, 401, 409]).toContain(status)
    const liveOrders = await app.deps.db.read.select().from(orders).where(ne(orders.mode, 'TEST'))
    expect(liveOrders).toEqual([])
    if (live?.status !== 200) ok(await goLive(app, shop))
    const unfinished = await app.deps.db.read.select().from(orders).where(ne(orders.status, 'CONFIRMED'))
    expect(unfinished).toEqual([])
  })
})

/** Returns the secret key of the shop's current mode. */
async function readSecretKey(app: TestApp, { token }: Selling): Promise<string> {
  return ok(await app.call('GET', '/shops/v2/private-key', { token })).body.privateKey
}
