/** Tests the page and the route on which a shopper continues the cart of an agent's session. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { carts } from '../../../db/schema/selling.ts'
import { continueUrlOf } from '../../../src/modules/agents/hand-off/index.ts'
import { readShop } from '../../../src/modules/shop/shop/index.ts'
import { agentsOn, insertAgentSession } from '../../support/agent-sessions.ts'
import { type TestApp, testApp } from '../../support/app.ts'
import { browserOn, formOf } from '../../support/drafts.ts'
import { address, customerOf, ok, type Selling, sellingIn } from '../../support/selling.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hourMs = 3_600_000
const post = (app: TestApp, shop: Selling, token: string, key = shop.publishableKey) =>
  app.call('POST', '/cart/handoff', { key, body: { token } })
const expiredText = 'This link has expired'
const listOrders = async (shop: Selling) => ok(await shop.get('/v2/orders')).body.data

test('takes details and a discount code, and charges the total that it showed, without a script', async () => {
  await using app = await testApp(agentsOn)
  const shop = await sellingIn(app)
  await shop.put('/shops/v2/shipping-methods', {
    data: [
      { code: 'post', title: 'Post', zones: [{ countries: ['US'] }], rates: [{ amount: shop.money(500) }] },
      { code: 'bike', title: 'Bicycle', zones: [{ countries: ['US'] }], rates: [{ amount: shop.money(900) }] },
    ],
  })
  ok(await shop.post('/discounts', { title: 'Ten', code: 'TEN', kind: 'PERCENT', valueBps: 1_000 }))
  const cartId = await shop.cart({ email: null })
  const session = await insertAgentSession(app, shop.shop.id, cartId)
  const { look, send } = browserOn(app, session.url)
  const first = await look()
  for (const hidden of ['<script', ' style=', cartId, session.id]) expect(first.text).not.toContain(hidden)
  expect(() => formOf(first, 'pay')).toThrow()
  expect((await send({ ...formOf(first, 'details'), email: 'ann@example.com', ...address })).status).toBe(303)
  expect((await send({ step: 'details', shippingMethod: 'post' })).status).toBe(303)
  const refused = await send({ step: 'code', code: 'NOPE' })
  expect(refused.text).toContain('doesn’t apply')
  expect((await send({ step: 'code', code: 'x'.repeat(1_000) })).text).toContain('doesn’t apply')
  expect((await send({ ...formOf(refused, 'code'), code: ' ten ' })).status).toBe(303)
  const second = await look()
  expect(second.text).toContain('TEN')
  expect(second.text).toContain('$14.00')
  expect((await send(formOf(second, 'code'))).status).toBe(303)
  expect((await look()).text).toContain('$15.00')
  ok(await send({ step: 'code', code: 'TEN' }), 303)
  const form = formOf(await look(), 'pay')
  expect(form['due']).toBe('1400')
  expect((await send(form)).status).toBe(303)
  expect((await look()).text).toContain('Payment received')
  expect(await listOrders(shop)).toMatchObject([{ status: 'CONFIRMED', total: shop.money(1_400), email: 'ann@example.com' }])
  expect(JSON.stringify(app.logged)).not.toContain(session.token)
})

test('asks for the fields of the address that the agent did not send', async () => {
  await using app = await testApp(agentsOn)
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  const partial = { ...address, name: '', line1: '', city: '', line2: null, company: null, phone: null }
  await app.deps.db.write((tx) => tx.update(carts).set({ shippingAddress: partial }).where(eq(carts.id, cartId)))
  const { look, send } = browserOn(app, (await insertAgentSession(app, shop.shop.id, cartId)).url)
  const page = await look()
  expect(() => formOf(page, 'pay')).toThrow()
  expect(page.text).toContain('Fill in your details')
  expect((await shop.checkout(cartId)).body.message).toContain('its shipping address is incomplete')
  expect((await send({ ...formOf(page, 'details'), ...address })).status).toBe(303)
  expect((await send(formOf(await look(), 'pay'))).status).toBe(303)
  expect(await listOrders(shop)).toMatchObject([{ status: 'CONFIRMED', shippingAddress: { line1: '1 Quay Street' } }])
})

test('slows down guesses of discount codes', async () => {
  await using app = await testApp(agentsOn)
  const shop = await sellingIn(app)
  const { send } = browserOn(app, (await insertAgentSession(app, shop.shop.id, await shop.cart())).url)
  const texts: string[] = []
  for (let nth = 0; nth < 30; nth++) texts.push((await send({ step: 'code', code: `NOPE${nth}` })).text)
  expect(texts[0]).toContain('doesn’t apply')
  expect(texts.at(-1)).toContain('Something went wrong')
})

test('opens until the session ends, and shows the order after that', async () => {
  await using app = await testApp(agentsOn)
  const shop = await sellingIn(app)
  const [unpaid, waiting, canceled] = [await shop.cart(), await shop.cart(), await shop.cart()]
  const sessions = {
    unpaid: await insertAgentSession(app, shop.shop.id, unpaid),
    waiting: await insertAgentSession(app, shop.shop.id, waiting),
    canceled: await insertAgentSession(app, shop.shop.id, canceled, { canceledAt: app.clock.now() }),
  }
  const textAt = async (url: string) => (await browserOn(app, url).look()).text
  expect(await textAt(sessions.unpaid.url)).toContain('Mug')
  expect(await textAt(sessions.canceled.url)).toContain(expiredText)
  expect((await post(app, shop, sessions.canceled.token)).body).toMatchObject({ statusCode: 404, code: 'invalid_link' })
  app.clock.advance(6 * hourMs - 1_000)
  ok(await shop.checkout(waiting, { paymentToken: 'tok_action' }))
  app.clock.advance(2_000)
  expect(await textAt(sessions.unpaid.url)).toContain(expiredText)
  expect(await textAt(sessions.waiting.url)).toContain('complete yet')
  expect((await post(app, shop, sessions.waiting.token)).status).toBe(404)
  app.clock.advance(2 * hourMs)
  await app.jobs.closeOrders()
  await app.jobs.resume()
  expect(await textAt(sessions.waiting.url)).toContain(expiredText)
})

test('returns the cart to the storefront of its shop while the session is open', async () => {
  await using app = await testApp(agentsOn)
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  const cartId = await shop.cart({ shippingAddress: address })
  const session = await insertAgentSession(app, shop.shop.id, cartId)
  expect(ok(await post(app, shop, session.token), 200).body).toMatchObject({ id: cartId, email: 'guest@example.com', status: 'OPEN' })
  expect((await post(app, other, session.token)).status).toBe(404)
  for (const token of [session.id, cartId, `${session.token}A`, 'A'.repeat(43), session.token.toLowerCase(), 'x'])
    expect([token, (await post(app, shop, token)).status]).toEqual([token, 404])
  expect((await post(app, shop, '')).status).toBe(400)
  expect((await app.call('POST', '/cart/handoff', { body: { token: session.token } })).status).toBe(401)
  ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }))
  expect(ok(await post(app, shop, session.token), 200).body.status).toBe('CONVERTED')
  ok(await shop.checkout(cartId))
  expect((await post(app, shop, session.token)).status).toBe(404)
  expect((await browserOn(app, session.url).look()).text).toContain('Payment received')
})

test('does not open with tokens of other pages, and its token opens no other page', async () => {
  await using app = await testApp(agentsOn)
  const shop = await sellingIn(app)
  const session = await insertAgentSession(app, shop.shop.id, await shop.cart())
  const draft = ok(await shop.post('/v2/orders/drafts', { lines: [{ variantId: shop.variantId, quantity: 1 }] })).body
  const { publicUrl } = await shop.placeOrder()
  const tail = (url: string) => url.split('/').at(-1)
  for (const path of [
    `/pages/buy/${tail(draft.payUrl)}`,
    `/pages/buy/${tail(publicUrl)}`,
    `/pages/buy/${session.id}`,
    `/pages/pay/${session.token}`,
    `/pages/cart/${session.token}`,
  ])
    expect([path, (await app.call('GET', path)).text.includes(expiredText)]).toEqual([path, true])
  expect((await app.call('GET', `/v2/orders/public/${session.token}`)).status).toBe(404)
  for (const route of [`/cart/${session.id}`, `/cart/${session.token}`])
    expect((await app.call('GET', route, { key: shop.publishableKey })).status).toBe(404)
})

test('pays a cart that a customer took over on the storefront', async () => {
  await using app = await testApp(agentsOn)
  const shop = await sellingIn(app)
  const cartId = await shop.cart({ email: null })
  const session = await insertAgentSession(app, shop.shop.id, cartId)
  const ann = await customerOf(app, shop.shop.name)
  const handedOff = await app.call('POST', '/cart/handoff', { token: ann.token, body: { token: session.token } })
  expect(ok(handedOff).body.id).toBe(cartId)
  ok(await app.call('PATCH', `/cart/${cartId}`, { token: ann.token, body: { email: 'ann@example.com' } }))
  const { look, send } = browserOn(app, session.url)
  expect((await send(formOf(await look(), 'pay'))).status).toBe(303)
  expect(await listOrders(shop)).toMatchObject([{ customerId: ann.id, status: 'CONFIRMED' }])
})

test('returns 404 while agents are off', async () => {
  await using app = await testApp({ PUBLIC_URL: 'https://souk.example' })
  const shop = await sellingIn(app)
  const session = await insertAgentSession(app, shop.shop.id, await shop.cart())
  expect((await browserOn(app, session.url).look()).status).toBe(404)
  expect((await browserOn(app, session.url).send({})).status).toBe(404)
  expect((await post(app, shop, session.token)).status).toBe(404)
  expect((await app.call('POST', '/cart/handoff', {})).status).toBe(404)
})

test('does not open a cart while the shop has agents off, but shows an order that was placed', async () => {
  await using app = await testApp(agentsOn)
  const shop = await sellingIn(app)
  const [unpaid, waiting] = [await shop.cart(), await shop.cart()]
  const session = await insertAgentSession(app, shop.shop.id, unpaid)
  const paying = await insertAgentSession(app, shop.shop.id, waiting)
  ok(await shop.checkout(waiting, { paymentToken: 'tok_action' }))
  ok(await shop.put('/shops/v2/agents', { enabled: false }))
  const textAt = async (url: string) => (await browserOn(app, url).look()).text
  expect(await textAt(session.url)).toContain(expiredText)
  expect((await post(app, shop, session.token)).body).toMatchObject({ statusCode: 404, code: 'invalid_link' })
  expect(await textAt(paying.url)).toContain('complete yet')
  ok(await shop.put('/shops/v2/agents', { enabled: true }))
  expect(await textAt(session.url)).toContain('Mug')
})

test('the link leads to the checkout page of the shop, or to souk’s page if the cart can be paid there', async () => {
  await using app = await testApp(agentsOn)
  const shop = await sellingIn(app)
  const session = await insertAgentSession(app, shop.shop.id, await shop.cart())
  const url = async (amountDue = 1_000) => continueUrlOf(app.deps, await readShop(app.deps, shop.shop.id), { id: session.id, amountDue })
  expect(await url()).toBe(session.url)
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { pages: { checkout: 'https://shop.example/buy.html?a=1' } } }))
  expect(await url()).toBe(`https://shop.example/buy.html?a=1&token=${session.token}`)
  const live = await sellingIn(app)
  const row = { ...(await readShop(app.deps, live.shop.id)), mode: 'LIVE' as const }
  expect(await continueUrlOf(app.deps, row, { id: session.id, amountDue: 1_000 })).toBeUndefined()
  expect(await continueUrlOf(app.deps, row, { id: session.id, amountDue: 0 })).toBe(session.url)
})
