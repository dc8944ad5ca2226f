/** Invoices and credit notes. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { hasCreditNote } from '../../../../src/console/screens/orders/document-kinds.ts'
import { bookFindings } from '../../../../src/modules/payments/ledger/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { bankTransfer, manualOrderOf } from '../../../support/manual-payments.ts'
import { address, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { staffOf } from '../../../support/staff.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const business = {
  title: 'Tea & Cups',
  legalName: 'Tea <b>& Cups</b> GmbH',
  taxNumber: '=DE123456789',
  invoiceNote: 'Bank: <script>x</script>\nThank you',
  address: { line1: '5 Market Square', city: 'Berlin', postalCode: '10115', countryCode: 'DE' },
}

/** Opens a shop with 20 % tax on top of prices, also on shipping for 5.00. */
async function openTaxedShop(app: TestApp, options: Parameters<typeof sellingIn>[1] = {}) {
  const shop = await sellingIn(app, { price: 1_000, onHand: 100, ...options })
  const call = (method: string, path: string, body: object) => app.call(method, path, { token: shop.token, body })
  const changeShop = async (body: object) => ok(await call('PATCH', '/shops/v2', body)).body
  await changeShop(business)
  ok(await call('PUT', '/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 2_000, shipping: true }] }))
  const price = { amount: 500, currency: shop.shop.currency }
  ok(await call('PUT', '/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', price }] }))
  return { ...shop, changeShop, buy: (more: object = {}) => shop.placeOrder({ shippingAddress: address, shippingMethod: 'post', ...more }) }
}
const refundOrder = async (shop: Selling, id: string, body?: Record<string, unknown>) => ok(await shop.refund(id, body)).body
const rowsOf = (html: string): string[] =>
  [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/g)].map(([, row = '']) =>
    row
      .replace(/<\/t[dh]>/g, ' | ')
      .replace(/<[^>]*>/g, '')
      .replace(/[\s|]+$/, ''),
  )

test('prints the parties, lines, totals and taxes by rate, and escapes texts', async () => {
  await using app = await testApp()
  const shop = await openTaxedShop(app)
  const { id } = await shop.buy({ quantity: 3, billingAddress: { ...address, name: 'Payer', company: '<i>Haddad</i>', countryCode: 'US' } })
  const page = ok(await shop.get(`/v2/orders/${id}/invoice`))
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  )
  for (const shown of [
    '<h1>Invoice 1</h1>',
    'Tea &lt;b&gt;&amp; Cups&lt;/b&gt; GmbH',
    'Tax number: <bdi>=DE123456789</bdi>',
    '10115 Berlin',
    'Payer',
    '&lt;i&gt;Haddad&lt;/i&gt;',
    'Noor Haddad',
    '<bdi>Bank: &lt;script&gt;x&lt;/script&gt;</bdi><br><bdi>Thank you</bdi>',
    'TEST: not a valid document',
  ])
    expect(page.text).toContain(shown)
  expect(page.text).not.toContain('<script')
  expect(rowsOf(page.text)).toEqual([
    'Item | Quantity | Price | Tax rate | Total',
    'Mug | 3 | $10.00 | 20% | $30.00',
    'Subtotal | $30.00',
    'Shipping | $5.00',
    'Tax | $7.00',
    'Of which tax on shipping | $1.00',
    'Total | $42.00',
    'Tax rate | Net | Tax | Total',
    '20% | $35.00 | $7.00 | $42.00',
  ])
})

test('prints the same document after changes of the shop and the order, and lists credit notes below it', async () => {
  await using app = await testApp()
  const shop = await openTaxedShop(app)
  const { id } = await shop.buy()
  const path = `/v2/orders/${id}/invoice`
  // Two requests print the invoice for the first time in parallel.
  const [one, other] = await Promise.all([shop.get(path), shop.get(path)])
  expect(ok(one).text).toBe(ok(other).text)
  await shop.changeShop({
    ...{ title: 'New name', legalName: null, taxNumber: '1', invoiceNote: null, timeZone: 'Asia/Tokyo' },
    ...{ address: { line1: 'Elsewhere' }, contact: { email: 'new@example.com' } },
  })
  ok(
    await app.call('PUT', '/shops/v2/mail', {
      token: shop.token,
      body: { language: 'ar', colours: { accent: '#ff0000', background: '#00ff00' } },
    }),
  )
  ok(await shop.app.call('PATCH', `/v2/orders/${id}`, { token: shop.token, body: { shippingAddress: { ...address, line1: '2 Quay' } } }))
  expect(ok(await shop.get(path)).text).toBe(one.text)
  const { id: refundId } = await refundOrder(shop, id, { amount: shop.money(600) })
  const after = ok(await shop.get(path)).text
  expect(rowsOf(after).slice(0, rowsOf(one.text).length)).toEqual(rowsOf(one.text))
  expect(rowsOf(after).at(-1)).toMatch(/^Credit note 1 \| .* \| \$6\.00$/)
  const note = ok(await shop.get(`/v2/orders/${id}/credit-notes/${refundId}`)).text
  for (const shown of ['<h1>Credit note 1</h1>', 'For invoice 1 of ', '1 Quay Street', 'Tax number: <bdi>=DE123456789</bdi>'])
    expect(note).toContain(shown)
  expect(rowsOf(note)).toEqual(['Tax rate | Net | Tax | Total', '20% | $5.00 | $1.00 | $6.00', 'Refunded | $6.00'])
  await refundOrder(shop, id, { amount: shop.money(100) })
  expect(ok(await shop.get(`/v2/orders/${id}/credit-notes/${refundId}`)).text).toBe(note)
  // An order whose invoice is first printed now shows the new details.
  const later = ok(await shop.get(`/v2/orders/${(await shop.buy()).id}/invoice`)).text
  for (const shown of ['<html lang="ar" dir="rtl">', 'New name', 'فاتورة رقم 2']) expect(later).toContain(shown)
})

