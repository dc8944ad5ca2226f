/** Tests how a shop sees the orders of agents. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { orders } from '../../../../db/schema/selling.ts'
import { loadSession } from '../../../../src/modules/agents/agent-session/index.ts'
import { agentOf, buyer, fulfillmentTo, home } from '../../../support/agent-calls.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const profile = 'https://platform.example/profile'

test('orders of agents are marked, and found by a filter, combined with other filters, and in CSV', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  async function buyAs(options: Parameters<typeof agentOf>[2], more: Json = {}) {
    const agent = agentOf(app, shop, options)
    const session = await agent.create({
      line_items: [{ item: { id: shop.variantId }, quantity: 1 }],
      buyer,
      fulfillment: fulfillmentTo(home),
      ...more,
    })
    const cartId = (await loadSession(app.deps, agent.call(), session.id))?.cart.id ?? ''
    ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
    return ok(await shop.checkout(cartId)).body.order
  }
  const shopperOrder = await shop.placeOrder()
  const namedOrder = await buyAs({ profile, isProven: true }, { attribution: { campaign: 'spring' } })
  const unnamedOrder = await buyAs({})
  // The response to a shopper does not contain the platform.
  expect([namedOrder.agent, shopperOrder.agent]).toEqual([null, null])

  const agents = async (query: string) =>
    ok(await shop.get(`/v2/orders?${query}`)).body.data.map(({ number, agent }: Json) => [number, agent])
  const [two, three] = [
    [2, { profile, attribution: { campaign: 'spring' } }],
    [3, { profile: null }],
  ]
  expect(await agents('')).toEqual([three, two, [1, null]])
  expect(await agents('agent=true')).toEqual([three, two])
  expect(await agents('agent=false')).toEqual([three, two, [1, null]])
  expect(await agents('agent=true&sort=total')).toEqual([two, three])
  expect(await agents('agent=true&status=CONFIRMED&paymentStatus=CAPTURED&toFulfil=true')).toEqual([three, two])
  expect(await agents('agent=true&status=CANCELLED')).toEqual([])
  expect(await agents('agent=true&q=noor')).toEqual([three, two])
  expect(await agents('agent=true&number=1')).toEqual([])
  expect((await shop.get('/v2/orders?agent=maybe')).status).toBe(400)
  for (const [id, agent] of [
    [namedOrder.id, two?.[1]],
    [unnamedOrder.id, three?.[1]],
    [shopperOrder.id, null],
  ])
    expect(ok(await shop.get(`/v2/orders/${id}`)).body.agent).toEqual(agent)

  const csv = ok(await app.call('GET', '/v2/orders?agent=true', { token: shop.token, headers: { accept: 'text/csv' } })).text
  const [header = '', ...rows] = csv.trim().split('\r\n')
  const at = header.split(',').indexOf('agent')
  expect(rows.map((row) => row.split(',').at(at))).toEqual(['unnamed', profile])
})

test('a customer does not see the agent of their order', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token } = await customerOf(app, shop.shop.name)
  const order = await shop.placeOrder({ token })
  await app.deps.db.write((tx) => tx.update(orders).set({ agent: { profile, attribution: { campaign: 'spring' } } }))
  expect(ok(await app.call('GET', `/v2/orders/${order.id}`, { token })).body.agent).toBeNull()
})
