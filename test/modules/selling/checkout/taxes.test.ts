/** Taxes from the shop's rates to carts, orders, pages and exports. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { bookFindings } from '../../../../src/modules/payments/ledger/check-store.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { draftsOf } from '../../../support/drafts.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { sendMails } from '../../../support/mails.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('computes tax by a rate of 8.875 % exactly, and shows the rate as it was set', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 400 })
  const { publishableKey: key } = shop
  const rate = { country: 'US', region: null, rateBps: 887.5, inclusive: false }
  expect(ok(await shop.put('/shops/v2/tax-rates', { data: [rate] })).body.data).toMatchObject([rate])
  expect(ok(await shop.get('/shops/v2/tax-rates')).body.data).toMatchObject([rate])
  const cartId = await shop.cart({ quantity: 3 })
  // The tax of 106.5 is rounded to even for each line.
  expect(ok(await app.call('GET', `/cart/${cartId}`, { key })).body.totals).toMatchObject({
    tax: shop.money(106),
    total: shop.money(1_306),
  })
  const { order } = ok(await shop.checkout(cartId), 201).body
  const tax = { rateBps: 887.5, inclusive: false, amount: shop.money(106) }
  expect(order.lines[0].tax).toEqual(tax)
  expect((await shop.order(order.id)).lines[0].tax).toEqual(tax)
  expect(ok(await app.call('GET', new URL(order.publicUrl).pathname)).body.lines[0].tax).toEqual(tax)
  ok(await shop.refund(order.id))
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.money(1_306) })
})

test('stores a rate with two decimals of a basis point exactly', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 10_000_000 })
  for (const [rateBps, amount] of [
    [0.01, 10],
    [887.29, 887_290],
    [9_999.99, 9_999_990],
    [33.33, 33_330],
  ] as const) {
    ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps }] }))
    const { lines } = await shop.placeOrder()
    expect(lines[0].tax).toEqual({ rateBps, inclusive: false, amount: shop.money(amount) })
  }
})

/** Opens a shop with a product for 4.00 and shipping for 5.00, both taxed by 8.875 %. */
async function openShopWithTaxedShipping(app: TestApp, inclusive: boolean) {
  const shop = await sellingIn(app, { price: 400 })
  ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 887.5, inclusive, shipping: true }] }))
  const post = { code: 'post', title: 'Post', countries: [], price: shop.money(500) }
  ok(await shop.put('/shops/v2/shipping-methods', { data: [post] }))
  const fields = { shippingAddress: address, shippingMethod: 'post' }
  return { shop, fields, read: async (id: string) => ok(await app.call('GET', `/cart/${id}`, { key: shop.publishableKey })).body.totals }
}

// 8.875 % of 4.00 is 35.5, of 5.00 it is 44.375; within the prices it is 32.6 and 40.76.
for (const [inclusive, tax, shippingTax, total] of [
  [false, 36, 44, 980],
  [true, 33, 41, 900],
] as const)
  test(`shows tax on shipping as a separate amount, ${inclusive ? 'included in the price' : 'added to the price'}, from the cart to the refund`, async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop, fields, read } = await openShopWithTaxedShipping(app, inclusive)
    const { money } = shop
    const sums = { shippingTax: money(shippingTax), total: money(total) }
    const [added, included] = inclusive ? [money(0), money(tax + shippingTax)] : [money(tax + shippingTax), money(0)]
    const cartId = await shop.cart(fields)
    const totals = { ...sums, shipping: money(500), tax: added, taxIncluded: included }
    expect(await read(cartId)).toMatchObject(totals)
    const { order } = ok(await shop.checkout(cartId), 201).body
    expect(await read(cartId)).toMatchObject(totals)
    const shown = { ...sums, shippingTotal: money(500), taxTotal: added, taxIncluded: included }
    expect(order).toMatchObject({ ...shown, shippingTaxRate: { rateBps: 887.5, inclusive } })
    expect(await shop.order(order.id)).toMatchObject({ ...shown, shippingTaxRate: { rateBps: 887.5, inclusive } })
    const page = new URL(order.publicUrl).pathname
    expect(ok(await app.call('GET', page)).body).toMatchObject(shown)
    const html = await app.call('GET', `${page}/receipt`, { headers: { accept: 'text/html' } })
    // The tax on shipping is directly below the tax that includes it.
    const [taxName, taxed] = [inclusive ? 'Tax (included)' : 'Tax', `$0.${tax + shippingTax}`]
    const rowOf = (name: string, amount: string) => `<tr><th scope="row">${name}</th><td class="n">${amount}</td></tr>`
    const rows = `${rowOf(taxName, taxed)}\n${rowOf('Of which tax on shipping', `$0.${shippingTax}`)}`
    expect(html.text).toContain(rows)
    expect((await app.call('GET', page, { headers: { accept: 'text/html' } })).text).toContain(rows)
    const csv = await app.call('GET', '/v2/orders', { key: shop.secretKey, headers: { accept: 'text/csv' } })
    const [header = '', cells = ''] = csv.text.split('\r\n')
    expect(cells.split(',')[header.split(',').indexOf('shippingTax')]).toBe(`0.${shippingTax}`)

    await sendMails(app)
    expect(server.received.map(({ text }) => text)).toEqual([
      expect.stringContaining(`${taxName}: ${taxed}\nOf which tax on shipping: $0.${shippingTax}\n`),
    ])

    const draft = ok(await draftsOf(shop).create({ email: 'ann@example.com', ...fields }), 201).body
    expect(draft.totals).toMatchObject(totals)
    expect((await app.call('GET', new URL(draft.payUrl).pathname)).text).toContain(rows)

    const lineAmount = money(inclusive ? 400 : 400 + tax)
    const refund = ok(await shop.refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }), 201).body
    expect(refund.amount).toEqual(lineAmount)
    expect(ok(await shop.refund(order.id), 201).body.amount).toEqual(money(total - lineAmount.amount))
    expect(await shop.order(order.id)).toMatchObject({
      paymentStatus: 'REFUNDED',
      refundedTotal: order.capturedTotal,
      capturedTotal: money(total),
    })
    for await (const { subject, problems } of bookFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
  })