test('numbers credit notes without gaps, also for parallel refunds, and only for refunded money', async () => {
  await using app = await testApp()
  const shop = await openTaxedShop(app)
  const ids: string[] = []
  for (let n = 0; n < 6; n++) ids.push((await shop.buy({ quantity: 2 })).id)
  await Promise.all(ids.map((id) => refundOrder(shop, id, { amount: shop.money(700) })))
  const lines = await Promise.all(ids.map(async (id) => (await shop.order(id)).lines[0].id))
  await Promise.all(ids.map((id, at) => refundOrder(shop, id, { lines: [{ lineId: lines[at], quantity: 1 }] })))
  ok(await shop.post(`/v2/orders/${ids[0]}/cancel`, {}))
  const { text } = ok(await shop.get(`/v2/orders/documents?type=credit-note&ids=${ids.join(',')}`))
  const numbers = [...text.matchAll(/<h1>Credit note (\d+)<\/h1>/g)].map(([, number]) => Number(number))
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 13 }, (_, n) => n + 1))
  // The taxes of all credit notes of a cancelled order are those of its invoice.
  const cancelled = ok(await shop.get(`/v2/orders/documents?type=credit-note&ids=${ids[0]}`)).text
  const taxes = rowsOf(cancelled).filter((row) => row.startsWith('20%'))
  const sum = (at: number) => taxes.reduce((all, row) => all + Math.round(Number(row.split(' | ')[at]?.slice(1)) * 100), 0)
  expect([taxes.length, sum(1), sum(2), sum(3)]).toEqual([3, 2_500, 500, 3_000])
})

test('refuses unpaid orders, refunds without a credit note, other shops and roles without the permission', async () => {
  await using app = await testApp()
  const shop = await openTaxedShop(app)
  const stranger = await sellingIn(app)
  const { id } = await shop.buy()
  const unpaid = ok(
    await shop.checkout(await shop.cart({ shippingAddress: address, shippingMethod: 'post' }), { paymentToken: 'tok_action' }),
  )
  const refused = await shop.get(`/v2/orders/${unpaid.body.order.id}/invoice`)
  expect([refused.status, refused.body.code, refused.body.message]).toEqual([
    409,
    'invalid_transition',
    'Order 2 has no invoice, because it was not paid',
  ])
  expect((await shop.get(`/v2/orders/documents?type=invoice&ids=${id},${unpaid.body.order.id}`)).status).toBe(409)
  expect((await shop.get(`/v2/orders/documents?type=credit-note&ids=${id}`)).status).toBe(409)
  expect((await shop.get(`/v2/orders/${id}/credit-notes/refund_none`)).status).toBe(404)
  const { id: refundId } = await refundOrder(shop, id, { amount: shop.money(100) })
  for (const path of ['invoice', `credit-notes/${refundId}`]) {
    expect((await stranger.get(`/v2/orders/${id}/${path}`)).status).toBe(404)
    expect((await shop.get(`/v2/orders/order_none/${path}`)).status).toBe(404)
  }
  const second = await shop.buy()
  expect((await shop.get(`/v2/orders/${second.id}/credit-notes/${refundId}`)).status).toBe(404)
  for (const [role, allowed] of [
    ['MANAGER', 200],
    ['FULFILMENT', 403],
    ['READ_ONLY', 403],
  ] as const) {
    const { token } = await staffOf(app, shop, role)
    for (const path of [`${id}/invoice`, `${id}/credit-notes/${refundId}`, `documents?type=invoice&ids=${id}`])
      expect([role, path, (await app.call('GET', `/v2/orders/${path}`, { token })).status]).toEqual([role, path, allowed])
  }
})

