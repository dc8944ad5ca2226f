/** Checkouts that share a transaction have the same effect as separate ones. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { unifiedTransactions } from '../../../../db/schema/ledger.ts'
import { outbox } from '../../../../db/schema/outbox.ts'
import { payments } from '../../../../db/schema/payments.ts'
import { cartLines, carts, orderEvents, orderLines, orders } from '../../../../db/schema/selling.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { address, customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const times = <T>(count: number, make: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => make(nth))
const countByStatus = (statuses: readonly number[]) =>
  Object.fromEntries(
    Map.groupBy(statuses, (nth) => nth)
      .entries()
      .map(([status, all]) => [status, all.length]),
  )

/** Returns the stored rows of each order by its email address and id, without ids and order numbers in the rows. */
async function readRowsBySale({ deps: { db } }: TestApp): Promise<Map<string, unknown[]>> {
  const rowsOfSales = new Map<string, unknown[]>()
  const all = async (table: SQLiteTable) => {
    const columns = Object.values(getTableColumns(table)).map(({ name }) => name)
    const order = sql.raw(columns.includes('position') ? 'position' : columns.includes('created_at') ? 'created_at' : 'id')
    return db.read.select().from(table).orderBy(order)
  }
  for (const { id, cartId, email } of await db.read.select().from(orders)) {
    const rows: unknown[] = []
    for (const table of [carts, cartLines, orders, orderLines, orderEvents, payments, outbox, unifiedTransactions]) {
      const texts = (await all(table)).map((row) => JSON.stringify(row)).filter((text) => text.includes(id) || text.includes(cartId))
      const withoutIds = texts.map((text) =>
        text.replace(/\b(cart|line|order|evt|pay|msg|txn|att)_[0-9a-z]{26}\b/g, '$1').replace(/number\\*":\d+/g, 'number'),
      )
      rows.push(
        withoutIds
          .map((text) => text.replace(/"(attemptKey|shownDue|key)":"[^"]*"/g, '$1').replace(/sealedToken":"[^"]*"/, 'sealed'))
          .sort(),
      )
    }
    rowsOfSales.set(`${email} ${id}`, rows)
  }
  return rowsOfSales
}

test('stores the same rows for carts that are bought in parallel as for carts that are bought alone', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 1_000 })
  const { token } = await customerOf(app, shop.shop.name)
  const plate = await shop.add({ title: 'Plate', variants: [{ price: shop.usd(500), trackInventory: false }] })
  const variants = [shop.variantId, plate.variants[0]?.id ?? '']
  const kinds = [
    () => shop.cart({ email: 'plain@example.com' }),
    () =>
      shop.cart({
        email: 'full@example.com',
        variants,
        quantity: 2,
        shippingAddress: address,
        billingAddress: { ...address, line1: 'Zoë’s "x", {1}' },
      }),
    () => shop.cart({ email: 'customer@example.com', token }),
  ]
  const buy = async (nth: number) =>
    ok(await shop.checkout((await kinds[nth % 3]?.()) ?? '', {}, undefined, nth % 3 === 2 ? token : undefined))
  for (const nth of times(3, (nth) => nth)) await buy(nth)
  await Promise.all(times(24, buy))
  const rowsOfSales = [...(await readRowsBySale(app))]
  for (const kind of ['plain', 'full', 'customer']) {
    const ofKind = rowsOfSales.filter(([name]) => name.startsWith(kind)).map(([, rows]) => JSON.stringify(rows))
    expect([kind, ofKind.length, new Set(ofKind).size]).toEqual([kind, 9, 1])
    expect(ofKind[0]).toContain('PAYMENT_CAPTURED')
  }
  expect((await booksOf(app)).orders.map(({ number }) => number).sort((a, b) => a - b)).toEqual(times(27, (nth) => nth + 1))
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})

test('fills the limit of unpaid orders exactly while other parallel checkouts lack stock or conflict', async () => {
  await using app = await testApp({ UNPAID_ORDERS_PER_SHOP: '8' })
  const shop = await sellingIn(app, { onHand: 1_000 })
  const last = await shop.add({ title: 'Plate', variants: [{ price: shop.usd(500), onHand: 1 }] })
  const unpaid = { paymentToken: 'tok_action' }
  const cartBoughtTwice = await shop.cart()
  const cartsOfLastUnit = await Promise.all(times(4, () => shop.cart({ variants: [last.variants[0]?.id ?? ''] })))
  const plain = await Promise.all(times(16, () => shop.cart()))
  const changed = await shop.cart()
  const [answers] = await Promise.all([
    Promise.all(
      [plain[0] ?? '', ...cartsOfLastUnit, cartBoughtTwice, cartBoughtTwice, ...plain.slice(1), changed].map((cartId) =>
        shop.checkout(cartId, unpaid),
      ),
    ),
    app.call('POST', `/cart/${changed}/items`, { key: shop.publishableKey, body: { variantId: shop.variantId, quantity: 1 } }),
  ])
  const statuses = answers.map(({ status }) => status)
  expect(countByStatus(statuses)[201]).toBe(8)
  expect(statuses.filter((status) => ![201, 409, 429].includes(status))).toEqual([])
  expect(statuses.slice(1, 5).filter((status) => status === 201).length).toBeLessThanOrEqual(1)
  expect(statuses.slice(5, 7).filter((status) => status === 201).length).toBeLessThanOrEqual(1)
  const { orders: placed } = await booksOf(app)
  expect(placed.map(({ number }) => number).sort((a, b) => a - b)).toEqual(times(8, (nth) => nth + 1))
  expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
  const { reserved } = await shop.stock()
  const plates = ok(await shop.get(`/product-v2/${last.id}`)).body.variants[0].reserved
  expect(reserved + plates).toBeGreaterThanOrEqual(8)
})

test('places parallel checkouts exactly up to the limit of unpaid orders', async () => {
  await using app = await testApp({ UNPAID_ORDERS_PER_SHOP: '8' })
  const shop = await sellingIn(app, { onHand: 1_000 })
  const carts = await Promise.all(times(24, () => shop.cart()))
  const answers = await Promise.all(carts.map((cartId) => shop.checkout(cartId, { paymentToken: 'tok_action' })))
  expect(countByStatus(answers.map(({ status }) => status))).toEqual({ 201: 8, 429: 16 })
  expect((await booksOf(app)).orders.length).toBe(8)
})
