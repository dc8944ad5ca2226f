/** Tests how the platform that placed an order sees it. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { disputes } from '../../../../db/schema/payments.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { releases } from '../../../../src/lib/ucp/releases.ts'
import { readAgentOrder } from '../../../../src/modules/agents/agent-order/index.ts'
import { forgetSessions, loadSession } from '../../../../src/modules/agents/agent-session/index.ts'
import { forgetCarts } from '../../../../src/modules/selling/cart/index.ts'
import { type AgentOptions, agentOf, amountsOf, buyer, fulfillmentTo, home } from '../../../support/agent-calls.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { assertUcpAnswer } from '../../../support/ucp-schemas.ts'

setDefaultTimeout(longTestMs)

const profile = 'https://platform.example/profile'
const proven: AgentOptions = { profile, isProven: true }

async function startAgentShop() {
  const app = await testApp()
  const shop = await sellingIn(app)
  ok(
    (await shop.put('/shops/v2/shipping-methods', {
      data: [{ code: 'post', title: 'Post', countries: ['US'], price: shop.money(500) }],
    })) as never,
  )
  const line = (quantity: number) => ({ item: { id: shop.variantId }, quantity })
  const by = (options: AgentOptions) => {
    const agent = agentOf(app, shop, options)
    return {
      ...agent,
      async readOrder(id: string): Promise<Json> {
        const body = JSON.parse(JSON.stringify(await readAgentOrder(app.deps, agent.call(), { id })))
        assertUcpAnswer(agent.call().platform.release, 'get_order', body)
        return body
      },
      /** Returns the id of a session's cart after a person has seen the cart. */
      async cartOf(id: string): Promise<string> {
        const cartId = (await loadSession(app.deps, agent.call(), id))?.cart.id ?? ''
        ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
        return cartId
      },
    }
  }
  const agent = by(proven)
  /** Checks out the session's cart, as the page does. */
  async function buy(quantity = 2, more: object = {}) {
    const session = await agent.create({ line_items: [line(quantity)], buyer, fulfillment: fulfillmentTo(home, 'post'), ...more })
    const { order } = ok(await shop.checkout(await agent.cartOf(session.id))).body
    return { session, id: order.id as string, order }
  }
  let keys = 0
  const act = async (id: string, action: string, body: object = {}) =>
    ok((await shop.post(`/v2/orders/${id}/${action}`, body, { 'idempotency-key': `k${++keys}` })) as never).body
  return { app, shop, agent, by, buy, act, line, [Symbol.asyncDispose]: () => app.close() }
}
const quantitiesOf = ({ line_items: lines }: Json) =>
  lines.map(({ quantity, status }: Json) => [quantity.original, quantity.total, quantity.fulfilled, status])

