import { expect, setDefaultTimeout, test } from 'bun:test'
import { agentOf, amountsOf, buyer, codesOf, fulfillmentTo, home } from '../../../support/agent-calls.ts'
import { testApp } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })

async function startDiscountShop() {
  const app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const discount = (body: object) => shop.post('/discounts', body).then((answer) => ok(answer, 201).body)
  ok(
    (await shop.put('/shops/v2/shipping-methods', {
      data: [{ code: 'post', title: 'Post', countries: ['US'], price: shop.money(500) }],
    })) as never,
  )
  return { app, shop, agent: agentOf(app, shop), discount, [Symbol.asyncDispose]: () => app.close() }
}

test('of several codes the one with the largest discount applies, and warnings explain the others', async () => {
  await using world = await startDiscountShop()
  const { shop, agent, discount } = world
  await discount({ title: 'Ten', code: 'TEN', kind: 'PERCENT', valueBps: 1_000 })
  await discount({ title: 'Quarter', code: 'QUARTER', kind: 'PERCENT', valueBps: 2_500 })
  await discount({ title: 'Big carts', code: 'BIG', kind: 'PERCENT', valueBps: 9_000, minSubtotal: shop.money(90_000) })
  const answer = await agent.create({
    line_items: [line(shop.variantId, 2)],
    buyer,
    discounts: { codes: ['ten', 'nope', 'quarter', 'BIG'] },
  })
  expect(answer.discounts).toEqual({
    codes: ['ten', 'nope', 'quarter', 'BIG'],
    applied: [
      { title: 'Quarter', code: 'QUARTER', amount: 500, method: 'across', allocations: [{ path: '$.line_items[0]', amount: 500 }] },
    ],
  })
  expect(answer.totals).toEqual([
    { type: 'subtotal', amount: 2_000 },
    { type: 'items_discount', amount: -500 },
    { type: 'total', amount: 1_500 },
  ])
  expect(answer.line_items[0].totals).toEqual([
    { type: 'subtotal', amount: 2_000 },
    { type: 'items_discount', amount: -500 },
    { type: 'total', amount: 1_500 },
  ])
  const warnings = codesOf(answer).filter((code) => code.startsWith('discount'))
  expect(warnings).toEqual([
    'discount_code_combination_disallowed $.discounts.codes[0]',
    'discount_code_invalid $.discounts.codes[1]',
    'discount_code_combination_disallowed $.discounts.codes[3]',
  ])
  const without = await agent.put(answer.id, { line_items: [line(shop.variantId, 2)], buyer })
  expect([amountsOf(without)['total'], without.discounts]).toEqual([2_000, { codes: [], applied: [] }])
})

test('free shipping is one discount, beside the price of shipping', async () => {
  await using world = await startDiscountShop()
  const { shop, agent, discount } = world
  await discount({ title: 'Ships free', code: 'SHIP', kind: 'FREE_SHIPPING' })
  await discount({ title: 'Spring', kind: 'PERCENT', valueBps: 1_000 })
  ok((await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 1_000, inclusive: false }] })) as never)
  const answer = await agent.create({
    line_items: [line(shop.variantId)],
    buyer,
    fulfillment: fulfillmentTo(home, 'post'),
    discounts: { codes: ['SHIP'] },
  })
  expect(answer.totals).toEqual([
    { type: 'subtotal', amount: 1_000 },
    { type: 'items_discount', amount: -100 },
    { type: 'discount', amount: -500 },
    { type: 'fulfillment', amount: 500 },
    { type: 'tax', amount: 90 },
    { type: 'total', amount: 990 },
  ])
  expect(answer.discounts.applied.map(({ title, automatic, code }: Record<string, unknown>) => [title, automatic ?? code])).toEqual([
    ['Spring', true],
    ['Ships free', 'SHIP'],
  ])
  expect(answer.status).toBe('ready_for_complete')
})

test('a platform without the discount extension can neither send codes nor see discounts', async () => {
  await using world = await startDiscountShop()
  const { app, shop, discount } = world
  await discount({ title: 'Ten', code: 'TEN', kind: 'PERCENT', valueBps: 1_000 })
  const agent = agentOf(app, shop, { capabilities: ['checkout', 'fulfillment'] })
  const answer = await agent.create({ line_items: [line(shop.variantId)], buyer, discounts: { codes: ['TEN'] } })
  expect([answer.discounts, amountsOf(answer)['total']]).toEqual([undefined, 1_000])
  const bare = await agentOf(app, shop, { capabilities: ['checkout'] }).create({
    line_items: [line(shop.variantId)],
    fulfillment: fulfillmentTo(),
  })
  expect([bare.fulfillment, bare.status]).toEqual([undefined, 'incomplete'])
})

test('unknown codes are rate limited, and a code that was sent before does not count again', async () => {
  await using world = await startDiscountShop()
  const { shop, agent } = world
  const { id } = await agent.create({ line_items: [line(shop.variantId)], discounts: { codes: ['first'] } })
  for (let nth = 0; nth < 20; nth++) await agent.put(id, { line_items: [line(shop.variantId)], discounts: { codes: ['first'] } })
  const guess = async (nth: number) => {
    const codes = Array.from({ length: 5 }, (_, at) => `guess-${nth}-${at}`)
    return agent.put(id, { line_items: [line(shop.variantId)], discounts: { codes } })
  }
  await guess(1)
  await expect(guess(2)).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
})
