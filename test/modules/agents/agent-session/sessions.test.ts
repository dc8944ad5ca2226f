import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type AgentOptions, agentOf, amountsOf, buyer, codesOf, fulfillmentTo, home } from '../../../support/agent-calls.ts'
import { testApp } from '../../../support/app.ts'
import { sellingIn } from '../../../support/selling.ts'
import { ucpSkipNote } from '../../../support/ucp-schemas.ts'

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })

async function startShop(agent: AgentOptions = {}, selling: Parameters<typeof sellingIn>[1] = {}) {
  const app = await testApp()
  const shop = await sellingIn(app, selling)
  return {
    app,
    shop,
    agent: agentOf(app, shop, agent),
    async [Symbol.asyncDispose]() {
      await app.close()
    },
  }
}

const setShippingMethods = (shop: { put: (path: string, body: unknown) => Promise<unknown>; money: (amount: number) => unknown }) =>
  shop.put('/shops/v2/shipping-methods', {
    data: [
      { code: 'post', title: 'Post', countries: ['US'], price: shop.money(500) },
      { code: 'express', title: 'Express', countries: ['US'], price: shop.money(1_500) },
    ],
  })

for (const release of ['2026-08-25', '2026-04-08'] as const) {
  test(`a session of ${release} becomes ready step by step${ucpSkipNote}`, async () => {
    await using world = await startShop({ release, policies: [{ type: 'terms_of_service', url: 'https://shop.example/terms' }] })
    const { shop, agent } = world
    await setShippingMethods(shop)
    const created = await agent.create({ line_items: [line(shop.variantId, 2)] })
    expect(created).toMatchObject({
      ucp: { version: release, status: 'success', payment_handlers: { 'localhost.souk.sandbox': [{ id: 'sandbox' }] } },
      status: 'incomplete',
      currency: 'USD',
      line_items: [{ item: { id: shop.variantId, title: 'Mug', price: 1_000 }, quantity: 2 }],
      links: [{ type: 'terms_of_service', url: 'https://shop.example/terms' }],
    })
    expect(created.id).toMatch(/^chk_[0-9a-z]{26}$/)
    expect(created.totals).toEqual([
      { type: 'subtotal', amount: 2_000 },
      { type: 'total', amount: 2_000 },
    ])
    expect(codesOf(created)).toEqual(['missing $.buyer.email', 'missing $.fulfillment.methods[0].destinations'])
    // Clients of the protocol send the instruments back, and mistake an empty list of destinations for addresses.
    expect([created.payment, created.fulfillment.methods[0].destinations]).toEqual([{ instruments: [] }, undefined])

    const addressed = await agent.put(created.id, { line_items: [line(shop.variantId, 2)], buyer, fulfillment: fulfillmentTo() })
    expect(codesOf(addressed)).toEqual(['missing $.fulfillment.methods[0].groups[0].selected_option_id'])
    const [method] = addressed.fulfillment.methods
    expect(method.destinations).toEqual([release === '2026-08-25' ? { ...home, type: 'shipping_address' } : home])
    expect(method.groups[0].options.map(({ id, totals }: { id: string; totals: unknown }) => [id, totals])).toEqual([
      ['post', [{ type: 'total', amount: 500 }]],
      ['express', [{ type: 'total', amount: 1_500 }]],
    ])

    const ready = await agent.put(created.id, { line_items: [line(shop.variantId, 2)], buyer, fulfillment: fulfillmentTo(home, 'post') })
    expect(ready.status).toBe('ready_for_complete')
    expect(ready.buyer).toEqual(buyer)
    expect(ready.totals).toEqual([
      { type: 'subtotal', amount: 2_000 },
      { type: 'fulfillment', amount: 500 },
      { type: 'total', amount: 2_500 },
    ])
    expect(ready.line_items[0].id).toBe(created.line_items[0].id)
    expect(await agent.read(created.id)).toEqual(ready)
    expect(agent.stored).toHaveLength(3)
  })
}