describe('an order', () => {
  test('shows its items, destination and attribution, with the totals that the session showed', async () => {
    await using world = await startAgentShop()
    const { session, id, order } = await world.buy(2, { attribution: { campaign: 'spring' } })
    for (const release of releases) {
      const body = await world.by({ ...proven, release }).readOrder(id)
      expect(body).toMatchObject({
        ucp: { version: release, status: 'success', capabilities: { 'dev.ucp.shopping.order': [{ version: release }] } },
        id,
        label: '1',
        checkout_id: session.id,
        permalink_url: order.publicUrl,
        currency: 'USD',
        totals: session.totals,
        fulfillment: { events: [] },
        attribution: { campaign: 'spring' },
      })
      expect(body.line_items).toEqual([
        { ...session.line_items[0], id: body.line_items[0].id, quantity: { original: 2, total: 2, fulfilled: 0 }, status: 'processing' },
      ])
      const { id: _, ...sent } = home
      expect(body.fulfillment.expectations).toEqual([
        {
          ...{ id: 'exp_1', line_items: [{ id: body.line_items[0].id, quantity: 2 }], method_type: 'shipping', destination: sent },
          description: session.fulfillment.methods[0].groups[0].options[0].title,
        },
      ])
      expect(body.adjustments).toBeUndefined()
    }
  })

  test('shows each fulfilment with its tracking as plain text', async () => {
    await using world = await startAgentShop()
    const { id } = await world.buy(3)
    const lineId = (await world.agent.readOrder(id)).line_items[0].id
    await world.act(id, 'fulfilments', { lines: [{ lineId, quantity: 1 }], trackingNumber: 'TR-1', carrier: 'Post' })
    const partly = await world.agent.readOrder(id)
    expect(quantitiesOf(partly)).toEqual([[3, 3, 1, 'partial']])
    expect(partly.fulfillment.events).toEqual([
      {
        ...{ id: expect.stringMatching(/^ful_/), type: 'shipped', occurred_at: new Date(world.app.clock.now()).toISOString() },
        ...{ line_items: [{ id: lineId, quantity: 1 }], tracking_number: 'TR-1', carrier: 'Post' },
      },
    ])
    await world.act(id, 'fulfil')
    const fulfilled = await world.agent.readOrder(id)
    expect(quantitiesOf(fulfilled)).toEqual([[3, 3, 3, 'fulfilled']])
    expect(fulfilled.fulfillment.events).toHaveLength(2)
  })

  test('shows refunds as negative adjustments, and reduces its units', async () => {
    await using world = await startAgentShop()
    const { id } = await world.buy(3)
    const lineId = (await world.agent.readOrder(id)).line_items[0].id
    const refund = await world.act(id, 'refunds', { lines: [{ lineId, quantity: 1 }] })
    const body = await world.agent.readOrder(id)
    expect(quantitiesOf(body)).toEqual([[3, 2, 0, 'processing']])
    expect(body.adjustments).toMatchObject([
      {
        id: refund.id,
        type: 'refund',
        status: 'completed',
        line_items: [{ id: lineId, quantity: -1 }],
        totals: [{ type: 'total', amount: -refund.amount.amount }],
      },
    ])
    expect(body.fulfillment.expectations[0].line_items).toEqual([{ id: lineId, quantity: 2 }])
    const amount = await world.act(id, 'refunds', { amount: world.shop.money(100) })
    expect((await world.agent.readOrder(id)).adjustments[1]).toEqual({
      ...{ id: amount.id, type: 'refund', status: 'completed', occurred_at: new Date(world.app.clock.now()).toISOString() },
      totals: [{ type: 'total', amount: -100 }],
    })
  })

  test('that is cancelled shows no units, and its money refunded once', async () => {
    await using world = await startAgentShop()
    const { id, order } = await world.buy(3)
    const lineId = (await world.agent.readOrder(id)).line_items[0].id
    await world.act(id, 'refunds', { lines: [{ lineId, quantity: 1 }] })
    await world.act(id, 'cancel')
    const body = await world.agent.readOrder(id)
    expect(quantitiesOf(body)).toEqual([[3, 0, 0, 'removed']])
    expect(body.fulfillment.expectations).toEqual([])
    const cancellation = body.adjustments.find(({ type }: Json) => type === 'cancellation')
    expect(cancellation).toMatchObject({ status: 'completed', line_items: [{ id: lineId, quantity: -2 }] })
    const refunded = body.adjustments.flatMap(({ totals = [] }: Json) => totals).reduce((sum: number, { amount }: Json) => sum + amount, 0)
    expect(refunded).toBe(-order.total.amount)
  })

  test('shows a dispute until it is decided', async () => {
    await using world = await startAgentShop()
    const { id, order } = await world.buy()
    const { app, shop } = world
    await app.deps.db.write(async (tx) => {
      const row = {
        id: 'dsp_1',
        orderId: id,
        shopId: shop.shop.id,
        paymentId: order.payments[0].id,
        reference: 'r',
        amount: 700,
        currency: 'USD',
      }
      await tx.insert(disputes).values({ ...row, status: 'OPEN', createdAt: 1, updatedAt: 1 })
    })
    const readDisputes = async () =>
      (await world.agent.readOrder(id)).adjustments.map(({ type, status, totals }: Json) => [type, status, totals[0].amount])
    expect(await readDisputes()).toEqual([['dispute', 'pending', -700]])
    for (const [status, expectedStatus] of [
      ['WON', 'failed'],
      ['LOST', 'completed'],
    ]) {
      await app.deps.db.write((tx) => tx.rows(sql`update disputes set status = ${status} returning 1 as done`))
      expect(await readDisputes()).toEqual([['dispute', expectedStatus, -700]])
    }
  })

  test('with free shipping shows the discount and the price of shipping', async () => {
    await using world = await startAgentShop()
    ok((await world.shop.post('/discounts', { code: 'FREE', title: 'Free', kind: 'FREE_SHIPPING' })) as never)
    const { session, id } = await world.buy(2, { discounts: { codes: ['FREE'] } })
    const { totals } = await world.agent.readOrder(id)
    expect(amountsOf({ totals })).toMatchObject({ fulfillment: 500, discount: -500 })
    expect(totals).toEqual(session.totals)
  })
})

