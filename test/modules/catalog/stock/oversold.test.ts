/** Tests variants with less stock than orders reserved, and without backorders. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { findCatalogInconsistencies } from '../../../../src/modules/catalog/products/check-store.ts'
import { bookFindings } from '../../../../src/modules/payments/ledger/check-store.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { usd } from '../../../support/catalog.ts'
import { confirmAtSandbox } from '../../../support/sandbox.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const setBackorder = (shop: Selling, allowBackorder: boolean) =>
  shop.patch(`/product-v2/${shop.productId}`, { variants: [{ id: shop.variantId, allowBackorder }] })

async function findProblems(app: TestApp): Promise<string[]> {
  const found: string[] = []
  for (const findings of [bookFindings(app.deps.db), findCatalogInconsistencies(app.deps.db)])
    for await (const { problems } of findings) found.push(...problems)
  return found
}

/** Creates a shop that sold two units more than it had. */
async function createOversoldShop(app: TestApp): Promise<Selling> {
  const shop = await sellingIn(app, { onHand: 1 })
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { showQuantity: true } }))
  ok(await setBackorder(shop, true))
  await shop.placeOrder({ quantity: 3 })
  expect(await shop.stock()).toEqual({ onHand: -2, reserved: 0 })
  return shop
}

const soldOut = { statusCode: 409, message: 'Mug is sold out' }

test('an oversold variant is unavailable without backorders, and is refused in carts and at checkout', async () => {
  await using app = await testApp()
  const shop = await createOversoldShop(app)
  const filled = await shop.cart()
  const { body } = ok(await setBackorder(shop, false), 200)
  expect(body.variants[0]).toMatchObject({ onHand: -2, allowBackorder: false, available: false })
  const publicView = ok(await app.call('GET', `/product-v2/public/${shop.productId}`)).body
  expect([publicView.available, publicView.variants[0].available, publicView.variants[0].quantityAvailable]).toEqual([false, false, 0])
  expect((await app.call('GET', shop.list)).body.data[0].available).toBe(false)
  const empty = await shop.cart({ variants: [] })
  const added = await app.call('POST', `/cart/${empty}/items`, {
    key: shop.publishableKey,
    body: { variantId: shop.variantId, quantity: 1 },
  })
  expect(added.body).toMatchObject(soldOut)
  expect((await shop.checkout(filled)).body).toMatchObject({ statusCode: 409, message: expect.stringContaining(soldOut.message) })
  expect(ok(await app.call('GET', `/cart/${filled}`, { key: shop.publishableKey })).body.lines[0].available).toBe(false)
  expect([await shop.stock(), await findProblems(app)]).toEqual([{ onHand: -2, reserved: 0 }, []])
})

test('deliveries raise a negative stock step by step, and the variant sells again once stock is positive', async () => {
  await using app = await testApp()
  const shop = await createOversoldShop(app)
  ok(await setBackorder(shop, false))
  const count = (change: Json) => shop.count(shop.productId, shop.variantId, change)
  expect(ok(await count({ delta: 1 }), 200).body).toMatchObject({ onHand: -1, available: false })
  expect((await count({ delta: -1 })).body).toMatchObject({
    statusCode: 409,
    message: 'The stock cannot fall below zero, because the variant does not allow backorders',
  })
  expect(ok(await count({ delta: 1 }), 200).body).toMatchObject({ onHand: 0, available: false })
  expect(ok(await count({ counted: 1 }), 200).body).toMatchObject({ onHand: 1, available: true })
  await shop.placeOrder()
  expect([await shop.stock(), await findProblems(app)]).toEqual([{ onHand: 0, reserved: 0 }, []])
})

test('other fields of a variant with negative stock can be changed, and it is listed as low stock', async () => {
  await using app = await testApp()
  const shop = await createOversoldShop(app)
  ok(await setBackorder(shop, false))
  const path = `/product-v2/${shop.productId}`
  ok(await shop.patch(path, { variants: [{ id: shop.variantId, price: usd(2_000), lowStockAt: 1 }] }))
  ok(await shop.patch(path, { variants: [{ id: shop.variantId, trackInventory: false }] }))
  expect(ok(await shop.patch(path, { variants: [{ id: shop.variantId, trackInventory: true }] })).body.variants[0]).toMatchObject({
    onHand: -2,
    available: false,
  })
  expect(ok(await shop.get('/product-v2/low-stock')).body.data).toMatchObject([{ variantId: shop.variantId, onHand: -2 }])
  expect(await findProblems(app)).toEqual([])
})

