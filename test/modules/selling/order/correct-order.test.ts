/** The shop corrects addresses, email addresses and tags of orders that are not completely fulfilled. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { orderTags } from '../../../../db/schema/tags.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { address, customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const storedAddress = { company: null, line2: null, phone: null, ...address }
type Shop = Awaited<ReturnType<typeof sellingIn>>

const correctOrder = (shop: Shop, id: string, body: object, headers: Record<string, string> = {}) =>
  shop.app.call('PATCH', `/v2/orders/${id}`, { key: shop.secretKey, body, headers })
const messages = async (app: TestApp) =>
  (await app.deps.db.read.rows<{ body: string }>(sql`select body from outbox where event = 'order.updated' order by id`)).map(
    ({ body }) => JSON.parse(body).data,
  )
const lastDetail = (order: { events: { type: string; detail: unknown }[] }) =>
  order.events.filter(({ type }) => type === 'UPDATED').at(-1)?.detail

async function openTaxedShop(app: TestApp) {
  const shop = await sellingIn(app)
  const put = (path: string, data: unknown) => app.call('PUT', path, { token: shop.token, body: { data } })
  ok(
    await put('/shops/v2/tax-rates', [
      { country: 'US', region: 'ME', rateBps: 500 },
      { country: 'US', region: 'NY', rateBps: 800 },
      { country: 'US', region: 'NH', rateBps: 500 },
    ]),
  )
  ok(await put('/shops/v2/shipping-methods', [{ code: 'post', title: 'Post', countries: ['US'], price: shop.usd(300) }]))
  const order = await shop.placeOrder({ shippingAddress: address, shippingMethod: 'post' })
  return { shop, order }
}

describe('correcting an order', () => {
  test('replaces the sent fields, keeps former values in the timeline, and finds the order by its new values', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder({ shippingAddress: address })
    const newAddress = { ...address, name: 'Zq9 Noor', line1: '2 Quay Street' }
    const body = { email: 'Right@Example.com', shippingAddress: newAddress, billingAddress: address, tags: ['Fragile', 'fragile'] }
    const corrected = ok(await correctOrder(shop, order.id, body))
    expect(corrected.body).toMatchObject({
      email: 'Right@Example.com',
      shippingAddress: { ...storedAddress, ...newAddress },
      billingAddress: storedAddress,
      tags: ['Fragile'],
      status: 'CONFIRMED',
      total: order.total,
    })
    expect(lastDetail(corrected.body)).toEqual({
      email: 'guest@example.com',
      shippingAddress: 'Noor Haddad, 1 Quay Street, Portland, ME, 04101, US',
      billingAddress: '',
      tags: '',
    })
    expect(await shop.order(order.id)).toEqual(corrected.body)
    expect(await messages(app)).toEqual([{ orderId: order.id, number: 1, changed: ['email', 'shippingAddress', 'billingAddress', 'tags'] }])
    for (const [query, total] of [
      ['q=zq9', 1],
      ['q=guest', 0],
      ['email=right@example.com', 1],
      ['email=guest@example.com', 0],
    ])
      expect(ok(await shop.get(`/v2/orders?${query}`)).body.total).toBe(total)
    const rows = (await app.deps.db.read.select().from(auditLog)).filter(({ action }) => action === 'order.changed')
    expect(rows).toMatchObject([{ subject: order.id, after: { email: '[redacted]', shippingAddress: '[redacted]' } }])
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('stores the new email address, which the public view does not show', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder({ shippingAddress: address })
    ok(await correctOrder(shop, order.id, { email: 'right@example.com' }))
    ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))
    expect((await app.deps.orderStore.find(order.id))?.email).toBe('right@example.com')
    expect(ok(await app.call('GET', new URL(order.publicUrl).pathname.replace('/pages/order', '/v2/orders/public'))).text).not.toContain(
      '@',
    )
  })

  test('changes nothing and sends no webhook when the values are the same', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder({ shippingAddress: address })
    const before = ok(await shop.get(`/v2/orders/${order.id}`))
    const same = ok(await correctOrder(shop, order.id, { email: 'guest@example.com', shippingAddress: address, tags: [] }))
    expect([same.text, same.headers.get('etag')]).toEqual([before.text, before.headers.get('etag')])
    expect(await messages(app)).toEqual([])
  })

  test('refuses invalid fields, other shops, publishable keys, and fulfilled, cancelled and refunded orders', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const order = await shop.placeOrder({ shippingAddress: address })
    for (const [body, field] of [
      [{ email: 'none' }, 'email'],
      [{ shippingAddress: { ...address, countryCode: 'ZZ' } }, 'shippingAddress.countryCode'],
      [{ shippingAddress: { ...address, line1: ' ' } }, 'shippingAddress.line1'],
      [{ shippingAddress: { ...address, street: 'x' } }, 'shippingAddress.street'],
      [{ tags: ['x'.repeat(41)] }, 'tags.0'],
      [{ total: 1 }, 'total'],
    ] as const)
      expect((await correctOrder(shop, order.id, body)).body).toMatchObject({ statusCode: 400, field })
    expect((await correctOrder(other, order.id, { tags: ['x'] })).status).toBe(404)
    expect((await app.call('PATCH', `/v2/orders/${order.id}`, { key: shop.publishableKey, body: { tags: ['x'] } })).status).toBe(403)
    ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))
    expect((await correctOrder(shop, order.id, { email: 'x@example.com' })).body).toMatchObject({
      statusCode: 409,
      code: 'invalid_transition',
    })
    const cancelled = await shop.placeOrder()
    ok(await shop.post(`/v2/orders/${cancelled.id}/cancel`, {}))
    expect((await correctOrder(shop, cancelled.id, { email: 'x@example.com' })).status).toBe(409)
    const refunded = await shop.placeOrder()
    ok(await shop.refund(refunded.id))
    expect((await correctOrder(shop, refunded.id, { email: 'x@example.com' })).status).toBe(409)
  })

  test('corrects a partially fulfilled order and an unpaid one', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder({ quantity: 2, shippingAddress: address })
    const lineId = order.lines[0].id
    ok(await shop.post(`/v2/orders/${order.id}/fulfilments`, { lines: [{ lineId, quantity: 1 }] }))
    expect(ok(await correctOrder(shop, order.id, { tags: ['half'] })).body).toMatchObject({ fulfilmentStatus: 'PARTIALLY_FULFILLED' })
    const cartId = await shop.cart()
    const unpaid = ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' })).body.order
    ok(await correctOrder(shop, unpaid.id, { email: 'paid@example.com', tags: ['secret-tag'] }))
    const paid = ok(await shop.checkout(cartId))
    expect(paid.body.order).toMatchObject({ status: 'CONFIRMED', tags: [] })
    expect(await shop.order(unpaid.id)).toMatchObject({ email: 'paid@example.com', tags: ['secret-tag'] })
    expect(paid.text).not.toContain('secret-tag')
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('hides tags and former values from the customer', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { token, id } = await customerOf(app, shop.shop.name)
    const order = await shop.placeOrder({ token, email: 'old-zulu@example.com', shippingAddress: address })
    ok(await correctOrder(shop, order.id, { email: 'new@example.com', tags: ['zulu-tag'] }))
    ok(await correctOrder(shop, order.id, { tags: ['other'] }))
    const customerView = ok(await app.call('GET', `/v2/orders/${order.id}`, { token }))
    expect(customerView.text).not.toContain('zulu')
    expect(customerView.body).toMatchObject({ email: 'new@example.com', tags: [] })
    const exported = ok(await shop.get(`/customer/${id}/export`)).text
    expect(exported).not.toMatch(/zulu-tag|"other"/)
  })

  test('erases former values and tags with the customer', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { token, id } = await customerOf(app, shop.shop.name)
    const order = await shop.placeOrder({ token, shippingAddress: address })
    ok(
      await correctOrder(shop, order.id, {
        email: 'zulu@example.com',
        shippingAddress: { ...address, line1: 'zulu Street' },
        tags: ['zulu-tag'],
      }),
    )
    ok(await correctOrder(shop, order.id, { email: 'last@example.com', shippingAddress: address, tags: ['zulu-more'] }))
    ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))
    ok(await shop.post(`/customer/${id}/erase`, {}), 200, 204)
    expect(ok(await shop.get(`/v2/orders/${order.id}`)).text).not.toContain('zulu')
    expect(await app.deps.db.read.select().from(orderTags)).toEqual([])
    expect(JSON.stringify(await messages(app))).not.toContain('zulu')
  })
})

describe('an address that changes tax or shipping', () => {
  test('an address that changes the price is refused with the difference, and stored without a charge if that is accepted', async () => {
    await using app = await testApp()
    const { shop, order } = await openTaxedShop(app)
    expect([order.taxTotal, order.shippingTotal]).toEqual([shop.usd(50), shop.usd(300)])
    const body = { shippingAddress: { ...address, province: 'New York', city: 'Albany' } }
    const refused = await correctOrder(shop, order.id, body)
    expect(refused.body).toMatchObject({
      statusCode: 409,
      code: 'price_difference',
      difference: {
        taxTotal: { before: shop.usd(50), after: shop.usd(80) },
        taxIncluded: { before: shop.usd(0), after: shop.usd(0) },
        shippingTotal: { before: shop.usd(300), after: shop.usd(300) },
        total: { before: shop.usd(1_350), after: shop.usd(1_380) },
      },
    })
    expect((await shop.order(order.id)).shippingAddress).toEqual(storedAddress)
    const corrected = ok(await correctOrder(shop, order.id, { ...body, acceptDifference: true })).body
    expect(corrected).toMatchObject({ taxTotal: shop.usd(50), total: shop.usd(1_350), shippingAddress: { city: 'Albany' }, refunds: [] })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('reports no shipping total if the shipping method is not offered there', async () => {
    await using app = await testApp()
    const { shop, order } = await openTaxedShop(app)
    const refused = await correctOrder(shop, order.id, { shippingAddress: { ...address, countryCode: 'DE', province: null } })
    expect(refused.body).toMatchObject({
      code: 'price_difference',
      difference: { shippingTotal: { after: null }, taxTotal: { after: shop.usd(0) }, total: { after: null } },
    })
  })

  test('an address is accepted within the same province, in another spelling of it, or in a province with equal rates', async () => {
    await using app = await testApp()
    const { shop, order } = await openTaxedShop(app)
    for (const more of [{ line1: '9 High Street' }, { province: 'Maine' }, { province: 'NH' }, { province: 'US-ME' }])
      ok(await correctOrder(shop, order.id, { shippingAddress: { ...address, ...more } }))
    // Tax depends on the shipping address, so the billing address makes no difference.
    ok(await correctOrder(shop, order.id, { billingAddress: { ...address, province: 'NY' } }))
  })

  test('applies the discounts and free shipping of the order to the difference', async () => {
    await using app = await testApp()
    const { shop } = await openTaxedShop(app)
    ok(await shop.post('/discounts', { title: 'Half', kind: 'PERCENT', valueBps: 5_000, status: 'ACTIVE' }))
    ok(await shop.post('/discounts', { title: 'Free', kind: 'FREE_SHIPPING', status: 'ACTIVE' }))
    const order = await shop.placeOrder({ shippingAddress: address, shippingMethod: 'post' })
    expect(order).toMatchObject({ taxTotal: shop.usd(25), shippingTotal: shop.usd(0) })
    const refused = await correctOrder(shop, order.id, { shippingAddress: { ...address, province: 'NY' } })
    expect(refused.body.difference).toMatchObject({
      taxTotal: { after: shop.usd(40) },
      shippingTotal: { after: shop.usd(0) },
      total: { before: shop.usd(525), after: shop.usd(540) },
    })
  })

  test('includes tax on shipping in the difference', async () => {
    await using app = await testApp()
    const { shop, order } = await openTaxedShop(app)
    const rates = [
      { country: 'US', region: 'ME', rateBps: 500 },
      { country: 'US', region: 'NY', rateBps: 500, shipping: true },
    ]
    ok(await app.call('PUT', '/shops/v2/tax-rates', { token: shop.token, body: { data: rates } }))
    const refused = await correctOrder(shop, order.id, { shippingAddress: { ...address, province: 'NY' } })
    expect(refused.body.difference).toMatchObject({
      taxTotal: { before: shop.usd(50), after: shop.usd(65) },
      total: { before: shop.usd(1_350), after: shop.usd(1_365) },
    })
  })

  for (const change of [{ taxable: false }, { weightGrams: 9_000 }, { requiresShipping: false }])
    test(`an address with equal rates is accepted after a variant became ${JSON.stringify(change)}`, async () => {
      await using app = await testApp()
      const { shop } = await openTaxedShop(app)
      const rates = [
        { upToGrams: 1_000, amount: shop.usd(300) },
        { upToGrams: 10_000, amount: shop.usd(900) },
      ]
      const method = { code: 'post', title: 'Post', zones: [{ countries: ['US'] }], rates }
      ok(await app.call('PUT', '/shops/v2/shipping-methods', { token: shop.token, body: { data: [method] } }))
      const order = await shop.placeOrder({ shippingAddress: address, shippingMethod: 'post' })
      ok(await shop.patch(`/product-v2/${shop.productId}`, { variants: [{ id: shop.variantId, ...change }] }))
      ok(await correctOrder(shop, order.id, { shippingAddress: { ...address, province: 'NH' } }))
      const refused = await correctOrder(shop, order.id, { shippingAddress: { ...address, province: 'NY' } })
      expect(refused.body.difference.taxTotal).toEqual({ before: shop.usd(50), after: shop.usd(80) })
    })

  test('an address with an unknown province is refused in a shop with strictProvinces', async () => {
    await using app = await testApp()
    const { shop, order } = await openTaxedShop(app)
    ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { strictProvinces: true } }))
    const refused = await correctOrder(shop, order.id, { shippingAddress: { ...address, province: 'Nowhere' } })
    expect(refused.body).toMatchObject({ statusCode: 400, code: 'UNKNOWN_PROVINCE', field: 'shippingAddress.province' })
  })
})

describe('parallel corrections', () => {
  test('one of several parallel corrections of a version is accepted, and the others get 412', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await shop.placeOrder({ shippingAddress: address })
    const etag = ok(await shop.get(`/v2/orders/${id}`)).headers.get('etag') ?? ''
    expect([etag, ok(await app.call('GET', `/v2/orders/${id}`, { token: shop.token })).headers.get('etag')]).toEqual(['"v1"', '"v1"'])
    const answers = await Promise.all(['a', 'b', 'c'].map((tag) => correctOrder(shop, id, { tags: [tag] }, { 'if-match': etag })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412])
    const { tags } = await shop.order(id)
    expect(await app.deps.db.read.select({ tag: orderTags.tag }).from(orderTags)).toEqual([{ tag: tags[0] }])
    expect(ok(await shop.get(`/v2/orders/${id}`)).headers.get('etag')).toBe('"v2"')
    const unversioned = await Promise.all(['d', 'e', 'f'].map((tag) => correctOrder(shop, id, { tags: [tag] })))
    expect(unversioned.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(ok(await shop.get(`/v2/orders/${id}`)).headers.get('etag')).toBe('"v5"')
  })

  test('a correction and a parallel fulfilment or refund both keep their effect', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 100 })
    for (let nth = 0; nth < 6; nth++) {
      const { id } = await shop.placeOrder({ shippingAddress: address })
      const [corrected, other] = await Promise.all([
        correctOrder(shop, id, { email: 'right@example.com', tags: ['x'] }),
        nth % 2 ? shop.refund(id) : shop.post(`/v2/orders/${id}/fulfil`, {}),
      ])
      ok(other)
      expect([200, 409]).toContain(corrected.status)
      const order = await shop.order(id)
      expect(order.status).toBe('FULFILLED')
      expect([order.email, order.tags.length]).toEqual(corrected.status === 200 ? ['right@example.com', 1] : ['guest@example.com', 0])
    }
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('a correction and a refused difference are replayed under the same idempotency key', async () => {
    await using app = await testApp()
    const { shop, order } = await openTaxedShop(app)
    const body = { shippingAddress: { ...address, province: 'NY' } }
    const refused = await correctOrder(shop, order.id, body, { 'idempotency-key': 'k1' })
    expect(refused.status).toBe(409)
    expect((await correctOrder(shop, order.id, body, { 'idempotency-key': 'k1' })).text).toBe(refused.text)
    const corrected = ok(
      await correctOrder(shop, order.id, { ...body, acceptDifference: true }, { 'idempotency-key': 'k2', 'if-match': '"v1"' }),
    )
    expect(
      (await correctOrder(shop, order.id, { ...body, acceptDifference: true }, { 'idempotency-key': 'k2', 'if-match': '"v1"' })).text,
    ).toBe(corrected.text)
    expect(await messages(app)).toHaveLength(1)
  })

  test('an order can be corrected at most 100 times', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await shop.placeOrder()
    for (let nth = 0; nth < 100; nth++) ok(await correctOrder(shop, id, { tags: [`t${nth}`] }))
    expect((await correctOrder(shop, id, { tags: ['more'] })).body).toMatchObject({ statusCode: 409, code: 'limit_reached' })
  })
})

test('lists orders by tag, alone and with other filters, and writes tags to the CSV file', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const other = await sellingIn(app)
  ok(await correctOrder(other, (await other.placeOrder()).id, { tags: ['café'] }))
  for (let nth = 1; nth <= 5; nth++) {
    app.clock.advance(1_000)
    const { id } = await shop.placeOrder({
      email: `b${nth % 2}@example.com`,
      shippingAddress: { ...address, name: nth % 2 ? 'Odd' : 'Even' },
    })
    if (nth < 5) ok(await correctOrder(shop, id, { tags: ['Café', `=n${nth}`] }))
    if (nth === 2) ok(await shop.post(`/v2/orders/${id}/fulfil`, {}))
  }
  const found = async (query: string) => {
    const { data, total } = ok(await shop.get(`/v2/orders?${query}`)).body
    return [data.map(({ number }: { number: number }) => number), total]
  }
  const tag = `tag=${encodeURIComponent('CAFE\u0301')}`
  expect(await found(tag)).toEqual([[4, 3, 2, 1], 4])
  expect(await found(`${tag}&limit=2&page=2`)).toEqual([[2, 1], 4])
  expect(await found(`${tag}&status=CONFIRMED`)).toEqual([[4, 3, 1], 3])
  expect(await found(`${tag}&toFulfil=true&email=b1@example.com`)).toEqual([[3, 1], 2])
  expect(await found(`${tag}&q=odd`)).toEqual([[3, 1], 2])
  expect(await found(`${tag}&number=5`)).toEqual([[], 0])
  expect(await found(`${tag}&number=4`)).toEqual([[4], 1])
  expect(await found(`${tag}&from=2020-01-01&to=2020-01-02`)).toEqual([[], 0])
  expect(await found('tag=none')).toEqual([[], 0])
  const csv = ok(await app.call('GET', `/v2/orders?${tag}`, { key: shop.secretKey, headers: { accept: 'text/csv' } })).text.trim()
  const [head = '', ...rows] = csv.split('\r\n')
  expect([head.split(',').includes('tags'), rows.length, rows[0]?.includes(",'Café; '=n4,")]).toEqual([true, 4, true])
})
