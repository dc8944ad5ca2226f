/** Tests stock changes by the shop: counts, deliveries, losses, and removing a variant. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import { productSummaries, stockHistory, variants } from '../../../../db/schema/catalog.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { usd } from '../../../support/catalog.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const historyOf = async ({ deps }: TestApp, variantId: string) =>
  (await deps.db.read.select().from(stockHistory).where(eq(stockHistory.variantId, variantId)).orderBy(asc(stockHistory.id))).map(
    ({ delta, onHand, reason }) => [delta, onHand, reason],
  )

test('stock changes by a delta or to a count; the history says who, when, how much and why', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { productId, variantId } = shop
  const count = (body: unknown) => shop.count(productId, variantId, body)
  const before = ok(await shop.get(`/product-v2/${productId}`)).body.variants[0]
  const changed = ok(await count({ delta: -3, reason: 'Broken' }), 200)
  expect(changed.body).toEqual({ ...before, onHand: 7 })
  app.clock.advance(60_000)
  const byStaff = await app.call('POST', `/product-v2/${productId}/variants/${variantId}/stock`, {
    token: shop.token,
    body: { counted: 12 },
  })
  expect(ok(byStaff, 200).body.onHand).toBe(12)
  ok(await count({ counted: 12, reason: 'Stocktaking' }), 200)
  expect(await historyOf(app, variantId)).toEqual([
    [-3, 7, 'Broken'],
    [5, 12, null],
    [0, 12, 'Stocktaking'],
  ])
  const rows = await app.deps.db.read.select().from(stockHistory).orderBy(asc(stockHistory.id))
  expect(rows.map(({ actor }) => actor)).toEqual([expect.stringMatching(/^key_/), shop.id, expect.stringMatching(/^key_/)])
  expect(rows[1]).toMatchObject({ shopId: shop.shop.id, at: app.clock.now() })
})

test('a stock change of an unlisted product creates no summary', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { productId, variantId } = shop
  const summaries = () => app.deps.db.read.select().from(productSummaries).where(eq(productSummaries.productId, productId))
  expect(await summaries()).toHaveLength(1)
  ok(await shop.patch(`/product-v2/${productId}`, { status: 'ARCHIVED' }), 200)
  expect(await summaries()).toEqual([])
  for (const counted of [0, 5]) ok(await shop.count(productId, variantId, { counted }), 200)
  expect(await summaries()).toEqual([])
  ok(await shop.patch(`/product-v2/${productId}`, { status: 'ACTIVE' }), 200)
  expect(await summaries()).toHaveLength(1)
})

test('a stock change needs exactly one of delta and counted, as a whole number within bounds', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  for (const [field, body] of [
    ['delta', {}],
    ['delta', { delta: 1, counted: 1 }],
    ['delta', { reason: 'none' }],
    ['delta', { delta: 1.5 }],
    ['delta', { delta: '1' }],
    ['delta', { delta: 2_000_000_000 }],
    ['counted', { counted: -1 }],
    ['counted', { counted: null }],
    ['reason', { delta: 1, reason: 'x'.repeat(256) }],
  ] as const) {
    const answer = await shop.count(shop.productId, shop.variantId, body)
    expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(`${field}:`)])
  }
  expect([await shop.stock(), await historyOf(app, shop.variantId)]).toEqual([{ onHand: 10, reserved: 0 }, []])
})

test('stock cannot fall below the reservations unless backorders are allowed, and a refusal adds no history', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { productId, variantId } = shop
  ok(await shop.checkout(await shop.cart({ quantity: 4 }), { paymentToken: 'tok_action' }))
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 4 })
  for (const body of [{ counted: 3 }, { delta: -7 }])
    expect((await shop.count(productId, variantId, body)).body).toMatchObject({
      statusCode: 409,
      message: 'The stock cannot fall below the reserved units: unfinished orders reserve 4',
    })
  expect(await historyOf(app, variantId)).toEqual([])
  ok(await shop.count(productId, variantId, { delta: -6 }), 200)
  ok(await shop.patch(`/product-v2/${productId}`, { variants: [{ id: variantId, allowBackorder: true }] }))
  ok(await shop.count(productId, variantId, { delta: -9 }), 200)
  expect(await shop.stock()).toEqual({ onHand: -5, reserved: 4 })
})

test('a stock change of a product or variant that the shop does not have is 404', async () => {
  await using app = await testApp()
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  for (const [productId, variantId, message] of [
    [other.productId, other.variantId, 'No such product'],
    [shop.productId, other.variantId, 'The product has no such variant'],
    ['prod_none', shop.variantId, 'No such product'],
  ] as const) {
    for (const answer of [
      await shop.count(productId, variantId, { delta: 1 }),
      await shop.delete(`/product-v2/${productId}/variants/${variantId}`),
    ])
      expect([answer.status, answer.body.message]).toEqual([404, message])
  }
  expect(await other.stock()).toEqual({ onHand: 10, reserved: 0 })
})

test('concurrent deliveries and sales are all counted, and the history has each delivery', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 20 })
  const { productId, variantId } = shop
  const carts = await Promise.all(Array.from({ length: 6 }, () => shop.cart()))
  const responses = await Promise.all([
    ...carts.map((cart) => shop.checkout(cart)),
    ...Array.from({ length: 8 }, () => shop.count(productId, variantId, { delta: 2 })),
    ...Array.from({ length: 4 }, () => shop.patch(`/product-v2/${productId}`, { variants: [{ id: variantId, sku: crypto.randomUUID() }] })),
  ])
  expect(responses.map(({ status }) => status)).toEqual([...Array(6).fill(201), ...Array(12).fill(200)])
  expect(await shop.stock()).toEqual({ onHand: 20 - 6 + 16, reserved: 0 })
  const history = await historyOf(app, variantId)
  expect(history.map(([delta]) => delta)).toEqual(Array(8).fill(2))
})

test('concurrent manual decreases never leave less stock than is reserved', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 5 })
  ok(await shop.checkout(await shop.cart({ quantity: 2 }), { paymentToken: 'tok_action' }))
  const answers = await Promise.all(Array.from({ length: 8 }, () => shop.count(shop.productId, shop.variantId, { delta: -1 })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409, 409, 409])
  expect(await shop.stock()).toEqual({ onHand: 2, reserved: 2 })
})

test('a stock change under an idempotency key happens once', async () => {
  await using app = await testApp()
  const { productId, variantId, post, stock } = await sellingIn(app)
  const path = `/product-v2/${productId}/variants/${variantId}/stock`
  const send = () => post(path, { delta: 5 }, { 'idempotency-key': 'delivery-7' })
  const [first, repeated] = [ok(await send(), 200), ok(await send(), 200)]
  expect([repeated.text, repeated.headers.get('idempotent-replayed'), await stock()]).toEqual([
    first.text,
    'true',
    { onHand: 15, reserved: 0 },
  ])
})

test('the public sees on the next read that a product sold out or was restocked', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const available = async () => (await app.call('GET', `/product-v2/public/${shop.productId}`)).body.available
  expect(await available()).toBe(true)
  ok(await shop.count(shop.productId, shop.variantId, { counted: 0 }), 200)
  expect([await available(), (await app.call('GET', shop.list)).body.data[0].available]).toEqual([false, false])
  ok(await shop.count(shop.productId, shop.variantId, { delta: 1 }), 200)
  expect(await available()).toBe(true)
})

test('a product change with a stock count for a known variant is 400 and names the route; new ones accept it', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const path = `/product-v2/${shop.productId}`
  const refused = await shop.patch(path, { title: 'Lost', variants: [{ id: shop.variantId, onHand: 3 }] })
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'variants.0.onHand: only for a new variant; change the stock of this one by POST /product-v2/{id}/variants/{variantId}/stock',
  ])
  const changed = ok(
    await shop.patch(path, {
      options: [{ name: 'Size', values: ['S', 'L'] }],
      variants: [
        { id: shop.variantId, optionValues: ['S'] },
        { optionValues: ['L'], price: usd(2), onHand: 4 },
      ],
    }),
  )
  expect(changed.body.variants.map(({ onHand }: Json) => onHand)).toEqual([10, 4])
})

test('a variant with reservations cannot be removed, by its route, a product change or an import', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const options = [{ name: 'Size', values: ['S', 'M'] }]
  const shirt = ok(
    await shop.post('/product-v2', {
      title: 'Shirt',
      handle: 'shirt',
      status: 'ACTIVE',
      options,
      variants: ['S', 'M'].map((size) => ({ optionValues: [size], price: usd(1_000), onHand: 3 })),
    }),
  ).body
  const [small, medium] = shirt.variants
  const { order } = ok(await shop.checkout(await shop.cart({ variants: [small.id] }), { paymentToken: 'tok_action' })).body
  const path = `/product-v2/${shirt.id}`
  const refused = await shop.delete(`${path}/variants/${small.id}`)
  expect([refused.status, refused.body.message]).toEqual([409, 'The variant cannot be deleted: unfinished orders reserve 1'])
  ok(await shop.patch(path, { variants: [{ id: medium.id, title: 'Middle' }] }))
  const file = 'Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant Inventory Qty\nshirt,Shirt,Size,M,11,1\n'
  const report = await app.call('POST', '/product-v2/import?overwrite=true&stock=true', {
    key: shop.secretKey,
    raw: file,
    headers: { 'content-type': 'text/csv' },
  })
  expect(report.body).toMatchObject({ updated: 1, failed: 0, variantsKept: 1 })
  const readReservations = async () =>
    (await app.deps.db.read.select().from(variants).where(eq(variants.id, small.id))).map(({ reserved }) => reserved)
  expect(await readReservations()).toEqual([1])
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}, { 'idempotency-key': 'k' }))
  const removal = ok(await shop.delete(`${path}/variants/${small.id}`), 200)
  expect(removal.body.variants.map(({ id, position }: Json) => [id, position])).toEqual([[medium.id, 1]])
  expect(await readReservations()).toEqual([])
  expect((await app.call('GET', `/product-v2/public/${shirt.id}`)).body.variants.length).toBe(1)
  const last = await shop.delete(`${path}/variants/${medium.id}`)
  expect([last.status, last.body.message]).toEqual([409, 'A product must keep at least one variant. Archive the product instead'])
})
