/** Tests that a changed total is shown before it can be charged. */
import { expect, test } from 'bun:test'
import { loadCurrentSession, shownDigestOf } from '../../../../src/modules/agents/agent-session/index.ts'
import { agentOf, amountsOf, buyer, codesOf, fulfillmentTo, home } from '../../../support/agent-calls.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })

async function startPricedShop() {
  const app = await testApp()
  const shop = await sellingIn(app)
  const put = async (path: string, body: unknown) => void ok((await shop.put(path, body)) as never)
  const rate = (amount: number) =>
    put('/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', countries: ['US'], price: shop.money(amount) }] })
  const tax = (rateBps: number) => put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps, inclusive: false }] })
  const discount = async (body: object): Promise<string> => ok(await shop.post('/discounts', body), 201).body.id
  await rate(500)
  await tax(1_000)
  const agent = agentOf(app, shop)
  /** Returns whether the platform has seen the current state of the session. */
  async function isAsShown(id: string): Promise<boolean> {
    const loaded = await loadCurrentSession(app.deps, agent.call(), id)
    return loaded !== undefined && shownDigestOf(loaded.view) === loaded.session.shown
  }
  const body = { line_items: [line(shop.variantId, 2)], buyer, fulfillment: fulfillmentTo(home, 'post'), discounts: { codes: ['TEN'] } }
  return { app, shop, agent, rate, tax, discount, isAsShown, body, [Symbol.asyncDispose]: () => app.close() }
}
type Priced = Awaited<ReturnType<typeof startPricedShop>>

const changeProduct = ({ shop }: Priced, body: Json) => shop.patch(`/product-v2/${shop.productId}`, body).then((answer) => void ok(answer))

const changes: Record<string, { change: (world: Priced) => Promise<unknown>; total: number }> = {
  'a higher price': {
    change: (world) => changeProduct(world, { variants: [{ id: world.shop.variantId, price: world.shop.money(1_100) }] }),
    total: 2_178 + 550 - 50,
  },
  'a lower price': {
    change: (world) => changeProduct(world, { variants: [{ id: world.shop.variantId, price: world.shop.money(900) }] }),
    total: 1_782 + 500,
  },
  'another tax rate': { change: ({ tax }) => tax(2_000), total: 2_160 + 500 },
  'another shipping rate': { change: ({ rate }) => rate(700), total: 1_980 + 700 },
  'a better discount': { change: ({ discount }) => discount({ title: 'Half', kind: 'PERCENT', valueBps: 5_000 }), total: 1_100 + 500 },
}

for (const [label, { change, total }] of Object.entries(changes))
  test(`${label} is shown by the next response, and the state counts as unseen until then`, async () => {
    await using world = await startPricedShop()
    const { agent, body, isAsShown, discount } = world
    await discount({ title: 'Ten', code: 'TEN', kind: 'PERCENT', valueBps: 1_000 })
    const created = await agent.create(body)
    expect([created.status, amountsOf(created)['total']]).toEqual(['ready_for_complete', 2_480])
    expect(await isAsShown(created.id)).toBe(true)
    await change(world)
    expect(await isAsShown(created.id)).toBe(false)
    const read = await agent.read(created.id)
    expect([amountsOf(read)['total'], await isAsShown(created.id)]).toEqual([total, true])
    expect(read.status).toBe('ready_for_complete')
    expect(await agent.read(created.id)).toEqual(read)
  })

test('a disabled code causes a warning, and its discount is no longer shown', async () => {
  await using world = await startPricedShop()
  const { agent, body, isAsShown, discount, shop } = world
  const ten = await discount({ title: 'Ten', code: 'TEN', kind: 'PERCENT', valueBps: 1_000 })
  const created = await agent.create(body)
  ok(await shop.patch(`/discounts/${ten}`, { status: 'DISABLED' }))
  expect(await isAsShown(created.id)).toBe(false)
  const read = await agent.read(created.id)
  expect([amountsOf(read)['total'], codesOf(read)]).toEqual([2_700, ['discount_code_invalid $.discounts.codes[0]']])
  expect(await isAsShown(created.id)).toBe(true)
})

test('a removed shipping method must be chosen again', async () => {
  await using world = await startPricedShop()
  const { agent, body, isAsShown, shop } = world
  const created = await agent.create(body)
  ok(
    (await shop.put('/shops/v2/shipping-methods', {
      data: [{ code: 'express', title: 'Express', countries: ['US'], price: shop.money(900) }],
    })) as never,
  )
  expect(await isAsShown(created.id)).toBe(false)
  const read = await agent.read(created.id)
  expect(read.status).toBe('incomplete')
  expect(codesOf(read)).toContain('missing $.fulfillment.methods[0].groups[0].selected_option_id')
  expect(read.totals.map(({ type }: { type: string }) => type)).toEqual(['subtotal', 'tax', 'total'])
})

test('a line that is out of stock or no longer sold makes the session incomplete', async () => {
  await using world = await startPricedShop()
  const { agent, body, shop } = world
  const created = await agent.create({ ...body, discounts: undefined })
  ok(await shop.count(shop.productId, shop.variantId, { counted: 1 }))
  const outOfStock = await agent.read(created.id)
  expect([outOfStock.status, codesOf(outOfStock), outOfStock.line_items[0].quantity]).toEqual([
    'incomplete',
    ['out_of_stock $.line_items[0]'],
    2,
  ])
  const lowered = await agent.put(created.id, { ...body, discounts: undefined })
  expect([lowered.status, codesOf(lowered)]).toEqual(['ready_for_complete', ['quantity_adjusted $.line_items[0].quantity']])
  await changeProduct(world, { status: 'ARCHIVED' })
  const archived = await agent.read(created.id)
  expect([archived.status, codesOf(archived)]).toEqual(['incomplete', ['item_unavailable $.line_items[0]']])
})

test('prices, totals and currencies of a request are ignored', async () => {
  await using world = await startPricedShop()
  const { agent, body, shop } = world
  const expected = await agent.create(body)
  const forged = await agent.create({
    ...body,
    id: 'chk_mine',
    status: 'completed',
    currency: 'JPY',
    totals: [{ type: 'total', amount: 1 }],
    line_items: [
      { id: 'line_mine', item: { id: shop.variantId, price: 1, title: 'Cheap' }, quantity: 2, totals: [{ type: 'total', amount: 1 }] },
    ],
  })
  expect(forged.totals).toEqual(expected.totals)
  expect(forged).toMatchObject({ currency: 'USD', status: expected.status, line_items: [{ item: { title: 'Mug', price: 1_000 } }] })
})

test('a total above the limit of orders is refused', async () => {
  await using world = await startPricedShop()
  const { agent, shop } = world
  const gold = await shop.add({ title: 'Gold', variants: [{ price: shop.money(900_000_000_000), trackInventory: false }] })
  await expect(agent.create({ line_items: [line(gold.variants[0]?.id ?? '', 9_999_999)] })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})