test('shows tax on shipping below the included tax, also beside a higher added one', async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  const { shop, fields } = await openShopWithTaxedShipping(app, true)
  const rates = [
    { country: 'US', rateBps: 887.5, inclusive: true, shipping: true },
    { country: 'US', class: 'luxury', rateBps: 5_000 },
  ]
  ok(await shop.put('/shops/v2/tax-rates', { data: rates }))
  const { productId, variantId: id } = shop
  ok(await app.call('PATCH', `/product-v2/${productId}`, { key: shop.secretKey, body: { variants: [{ id, taxClass: 'luxury' }] } }))
  const { order } = ok(await shop.checkout(await shop.cart(fields)), 201).body
  const path = new URL(order.publicUrl).pathname
  expect(ok(await app.call('GET', path)).body.shippingTaxRate).toEqual({ rateBps: 887.5, inclusive: true })
  const { text } = await app.call('GET', path, { headers: { accept: 'text/html' } })
  expect([...text.matchAll(/<th scope="row">([^<]*)/g)].map(([, name]) => name)).toEqual([
    ...['Subtotal', 'Shipping', 'Tax', 'Total', 'Tax (included)', 'Of which tax on shipping'],
  ])
  await sendMails(app)
  expect(server.received[0]?.text).toContain('Tax (included): $0.41\nOf which tax on shipping: $0.41\n')
})

test('taxes no shipping that is free or not sent, and none by rates without the flag', async () => {
  await using app = await testApp()
  const { shop, fields, read } = await openShopWithTaxedShipping(app, false)
  const cartId = await shop.cart(fields)
  ok(await shop.post('/discounts', { title: 'Free', code: 'FREE', kind: 'FREE_SHIPPING' }), 201)
  ok(await app.call('PATCH', `/cart/${cartId}/discount`, { key: shop.publishableKey, body: { code: 'FREE' } }))
  expect(await read(cartId)).toMatchObject({ shipping: shop.money(0), shippingTax: shop.money(0), tax: shop.money(36) })
  ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 887.5 }] }))
  const { order } = ok(await shop.checkout(await shop.cart(fields)), 201).body
  expect(order).toMatchObject({ shippingTax: shop.money(0), shippingTaxRate: null, taxTotal: shop.money(36), total: shop.money(936) })
})

test('refuses a checkout whose shipping has become taxed', async () => {
  await using app = await testApp()
  const { shop, fields } = await openShopWithTaxedShipping(app, false)
  ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 887.5 }] }))
  const cartId = await shop.cart(fields)
  ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 887.5, shipping: true }] }))
  expect((await shop.checkout(cartId)).status).toBe(409)
  expect(ok(await shop.checkout(cartId), 201).body.order.total).toEqual(shop.money(980))
})
