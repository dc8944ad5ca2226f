import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type AgentOptions, agentOf, buyer, codesOf, fulfillmentTo, home } from '../../../support/agent-calls.ts'
import { testApp } from '../../../support/app.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })
const hour = 3_600_000

async function startSellingApp() {
  const app = await testApp()
  const shop = await sellingIn(app, { onHand: 10_000 })
  return { app, shop, [Symbol.asyncDispose]: () => app.close() }
}

test('only the platform that created a session finds it, with the same proof and in its shop', async () => {
  await using world = await startSellingApp()
  const { app, shop } = world
  const other = await sellingIn(app)
  const profile = 'https://platform.example/profile.json'
  const owner = agentOf(app, shop, { profile, isProven: true })
  const { id } = await owner.create({ line_items: [line(shop.variantId)] })
  const cart = await owner.createCart({ line_items: [line(shop.variantId)] })
  const strangers: AgentOptions[] = [{}, { profile }, { isProven: true, profile: 'https://other.example/profile.json' }]
  const agents = [...strangers.map((options) => agentOf(app, shop, options)), agentOf(app, other, { profile, isProven: true })]
  for (const agent of agents) {
    const body = { line_items: [line(shop.variantId, 2)] }
    const answers = [
      await agent.read(id),
      await agent.put(id, body),
      await agent.readCart(cart.id),
      await agent.putCart(cart.id, body),
      await agent.cancelCart(cart.id),
      await agent.create({ cart_id: cart.id }),
    ]
    for (const answer of answers) expect([answer.ucp.status, codesOf(answer), answer.id]).toEqual(['error', ['not_found'], undefined])
  }
  expect((await owner.read(id)).line_items[0].quantity).toBe(1)
  for (const guess of ['', 'chk_', `${id} `, id.toUpperCase(), `chk_${'0'.repeat(26)}`, '\0'])
    expect(codesOf(await owner.read(guess))).toEqual(['not_found'])
})

test('the id of a session opens no cart, and the id of a cart opens no session', async () => {
  await using world = await startSellingApp()
  const { app, shop } = world
  const agent = agentOf(app, shop)
  const { id } = await agent.create({ line_items: [line(shop.variantId)] })
  expect((await app.call('GET', `/cart/${id}`, { key: shop.publishableKey })).status).toBe(404)
  const cartId = await shop.cart()
  expect(codesOf(await agent.read(cartId))).toEqual(['not_found'])
})

test("the e-mail address of a customer reveals none of their data, and the session stays a guest's", async () => {
  await using world = await startSellingApp()
  const { app, shop } = world
  const customer = await customerOf(app, shop.shop.name, buyer.email)
  ok(await app.call('PATCH', '/customer/me', { token: customer.token, body: { name: 'Secret Name', phone: '+15550000' } }))
  ok(
    await app.call('POST', '/customer/me/addresses', {
      token: customer.token,
      body: { name: 'Secret Name', line1: '9 Hidden Road', city: 'Bangor', province: 'ME', countryCode: 'US', isDefaultShipping: true },
    }),
  )
  const answer = await agentOf(app, shop).create({ line_items: [line(shop.variantId)], buyer: { email: buyer.email } })
  expect(JSON.stringify(answer)).not.toMatch(/Secret|Hidden|5550000|cus_/)
  expect(await app.deps.db.read.rows(sql`select customer_id from carts`)).toEqual([{ customer_id: null }])
})

test('a session ends six hours after its last change, and at most twenty hours after its creation', async () => {
  await using world = await startSellingApp()
  const { app, shop } = world
  const agent = agentOf(app, shop)
  const body = { line_items: [line(shop.variantId)], buyer }
  const created = await agent.create(body)
  const start = app.clock.now()
  expect(Date.parse(created.expires_at)).toBe(start + 6 * hour)
  for (const at of [5, 10, 15, 19]) {
    app.clock.set(start + at * hour)
    const changed = await agent.put(created.id, body)
    expect(Date.parse(changed.expires_at)).toBe(start + Math.min(at + 6, 20) * hour)
    expect((await agent.read(created.id)).status).toBe('ready_for_complete')
  }
  app.clock.set(start + 20 * hour)
  const ended = await agent.read(created.id)
  expect([ended.status, ended.messages, ended.continue_url]).toEqual(['canceled', [], undefined])
  await expect(agent.put(created.id, body)).rejects.toMatchObject({ code: 'session_closed', status: 409 })
})

test('an address may have fifty open sessions, whatever platform it names', async () => {
  await using world = await startSellingApp()
  const { app, shop } = world
  const body = { line_items: [line(shop.variantId)] }
  const agent = agentOf(app, shop)
  const named = agentOf(app, shop, { profile: 'https://platform.example/profile.json' })
  for (let nth = 0; nth < 25; nth++) for (const one of [agent, named]) await one.create(body)
  for (const one of [agent, named]) await expect(one.create(body)).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
  // Other addresses and proven platforms are not limited, and carts do not count.
  expect((await agentOf(app, shop, { address: '192.0.2.2' }).create(body)).status).toBe('incomplete')
  expect((await agentOf(app, shop, { profile: 'https://p.example/', isProven: true }).create(body)).status).toBe('incomplete')
  expect((await agent.createCart(body)).id).toBeDefined()
  app.clock.advance(6 * hour)
  expect((await agent.create(body)).status).toBe('incomplete')
})

test('concurrent changes are each applied completely, and a read returns one of them', async () => {
  await using world = await startSellingApp()
  const { app, shop } = world
  const agent = agentOf(app, shop)
  const { id } = await agent.create({ line_items: [line(shop.variantId)], buyer })
  const quantities = [2, 3, 4, 5, 6]
  const answers = await Promise.all(
    quantities.map((quantity) => agent.put(id, { line_items: [line(shop.variantId, quantity)], buyer, fulfillment: fulfillmentTo(home) })),
  )
  expect(answers.map(({ line_items: [item] }) => item.quantity)).toEqual(quantities)
  const read = await agent.read(id)
  expect(answers).toContainEqual(read)
})