test('credits gift cards and free orders, and prints currencies with no and three decimals', async () => {
  await using app = await testApp()
  for (const [currency, price, printed] of [
    ['JPY', 1_000, '¥1,000'],
    ['KWD', 12_345, 'KWD 12.345'],
  ] as const) {
    const shop = await sellingIn(app, { currency, price })
    const card = await shop.giftCard(price)
    const cartId = await shop.cart()
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.secretKey, body: { code: card.code, cartId } }))
    const { order } = ok(await shop.checkout(cartId)).body
    const invoice = ok(await shop.get(`/v2/orders/${order.id}/invoice`)).text.replaceAll('\u00a0', ' ')
    expect(rowsOf(invoice)).toContain(`Paid by gift card | ${printed}`)
    expect(rowsOf(invoice)).toContain(`0% | ${printed} | ${printed.replace(/[\d,]+/, '0').replace(/\.\d+/, '.000')} | ${printed}`)
    // Without an address, the e-mail address names the buyer.
    expect(invoice).toContain('<bdi>guest@example.com</bdi>')
    const { id: refundId } = await refundOrder(shop, order.id)
    const note = ok(await shop.get(`/v2/orders/${order.id}/credit-notes/${refundId}`)).text.replaceAll('\u00a0', ' ')
    expect(note).toContain(`${printed} of this was refunded to gift cards.`)
    const freeShop = await sellingIn(app, { currency, price: 0 })
    expect(ok(await freeShop.get(`/v2/orders/${(await freeShop.placeOrder()).id}/invoice`)).status).toBe(200)
  }
})

test('prints an order paid by hand once it is marked as paid, and credits a refund by hand once it is settled', async () => {
  await using app = await testApp()
  const shop = await openTaxedShop(app)
  const { orderId } = await manualOrderOf(shop, { shippingAddress: address, shippingMethod: 'post' })
  const path = `/v2/orders/${orderId}/invoice`
  expect((await shop.get(path)).status).toBe(409)
  ok(await shop.post(`/v2/orders/${orderId}/mark-paid`, { reference: bankTransfer.code }))
  expect(ok(await shop.get(path)).text).toContain('<h1>Invoice 1</h1>')
  const { id: refundId, status } = await refundOrder(shop, orderId)
  expect([status, (await shop.get(`/v2/orders/${orderId}/credit-notes/${refundId}`)).status]).toEqual(['MANUAL', 409])
  ok(await shop.post(`/v2/orders/${orderId}/refunds/${refundId}/settled`, { reference: 'bank 1' }))
  const note = ok(await shop.get(`/v2/orders/${orderId}/credit-notes/${refundId}`)).text
  expect(rowsOf(note)).toContain('20% | $15.00 | $3.00 | $18.00')
})

test('draws no credit note for a refund of zero, and says so', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 0 })
  const { id, lines, confirmedAt } = await shop.placeOrder()
  const refund = ok(await shop.refund(id, { lines: [{ lineId: lines[0].id, quantity: 1 }] })).body
  expect(refund).toMatchObject({ status: 'SUCCEEDED', amount: shop.usd(0) })
  expect((await shop.get(`/v2/orders/${id}/credit-notes/${refund.id}`)).body).toMatchObject({
    statusCode: 409,
    message: 'There is no credit note: no money of the sale was refunded',
  })
  expect(ok(await shop.get(`/v2/orders/${id}/invoice`)).text).not.toContain('Credit note')
  expect(hasCreditNote({ confirmedAt, refunds: [refund] })).toBe(false)
})

test('numbers live credit notes separately from test ones, and adds numbers that older versions did not store', async () => {
  await using app = await testApp()
  const shop = await openTaxedShop(app)
  const run = (statement: ReturnType<typeof sql>) => app.deps.db.write((tx) => tx.rows(statement))
  const findings = async () => {
    for await (const { subject, problems } of bookFindings(app.deps.db)) if (problems.length > 0) return [subject, problems]
    return []
  }
  const [test, live] = [await shop.buy(), await shop.buy()]
  await refundOrder(shop, test.id)
  await run(sql`update orders set mode = 'LIVE' where id = ${live.id}`)
  const { id: refundId } = await refundOrder(shop, live.id, { amount: shop.money(100) })
  const path = `/v2/orders/${live.id}/credit-notes/${refundId}`
  const note = ok(await shop.get(path)).text
  expect(note).toContain('<h1>Credit note 1</h1>')
  expect(note).not.toContain('TEST')
  expect(await findings()).toEqual([])
  await run(sql`update credit_note_numbers set last = 5 where mode = 'LIVE'`)
  expect(await findings()).toEqual([
    'credit notes',
    [`Shop ${shop.shop.id} has 1 credit notes with numbers up to 1, and their counter is at 5`],
  ])
  await run(sql`delete from credit_notes`)
  await run(sql`delete from credit_note_numbers`)
  expect(ok(await shop.get(path)).text).toBe(note)
  expect(await findings()).toEqual([])
})