test('a product can be created with negative stock, and an import keeps it', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const vase = ok(
    await shop.post('/product-v2', { title: 'Vase', status: 'ACTIVE', variants: [{ price: usd(100), onHand: -2 }] }),
    201,
  ).body
  expect(vase.variants[0]).toMatchObject({ onHand: -2, allowBackorder: false, available: false })
  const raw = `Handle,Title,Variant Price,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Status
over,Oversold,10.00,shopify,-2,deny,active
`
  for (const [query, counts] of [
    ['', { created: 1, failed: 0, errors: [] }],
    ['?overwrite=true&stock=true', { updated: 1, failed: 0, errors: [] }],
  ] as const) {
    const report = ok(
      await app.call('POST', `/product-v2/import${query}`, { key: shop.secretKey, raw, headers: { 'content-type': 'text/csv' } }),
    )
    expect(report.body).toMatchObject(counts)
    const { data } = ok(await shop.get('/product-v2?q=Oversold')).body
    const { variants } = ok(await shop.get(`/product-v2/${data[0].id}`)).body
    expect(variants).toMatchObject([{ onHand: -2, allowBackorder: false, trackInventory: true, available: false }])
  }
  expect(await findProblems(app)).toEqual([])
})

for (const [how, expectedStock] of [
  ['paid', { onHand: -3, reserved: 0 }],
  ['cancelled', { onHand: 1, reserved: 0 }],
  ['expired', { onHand: 1, reserved: 0 }],
] as const)
  test(`an order that reserved backorders can be ${how} after the variant stopped taking them`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 1 })
    ok(await setBackorder(shop, true))
    const cartId = await shop.cart({ quantity: 4 })
    const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_action' })).body
    ok(await setBackorder(shop, false))
    expect(await shop.stock()).toEqual({ onHand: 1, reserved: 4 })
    if (how === 'paid') {
      expect(await confirmAtSandbox(app, order.payments[0].id)).toBe(200)
      ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey }))
    } else if (how === 'cancelled') ok(await app.call('DELETE', `/cart/${cartId}/checkout`, { key: shop.publishableKey }))
    else {
      app.clock.advance(48 * 60 * 60_000)
      await app.jobs.closeOrders()
    }
    const status = { paid: 'CONFIRMED', cancelled: 'CANCELLED', expired: 'EXPIRED' }[how]
    expect([(await shop.order(order.id)).status, await shop.stock(), await findProblems(app)]).toEqual([status, expectedStock, []])
    const { available } = ok(await app.call('GET', `/product-v2/public/${shop.productId}`)).body
    expect(available).toBe(how !== 'paid')
  })

test('under concurrent sales and stock changes, nothing oversells once backorders are off', async () => {
  const act = fc.oneof(
    { weight: 4, arbitrary: fc.constant('buy' as const) },
    { weight: 2, arbitrary: fc.integer({ min: -2, max: 3 }) },
    { weight: 1, arbitrary: fc.constant('off' as const) },
  )
  const rounds = fc.array(fc.array(act, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 })
  const property = fc.asyncProperty(fc.integer({ min: 0, max: 3 }), rounds, async (onHand, all) => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand })
    ok(await setBackorder(shop, true))
    let isOff = false
    for (const round of all) {
      const carts: string[] = []
      for (const one of round) if (one === 'buy') carts.push(await shop.cart({ quantity: 2 }).catch(() => ''))
      const before = await shop.stock()
      const answers = await Promise.all(
        round.map(async (one) => {
          if (one === 'buy') return shop.checkout(carts.pop() ?? '', { paymentToken: 'tok_action' })
          return one === 'off' ? setBackorder(shop, false) : shop.count(shop.productId, shop.variantId, { delta: one })
        }),
      )
      round.forEach((one, nth) => {
        const { status } = answers[nth] ?? {}
        expect(one === 'off' ? [200] : one === 'buy' ? [201, 404, 409] : [200, 409]).toContain(status ?? 0)
        // Adding units always succeeds.
        if (typeof one === 'number' && one >= 0) expect(status).toBe(200)
      })
      const after = await shop.stock()
      // Without backorders, no sale and no stock change leaves less stock than is reserved.
      if (isOff && (after.reserved > before.reserved || after.onHand < before.onHand))
        expect(after.reserved).toBeLessThanOrEqual(after.onHand)
      isOff ||= round.includes('off')
      const free = after.onHand - after.reserved
      const publicView = ok(await app.call('GET', `/product-v2/public/${shop.productId}`)).body
      expect(publicView.available).toBe(!isOff || free > 0)
      expect(await findProblems(app)).toEqual([])
    }
  })
  await fc.assert(property, { numRuns: 15 })
})