test('lines of one variant add up, and quantities are lowered to the stock', async () => {
  await using world = await startShop()
  const { shop, agent } = world
  const answer = await agent.create({ line_items: [line(shop.variantId, 8), line(shop.variantId, 7)] })
  expect(answer.line_items.map(({ quantity }: { quantity: number }) => quantity)).toEqual([10])
  expect(codesOf(answer)).toContain('quantity_adjusted $.line_items[0].quantity')
  expect(amountsOf(answer)).toEqual({ subtotal: 10_000, fulfillment: 0, total: 10_000 })
})

test('gift cards are lowered to the most of an order across lines, and later lines are unavailable', async () => {
  await using world = await startShop()
  const { shop, agent } = world
  const cards = await Promise.all(
    [2_500, 500, 300].map((amount) => shop.add({ title: `Card ${amount}`, kind: 'GIFT_CARD', variants: [{ price: shop.money(amount) }] })),
  )
  const line_items = cards.map(({ variants }) => line(variants[0]?.id ?? '', 60))
  const created = await agent.create({ line_items, buyer })
  expect(created.line_items.map(({ quantity }: { quantity: number }) => quantity)).toEqual([60, 40])
  expect([created.status, codesOf(created)]).toEqual([
    'incomplete',
    ['quantity_adjusted $.line_items[1].quantity', 'item_unavailable $.line_items[2]'],
  ])
  const ready = await agent.put(created.id, { line_items: line_items.slice(0, 2), buyer })
  expect(codesOf(ready)).toEqual(['quantity_adjusted $.line_items[1].quantity'])
  expect((await agent.complete(created.id)).status).toBe('completed')
})

test('a request without a line that can be bought creates no session', async () => {
  await using world = await startShop({}, { onHand: 0 })
  const { shop, agent, app } = world
  const refused = await agent.create({ line_items: [line(shop.variantId), line('var_unknown')] })
  expect(refused).toEqual({
    ucp: { version: '2026-08-25', status: 'error' },
    messages: [
      expect.objectContaining({ code: 'out_of_stock', path: '$.line_items[0]' }),
      expect.objectContaining({ code: 'item_unavailable', path: '$.line_items[1]' }),
    ],
  })
  expect(codesOf(await agent.create({ line_items: [] }))).toEqual(['missing $.line_items'])
  expect(await app.deps.db.read.rows(sql`select id from agent_sessions union all select id from carts`)).toEqual([])
})

test('a variant that is not sold stays an error until a request leaves it out', async () => {
  await using world = await startShop()
  const { shop, agent } = world
  const created = await agent.create({ line_items: [line(shop.variantId), line('var_unknown')], buyer })
  expect(created.status).toBe('incomplete')
  expect(codesOf(created)).toEqual(['item_unavailable $.line_items[1]'])
  expect(codesOf(await agent.read(created.id))).toEqual(['item_unavailable $.line_items[1]'])
  const replaced = await agent.put(created.id, { line_items: [line(shop.variantId)], buyer })
  expect([replaced.status, codesOf(replaced)]).toEqual(['ready_for_complete', []])
})

test('a shop without shipping methods ships for free, and goods that are not shipped need no destination', async () => {
  await using world = await startShop()
  const { shop, agent } = world
  const created = await agent.create({ line_items: [line(shop.variantId)], buyer })
  expect(created.fulfillment.methods[0].groups[0]).toMatchObject({ selected_option_id: 'free', options: [{ id: 'free' }] })
  expect(created.totals.map(({ type }: { type: string }) => type)).toEqual(['subtotal', 'fulfillment', 'total'])
  await setShippingMethods(shop)
  const file = await shop.add({ title: 'Song', variants: [{ price: shop.money(300), requiresShipping: false }] })
  const digital = await agent.create({ line_items: [line(file.variants[0]?.id ?? '')], buyer })
  expect(digital.fulfillment).toBeUndefined()
  expect([digital.status, codesOf(digital)]).toEqual(['ready_for_complete', []])
})
