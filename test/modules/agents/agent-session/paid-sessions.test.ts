/** Tests sessions whose cart a person pays. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { orders } from '../../../../db/schema/selling.ts'
import { publicUrlOf } from '../../../../src/core/public-url.ts'
import { loadSession } from '../../../../src/modules/agents/agent-session/index.ts'
import { agentOf, amountsOf, buyer, codesOf, fulfillmentTo, home } from '../../../support/agent-calls.ts'
import { testApp } from '../../../support/app.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })

async function startPaidShop() {
  const app = await testApp()
  const shop = await sellingIn(app)
  ok(
    (await shop.put('/shops/v2/shipping-methods', {
      data: [{ code: 'post', title: 'Post', countries: ['US'], price: shop.money(500) }],
    })) as never,
  )
  const agent = agentOf(app, shop)
  const body = { line_items: [line(shop.variantId, 2)], buyer, fulfillment: fulfillmentTo(home, 'post') }
  /** Returns the id of a session's cart after a person has seen the cart. */
  async function cartOf(id: string): Promise<string> {
    const cartId = (await loadSession(app.deps, agent.call(), id))?.cart.id ?? ''
    ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
    return cartId
  }
  return { app, shop, agent, body, cartOf, [Symbol.asyncDispose]: () => app.close() }
}

test('a session whose cart is paid is completed, and nothing changes it', async () => {
  await using world = await startPaidShop()
  const { app, shop, agent, body, cartOf } = world
  const ready = await agent.create(body)
  const order = ok(await shop.checkout(await cartOf(ready.id))).body.order
  const completed = await agent.read(ready.id)
  expect(completed).toMatchObject({
    status: 'completed',
    totals: ready.totals,
    line_items: ready.line_items,
    buyer,
    fulfillment: { methods: [{ selected_destination_id: 'home', groups: [{ selected_option_id: 'post', options: [{ title: 'Post' }] }] }] },
    order: { id: order.id, label: '1', permalink_url: order.publicUrl },
    messages: [],
  })
  expect(ready.continue_url).toStartWith(`${publicUrlOf(app.deps)}/pages/buy/`)
  expect(completed.continue_url).toBeUndefined()
  await expect(agent.put(ready.id, body)).rejects.toMatchObject({ code: 'session_closed' })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}, { 'idempotency-key': 'cancel' }))
  app.clock.advance(30 * 3_600_000)
  expect(await agent.read(ready.id)).toEqual(completed)
  expect((await shop.get(`/v2/orders/${order.id}`)).body.customerId).toBeNull()
})

test('a change cancels an unpaid checkout first', async () => {
  await using world = await startPaidShop()
  const { app, shop, agent, body, cartOf } = world
  const ready = await agent.create(body)
  const declined = ok(await shop.checkout(await cartOf(ready.id), { paymentToken: 'tok_decline' })).body.order
  expect(declined.paymentStatus).toBe('FAILED')
  const open = await agent.read(ready.id)
  expect([open.status, open.totals, open.buyer]).toEqual(['ready_for_complete', ready.totals, buyer])
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 2 })
  const changed = await agent.put(ready.id, { ...body, line_items: [line(shop.variantId, 3)] })
  expect([changed.status, amountsOf(changed)['total'], changed.buyer]).toEqual(['ready_for_complete', 3_500, buyer])
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  expect((await shop.order(declined.id)).status).toBe('CANCELLED')
  expect(Date.parse(changed.expires_at)).toBe(app.clock.now() + 6 * 3_600_000)
  const rows = await app.deps.db.read.rows<{ expires_at: unknown }>(sql`select expires_at from carts`)
  expect(Number(rows[0]?.expires_at)).toBe(Date.parse(changed.expires_at))
})

test('while a payment is undecided the session is in progress, and a change voids the payment', async () => {
  await using world = await startPaidShop()
  const { shop, agent, body, cartOf } = world
  const ready = await agent.create(body)
  const order = ok(await shop.checkout(await cartOf(ready.id), { paymentToken: 'tok_timeout' })).body.order
  expect(order.status).toBe('PENDING_PAYMENT')
  expect((await agent.read(ready.id)).status).toBe('complete_in_progress')
  const changed = await agent.put(ready.id, { ...body, line_items: [line(shop.variantId, 3)] })
  expect([changed.status, changed.line_items[0].quantity]).toEqual(['ready_for_complete', 3])
  expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'VOIDED' })
})

test('an order of an agent is marked, and no platform sees what a person typed in the storefront', async () => {
  await using world = await startPaidShop()
  const { app, shop, agent, cartOf } = world
  const created = await agent.create({ line_items: [line(shop.variantId)], attribution: { source: 'chat' } })
  const cartId = await cartOf(created.id)
  const typed = { ...address, name: 'Hidden Person', line1: '9 Hidden Road' }
  ok(
    await app.call('PATCH', `/cart/${cartId}`, { key: shop.publishableKey, body: { email: 'hidden@example.com', shippingAddress: typed } }),
  )
  ok(await app.call('PATCH', `/cart/${cartId}`, { key: shop.publishableKey, body: { shippingMethod: 'post' } }))
  const open = await agent.read(created.id)
  expect([open.status, codesOf(open)]).toEqual(['ready_for_complete', []])
  expect(JSON.stringify(open)).not.toMatch(/hidden/i)
  const rows = await app.deps.db.read.rows<{ expires_at: unknown }>(sql`select expires_at from carts`)
  expect(Number(rows[0]?.expires_at)).toBe(Date.parse(created.expires_at))
  ok(await shop.checkout(cartId))
  const completed = await agent.read(created.id)
  expect(JSON.stringify(completed)).not.toMatch(/hidden|Portland/i)
  expect(completed.fulfillment.methods[0].destinations).toEqual([{ id: 'dest_1', type: 'shipping_address', address_country: 'US' }])
  const [order] = await app.deps.db.read.select().from(orders)
  expect(order?.agent).toMatchObject({ profile: null, attribution: { source: 'chat' } })
})

test('a person cannot pay a change by an agent before they have seen it', async () => {
  await using world = await startPaidShop()
  const { app, shop, agent, body, cartOf } = world
  const { id } = await agent.create(body)
  const cartId = await cartOf(id)
  const cup = await shop.add({ title: 'Cup', variants: [{ price: shop.money(1_000), onHand: 5 }] })
  // The total stays the same.
  const changed = await agent.put(id, { ...body, line_items: [line(cup.variants[0]?.id ?? '', 2)] })
  expect(changed.totals).toEqual((await agent.read(id)).totals)
  const refused = await shop.checkout(cartId)
  expect([refused.status, refused.body.code]).toEqual([409, 'cart_changed'])
  ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
  ok(await shop.patch(`/product-v2/${cup.id}`, { variants: [{ id: cup.variants[0]?.id, price: shop.money(1_200) }] }))
  // The agent has seen the new price. The person has not.
  expect(amountsOf(await agent.read(id))['total']).toBe(2_900)
  expect((await shop.checkout(cartId)).status).toBe(409)
  ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
  expect(ok(await shop.checkout(cartId)).body.order.total.amount).toBe(2_900)
})
