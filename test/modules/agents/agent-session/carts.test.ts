import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { forgetSessions } from '../../../../src/modules/agents/agent-session/index.ts'
import { expireCarts } from '../../../../src/modules/selling/cart/index.ts'
import { agentOf, amountsOf, buyer, codesOf } from '../../../support/agent-calls.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { sellingIn } from '../../../support/selling.ts'
import { ucpSkipNote } from '../../../support/ucp-schemas.ts'

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })
const day = 86_400_000

async function startCartShop() {
  const app = await testApp()
  const shop = await sellingIn(app)
  return { app, shop, agent: agentOf(app, shop), [Symbol.asyncDispose]: () => app.close() }
}

for (const release of ['2026-08-25', '2026-04-08'] as const)
  test(`a cart of ${release} has contents and prices, but neither status nor payment${ucpSkipNote}`, async () => {
    await using world = await startCartShop()
    const { app, shop } = world
    const agent = agentOf(app, shop, { release })
    const created = await agent.createCart({ line_items: [line(shop.variantId, 2)], buyer })
    expect(created.id).toMatch(/^ucart_[0-9a-z]{26}$/)
    expect([created.status, created.fulfillment, created.order, created.ucp.payment_handlers]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(created.totals).toEqual([
      { type: 'subtotal', amount: 2_000 },
      { type: 'total', amount: 2_000 },
    ])
    expect(Date.parse(created.expires_at)).toBe(app.clock.now() + 30 * day)
    const replaced = await agent.putCart(created.id, { line_items: [line(shop.variantId, 3)] })
    expect([replaced.line_items[0].quantity, replaced.buyer, replaced.messages]).toEqual([3, undefined, []])
    expect(await agent.readCart(created.id)).toEqual(replaced)
    // A cart is not a session, and a session is not a cart.
    expect((await agent.read(created.id)).ucp.status).toBe('error')
    const session = await agent.create({ line_items: [line(shop.variantId)] })
    expect((await agent.readCart(session.id)).ucp.status).toBe('error')
    expect((await agent.cancelCart(session.id)).ucp.status).toBe('error')
    expect(await agent.cancelCart(created.id)).toEqual(replaced)
    for (const response of [
      await agent.readCart(created.id),
      await agent.cancelCart(created.id),
      await agent.putCart(created.id, { line_items: [] }),
    ])
      expect(codesOf(response)).toEqual(['not_found'])
    expect(codesOf(await agent.create({ line_items: [], cart_id: created.id }))).toEqual(['not_found'])
    app.clock.advance(1)
    await expireCarts(app.deps)
    expect(await app.deps.db.read.rows(sql`select status, email from carts where status = 'EXPIRED'`)).toEqual([
      { status: 'EXPIRED', email: null },
    ])
  })

test('no content of a cancelled cart remains if the cart is replaced while it is cancelled', async () => {
  await using world = await startCartShop()
  const { app, shop, agent } = world
  for (let round = 0; round < 5; round++) {
    const { id } = await agent.createCart({ line_items: [line(shop.variantId)], buyer })
    await Promise.all([
      agent.cancelCart(id),
      ...[2, 3].map((quantity) => agent.putCart(id, { line_items: [line(shop.variantId, quantity)], buyer })),
      agent.cancelCart(id),
    ])
  }
  const openSessions = await app.deps.db.read.rows(
    sql`select id from agent_sessions where canceled_at is null or expires_at > ${app.clock.now()}`,
  )
  expect(openSessions).toEqual([])
  app.clock.advance(1)
  await expireCarts(app.deps)
  await forgetSessions(app.deps)
  const sessionsWithData = await app.deps.db.read.rows(sql`select id from agent_sessions where cast(request as text) like '%noor%'`)
  expect([sessionsWithData, await app.deps.db.read.rows(sql`select id from carts where email is not null`)]).toEqual([[], []])
})

test('a cart becomes a session with its content, and a repeated request returns the same open session', async () => {
  await using world = await startCartShop()
  const { agent, shop } = world
  const cart = await agent.createCart({ line_items: [line(shop.variantId, 2)], buyer, attribution: { source: 'chat' } })
  const session = await agent.create({ cart_id: cart.id, line_items: [line('var_other')], buyer: { email: 'other@example.com' } })
  expect(session).toMatchObject({ line_items: [{ item: { id: shop.variantId }, quantity: 2 }], buyer, attribution: { source: 'chat' } })
  expect(session.status).toBe('ready_for_complete')
  const repeated = await agent.create({ cart_id: cart.id })
  expect(repeated).toEqual(session)
  // The session no longer depends on the cart.
  await agent.putCart(cart.id, { line_items: [line(shop.variantId, 5)] })
  expect((await agent.create({ cart_id: cart.id })).line_items[0].quantity).toBe(2)
})

test('concurrent conversions of a cart create one session', async () => {
  await using world = await startCartShop()
  const { agent, shop, app } = world
  const cart = await agent.createCart({ line_items: [line(shop.variantId)] })
  const sessions: Json[] = await Promise.all([1, 2, 3, 4].map(() => agent.create({ cart_id: cart.id })))
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(1)
  const rows = await app.deps.db.read.rows<{ n: number | string }>(sql`select count(*) as n from agent_sessions where kind = 'CHECKOUT'`)
  expect(Number(rows[0]?.n)).toBe(1)
})

test('a cart whose session ended gets a new session', async () => {
  await using world = await startCartShop()
  const { agent, shop, app } = world
  const cart = await agent.createCart({ line_items: [line(shop.variantId)] })
  const first = await agent.create({ cart_id: cart.id })
  app.clock.advance(7 * 3_600_000)
  expect((await agent.read(first.id)).status).toBe('canceled')
  const second = await agent.create({ cart_id: cart.id })
  expect(second.id).not.toBe(first.id)
  expect(amountsOf(second)).toEqual({ subtotal: 1_000, fulfillment: 0, total: 1_000 })
})

test('a platform without carts cannot convert one', async () => {
  await using world = await startCartShop()
  const { agent, shop, app } = world
  const cart = await agent.createCart({ line_items: [line(shop.variantId)] })
  const withoutCarts = agentOf(app, shop, { capabilities: ['checkout'] })
  expect(codesOf(await withoutCarts.create({ cart_id: cart.id }))).toEqual(['missing $.line_items'])
})
