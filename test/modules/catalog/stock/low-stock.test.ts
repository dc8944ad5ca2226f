/** Tests the list of low stock, its notices, and the stock history. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { products } from '../../../../db/schema/catalog.ts'
import { outbox } from '../../../../db/schema/outbox.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const readNotices = async ({ deps }: TestApp) =>
  (await deps.db.read.select().from(outbox).where(eq(outbox.event, 'stock.low')).orderBy(asc(outbox.id))).map(
    ({ body }) => JSON.parse(body).data,
  )
const listLowStock = async (shop: Selling) => ok(await shop.get('/product-v2/low-stock')).body
const createWatchedShop = async (app: TestApp, onHand: number, lowStockAt: number) => {
  const shop = await sellingIn(app, { onHand })
  ok(await shop.patch(`/product-v2/${shop.productId}`, { variants: [{ id: shop.variantId, lowStockAt }] }))
  return shop
}

test('a low variant is listed, and notified when a sale, a manual change or a new threshold makes it low', async () => {
  await using app = await testApp()
  const shop = await createWatchedShop(app, 5, 3)
  expect([(await listLowStock(shop)).total, await readNotices(app)]).toEqual([0, []])
  await shop.placeOrder()
  expect([(await listLowStock(shop)).total, await readNotices(app)]).toEqual([0, []])
  const order = await shop.placeOrder()
  const entry = {
    productId: shop.productId,
    variantId: shop.variantId,
    title: 'Mug',
    variantTitle: 'Default Title',
    sku: null,
    onHand: 3,
    reserved: 0,
    lowStockAt: 3,
  }
  expect([(await listLowStock(shop)).data, await readNotices(app)]).toEqual([[entry], [entry]])
  // A further sale sends no notice, and neither does a count above the threshold. Falling to it again does.
  await shop.placeOrder()
  expect(await readNotices(app)).toHaveLength(1)
  ok(await shop.count(shop.productId, shop.variantId, { counted: 4 }))
  expect([(await listLowStock(shop)).total, (await readNotices(app)).length]).toEqual([0, 1])
  ok(await shop.count(shop.productId, shop.variantId, { delta: -1 }))
  expect((await readNotices(app)).map(({ onHand }) => onHand)).toEqual([3, 3])
  ok(await shop.patch(`/product-v2/${shop.productId}`, { variants: [{ id: shop.variantId, lowStockAt: null }] }))
  expect([(await listLowStock(shop)).total, (await readNotices(app)).length]).toEqual([0, 2])
  ok(await shop.patch(`/product-v2/${shop.productId}`, { variants: [{ id: shop.variantId, lowStockAt: 100 }] }))
  expect([(await listLowStock(shop)).total, (await readNotices(app)).length]).toEqual([1, 3])
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}, { 'idempotency-key': 'back' }))
  expect((await readNotices(app)).length).toBe(3)
  const other = await sellingIn(app)
  expect((await listLowStock(other)).total).toBe(0)
  const { body } = await app.call('GET', `/product-v2/public/${shop.productId}`)
  expect(JSON.stringify(body)).not.toContain('lowStockAt')
})

test('an order that awaits payment or is cancelled causes no low-stock notice', async () => {
  await using app = await testApp()
  const shop = await createWatchedShop(app, 2, 1)
  const id = await shop.cart({ quantity: 2 })
  ok(await shop.checkout(id, { paymentToken: 'tok_action' }))
  expect([(await listLowStock(shop)).total, await readNotices(app)]).toEqual([0, []])
  ok(await app.call('DELETE', `/cart/${id}/checkout`, { key: shop.publishableKey }))
  expect([(await listLowStock(shop)).total, await readNotices(app)]).toEqual([0, []])
})

test('under concurrent sales and stock changes, each time a variant becomes low is notified exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 6 }),
      fc.array(
        fc.array(
          fc.oneof({ weight: 3, arbitrary: fc.constant('buy' as const) }, { weight: 1, arbitrary: fc.integer({ min: -3, max: 5 }) }),
          { minLength: 1, maxLength: 6 },
        ),
        { minLength: 1, maxLength: 4 },
      ),
      async (threshold, rounds) => {
        await using app = await testApp()
        const shop = await createWatchedShop(app, 8, threshold)
        let crossings = 0
        for (const round of rounds) {
          const before = await shop.stock()
          // Carts are filled first. A cart for which no stock is left is ignored.
          const cartIds: string[] = []
          for (const step of round) if (step === 'buy') cartIds.push(await shop.cart().catch(() => ''))
          const answers = await Promise.all(
            round.map(async (step) =>
              step === 'buy' ? shop.checkout(cartIds.pop() ?? '') : shop.count(shop.productId, shop.variantId, { delta: step }),
            ),
          )
          for (const { status } of answers) expect([200, 201, 404, 409]).toContain(status)
          const after = await shop.stock()
          const messages = await readNotices(app)
          const newNotices = messages.length - crossings
          crossings = messages.length
          for (const { onHand } of messages) expect(onHand).toBeLessThanOrEqual(threshold)
          // A round that falls to the threshold sends a notice, and exactly one if no step of it adds stock.
          const isDown = before.onHand > threshold && after.onHand <= threshold
          if (isDown) expect(newNotices).toBeGreaterThanOrEqual(1)
          if (round.every((step) => step === 'buy' || step <= 0)) expect(newNotices).toBe(isDown ? 1 : 0)
          expect((await listLowStock(shop)).total).toBe(after.onHand <= threshold ? 1 : 0)
        }
      },
    ),
    { numRuns: 12 },
  )
})

test('the stock history of a variant is listed newest first, and only to its shop', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const path = `/product-v2/${shop.productId}/variants/${shop.variantId}/stock`
  for (const delta of [1, -2, 3]) ok(await shop.post(path, { delta, reason: `by ${delta}` }))
  const { body } = ok(await shop.get(`${path}?limit=2`))
  expect([body.total, body.data.map(({ delta, onHand, reason }: Record<string, unknown>) => [delta, onHand, reason])]).toEqual([
    3,
    [
      [3, 12, 'by 3'],
      [-2, 9, 'by -2'],
    ],
  ])
  const other = await sellingIn(app)
  expect((await other.get(path)).status).toBe(404)
  expect((await shop.get(`/product-v2/${shop.productId}/variants/none/stock`)).status).toBe(404)
  expect((await app.call('GET', path, { key: shop.publishableKey })).status).toBe(403)
})

test('an import sets shipping and tax class, and keeps them when the file has no such column', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const send = (csv: string) =>
    app.call('POST', '/product-v2/import?overwrite=true', { key: shop.secretKey, raw: csv, headers: { 'content-type': 'text/csv' } })
  const readTaxFields = async () =>
    ok(await shop.get('/product-v2?limit=1')).body.data[0].variants.map((one: Record<string, unknown>) => [
      one['requiresShipping'],
      one['taxClass'],
    ])
  expect(
    ok(await send('Handle,Title,Variant Price,Variant Requires Shipping,Variant Tax Code\nsong,Song,5,false,Digital_1\n')).body.created,
  ).toBe(1)
  expect(await readTaxFields()).toEqual([[false, 'digital_1']])
  ok(await send('Handle,Title,Variant Price\nsong,Song,6\n'))
  expect(await readTaxFields()).toEqual([[false, 'digital_1']])
  ok(await send('URL handle,Title,Price,Requires shipping,Tax code\nsong,Song,6,,\n'))
  expect(await readTaxFields()).toEqual([[true, null]])
  expect((await send('Handle,Title,Variant Tax Code\nbad,Bad,not one!\n')).body.errors).toEqual([
    { row: 2, handle: 'bad', column: 'Variant Tax Code', message: 'Must be at most 40 letters, digits, - and _.' },
  ])
})

test('a shop with very many products lists its low stock correctly, without that of other shops', async () => {
  await using app = await testApp()
  const shop = await createWatchedShop(app, 2, 3)
  const other = await createWatchedShop(app, 1, 3)
  const before = await listLowStock(shop)
  expect(before).toMatchObject({ total: 1, data: [{ productId: shop.productId, onHand: 2 }] })
  const names = Object.values(getTableColumns(products)).map(({ name }) => name)
  const overrides: Record<string, string> = { id: `r.id || 'c' || n`, handle: 'r.handle || n' }
  await app.deps.db.write((tx) =>
    tx.rows(
      sql.raw(`insert into products (${names.join(', ')}) with recursive copy (n) as (select 1 union all select n + 1 from copy where n < 10000)
        select ${names.map((name) => overrides[name] ?? `r.${name}`).join(', ')} from products r, copy where r.id = '${shop.productId}'`),
    ),
  )
  expect(await listLowStock(shop)).toEqual(before)
  expect(await listLowStock(other)).toMatchObject({ total: 1, data: [{ productId: other.productId, onHand: 1 }] })
})
