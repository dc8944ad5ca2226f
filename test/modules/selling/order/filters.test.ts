/** Filters of order lists. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { filterOf } from '../../../../src/modules/selling/order/domain.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60 * 1000

test('filters orders by every parameter, alone and combined, with an exact total', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const other = await sellingIn(app)
  const first = await shop.placeOrder({ email: 'Ada@Example.com' })
  const declined = ok(await shop.checkout(await shop.cart({ email: 'a_a@example.com' }), { paymentToken: 'tok_decline' })).body.order
  app.clock.advance(dayMs)
  const customer = await customerOf(app, shop.shop.name)
  const customerOrder = await shop.placeOrder({ token: customer.token, email: 'ada@example.com' })
  const refunded = await shop.placeOrder({ email: 'axa@example.com' })
  ok(await shop.refund(refunded.id, { amount: shop.usd(100) }))
  const otherShopOrder = await other.placeOrder({ email: 'ada@example.com' })
  const numbersFor = async (query: string) => {
    const { data, total } = ok(await shop.get(`/v2/orders?${query}`)).body
    expect(total).toBe(data.length)
    return data.map(({ number }: Json) => number)
  }
  expect(await numbersFor('')).toEqual([4, 3, 2, 1])
  expect(await numbersFor('status=CONFIRMED')).toEqual([4, 3, 1])
  expect(await numbersFor('paymentStatus=PARTIALLY_REFUNDED')).toEqual([4])
  expect(await numbersFor('paymentStatus=FAILED')).toEqual([2])
  expect(await numbersFor(`customerId=${customer.id}`)).toEqual([3])
  expect(await numbersFor('number=2')).toEqual([2])
  expect(await numbersFor('number=5')).toEqual([])
  expect(await numbersFor('number=999999999')).toEqual([])
  expect(await numbersFor('email=ADA@example.com')).toEqual([3, 1])
  expect(await numbersFor('email=ada@example')).toEqual([])
  const [day, next] = [first.createdAt.slice(0, 10), customerOrder.createdAt.slice(0, 10)]
  expect(await numbersFor(`from=${next}`)).toEqual([4, 3])
  expect(await numbersFor(`to=${day}`)).toEqual([2, 1])
  expect(await numbersFor(`from=${day}&to=${next}`)).toEqual([4, 3, 2, 1])
  expect(await numbersFor(`from=${day}&to=${day}&status=CONFIRMED`)).toEqual([1])
  expect(await numbersFor('q=ada')).toEqual([3, 1])
  expect(await numbersFor('q=EXAMPLE')).toEqual([4, 3, 2, 1])
  expect(await numbersFor('q=a_a@example')).toEqual([2])
  expect(await numbersFor('q=%25')).toEqual([])
  expect(await numbersFor('q=%20')).toEqual([4, 3, 2, 1])
  expect(await numbersFor('q=%232')).toEqual([2])
  expect(await numbersFor('q=2')).toEqual([2])
  expect(await numbersFor('q=2&number=3')).toEqual([])
  expect(await numbersFor(`q=${declined.id}`)).toEqual([2])
  expect(await numbersFor(`q=${otherShopOrder.id}`)).toEqual([])
  expect(await numbersFor('q=ada&email=ada@example.com&status=CONFIRMED&number=3')).toEqual([3])
  const page = ok(await shop.get('/v2/orders?status=CONFIRMED&limit=2&page=2')).body
  expect([page.total, page.pages, page.data.map(({ number }: Json) => number)]).toEqual([3, 2, [1]])
})

test('rejects an invalid number, status, day or period in an order filter, naming the parameter', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  for (const [query, name] of [
    ['number=0', 'number'],
    ['number=1e3', 'number'],
    ['number=9999999999', 'number'],
    ['paymentStatus=PAID', 'paymentStatus'],
    ['from=2026-02-30', 'from'],
    ['from=2026-2-3', 'from'],
    ['to=yesterday', 'to'],
    ['from=2026-01-02&to=2026-01-01', 'to'],
    ['from=2025-01-01&to=2026-01-01', 'to'],
  ] as const) {
    const refused = await shop.get(`/v2/orders?${query}`)
    expect(refused.status, query).toBe(400)
    expect(refused.body.message).toStartWith(`${name}:`)
  }
  expect((await shop.get('/v2/orders?from=2025-01-02&to=2026-01-01')).status).toBe(200)
})

test('parses a search as an order number, an order id or words', () => {
  const parse = (q: string, number?: string) => {
    const { shopId: _, ...filter } = filterOf({ shopId: 'shop_1', q, number })
    return JSON.parse(JSON.stringify(filter))
  }
  expect(parse('#007')).toEqual({ number: 7 })
  expect(parse('#7', '7')).toEqual({ number: 7 })
  expect(parse('#7', '8')).toEqual({ number: 0 })
  expect(parse('7')).toEqual({ words: ['7'] })
  expect(parse('x', '8')).toEqual({ number: 8, words: ['x'] })
  expect(parse('Ada@Example.com Ada')).toEqual({ words: ['ada', 'example', 'com'] })
  expect(parse('%')).toEqual({ words: [] })
  expect(parse(' order_1 ')).toEqual({ id: 'order_1' })
  expect(parse('')).toEqual({})
})
