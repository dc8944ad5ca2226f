/** Orders sorted by the list, found by several numbers, and exported with a row for each line. */
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import pg from 'pg'
import { engine } from '../../../../db/columns.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const listNumbers = async (shop: Selling, query: string): Promise<number[]> =>
  ok(await shop.get(`/v2/orders?${query}`)).body.data.map(({ number }: Json) => number)

/** Places five orders of 3, 1, 2, 1 and 4 mugs, and refunds the second. */
async function fiveOrders(shop: Selling): Promise<Json[]> {
  const all: Json[] = []
  for (const quantity of [3, 1, 2, 1, 4])
    all.push(await shop.placeOrder({ quantity, email: quantity === 1 ? 'one@example.com' : 'more@example.com' }))
  ok(await shop.refund(all[1].id))
  return all
}

/** Inserts copies of an order from number 6. Their totals fall by one. */
async function insertCopies({ deps: { db } }: TestApp, id: string, last: number, overrides: Record<string, string> = {}): Promise<void> {
  await db.write(async (tx) => {
    const [columns] = await tx.rows<Json>(sql`select * from orders where id = ${id}`)
    const values = {
      ...Object.fromEntries(Object.keys(columns).map((name) => [name, `o.${name}`])),
      ...{ id: `'order_01hzzzzzzzzzzzzzzzzz' || (100000 + n)`, number: 'n', cart_id: `'cart_copy' || n`, total: '20006 - n', ...overrides },
    }
    await tx.rows(sql`insert into orders (${sql.raw(Object.keys(values).join(', '))})
      with recursive counter(n) as (select 6 union all select n + 1 from counter where n < ${last})
      select ${sql.raw(Object.values(values).join(', '))} from orders o, counter where o.id = ${id} returning 1 as done`)
    for (const table of ['order_numbers', 'order_days'])
      await tx.rows(sql`update ${sql.raw(table)} set last = ${last} where shop_id = (select shop_id from orders where id = ${id})`)
  })
}

test('sorts orders by number and total, alone and beside filters, page by page', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  await fiveOrders(shop)
  for (const [query, expected] of [
    ['', [5, 4, 3, 2, 1]],
    ['sort=-createdAt', [5, 4, 3, 2, 1]],
    ['sort=createdAt', [1, 2, 3, 4, 5]],
    ['sort=number', [1, 2, 3, 4, 5]],
    ['sort=-number&limit=2&page=2', [3, 2]],
    ['sort=number&limit=2&page=3', [5]],
    ['sort=number&limit=2&page=4', []],
    ['sort=total', [2, 4, 3, 1, 5]],
    ['sort=-total', [5, 1, 3, 4, 2]],
    ['sort=-total&limit=2&page=2', [3, 4]],
    ['sort=-total&limit=2&page=9', []],
    ['sort=-total&toFulfil=true', [5, 1, 3, 4]],
    ['sort=total&toFulfil=true&limit=1&page=2', [3]],
    ['sort=number&toFulfil=true', [1, 3, 4, 5]],
    ['sort=total&fulfilmentStatus=UNFULFILLED', [4, 3, 1, 5]],
    ['sort=total&paymentStatus=REFUNDED', [2]],
    ['sort=-total&status=EXPIRED', []],
    ['sort=-total&email=more@example.com', [5, 1, 3]],
    ['sort=total&email=one@example.com&from=2020-01-01', []],
    ['sort=-total&q=example', [5, 1, 3, 4, 2]],
    ['sort=number&q=example&limit=2', [1, 2]],
    ['sort=-total&q=one%40example.com', [4, 2]],
    ['sort=total&number=3', [3]],
    ['numbers=4,2,9', [4, 2]],
    ['numbers=1,2,3&toFulfil=true', [3, 1]],
    ['numbers=1,2,3&sort=-total&q=more', [1, 3]],
  ] as const) {
    // A period has at most 365 days.
    const { body } = await shop.get(`/v2/orders?${query.replace('from=2020-01-01', 'from=2020-01-01&to=2020-12-30')}`)
    expect([query, body.data?.map(({ number }: Json) => number)]).toEqual([query, [...expected]])
  }
  expect(ok(await shop.get('/v2/orders?sort=-total&limit=2')).body).toMatchObject({ total: 5, pages: 3 })
  for (const [query, field] of [
    ['sort=price', 'sort'],
    ['numbers=1,,2', 'numbers'],
    ['numbers=0', 'numbers'],
    [`numbers=${Array.from({ length: 101 }, () => 1).join(',')}`, 'numbers'],
    ['lines=yes', 'lines'],
  ]) {
    const refused = await shop.get(`/v2/orders?${query}`)
    expect([query, refused.status, refused.body.field]).toEqual([query, 400, field])
  }
})

