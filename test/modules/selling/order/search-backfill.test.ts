/** Searches during the backfill of their indexes, also while processes of an older version write. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { orderDays, searchFills } from '../../../../db/schema/search-index.ts'
import { fillSearch } from '../../../../jobs/fill-search.ts'
import { findCatalogInconsistencies } from '../../../../src/modules/catalog/products/index.ts'
import { findCustomerInconsistencies } from '../../../../src/modules/customers/customer/index.ts'
import { listOrders, orderFindings } from '../../../../src/modules/selling/order/index.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { openCommandInstance } from '../../../support/command-process.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const subjects = ['ORDERS', 'PRODUCTS', 'CUSTOMERS'] as const
const wordTables = ['order_words', 'managed_words', 'customer_words'] as const

/** Clears the search indexes and schedules their backfill, like an upgrade from a version without them. */
async function clearIndexes({ deps }: TestApp): Promise<void> {
  await deps.db.write(async (tx) => {
    for (const name of wordTables) await tx.rows(sql.raw(`delete from ${name}`))
    for (const subject of subjects) await tx.insert(searchFills).values({ subject, below: '~', done: 0 })
  })
}

const createListCounter = (shop: { get: (path: string) => Promise<{ status: number; body: Json }> }) => async (path: string) => {
  const { total, totalCapped, data } = ok((await shop.get(path)) as never).body as Json
  expect(total).toBe(data.length)
  return [total, totalCapped === true]
}

test('marks search totals as incomplete during a backfill, while column filters find everything', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 50 })
  const countList = createListCounter(shop)
  await shop.placeOrder({ email: 'ada@example.com' })
  await shop.add({
    title: 'Bowl',
    vendor: 'Kiln',
    type: 'Cups',
    status: 'DRAFT',
    tags: ['new'],
    variants: [{ sku: 'bw-1', price: shop.usd(1) }],
  })
  await customerOf(app, shop.shop.name, 'ada@example.com')
  await clearIndexes(app)
  expect(await countList('/v2/orders?q=ada')).toEqual([0, true])
  // With a column filter, the search reads the orders themselves.
  expect(await countList('/v2/orders?q=ada&status=CONFIRMED')).toEqual([1, false])
  expect(await countList('/v2/orders?email=ada@example.com')).toEqual([1, false])
  expect((await app.call('GET', '/v2/orders?q=ada', { token: shop.token, headers: { accept: 'text/csv' } })).text).toContain(
    'ada@example.com',
  )
  expect(await countList('/product-v2?status=DRAFT')).toEqual([1, false])
  expect(await countList('/product-v2?vendor=Kiln&type=Cups')).toEqual([1, false])
  expect(await countList('/product-v2?vendor=Kiln&status=ACTIVE')).toEqual([0, false])
  expect(await countList('/product-v2?vendor=kiln')).toEqual([0, false])
  for (const query of ['tag=new', 'sku=bw-1', 'q=bow', 'q=bowl&status=DRAFT', 'tag=new&vendor=Kiln'])
    expect([query, await countList(`/product-v2?${query}`)]).toEqual([query, [0, true]])
  expect(await countList('/customer?q=ada')).toEqual([0, true])
  expect(await countList('/customer?email=ada@example.com')).toEqual([1, false])
  // Records written during the fill are found once.
  await shop.placeOrder({ email: 'ada@example.com' })
  await shop.add({ title: 'Bowl two', vendor: 'Kiln' })
  expect(await countList('/v2/orders?q=ada')).toEqual([1, true])
  expect(await countList('/product-v2?vendor=Kiln')).toEqual([2, false])
  expect(await countList('/product-v2?q=bow')).toEqual([1, true])
  // A shop without older records gets no notice.
  const other = await sellingIn(app)
  await app.deps.db.write(async (tx) => {
    await tx.update(searchFills).set({ below: 'a' })
  })
  for (const path of ['/v2/orders?q=ada', '/product-v2?q=bow', '/product-v2?tag=new', '/customer?q=ada'])
    expect([path, (await createListCounter(other)(path))[1]]).toEqual([path, false])
  await app.deps.db.write(async (tx) => {
    await tx.update(searchFills).set({ below: '~' })
  })
  await fillSearch(app.deps)
  expect(await countList('/v2/orders?q=ada')).toEqual([2, false])
  expect(await countList('/product-v2?vendor=Kiln')).toEqual([2, false])
  expect(await countList('/product-v2?q=bow')).toEqual([2, false])
  expect(await countList('/product-v2?tag=new')).toEqual([1, false])
  expect(await countList('/customer?q=ada')).toEqual([1, false])
})

