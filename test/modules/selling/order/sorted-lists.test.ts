/** Orders sorted by the list, found by several numbers, and exported with a row for each line. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type Json, testApp } from '../../../support/app.ts'
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
  await app.deps.db.write(async (tx) => {
    const columns = (await tx.rows<Json>(sql`select * from orders where id = ${id}`))[0] as Json
    const names = Object.keys(columns).filter((name) => !['id', 'number', 'cart_id', 'total'].includes(name))
    const list = sql.raw(names.map((name) => `o.${name}`).join(', '))
    await tx.rows(sql`insert into orders (id, number, cart_id, total, ${sql.raw(names.join(', '))})
      with recursive counter(n) as (select 6 union all select n + 1 from counter where n < 2505)
      select 'order_01hzzzzzzzzzzzzzzzzz' || (100000 + n), n, 'cart_copy' || n, 20006 - n, ${list} from orders o, counter where o.id = ${id} returning 1 as done`)
    await tx.rows(sql`update order_numbers set last = 2505 where shop_id = ${shop.shop.id} returning 1 as done`)
  })
  expect(await listNumbers(shop, 'sort=-total&limit=3')).toEqual([6, 7, 8])
  expect(await listNumbers(shop, 'sort=-total&limit=2&page=1253')).toEqual([2])
  const capped = ok(await shop.get('/v2/orders?sort=-total&toFulfil=true&limit=3')).body
  expect([capped.total, capped.totalCapped, capped.data.map(({ number }: Json) => number)]).toEqual([2_000, true, [6, 7, 8]])
  expect(await listNumbers(shop, 'sort=total&toFulfil=true&limit=5')).toEqual([4, 3, 1, 5, 2505])
  expect(await listNumbers(shop, 'sort=number&status=CONFIRMED&limit=2')).toEqual([1, 3])
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
