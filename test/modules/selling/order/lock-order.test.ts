/** Transactions lock rows in the order of the schema, so that they cannot deadlock. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Writer } from '../../../../db/engine.ts'
import { updateOf, valuesOf } from '../../../../db/prepared.ts'
import { carts, orders } from '../../../../db/schema/selling.ts'
import { locking } from '../../../../src/core/command-context.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { customerIn } from '../../../support/customers.ts'
import { watchLockOrder } from '../../../support/lock-order.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Locks a row in a transaction that stays open, like a slow order. Returns a function that releases it. */
async function hold(app: TestApp, row: SQL): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const write = app.deps.db.write(async (tx) => {
    await tx.rows(sql`${row} for no key update`)
    locked.resolve()
    await release.promise
  }, locking)
  await Promise.race([locked.promise, write])
  return () => {
    release.resolve()
    return write
  }
}

/** Waits until a transaction in this database waits for a lock. */
async function waitForLockWait(app: TestApp): Promise<void> {
  const waiting = sql`select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await app.deps.db.read.rows(waiting)).length === 0) await Bun.sleep(1)
}

type Scene = Awaited<ReturnType<typeof createScene>>
/** Creates a shop with a customer and a gift card, and named actions and rows for the tests. */
async function createScene(app: TestApp) {
  const shop = await sellingIn(app, { onHand: 100 })
  const { id: customerId, token } = await customerOf(app, shop.shop.name)
  const other = await shop.add({
    title: 'Plate',
    options: [{ name: 'Colour', values: ['White', 'Blue'] }],
    variants: [
      { optionValues: ['White'], price: shop.usd(500), onHand: 1 },
      { optionValues: ['Blue'], price: shop.usd(500), onHand: 1 },
    ],
  })
  const [white = '', blue = ''] = other.variants.map(({ id }: { id: string }) => id)
  const card = await shop.giftCard(90_000)
  const cartOf = async (options: Parameters<Selling['cart']>[0], withCard: boolean): Promise<string> => {
    const cartId = await shop.cart(options)
    if (withCard) ok(await app.call('PATCH', '/giftcard/apply', { key: shop.secretKey, body: { code: card.code, cartId } }))
    return cartId
  }
  const sale = ok(await shop.checkout(await cartOf({ token }, true), {}, undefined, token)).body.order
  const code = { title: 'Few', kind: 'PERCENT', valueBps: 1_000, code: 'FEW', usageLimit: 9 }
  const discount = ok(await shop.post('/discounts', code), 201).body
  const withCode = async (cartId: string): Promise<string> => {
    ok(await app.call('PATCH', `/cart/${cartId}/discount`, { key: shop.secretKey, body: { code: 'FEW' } }))
    return cartId
  }
  const carts = {
    'a guest': await cartOf({}, false),
    'a guest with the card': await cartOf({}, true),
    'a customer': await cartOf({ token }, false),
    'a customer with the code': await withCode(await cartOf({ token }, false)),
    'a customer with the card': await cartOf({ token }, true),
    'a guest who buys the last white one': await cartOf({ variants: [white] }, false),
    'a customer who buys the last white one': await cartOf({ token, variants: [white] }, false),
    'a guest who buys the last blue one': await cartOf({ variants: [blue] }, false),
  }
  const whites = `/product-v2/${other.id}`
  const actions = {
    ...(Object.fromEntries(
      Object.entries(carts).map(([name, cartId]) => [
        name,
        () => (name.startsWith('a customer') ? shop.checkout(cartId, {}, undefined, token) : shop.checkout(cartId)),
      ]),
    ) as Record<keyof typeof carts, () => Promise<Answer>>),
    'a refund that goes back to the shelf': () =>
      shop.refund(sale.id, { lines: [{ lineId: sale.lines[0].id, quantity: 1, restock: true }] }),
    'a cancel': () => shop.post(`/v2/orders/${sale.id}/cancel`, {}),
    'an edit of the white one': () =>
      app.call('PATCH', whites, { key: shop.secretKey, body: { variants: [{ id: white, price: shop.usd(700) }] } }),
    'stock by hand of the white one': () => shop.post(`${whites}/variants/${white}/stock`, { counted: 0 }),
  }
  const rows = {
    'the gift card': sql`select id from gift_cards where id = ${card.id}`,
    'the discount': sql`select id from discounts where id = ${discount.id}`,
    'the customer’s numbers': sql`select customer_id from customer_totals where customer_id = ${customerId}`,
    'the mug': sql`select id from variants where id = ${shop.variantId}`,
    'the white one': sql`select id from variants where id = ${white}`,
    'the plate': sql`select id from products where id = ${other.id}`,
  }
  const plateProduct = {
    book: (delta: number) => shop.post(`${whites}/variants/${white}/stock`, { delta }),
    publicly: async () => ok(await app.call('GET', `/product-v2/public/${other.id}`)).body,
  }
  return { shop, actions, rows, plateProduct }
}

const changeCart = updateOf(carts, valuesOf(carts, ['id']))
const changeOrder = updateOf(orders, valuesOf(orders, ['id']))

test('detects a write that changes an order before its cart, and accepts the order of the schema', async () => {
  await using app = await testApp()
  const violations = watchLockOrder(app.deps.db)
  const cart = (tx: Writer) => changeCart(tx, { updatedAt: 1 }, { id: 'cart' })
  const order = (tx: Writer) => changeOrder(tx, { updatedAt: 1 }, { id: 'order' })
  await app.deps.db.write(async (tx) => [await cart(tx), await order(tx), await cart(tx)], locking)
  expect(violations).toEqual([])
  await app.deps.db.write(async (tx) => [await order(tx), await cart(tx)], locking)
  expect(violations).toEqual(['carts after orders'])
})

test.skipIf(engine !== 'postgres')("locks rows in the schema's order in sales, refunds, cancellations and stock changes", async () => {
  await using app = await testApp()
  const violations = watchLockOrder(app.deps.db)
  const { shop, actions } = await createScene(app)
  for (const act of Object.values(actions)) expect((await act()).status).toBeLessThan(500)
  await shop.checkout(await shop.cart({}), { paymentToken: 'tok_action' })
  app.clock.advance(48 * 60 * 60_000)
  await app.jobs.closeOrders()
  expect(violations).toEqual([])
})

test.skipIf(engine !== 'postgres').each<[keyof Scene['rows'], keyof Scene['actions'], keyof Scene['actions']]>([
  ['the gift card', 'a guest with the card', 'a guest who buys the last white one'],
  ['the gift card', 'a customer with the card', 'a customer who buys the last white one'],
  ['the discount', 'a customer with the code', 'a customer who buys the last white one'],
  ['the customer’s numbers', 'a customer', 'a guest who buys the last white one'],
  ['the plate', 'a guest who buys the last white one', 'a guest'],
  ['the plate', 'a customer who buys the last white one', 'a customer'],
  ['the white one', 'an edit of the white one', 'a guest who buys the last blue one'],
  ['the white one', 'stock by hand of the white one', 'a guest who buys the last blue one'],
])('while %s is locked and %s waits, %s proceeds', async (lockedRow, waitingAction, passingAction) => {
  await using app = await testApp()
  const { actions, rows } = await createScene(app)
  const releaseRow = await hold(app, rows[lockedRow])
  const waiting = actions[waitingAction]()
  await waitForLockWait(app)
  ok(await actions[passingAction]())
  await releaseRow()
  ok(await waiting)
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})

test.skipIf(engine !== 'postgres').each<[keyof Scene['actions']]>([['a refund that goes back to the shelf'], ['a cancel']])(
  '%s that waits for its variant locks neither the gift card nor the customer totals',
  async (waitingAction) => {
    await using app = await testApp()
    const { shop, actions, rows } = await createScene(app)
    const releaseRow = await hold(app, rows['the mug'])
    const waiting = actions[waitingAction]()
    await waitForLockWait(app)
    const nowait = (row: SQL) => app.deps.db.write((tx) => tx.rows(sql`${row} for no key update nowait`), locking)
    expect(await nowait(rows['the gift card'])).toHaveLength(1)
    expect(await nowait(rows['the customer’s numbers'])).toHaveLength(1)
    await releaseRow()
    ok(await waiting)
    expect((await shop.stock()).onHand).toBe(100)
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  },
)

test.skipIf(engine !== 'postgres').each(['a login that assigns guest orders', 'the end of the refund window'] as const)(
  'locks several orders in the order of their ids: %s',
  async (name) => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const customer = await customerIn(app, shop.shop)
    const bought = [await shop.placeOrder({ email: customer.email }), await shop.placeOrder({ email: customer.email })]
    const [one, two] = bought.map(({ id }) => String(id)).sort() as [string, string]
    // The order with the higher id is fulfilled first, so that its row comes before the other in the table.
    for (const id of [two, one]) {
      ok(await shop.post(`/v2/orders/${id}/fulfil`, {}))
      app.clock.advance(1_000)
    }
    await app.deps.db.write((tx) => tx.rows(sql`update customers set email_proven_at = 1`))
    app.clock.advance(15 * 24 * 60 * 60_000)
    const body = { shopName: shop.shop.name, email: customer.email, password: customer.password }
    const rowOf = (id: string) => sql`select id from orders where id = ${id}`
    const releaseRow = await hold(app, rowOf(one))
    const waiting =
      name === 'the end of the refund window'
        ? app.jobs.closeOrders()
        : app.call('POST', '/customer/login', { body }).then((answer) => ok(answer))
    await waitForLockWait(app)
    const unlockedRows = await app.deps.db.write((tx) => tx.rows(sql`${rowOf(two)} for no key update skip locked`), locking)
    await releaseRow()
    await waiting
    expect(unlockedRows).toHaveLength(1)
    const changed = name === 'the end of the refund window' ? { status: 'COMPLETED' } : { customerId: customer.id }
    for (const id of [one, two]) expect(await shop.order(id)).toMatchObject(changed)
  },
)

test.skipIf(engine !== 'postgres')(
  "publishes correct availability after a stock change and a sale of another variant's last unit",
  async () => {
    await using app = await testApp()
    const { actions, plateProduct } = await createScene(app)
    ok(await actions['stock by hand of the white one']())
    const read = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const store = app.deps.catalogStore as { findProductById: (typeof app.deps.catalogStore)['findProductById'] }
    const { findProductById } = store
    store.findProductById = async (tx, productId) => {
      const product = await findProductById(tx, productId)
      read.resolve()
      await release.promise
      return product
    }
    const buying = actions['a guest who buys the last blue one']()
    await read.promise
    const booking = plateProduct.book(5)
    await Promise.race([booking, waitForLockWait(app)])
    release.resolve()
    ok(await buying)
    ok(await booking)
    expect((await plateProduct.publicly()).variants.map(({ available }: { available: boolean }) => available)).toEqual([true, false])
  },
)

test('enforces the limit of unpaid orders exactly for parallel checkouts of different products', async () => {
  await using app = await testApp({ UNPAID_ORDERS_PER_SHOP: '2' })
  const shop = await sellingIn(app)
  const carts: string[] = []
  for (let nth = 0; nth < 8; nth++) {
    const { variants } = await shop.add({ title: `Mug ${nth}`, variants: [{ price: shop.usd(500), onHand: 9 }] })
    carts.push(await shop.cart({ variants: [variants[0]?.id ?? ''] }))
  }
  const answers = await Promise.all(carts.map((cartId) => shop.checkout(cartId, { paymentToken: 'tok_decline' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, ...Array.from({ length: 6 }, () => 429)])
})

test('runs parallel restocking refunds and checkouts of one customer and variant without deadlocks', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 1_000 })
  const { token } = await customerOf(app, shop.shop.name)
  const sales = await Promise.all(Array.from({ length: 10 }, () => shop.placeOrder({ token })))
  const carts = await Promise.all(Array.from({ length: 10 }, () => shop.cart({ token })))
  const deadlocks = async () => {
    if (engine !== 'postgres') return 0
    const [row] = await app.deps.db.read.rows<{ n: string }>(
      sql`select deadlocks as n from pg_stat_database where datname = current_database()`,
    )
    return Number(row?.n)
  }
  const before = await deadlocks()
  await Promise.all([
    ...carts.map((cartId) => shop.checkout(cartId, {}, undefined, token).then((answer) => ok(answer))),
    ...sales.map((order) =>
      shop.refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1, restock: true }] }).then((answer) => ok(answer)),
    ),
  ])
  expect(await deadlocks()).toBe(before)
  expect((await shop.stock()).onHand).toBe(990)
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})