test.skipIf(engine !== 'sqlite')('reads filtered lists from an index before the backfill job has run', async () => {
  using prepared = spyOn(Sqlite.prototype, 'prepare')
  await using app = await testApp()
  const shop = await sellingIn(app)
  await shop.placeOrder()
  await clearIndexes(app)
  for (const path of ['/product-v2?vendor=Kiln&status=ACTIVE', '/product-v2?q=mug', '/v2/orders?q=ada', '/customer?q=ada']) {
    prepared.mockClear()
    ok(await shop.get(path))
    const texts = prepared.mock.calls.map(([text]) => text).filter((text) => /^select\b/i.test(text))
    const plans = await Promise.all(
      texts.map((text) => app.deps.db.read.rows<{ detail: string }>(sql.raw(`explain query plan ${text.replaceAll('?', "'1'")}`))),
    )
    expect(
      plans.flat().filter(({ detail }) => /^SCAN (orders|products|customers|search_fills)\b/.test(detail)),
      path,
    ).toEqual([])
  }
})

test.skipIf(engine !== 'postgres')('finds orders of another process at once while both processes backfill', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 500 })
  for (let nth = 0; nth < 5; nth++) await shop.placeOrder({ email: `old${nth}@example.com` })
  await clearIndexes(app)
  await using otherProcess = await openCommandInstance(app)
  const found = async (word: string) =>
    (await listOrders(otherProcess.deps, { shopId: shop.shop.id, q: word }, { page: 1, limit: 20, offset: 0 })).total
  const placing = Array.from({ length: 4 }, async (_, line) => {
    for (let nth = 0; nth < 6; nth++) {
      await shop.placeOrder({ email: `new${line}x${nth}@example.com` })
      // An order that one process has acknowledged is found by the other.
      expect(await found(`new${line}x${nth}`)).toBe(1)
    }
  })
  await Promise.all([...placing, fillSearch(app.deps), fillSearch(otherProcess.deps)])
  expect(await found('example')).toBe(29)
  expect(await found('old')).toBe(5)
  expect(await found('new')).toBe(24)
  for await (const { problems } of orderFindings(app.deps.db)) expect(problems).toEqual([])
})

test.skipIf(engine !== 'postgres')(
  'reports records that an older version wrote without index entries, and indexes them later',
  async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    await shop.placeOrder({ email: 'new@example.com' })
    await fillSearch(app.deps)
    app.clock.advance(60_000)
    // An older version writes neither search words nor days.
    await shop.placeOrder({ email: 'ada@example.com' })
    await shop.add({ title: 'Bowl', vendor: 'Kiln' })
    await customerOf(app, shop.shop.name, 'ada@example.com')
    await app.deps.db.write(async (tx) => {
      await tx.rows(sql`delete from order_words where number = 2`)
      await tx.rows(sql`delete from managed_words where id = (select max(id) from products)`)
      await tx.rows(sql`delete from customer_words`)
      await tx.update(orderDays).set({ last: 1 })
    })
    const problems = async () => {
      let n = 0
      for (const findings of [orderFindings, findCatalogInconsistencies, findCustomerInconsistencies])
        for await (const one of findings(app.deps.db)) n += one.problems.length
      return n
    }
    const countList = createListCounter(shop)
    expect(await problems()).toBe(3)
    // This process has just checked for such records, and checks again only after ten minutes.
    await fillSearch(app.deps)
    expect(await countList('/v2/orders?q=ada')).toEqual([0, false])
    app.clock.advance(10 * 60_000)
    await fillSearch(app.deps)
    expect(await countList('/v2/orders?q=ada')).toEqual([1, false])
    expect(await countList('/product-v2?q=bow')).toEqual([1, false])
    expect(await countList('/customer?q=ada')).toEqual([1, false])
    expect(await problems()).toBe(0)
    await app.deps.db.write((tx) => tx.rows(sql`delete from order_words`))
    await using otherProcess = await openCommandInstance(app)
    await fillSearch(otherProcess.deps)
    expect(await countList('/v2/orders?q=example')).toEqual([2, false])
  },
)
