/** Full-text search of orders. */
import { Database as Sqlite } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { orderDays, searchFills } from '../../../../db/schema/search-index.ts'
import { orders } from '../../../../db/schema/selling.ts'
import { findCatalogInconsistencies } from '../../../../src/modules/catalog/products/index.ts'
import { findCustomerInconsistencies } from '../../../../src/modules/customers/customer/index.ts'
import { fillOrderSearch, orderFindings } from '../../../../src/modules/selling/order/index.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { address, customerOf, fulfilledOrderOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const numbersOf =
  (shop: Selling) =>
  async (query: string): Promise<number[]> => {
    const { data, total } = ok(await shop.get(`/v2/orders?${query}`)).body
    expect(total).toBe(data.length)
    return data.map(({ number }: Json) => number)
  }
const q = (text: string) => `q=${encodeURIComponent(text)}`
const orderWordsOf = (app: TestApp) => app.deps.db.read.rows<{ rowid: number }>(sql`select 1 from order_words`)

describe('searching orders', () => {
  test('finds orders by number, email, names, SKU, titles and tracking numbers, with a prefix of the last word', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 100 })
    const other = await sellingIn(app)
    await other.placeOrder({ email: 'ada@example.com' })
    const boots = await shop.add({
      title: 'Ботинки Läther – حذاء 靴',
      options: [{ name: 'Size', values: ['Grøß'] }],
      variants: [{ sku: 'BT-0042/x', optionValues: ['Grøß'], price: shop.usd(500), onHand: 5 }],
    })
    const boot = boots.variants[0]?.id ?? ''
    const found = numbersOf(shop)
    await shop.placeOrder({ email: 'ada@example.com' })
    await shop.placeOrder({
      email: 'zoe.k@mail.example',
      shippingAddress: { ...address, name: 'Батбаяр Дорж', company: 'Łódź Mugs' },
      billingAddress: { ...address, name: 'فاطمة الزهراء' },
      variants: [boot],
    })
    const third = await shop.placeOrder({ email: 'ada@example.com', variants: [shop.variantId, boot] })
    expect(await found(q('ada'))).toEqual([3, 1])
    expect(await found(q('ADA@EXAMPLE.COM'))).toEqual([3, 1])
    expect(await found(q('mail exa'))).toEqual([2])
    expect(await found(q('exa mail'))).toEqual([])
    expect(await found(q('батб'))).toEqual([2])
    expect(await found(q('Дорж Бат'))).toEqual([2])
    expect(await found(q('الزه'))).toEqual([2])
    expect(await found(q('mugs'))).toEqual([2])
    expect(await found(q('mug'))).toEqual([3, 2, 1])
    expect(await found(q('bt-0042'))).toEqual([3, 2])
    expect(await found(q('靴'))).toEqual([3, 2])
    expect(await found(q('lather ada'))).toEqual([3])
    expect(await found(q('2'))).toEqual([2])
    expect(await found(q('2 ada'))).toEqual([])
    expect(await found(q('3 ada'))).toEqual([3])
    // An order number must match completely, a word of digits by its prefix.
    expect(await found(q('0'))).toEqual([3, 2])
    expect(await found(q('#2'))).toEqual([2])

    const { id: parcel } = ok(await shop.post(`/v2/orders/${third.id}/fulfilments`, { trackingNumber: '1Z999-AA' }), 201).body
    expect(await found(q('1z99'))).toEqual([3])
    ok(await shop.patch(`/v2/orders/${third.id}/fulfilments/${parcel}`, { trackingNumber: 'RX77' }))
    expect(await found(q('1z999'))).toEqual([])
    expect(await found(q('rx7 '))).toEqual([3])
    expect(await found(`${q('rx77')}&status=FULFILLED`)).toEqual([3])
    expect(await found(`${q('ada')}&status=CONFIRMED`)).toEqual([1])
    expect(await found(`${q('ada')}&email=ada@example.com&paymentStatus=CAPTURED`)).toEqual([3, 1])
    expect(await found(`${q('ada')}&number=1`)).toEqual([1])
    expect(await found(`${q('ada')}&number=2`)).toEqual([])
    const day = third.createdAt.slice(0, 10)
    expect(await found(`${q('ada')}&from=${day}&to=${day}`)).toEqual([3, 1])
    expect(await found(`${q('ada')}&from=2020-01-01&to=2020-02-01`)).toEqual([])
  })

  test('finds orders by the international domain of their addresses in either spelling, in the list and its CSV', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 100 })
    const found = numbersOf(shop)
    await shop.placeOrder({ email: 'ann@bücher.example' })
    await shop.placeOrder({ email: 'bo@xn--bcher-kva.example' })
    await shop.placeOrder({ email: 'cy@example.com', shippingAddress: { ...address, name: 'J. Müller' } })
    // Has the same words as the international domain without its diacritics.
    await shop.placeOrder({ email: 'di@bucher.example' })
    for (const [text, numbers] of [
      ['bücher.example', [2, 1]],
      ['BÜCHER.exam', [2, 1]],
      ['xn--bcher-kva.example', [2, 1]],
      ['bo@bücher.example', [2]],
      ['bücher.net', []],
      ['bucher.example', [4]],
      ['j.müller', [3]],
    ] as const) {
      expect(await found(q(text)), text).toEqual([...numbers])
      expect(await found(`${q(text)}&status=CONFIRMED`), text).toEqual([...numbers])
      const csv = await app.call('GET', `/v2/orders?${q(text)}`, { token: shop.token, headers: { accept: 'text/csv' } })
      expect(csv.text.trim().split('\r\n').length - 1, text).toBe(numbers.length)
    }
  })

  test('finds nothing for text without words, and ignores the query syntax of the engine', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    await shop.placeOrder({ email: 'ada@example.com' })
    const found = numbersOf(shop)
    for (const text of ['%', '_', '*', '"', "'", '😀', '&|!:()', '\\', '--', '\u200d', '١٢٣٤', 'NOT', 'NEAR(ada', 'а\u0434а'])
      expect(await found(q(text)), text).toEqual([])
    for (const text of [
      '"ada"',
      "ada'",
      'ada:*',
      'ada*',
      '(ada',
      'ada & !',
      "ada' | 'exam",
      'ada\\',
      '^ada',
      '-ada',
      'ádà',
      'ＡＤＡ',
      '%ada%',
      'a',
    ])
      expect(await found(q(text)), text).toEqual([1])
    expect(await found(q('ada OR nobody'))).toEqual([])
    // These letters were added to Unicode recently.
    expect(await found(q('\u{1e4f0}\u{10d4a}\u{16d43}'))).toEqual([])
    for (const text of ['a\0b', 'x'.repeat(255), 'x'.repeat(65_536)])
      expect([400, 414, 431]).toContain((await shop.get(`/v2/orders?${q(text)}`)).status)
    expect(await found(q('x '.repeat(127)))).toEqual([])
  })

  test('finds letters that the engine may not know, as whole words and as prefixes', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const name = '\u{1e4f0}\u{10d4a}\u{16d43}'
    await shop.placeOrder({ shippingAddress: { ...address, name } })
    const found = numbersOf(shop)
    expect(await found(q(name))).toEqual([1])
    expect(await found(q(`${name} noor`))).toEqual([])
    expect(await found(q(`${name} guest`))).toEqual([1])
    expect(await found(q('\u{1e4f0}'))).toEqual([1])
  })

  test('caps a search at the newest 1,000 orders and marks the total, while column filters count exactly', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, createdAt } = await shop.placeOrder({ email: 'ada@example.com' })
    await insertCopies(app, id, 1_005)
    const day = createdAt.slice(0, 10)
    for (const query of ['q=ada', 'q=ada&status=CONFIRMED', `q=ada&from=${day}`]) {
      const page = ok(await shop.get(`/v2/orders?${query}&limit=100&page=10`)).body
      expect([page.total, page.totalCapped, page.pages, page.data[0].number, page.data.at(-1).number], query).toEqual([
        1_000,
        true,
        10,
        106,
        7,
      ])
      expect(ok(await shop.get(`/v2/orders?${query}&limit=100&page=11`)).body.data, query).toEqual([])
    }
    for (const query of ['status=CONFIRMED', 'paymentStatus=CAPTURED', 'email=ada@example.com', `from=${day}&to=${day}`]) {
      const page = ok(await shop.get(`/v2/orders?${query}&limit=100&page=11`)).body
      expect([page.total, page.totalCapped, page.data.map(({ number }: Json) => number)], query).toEqual([
        1_006,
        undefined,
        [6, 5, 4, 3, 2, 1],
      ])
      expect(ok(await shop.get(`/v2/orders?${query}&limit=100&page=12`)).body.data, query).toEqual([])
    }
    const all = ok(await shop.get('/v2/orders?limit=100&page=11')).body
    expect([all.total, all.totalCapped, all.data.map(({ number }: Json) => number)]).toEqual([1_006, undefined, [6, 5, 4, 3, 2, 1]])
    expect(ok(await shop.get('/v2/orders?page=999999999999999')).body.data).toEqual([])
    expect(ok(await shop.get('/v2/orders?q=ada&number=5')).body).toMatchObject({ total: 1 })
  })

  test('filters orders by day although the clock stepped back between them', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const dayMs = 24 * 60 * 60 * 1_000
    const first = (await shop.placeOrder()).createdAt.slice(0, 10)
    app.clock.advance(dayMs)
    const second = (await shop.placeOrder()).createdAt.slice(0, 10)
    app.clock.advance(-dayMs)
    await shop.placeOrder()
    const found = numbersOf(shop)
    expect(await found(`from=${first}&to=${first}`)).toEqual([3, 1])
    expect(await found(`from=${second}&to=${second}`)).toEqual([2])
    expect(await found(`${q('guest')}&to=${first}`)).toEqual([3, 1])
  })
})

