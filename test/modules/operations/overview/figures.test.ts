/** Tests the figures of shops, which are derived: before, after and between folds, and by a recount. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { backfillKpis, checkKpis, foldKpis, rebuildKpis } from '../../../../src/modules/operations/kpi/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness } from '../../../support/kyb.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60 * 1000
const readFigures = async ({ app, secretKey }: Pick<Selling, 'app' | 'secretKey'>) => {
  const { sales, orders, topProducts } = ok(await app.call('GET', '/shops/v2/overview', { key: secretKey })).body
  return { sales, orders, topProducts }
}
async function findings({ deps }: TestApp): Promise<string[]> {
  const found: string[] = []
  for await (const { problems } of checkKpis(deps.db.read)) found.push(...problems)
  return found
}

/** Creates a shop with sales on several days, paid by money, by gift cards and free, and with some refunds. */
async function createBusyShop(app: TestApp): Promise<Selling> {
  const shop = await sellingIn(app, { onHand: 1_000 })
  const call = (path: string, body: object) =>
    app.call('POST', path, { key: shop.secretKey, body, headers: { 'idempotency-key': randomUUID() } })
  const lamp = await shop.add({ title: 'Lamp', variants: [{ price: { amount: 300, currency: 'USD' }, onHand: 99 }] })
  const { code } = ok(await call('/giftcard', { amount: { amount: 5_000, currency: 'USD' } }), 201).body
  for (let nth = 0; nth < 12; nth++) {
    const cart = await shop.cart({ quantity: 1 + (nth % 3), variants: [shop.variantId, ...(nth % 2 ? [lamp.variants[0]?.id ?? ''] : [])] })
    if (nth % 4 === 0) ok(await app.call('PATCH', '/giftcard/apply', { key: shop.secretKey, body: { code, cartId: cart } }))
    const { order } = ok(await shop.checkout(cart)).body
    if (nth % 5 === 1) ok(await call(`/v2/orders/${order.id}/refunds`, { amount: { amount: 100 + nth, currency: 'USD' } }), 201)
    app.clock.advance(dayMs * (nth % 3))
  }
  return shop
}

test('the figures of a shop are the same before, between and after folds, and after a recount', async () => {
  await using app = await testApp()
  // Problems are reported only after the backfill.
  await backfillKpis(app.deps)
  const shop = await createBusyShop(app)
  const other = await createBusyShop(app)
  const before = await readFigures(shop)
  expect(before.orders.confirmed).toBe(12)
  expect(await findings(app)).toEqual([])
  await foldKpis(app.deps)
  expect(await readFigures(shop)).toEqual(before)
  expect(await findings(app)).toEqual([])

  ok(await shop.checkout(await shop.cart()))
  const after = await readFigures(shop)
  expect([after.orders.confirmed, after.sales.confirmed.amount - before.sales.confirmed.amount]).toEqual([13, 1_000])
  expect(await rebuildKpis(app.deps)).toMatchObject({ differences: 0 })

  const others = await readFigures(other)
  for (const table of ['kpi_days', 'kpi_deltas', 'kpi_state']) await app.deps.db.write((tx) => tx.rows(sql.raw(`delete from ${table}`)))
  await backfillKpis(app.deps)
  expect([await readFigures(shop), await readFigures(other)]).toEqual([after, others])
  await foldKpis(app.deps)
  expect([await readFigures(shop), await readFigures(other)]).toEqual([after, others])
  expect(await findings(app)).toEqual([])
})

test('a manually changed figure is found and repaired at night', async () => {
  await using app = await testApp()
  // Problems are reported only after the backfill.
  await backfillKpis(app.deps)
  const shop = await createBusyShop(app)
  const before = await readFigures(shop)
  await foldKpis(app.deps)
  await app.deps.db.write((tx) => tx.rows(sql`update kpi_days set value = value + 7 where kpi in ('SHOP_SALES', 'SHOP_UNITS')`))
  expect((await findings(app)).join()).toContain('SHOP_SALES')
  expect(await readFigures(shop)).not.toEqual(before)
  await rebuildKpis(app.deps)
  await foldKpis(app.deps)
  expect(await readFigures(shop)).toEqual(before)
  expect(await findings(app)).toEqual([])
})

test('test sales are in none of the figures of a live shop, nor in differences', async () => {
  await using app = await testApp()
  // Problems are reported only after the backfill.
  await backfillKpis(app.deps)
  const shop = await createBusyShop(app)
  const { order } = ok(await shop.checkout(await shop.cart())).body
  const { email, password } = shop
  const token = ok(await app.call('POST', '/merchant/login', { body: { email, password } })).body.data.accessToken
  await approveBusiness(app, { ...shop, token }, await app.superAdmin())
  app.clock.advance(1)
  ok(await app.call('POST', '/shops/v2/go-live', { token }))
  const live = ok(await app.call('GET', '/shops/v2/overview', { token })).body
  expect([live.mode, live.sales.confirmed.amount, live.sales.refunds.amount, live.orders.confirmed]).toEqual(['LIVE', 0, 0, 0])
  expect([live.topProducts, live.carts.begun, live.goLive]).toEqual([{ byRevenue: [], byUnits: [] }, 0, null])
  expect(live.waiting.ordersToSend).toEqual({ total: 0 })
  ok(
    await app.call('POST', `/v2/orders/${order.id}/refunds`, { token, body: { all: true }, headers: { 'idempotency-key': randomUUID() } }),
    201,
  )
  await foldKpis(app.deps)
  expect(await findings(app)).toEqual([])
})