test('sorts by total also when there are more orders than the list counts', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const [{ id }] = (await fiveOrders(shop)) as [Json]
  // Copies with falling totals: number 6 has 20,000, number 2,505 has 17,501.
  await insertCopies(app, id, 2_505)
  expect(await listNumbers(shop, 'sort=-total&limit=3')).toEqual([6, 7, 8])
  expect(await listNumbers(shop, 'sort=-total&limit=2&page=1253')).toEqual([2])
  const capped = ok(await shop.get('/v2/orders?sort=-total&toFulfil=true&limit=3')).body
  expect([capped.total, capped.totalCapped, capped.data.map(({ number }: Json) => number)]).toEqual([2_000, true, [6, 7, 8]])
  expect(await listNumbers(shop, 'sort=total&toFulfil=true&limit=5')).toEqual([4, 3, 1, 5, 2505])
  expect(await listNumbers(shop, 'sort=number&status=CONFIRMED&limit=2')).toEqual([1, 3])
})

test('reads a page and the total of a long list in the order of its index, without a sort', async () => {
  await using app = await testApp()
  const { deps } = app
  const shop = await sellingIn(app, { onHand: 100 })
  const [{ id, createdAt }] = (await fiveOrders(shop)) as [Json]
  // A tenth is cancelled, three tenths are completed. Of the confirmed ones a tenth is partly sent.
  const byNumber = (values: string) => `case n % 10 when 0 then ${values} end`
  await insertCopies(app, id, 12_000, {
    status: byNumber(`'CANCELLED' when 1 then 'COMPLETED' when 2 then 'COMPLETED' when 3 then 'COMPLETED' else 'CONFIRMED'`),
    payment_status: byNumber(`'VOIDED' else 'CAPTURED'`),
    fulfilment_status: byNumber(`'UNFULFILLED' when 1 then 'FULFILLED' when 2 then 'FULFILLED' when 3 then 'FULFILLED'
      when 4 then 'PARTIALLY_FULFILLED' else 'UNFULFILLED'`),
    agent: `case n % 4 when 0 then '{"profile":null,"attribution":null}' end`,
  })
  await deps.db.write((tx) =>
    tx.rows(sql`insert into order_tags (order_id, tag, shop_id, number)
      select id, 'gift', shop_id, number from orders where number % 3 = 0 returning 1 as done`),
  )
  if (engine === 'postgres') {
    // PostgreSQL reads an index alone only if VACUUM has marked the pages.
    const client = new pg.Client(deps.config.databaseUrl)
    await client.connect()
    await client.query('vacuum (freeze, analyze) orders, order_tags')
    await client.end()
  }
  const read = deps.db.read.rows.bind(deps.db.read)
  using rows = spyOn(deps.db.read, 'rows')
  const day = createdAt.slice(0, 10)
  const unwanted =
    engine === 'sqlite'
      ? // Reading the index of agents' orders needs no column of the table. Its rows are scanned as `orders`.
        /TEMP B-TREE|SCAN orders USING|orders USING INDEX (?!orders_agent)/
      : // Unpaid orders may be read by their own index and sorted: here there are none.
        /Sort {2}\((?!.* rows=1 )|Seq Scan|Bitmap|using (?!orders_(fulfilment|to_send|state_number|state_total|unpaid_of|agent)|order_tags_list )/
  const statuses = ['UNFULFILLED', 'UNFULFILLED&status=CONFIRMED', 'UNFULFILLED&paymentStatus=CAPTURED', 'FULFILLED']
  const byDate = ['sort=-createdAt', 'sort=createdAt', 'page=50', `from=${day}&to=${day}`]
  const queries = [
    ...statuses.flatMap((status) => byDate.map((more) => `fulfilmentStatus=${status}&${more}`)),
    ...['UNFULFILLED&status=CONFIRMED', 'FULFILLED'].map((status) => `fulfilmentStatus=${status}&sort=-total`),
    ...[
      'status=CANCELLED',
      'status=COMPLETED',
      'paymentStatus=CAPTURED',
      'paymentStatus=VOIDED',
      'status=CONFIRMED&paymentStatus=CAPTURED',
    ],
    ...['agent=true', 'agent=true&status=CANCELLED', 'agent=true&fulfilmentStatus=UNFULFILLED'],
    ...['tag=gift', 'tag=gift&status=CONFIRMED', 'tag=gift&status=CONFIRMED&sort=-total'],
  ]
  const countOf = async (query: string): Promise<number> => {
    const columns = { status: 'status', paymentStatus: 'payment_status', fulfilmentStatus: 'fulfilment_status' } as Record<string, string>
    const conditions = [...new URLSearchParams(query)].flatMap(([name, value]) => {
      if (name === 'agent') return sql`agent is not null`
      if (name === 'tag') return sql`id in (select order_id from order_tags where tag = ${value})`
      return columns[name] ? sql`${sql.raw(columns[name])} = ${value}` : []
    })
    const [row] = await read<Json>(sql`select count(*) as n from orders where ${sql.join(conditions, sql` and `)}`)
    return Math.min(Number(row.n), 2_000)
  }
  for (const query of queries) {
    rows.mockClear()
    const { data, total } = ok(await shop.get(`/v2/orders?${query}&limit=10`)).body
    const statements = rows.mock.calls.map(([statement]) => statement as SQL)
    expect([query, data.length, total]).toEqual([query, 10, await countOf(query)])
    for (const statement of statements) {
      const plan = await read<Json>(sql`${sql.raw(engine === 'sqlite' ? 'explain query plan' : 'explain')} ${statement}`)
      const lines = plan.map((line) => String(line.detail ?? line['QUERY PLAN']).trim())
      // 12,000 orders are few: PostgreSQL may count several ranges, agents' orders or tags by a scan or a sort.
      const isCount = engine === 'postgres' && lines[0]?.startsWith('Aggregate')
      const accepted = isCount && !/^fulfilmentStatus=\w+&(?!paymentStatus)/.test(query) ? /Seq Scan|Bitmap|Sort/ : /^$/
      expect([query, lines.filter((line) => unwanted.test(line) && !accepted.test(line))]).toEqual([query, []])
    }
  }
})

test('exports one CSV row for each line with lines=true', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const bowl = await shop.add({ title: '=SUM(A1)', variants: [{ price: shop.money(550), sku: '+B-1', onHand: 9 }] })
  const order = await shop.placeOrder({ quantity: 3, variants: [shop.variantId, bowl.variants[0]?.id ?? ''] })
  await shop.placeOrder()
  ok(await shop.post(`/v2/orders/${order.id}/fulfilments`, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }), 201)
  ok(await shop.refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }))
  const csv = async (query: string) => {
    const { text } = ok(await app.call('GET', `/v2/orders?${query}`, { token: shop.token, headers: { accept: 'text/csv' } }))
    const [head = '', ...rows] = text.trimEnd().split('\r\n')
    return rows.map((row) => Object.fromEntries(row.split(',').map((cell, at) => [head.split(',')[at], cell])))
  }
  const rows = await csv('lines=true')
  expect(rows.map((row) => [row['number'], row['line.title'], row['line.quantity'], row['line.unitPrice'], row['line.total']])).toEqual([
    ['2', 'Mug', '1', '10.00', '10.00'],
    ['1', 'Mug', '3', '10.00', '30.00'],
    ['1', "'=SUM(A1)", '3', '5.50', '16.50'],
  ])
  expect(rows.map((row) => [row['line.sku'], row['line.fulfilledQuantity'], row['line.unfulfilledQuantity']])).toEqual([
    ['', '0', '1'],
    ['', '1', '1'],
    ["'+B-1", '0', '3'],
  ])
  expect((await csv('lines=true&number=1&sort=total')).length).toBe(2)
  expect((await csv('lines=false')).length).toBe(2)
})