/** Inserts copies of an order with consecutive numbers, and fills their search index. */
async function insertCopies(app: TestApp, id: string, count: number): Promise<void> {
  const { db, newId } = app.deps
  const [order] = await db.read.select().from(orders).where(sql`id = ${id}`)
  if (!order) throw new Error('no such order')
  const copies = Array.from({ length: count }, (_, nth) => ({
    ...order,
    id: newId('order'),
    cartId: `cart_${nth}`,
    number: order.number + 1 + nth,
  }))
  await db.write(async (tx) => {
    for (const one of copies) await tx.insert(orders).values(one)
    await tx.rows(sql`update order_numbers set last = ${order.number + count} where shop_id = ${order.shopId}`)
    await tx.insert(searchFills).values({ subject: 'ORDERS', below: '~', done: 0 })
  })
  expect(await fillOrderSearch(app.deps)).toEqual({ filled: count + 1, isDone: true })
}

test('backfills the search index with older orders, and indexes each order once', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 500 })
  await shop.placeOrder({ email: 'ada@example.com' })
  await app.deps.db.write(async (tx) => {
    await tx.rows(sql`delete from order_words`)
    await tx.delete(orderDays)
  })
  expect(await numbersOf(shop)('q=ada')).toEqual([])
  // An order that was indexed during the backfill is not indexed twice.
  await shop.placeOrder({ email: 'ada@example.com' })
  await app.deps.db.write(async (tx) => void (await tx.insert(searchFills).values({ subject: 'ORDERS', below: '~', done: 0 })))
  expect(await fillOrderSearch(app.deps)).toEqual({ filled: 2, isDone: true })
  expect(await numbersOf(shop)('q=ada')).toEqual([2, 1])
  expect((await orderWordsOf(app)).length).toBe(2)
  expect(await app.deps.db.read.select().from(searchFills)).toEqual([])
  expect(await fillOrderSearch(app.deps)).toEqual({ filled: 0, isDone: true })
})