describe('the destination', () => {
  test('contains only the country if the platform did not send the address', async () => {
    await using world = await startAgentShop()
    const session = await world.agent.create({ line_items: [world.line(1)] })
    const cartId = await world.agent.cartOf(session.id)
    const typed = {
      line1: 'Typed Street 9',
      city: 'Typedville',
      province: 'ME',
      postalCode: '04199',
      countryCode: 'US',
      name: 'Typed Name',
    }
    const { app, shop } = world
    ok(
      await app.call('PATCH', `/cart/${cartId}`, {
        key: shop.publishableKey,
        body: { email: 'typed@example.com', shippingAddress: typed, shippingMethod: 'post' },
      }),
    )
    const { order } = ok(await shop.checkout(cartId)).body
    const body = await world.agent.readOrder(order.id)
    expect(body.fulfillment.expectations[0].destination).toEqual({ address_country: 'US' })
    expect(JSON.stringify(body).toLowerCase()).not.toContain('typed')
  })

  test('contains only the country after the session is deleted', async () => {
    await using here = await startAgentShop()
    const { id, session } = await here.buy()
    const before = await here.agent.readOrder(id)
    const open = here.by({ profile })
    const other = await open.create({ line_items: [here.line(1)], buyer, fulfillment: fulfillmentTo(home, 'post') })
    const { order: unproven } = ok(await here.shop.checkout(await open.cartOf(other.id))).body
    here.app.clock.advance(100 * dayMs)
    await forgetSessions(here.app.deps)
    await forgetCarts(here.app.deps)
    expect(await here.app.deps.db.read.rows(sql`select 1 as found from agent_sessions`)).toEqual([])
    const after = await here.agent.readOrder(id)
    expect(after['checkout_id']).toBe(session.id)
    const [expectation] = before['fulfillment'].expectations
    const expectations = [{ ...expectation, destination: { address_country: 'US' } }]
    expect(after).toEqual({ ...before, fulfillment: { ...before['fulfillment'], expectations } })
    const missing = { ucp: { status: 'error' }, messages: [{ code: 'not_found' }] }
    expect(await here.by({ ...proven, profile: 'https://other.example/profile' }).readOrder(id)).toMatchObject(missing)
    expect(await here.agent.readOrder(unproven.id)).toMatchObject(missing)
  })
})

describe('access to an order', () => {
  test('is refused to another platform, an unproven creator and another shop, and before it is paid', async () => {
    await using world = await startAgentShop()
    const { id } = await world.buy()
    const missing = { ucp: { status: 'error' }, messages: [{ code: 'not_found' }] }
    expect(await world.by({ ...proven, profile: 'https://other.example/profile' }).readOrder(id)).toMatchObject(missing)
    expect(await agentOrderOf(world, await world.app.merchant(), id)).toMatchObject(missing)
    expect(await world.agent.readOrder('order_unknown')).toMatchObject(missing)

    const open = world.by({ profile })
    const session = await open.create({ line_items: [world.line(1)], buyer, fulfillment: fulfillmentTo(home, 'post') })
    const { order } = ok(await world.shop.checkout(await open.cartOf(session.id))).body
    expect(await world.agent.readOrder(order.id)).toMatchObject(missing)

    const unpaid = await world.agent.create({ line_items: [world.line(1)], buyer, fulfillment: fulfillmentTo(home, 'post') })
    const declined = ok(await world.shop.checkout(await world.agent.cartOf(unpaid.id), { paymentToken: 'tok_decline' })).body.order
    expect(await world.agent.readOrder(declined.id)).toMatchObject(missing)
  })

  test('is refused if no agent placed it', async () => {
    await using world = await startAgentShop()
    const { shop } = world
    const cartId = await shop.cart({
      email: 'a@example.com',
      shippingAddress: { line1: '1', city: 'C', province: 'ME', postalCode: '04101', countryCode: 'US', name: 'N' },
      shippingMethod: 'post',
    })
    const { order } = ok(await shop.checkout(cartId)).body
    expect(await world.agent.readOrder(order.id)).toMatchObject({ ucp: { status: 'error' } })
  })

  test('needs proof', async () => {
    await using world = await startAgentShop()
    const { id } = await world.buy()
    for (const options of [{ profile }, {}])
      await expect(world.by(options).readOrder(id)).rejects.toMatchObject({ code: 'signature_missing' })
  })
})

const agentOrderOf = async ({ app }: { app: Parameters<typeof agentOf>[0] }, other: Parameters<typeof agentOf>[1], id: string) =>
  readAgentOrder(app.deps, agentOf(app, other, proven).call(), { id })
