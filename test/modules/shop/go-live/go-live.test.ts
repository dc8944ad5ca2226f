/** A shop that begins to take real money: what ends, what stays, and what never mixes. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { and, eq, ne } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { orders } from '../../../../db/schema/selling.ts'
import { apiKeys } from '../../../../db/schema/shop.ts'
import { loadCart, priced } from '../../../../src/modules/selling/cart/index.ts'
import { placeOrder } from '../../../../src/modules/selling/order/index.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { approved } from '../../../support/kyb.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const goLive = (app: TestApp, { token }: { readonly token: string }, headers: Record<string, string> = {}): Promise<Answer> =>
  app.call('POST', '/shops/v2/go-live', { token, headers })
const modeIn = async (app: TestApp, { token }: Selling) => ok(await app.call('GET', '/shops/v2', { token })).body.mode
async function ready(settings: Record<string, string> = {}) {
  const app = await testApp(settings)
  const shop = await sellingIn(app)
  await approved(app, shop, await app.superAdmin())
  return { app, shop, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

describe('going live', () => {
  test('needs an approved business, and happens once', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const refused = await goLive(app, shop)
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('KYB')])
    expect((await app.call('POST', '/shops/v2/go-live', { key: shop.secretKey })).status).toBe(401)
    expect(await modeIn(app, shop)).toBe('TEST')
    await approved(app, shop, await app.superAdmin())
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

  test('ends the test keys at once; the new ones are the shop’s, and the secret one is read where secret ones are', async () => {
    await using scene = await ready()
    const { app, shop } = scene
    // In memory, so that what is kept there has to be forgotten.
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
    const ended = await app.deps.db.read
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.shopId, shop.shop.id), eq(apiKeys.mode, 'TEST')))
    expect(ended.map(({ expiresAt }) => expiresAt)).toEqual([app.clock.now(), app.clock.now()])
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

  test('waits for every order: one to be paid, one that gives money back; what is over or sold holds nothing up', async () => {
    await using scene = await ready()
    const { app, shop } = scene
    const sold = await shop.bought()
    const declined = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' })).body.order
    const waiting = await goLive(app, shop)
    expect(waiting.body).toMatchObject({
      statusCode: 409,
      code: 'open_orders',
      message: expect.stringContaining(`Order ${declined.number} `),
    })
    expect(await modeIn(app, shop)).toBe('TEST')
    // Nothing of what it did before it met the order is left.
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

  test('while a refund is under way is 409', async () => {
    await using scene = await ready()
    const { app, shop } = scene
    const sold = await shop.bought()
    const other = await sellingIn(app)
    const theirs = await other.bought()
    const pending = (shopId: string, orderId: string) =>
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
    await pending(other.shop.id, theirs.id)
    await pending(shop.shop.id, sold.id)
    const { status, body } = await goLive(app, shop)
    expect([status, body.message]).toEqual([409, expect.stringContaining(`Order ${sold.number} `)])
  })

  test('disables what was given away in test', async () => {
    await using scene = await ready()
    const { app, shop } = scene
    const card = await shop.giftCard(5_000)
    const { publishableKey } = ok(await goLive(app, shop)).body
    const cards = ok(await app.call('GET', '/giftcard', { token: shop.token })).body.data
    expect(cards).toMatchObject([{ id: card.id, status: 'DISABLED', balance: { amount: 5_000 } }])
    const cart = ok(await app.call('POST', '/cart', { key: publishableKey, body: {} })).body
    const applied = await app.call('PATCH', '/giftcard/apply', { token: shop.token, body: { code: card.code, cartId: cart.id } })
    expect(applied.status).toBe(404)
  })

  test('the sandbox sells nothing any more; orders keep their mode, and a customer’s numbers are those of the present one', async () => {
    await using scene = await ready()
    const { app, shop } = scene
    const customer = await customerOf(app, shop.shop.name)
    const sold = await shop.bought({ token: customer.token })
    expect(sold.mode).toBe('TEST')
    const numbers = async () => {
      const { ordersCount, totalSpent } = ok(await app.call('GET', `/customer/${customer.id}`, { key: await secretOf(app, shop) })).body
      return [ordersCount, totalSpent.amount]
    }
    expect(await numbers()).toEqual([1, 1_000])
    const { publishableKey } = ok(await goLive(app, shop)).body
    expect(await numbers()).toEqual([0, 0])
    const cart = ok(await app.call('POST', '/cart', { key: publishableKey, body: { email: 'guest@example.com' } })).body
    ok(await app.call('POST', `/cart/${cart.id}/items`, { key: publishableKey, body: { variantId: shop.variantId, quantity: 1 } }))
    const refused = await app.call('POST', `/cart/${cart.id}/checkout`, {
      key: publishableKey,
      body: { method: 'card', processor: 'sandbox' },
      headers: { 'idempotency-key': 'a' },
    })
    expect([400, 409]).toContain(refused.status)
    // Money of a test order goes back where it came from, and is no part of the numbers of now.
    const key = await secretOf(app, shop)
    const back = await app.call('POST', `/v2/orders/${sold.id}/refunds`, {
      key,
      body: { all: true },
      headers: { 'idempotency-key': 'b' },
    })
    expect(ok(back).body.status).toBe('SUCCEEDED')
    expect(await numbers()).toEqual([0, 0])
    const listed = ok(await app.call('GET', '/v2/orders', { key })).body
    expect(listed.data.map(({ id, mode }: { id: string; mode: string }) => [id, mode])).toEqual([[sold.id, 'TEST']])
    expect(ok(await app.call('GET', `/customer/${customer.id}/order-ids`, { key })).body.total).toBe(1)
  })

  test('of two at once one wins; asked again under its idempotency key it is answered alike, and has happened once', async () => {
    await using scene = await ready()
    const { app, shop } = scene
    const both = await Promise.all([goLive(app, shop, { 'idempotency-key': 'a' }), goLive(app, shop, { 'idempotency-key': 'b' })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const won = both.findIndex(({ status }) => status === 200)
    const again = ok(await goLive(app, shop, { 'idempotency-key': 'ab'[won] ?? '' }))
    expect(again.text).toBe(both[won]?.text ?? '')
    const keys = await app.deps.db.read
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.shopId, shop.shop.id), eq(apiKeys.mode, 'LIVE')))
    expect(keys.map(({ kind }) => kind).sort()).toEqual(['PUBLISHABLE', 'SECRET'])
  })

  test('an order that was on its way when its shop went live is not placed', async () => {
    await using scene = await ready()
    const { app, shop } = scene
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
    const way = { method: 'card', processor: 'sandbox', accountId: '', mode: 'TEST' } as const
    const choice = { ...way, token: undefined, returnUrl: undefined, attemptKey: 'a' }
    expect(cart.status).toBe('OPEN')
    await expect(placeOrder(deps, purchase, { first: choice, fallbacks: [] }, { holder: 'a' })).rejects.toMatchObject({ kind: 'CONFLICT' })
    expect(await deps.db.read.select().from(orders)).toEqual([])
  })

  test('among checkouts there is no order of test money that was placed after it, and none of real money from the sandbox', async () => {
    await using scene = await ready()
    const { app, shop } = scene
    const carts = await Promise.all(Array.from({ length: 6 }, () => shop.cart()))
    const [live, ...sales] = await Promise.all([
      Promise.resolve().then(() => goLive(app, shop)),
      ...carts.map((cart) => shop.checkout(cart)),
    ])
    expect([200, 409]).toContain(live?.status ?? 0)
    for (const { status } of sales) expect([201, 400, 401, 409]).toContain(status)
    const left = await app.deps.db.read.select().from(orders).where(ne(orders.mode, 'TEST'))
    expect(left).toEqual([])
    if (live?.status !== 200) ok(await goLive(app, shop))
    const unfinished = await app.deps.db.read.select().from(orders).where(ne(orders.status, 'CONFIRMED'))
    expect(unfinished).toEqual([])
  })
})

/** The secret key of the mode that the shop has now. */
async function secretOf(app: TestApp, { token }: Selling): Promise<string> {
  return ok(await app.call('GET', '/shops/v2/private-key', { token })).body.privateKey
}