test.skipIf(engine !== 'sqlite')('reads every filtered list of orders from an index', async () => {
  using prepared = spyOn(Sqlite.prototype, 'prepare')
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { createdAt } = await shop.placeOrder({ email: 'ada@example.com' })
  const day = createdAt.slice(0, 10)
  const planDetails: string[] = []
  for (const [query, ...indexes] of [
    ['', 'orders_number'],
    ['number=1', 'orders_number'],
    ['status=CONFIRMED', 'orders_to_send'],
    ['status=FULFILLED', 'orders_state_number'],
    ['paymentStatus=CAPTURED', 'orders_state_number'],
    ['status=CONFIRMED&email=ada@example.com', 'orders_email_number'],
    [`status=CONFIRMED&from=${day}&to=${day}`, 'order_days', 'orders_to_send'],
    ['status=CONFIRMED&customerId=cus_1', 'orders_customer_number'],
    ['agent=true', 'orders_agent'],
    ['agent=true&status=CONFIRMED', 'orders_agent'],
    [`agent=true&from=${day}`, 'order_days', 'orders_agent'],
    [`from=${day}`, 'order_days', 'orders_number'],
    ['q=ada', 'order_words VIRTUAL TABLE'],
    ['q=ada&status=CONFIRMED', 'order_lines'],
    [`q=ada&from=${day}`, 'order_days', 'order_words VIRTUAL TABLE'],
  ] as const) {
    prepared.mockClear()
    ok(await shop.get(`/v2/orders?${query}`))
    const texts = prepared.mock.calls.map(([text]) => text).filter((text) => /^select\b/i.test(text))
    const plans = await Promise.all(
      texts.map((text) => app.deps.db.read.rows<{ detail: string }>(sql.raw(`explain query plan ${text.replaceAll('?', "'1'")}`))),
    )
    const details = plans.flat().map(({ detail }) => detail)
    // A statement is prepared once, so its plan may come from an earlier query.
    planDetails.push(...details)
    for (const index of indexes) expect(planDetails.join('\n'), query).toContain(index)
    // No table is scanned. Other scans are of rows that another part of the statement returns.
    expect(
      details.filter((detail) => /^SCAN orders USING|^SCAN (order_lines|order_days|fulfilments)/.test(detail)),
      query,
    ).toEqual([])
  }
})

