/** Tests that personal data of sessions is removed together with that of their carts. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { removeExpired } from '../../../../jobs/remove-expired.ts'
import { agentSessionFindings, loadSession } from '../../../../src/modules/agents/agent-session/index.ts'
import { expireCarts } from '../../../../src/modules/selling/cart/index.ts'
import { agentOf, codesOf } from '../../../support/agent-calls.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { plantedPerson, tracesOf } from '../../../support/personal-data.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })
const destination = {
  id: 'home',
  street_address: plantedPerson.line1,
  extended_address: plantedPerson.line2,
  address_locality: plantedPerson.city,
  address_region: 'ME',
  address_country: 'US',
  postal_code: plantedPerson.postalCode,
}
const [first_name, last_name] = plantedPerson.name.split(' ')
const buyer = { first_name, last_name, email: plantedPerson.email, phone_number: plantedPerson.phone }

async function startPlantedShop() {
  const app = await testApp()
  const shop = await sellingIn(app)
  const agent = agentOf(app, shop)
  const body = {
    line_items: [line(shop.variantId)],
    buyer,
    fulfillment: { methods: [{ type: 'shipping', destinations: [destination] }] },
  }
  /** Returns the id of a session's cart after a person has seen the cart. */
  async function cartOf(id: string): Promise<string> {
    const cartId = (await loadSession(app.deps, agent.call(), id))?.cart.id ?? ''
    ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
    return cartId
  }
  return { app, shop, agent, body, cartOf, [Symbol.asyncDispose]: () => app.close() }
}
const tracesOutsideOrders = async (app: TestApp): Promise<string[]> => (await tracesOf(app)).filter((trace) => !trace.startsWith('orders'))

test('the personal data of a session or cart is removed after it ended', async () => {
  await using world = await startPlantedShop()
  const { app, shop, agent, body, cartOf } = world
  const session = await agent.create(body)
  await agent.createCart(body)
  const paidSession = await agent.create(body)
  ok(await shop.checkout(await cartOf(paidSession.id)))
  expect((await tracesOutsideOrders(app)).some((trace) => trace.startsWith('agent_sessions'))).toBe(true)
  app.clock.advance(6 * 3_600_000)
  await expireCarts(app.deps)
  await removeExpired(app.deps)
  expect((await tracesOutsideOrders(app)).length).toBeGreaterThan(0)
  app.clock.advance(30 * 86_400_000)
  await expireCarts(app.deps)
  await removeExpired(app.deps)
  expect((await tracesOutsideOrders(app)).filter((trace) => /^(agent|carts)/.test(trace))).toEqual([])
  const completed: Json = await agent.read(paidSession.id)
  expect([completed.status, completed.buyer, completed.fulfillment.methods[0].destinations]).toEqual([
    'completed',
    undefined,
    [{ id: 'dest_1', type: 'shipping_address', address_country: 'US' }],
  ])
  expect((await agent.read(session.id)).status).toBe('canceled')
  // Like any cart, the session is deleted 90 days after it ended.
  app.clock.advance(91 * 86_400_000)
  await removeExpired(app.deps)
  expect(codesOf(await agent.read(session.id))).toEqual(['not_found'])
  expect(await app.deps.db.read.rows(sql`select id from agent_sessions`)).toHaveLength(0)
})

test('an erasure removes the personal data of open sessions, carts, and sessions of orders', async () => {
  await using world = await startPlantedShop()
  const { app, shop, agent, body, cartOf } = world
  await agent.create(body)
  await agent.createCart(body)
  const paidSession = await agent.create(body)
  const { id: orderId } = ok(await shop.checkout(await cartOf(paidSession.id))).body.order
  ok(await shop.post(`/v2/orders/${orderId}/fulfil`, {}, { 'idempotency-key': 'sent' }))
  app.clock.advance(15 * 86_400_000)
  await app.jobs.closeOrders()
  const { id } = ok(await shop.post('/customer', { email: plantedPerson.email }, {})).body
  ok(await shop.post(`/customer/${id}/erase`, {}))
  expect(await tracesOf(app)).toEqual([])
})

test('the integrity check reports a session that contradicts its cart or order, without its id', async () => {
  await using world = await startPlantedShop()
  const { app, shop, agent, body, cartOf } = world
  const paidSession = await agent.create(body)
  const { id: orderId } = ok(await shop.checkout(await cartOf(paidSession.id))).body.order
  await agent.create(body)
  const problems = async () => {
    const found: string[] = []
    for await (const finding of agentSessionFindings(app.deps.db)) found.push(...finding.problems)
    return found
  }
  expect(await problems()).toEqual([])
  await app.deps.db.write(
    async (tx) => void (await tx.rows(sql`update agent_sessions set canceled_at = 1 where id = ${paidSession.id} returning 1 as done`)),
  )
  await app.deps.db.write(async (tx) => void (await tx.rows(sql`update carts set agent = null where status = 'OPEN' returning 1 as done`)))
  expect((await problems()).sort()).toEqual([
    `A session of an agent in ${shop.shop.id} (order ${orderId}) is canceled for its platform, but its order was sold`,
    `A session of an agent in ${shop.shop.id} and its cart name different platforms or shops`,
  ])
})