test('reports orders, products and customers that are missing in the search index', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  const findProblems = async () => {
    const found = []
    for (const findings of [orderFindings, findCatalogInconsistencies, findCustomerInconsistencies])
      for await (const { subject, problems } of findings(app.deps.db)) if (problems.length > 0) found.push([subject, problems])
    return found
  }
  const { id: customer } = await customerOf(app, shop.shop.name)
  expect(await findProblems()).toEqual([])
  await app.deps.db.write(async (tx) => {
    for (const name of ['order_words', 'managed_words', 'customer_words']) await tx.rows(sql.raw(`delete from ${name}`))
  })
  expect(await findProblems()).toEqual([
    ['search of orders', [`Order ${id} is missing in the search`]],
    ['search of products', [`Product ${shop.productId} is missing in the search of the shop's staff`]],
    ['search of customers', [`Customer ${customer} is missing in the search`]],
  ])
  await app.deps.db.write(async (tx) => void (await tx.update(orderDays).set({ first: 2 })))
  expect((await findProblems())[0]).toEqual(['search of orders', [`Order ${id} is missing in the list of its day`]])
})

test('finds an order only by the last of several parallel corrections of its tracking number', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const { orderId, path } = await fulfilledOrderOf(shop)
  const corrected = await Promise.all(Array.from({ length: 8 }, (_, nth) => shop.patch(path, { trackingNumber: `trk${nth}x` })))
  expect(corrected.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  const [{ trackingNumber }] = (await shop.order(orderId)).fulfilments
  const found = numbersOf(shop)
  for (let nth = 0; nth < 8; nth++) expect(await found(`q=trk${nth}`)).toEqual(trackingNumber === `trk${nth}x` ? [1] : [])
})

test('keeps the finished part of a failed backfill, and continues there in the next run', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 500 })
  const { id } = await shop.placeOrder({ email: 'ada@example.com' })
  await insertCopies(app, id, 250)
  await app.deps.db.write(async (tx) => {
    await tx.rows(sql`delete from order_words`)
    await tx.insert(searchFills).values({ subject: 'ORDERS', below: '~', done: 0 })
  })
  let writes = 0
  const failing = {
    ...app.deps,
    db: {
      ...app.deps.db,
      write: (...args: Parameters<typeof app.deps.db.write>) =>
        ++writes > 2 ? Promise.reject(new Error('off')) : app.deps.db.write(...args),
    },
  } as typeof app.deps
  await expect(fillOrderSearch(failing)).rejects.toThrow('off')
  expect((await orderWordsOf(app)).length).toBe(200)
  expect((await app.deps.db.read.select().from(searchFills))[0]?.done).toBe(200)
  expect(await fillOrderSearch(app.deps)).toEqual({ filled: 51, isDone: true })
  expect((await orderWordsOf(app)).length).toBe(251)
})
