/** The public page of an order, and the mails that link to it. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { orders } from '../../../../db/schema/selling.ts'
import { createNewId } from '../../../../src/lib/ids.ts'
import { orderIdIn, orderTokenOf } from '../../../../src/lib/order-token.ts'
import { testApp } from '../../../support/app.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows, sendMails } from '../../../support/mails.ts'
import { changeProcessor } from '../../../support/sandbox.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const settings = { PUBLIC_URL: 'https://souk.example' }
const pathOf = (url: string) => url.replace('https://souk.example', '')
const shopper = { email: 'ann@example.com', shippingAddress: { ...address, phone: '+1 555 0100', company: 'Haddad Ltd' } }

describe('the public link of an order', () => {
  test('returns the public link under PUBLIC_URL, never under Host, and shows the order to anyone who has it', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const cart = await shop.cart(shopper)
    const order = ok(await shop.checkout(cart)).body.order
    expect(order.publicUrl).toMatch(/^https:\/\/souk\.example\/v2\/orders\/public\/[\w-]{43}$/)
    const read = await app.call('GET', `/v2/orders/${order.id}`, { key: shop.secretKey, headers: { host: 'evil.example' } })
    expect(read.body.publicUrl).toBe(order.publicUrl)
    expect(ok(await shop.get('/v2/orders')).body.data[0].publicUrl).toBe(order.publicUrl)
    const { status, body, headers, text } = await app.call('GET', `${pathOf(order.publicUrl)}?utm_source=mail`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: order.id, number: 1, status: 'CONFIRMED', total: order.total, shop: { name: 'shop-1' } })
    expect(body.shippingAddress).toEqual({ name: 'Noor Haddad', city: 'Portland', province: 'ME', countryCode: 'US' })
    // The random order id is removed, because it can contain the hidden digits by chance.
    const shown = text.replaceAll(order.id, '')
    for (const hidden of ['Quay', '04101', '555 0100', '+1555', 'ann@', 'Haddad Ltd', 'cart_', 'pay_']) expect(shown).not.toContain(hidden)
    expect((await app.call('GET', `/api/v3${pathOf(order.publicUrl)}`)).text).toBe(text)
    expect((await app.call('GET', pathOf(order.publicUrl), { headers: { accept: 'text/html' } })).text).toContain(
      '<bdi>United States</bdi>',
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-robots-tag')).toBe('noindex, nofollow')
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  test("shows the order date in the shop's time zone, and no variant title for a single variant", async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const order = await shop.placeOrder(shopper)
    const days = new Set<string>()
    // These time zones never have the same date.
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { timeZone } }))
      const day = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone }).format(new Date(order.createdAt))
      days.add(day)
      for (const path of [pathOf(order.publicUrl), `${pathOf(order.publicUrl)}/receipt`]) {
        const { text } = await app.call('GET', path, { headers: { accept: 'text/html' } })
        expect(text).toContain(`Placed on ${day}`)
        expect(text).not.toContain('Default Title')
      }
    }
    expect(days.size).toBe(2)
  })

  test("serves an order page and a receipt without scripts, and escapes the shop's texts", async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const title = '<script>alert(1)</script>"\u202e&'
    await app.deps.db.write(async (tx) => {
      const change = { title: '<b onload=x>Shop</b>', logoUrl: 'https://cdn.example/logo.png"onerror=x' }
      await app.deps.shopStore.update(tx, shop.shop.id, change)
    })
    const product = ok(
      await shop.post('/product-v2', {
        title,
        status: 'ACTIVE',
        publishedAt: '2026-01-01T00:00:00Z',
        variants: [{ price: shop.money(500) }],
      }),
    )
    const order = await shop.placeOrder({ ...shopper, variants: [product.body.variants[0].id] })
    for (const path of [pathOf(order.publicUrl), `${pathOf(order.publicUrl)}/receipt`]) {
      const { status, headers, text } = await app.call('GET', path, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(text).not.toMatch(/<script|<b onload|\u202e|"onerror/)
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toStartWith("default-src 'none'; style-src 'sha256-")
      expect(policy).toContain('img-src https://cdn.example;')
      expect(policy).not.toContain('unsafe')
      const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? ''
      expect(policy).toContain(new Bun.CryptoHasher('sha256').update(style).digest('base64'))
      expect(text).not.toMatch(/ style=/)
      for (const hidden of ['Quay', '04101', '555 0100', '+1555', 'ann@']) expect(text).not.toContain(hidden)
    }
  })

  test('shows every fulfilment of an order with its units', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const { id, publicUrl, lines } = await shop.placeOrder({ ...shopper, quantity: 3 })
    const send = async (body: object) => ok(await shop.post(`/v2/orders/${id}/fulfilments`, body), 201).body
    const first = await send({ lines: [{ lineId: lines[0].id, quantity: 2 }], trackingNumber: 'T-<1>', carrier: 'Post' })
    const path = pathOf(publicUrl)
    const page = async () => (await app.call('GET', path, { headers: { accept: 'text/html' } })).text
    expect((await app.call('GET', path)).body).toMatchObject({ fulfilmentStatus: 'PARTIALLY_FULFILLED', fulfilments: [first] })
    const second = await send({ trackingNumber: 'T-2' })
    expect((await app.call('GET', path)).body.fulfilments).toEqual([first, second])
    const text = await page()
    for (const shown of ['T-&lt;1&gt;', 'Post', 'T-2', '× 2', '× 1']) expect(text).toContain(shown)
  })

  test('answers every invalid token with an error, and logs no token', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const { publicUrl, id } = await shop.placeOrder(shopper)
    const token = String(publicUrl.split('/').at(-1))
    const changedTokens = [...token].flatMap((character, at) => {
      const other = character === 'A' ? 'B' : 'A'
      return [`${token.slice(0, at)}${other}${token.slice(at + 1)}`]
    })
    for (const invalidToken of [...changedTokens, token.slice(1), `${token}A`, id, 'A'.repeat(43), `${token}=`, '%00', 'x'.repeat(250)]) {
      const { status } = await app.call('GET', `/v2/orders/public/${invalidToken}`)
      expect([invalidToken, [400, 404].includes(status)]).toEqual([invalidToken, true])
    }
    expect((await app.call('GET', `/v2/orders/public/${changedTokens[0]}`, { headers: { accept: 'text/html' } })).status).toBe(404)
    const { text: metrics } = await app.call('GET', '/metrics', { headers: { host: 'localhost' } })
    const { body: trail } = await app.call('GET', '/admin/audit', { token: (await app.superAdmin()).token })
    await app.call('POST', `/v2/orders/public/${token}`)
    expect(JSON.stringify([app.logged, metrics, trail])).not.toContain(token)
    expect(app.logged.some(({ fields }) => fields['path'] === '/v2/orders/public/:token')).toBe(true)
  })

  test('shows expired and refunded orders, and offers a receipt for paid orders only', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const unpaid = ok(await shop.checkout(await shop.cart(shopper), { paymentToken: 'tok_decline' })).body.order
    const path = pathOf(unpaid.publicUrl)
    expect((await app.call('GET', path)).body).toMatchObject({ status: 'PENDING_PAYMENT', receiptUrl: null })
    const noReceipt = await app.call('GET', `${path}/receipt`)
    expect([noReceipt.status, noReceipt.body.message]).toEqual([404, 'The order has no receipt, because it was not paid'])
    app.clock.advance(2 * 60 * 60_000)
    await app.jobs.closeOrders()
    expect((await app.call('GET', path)).body.status).toBe('EXPIRED')
    const sold = await shop.placeOrder(shopper)
    ok(await shop.refund(sold.id))
    expect((await app.call('GET', pathOf(sold.publicUrl))).body).toMatchObject({
      paymentStatus: 'REFUNDED',
      refunds: [{ status: 'SUCCEEDED' }],
    })
    expect((await app.call('GET', `${pathOf(sold.publicUrl)}/receipt`)).status).toBe(200)
    // The stored state after an erasure of the customer.
    await app.deps.db.write(async (tx) => {
      await tx.update(orders).set({ email: 'erased', shippingAddress: null, billingAddress: null }).where(eq(orders.id, sold.id))
    })
    app.deps.orderCache.delete(sold.id)
    expect((await app.call('GET', pathOf(sold.publicUrl))).body.shippingAddress).toBeNull()
  })

  test("derives the token from the order id and the instance's key, and decodes any id with that key only", () => {
    const newId = createNewId(() => Bun.randomUUIDv7('buffer'))
    const [one, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    for (let nth = 0; nth < 500; nth++) {
      const id = newId('order')
      const token = orderTokenOf(one, id)
      expect(orderIdIn(one, token)).toBe(id)
      expect(orderIdIn(other, token)).toBeUndefined()
    }
    expect(() => orderTokenOf(one, 'cart_x')).toThrow()
  })
})

describe('mails about an order', () => {
  test("mails the sale, the shipment and a refund once each, in the shop's language and with the link", async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app, { country: 'AE', currency: 'AED' })
    const put = await app.call('PUT', '/shops/v2/mail', {
      token: shop.token,
      body: { senderName: 'The Tea House', replyTo: 'tea@example.com', colours: { accent: '#ffcc00' }, language: 'ar' },
    })
    expect(put.body).toMatchObject({ sending: true, language: 'ar', effective: { address: 'shop@souk.example' } })
    const order = await shop.placeOrder({ ...shopper, quantity: 2 })
    ok(await shop.post(`/v2/orders/${order.id}/fulfil`, { trackingNumber: 'T-1', carrier: 'Post' }))
    ok(await shop.refund(order.id, { amount: shop.money(500) }))
    await sendMails(app)
    await sendMails(app)
    expect(server.received.length).toBe(3)
    const findMail = (text: string) => server.received.find((mail) => mail.text.includes(text))
    const sale = findMail('شكرًا لطلبك')
    expect(sale?.headers.get('from')).toBe('"The Tea House (shop-1)" <shop@souk.example>')
    expect(sale?.headers.get('reply-to')).toBe('tea@example.com')
    expect(sale?.to).toEqual(['ann@example.com'])
    expect(sale?.html).toContain('dir="rtl"')
    expect(sale?.html).toContain('#ffcc00')
    expect(sale?.text).toContain(order.publicUrl)
    expect(sale?.text).toContain('20.00')
    expect(findMail('T-1')?.text).toContain('Post')
    expect(findMail('5.00')).toBeDefined()
    for (const { text, html } of server.received) expect(`${text}${html}`).not.toMatch(/Quay|04101|555.?0100/)
  })

  test('escapes hostile titles and names in mails, and keeps them out of the headers', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    await app.deps.db.write(async (tx) => {
      await app.deps.shopStore.update(tx, shop.shop.id, { title: 'Shop\r\nBcc: evil@example.com\u202e<i>' })
    })
    const title = `</td><img src=x onerror=alert(1)> ${'long '.repeat(40)}`
    const product = ok(
      await shop.post('/product-v2', {
        title,
        status: 'ACTIVE',
        publishedAt: '2026-01-01T00:00:00Z',
        variants: [{ price: shop.money(500) }],
      }),
    )
    await shop.placeOrder({ ...shopper, variants: [product.body.variants[0].id] })
    await sendMails(app)
    const [mail] = server.received
    expect(mail?.to).toEqual(['ann@example.com'])
    expect(mail?.headers.has('bcc')).toBe(false)
    expect(mail?.headers.get('from')).toBe('"Shop Bcc: evil@example.com <i> (shop-1)" <shop@souk.example>')
    expect(mail?.html).not.toMatch(/<img src=x|<i>|\u202e/)
    expect(mail?.html).toContain('&lt;/td&gt;&lt;img src=x')
  })

  test('mails no immediate decline, but mails a later failure unless the order was paid otherwise', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    ok(await shop.checkout(await shop.cart(shopper), { paymentToken: 'tok_decline' }))
    expect((await mailRows(app)).length).toBe(0)
    const noMoney = { authorized: 0, captured: 0 }
    let state: 'PROCESSING' | 'FAILED' = 'PROCESSING'
    changeProcessor(app, () => ({
      create: async ({ paymentId: reference }) => ({ ...noMoney, reference, state: 'PROCESSING' as const }),
      retrieve: async ({ paymentId: reference }) => ({ ...noMoney, reference, state }),
    }))
    const carts = [await shop.cart({ ...shopper, email: 'late@example.com' }), await shop.cart({ ...shopper, email: 'paid@example.com' })]
    for (const cart of carts) ok(await shop.checkout(cart))
    state = 'FAILED'
    app.clock.advance(60 * 60_000)
    await app.jobs.resume()
    const queued = (await mailRows(app)).filter(({ template }) => template === 'payment-failed')
    expect(queued.length).toBe(2)
    changeProcessor(app, () => ({
      create: async ({ amount }) => ({ reference: 'q', state: 'CAPTURED' as const, authorized: amount, captured: amount }),
    }))
    ok(await shop.checkout(carts[1] ?? ''))
    app.clock.advance(11 * 60_000)
    await sendMails(app)
    await sendMails(app)
    const subjects = server.received.map(({ to: [to], headers }) => [to, headers.get('subject')])
    expect(subjects.filter(([, subject]) => subject?.includes('failed'))).toEqual([
      ['late@example.com', 'Your payment for order 2 at shop-1 failed'],
    ])
    expect(subjects.filter(([to]) => to === 'paid@example.com').length).toBe(1)
  })

  test('mails the link of a refund that the shopper has to claim', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    changeProcessor(app, () => ({
      refund: async () => ({ reference: 'r', state: 'CLAIMABLE' as const, claimUrl: 'https://pay.example/claim/1' }),
    }))
    const order = await shop.placeOrder(shopper)
    const { body } = ok(await shop.refund(order.id))
    await sendMails(app)
    expect(body.status).toBe('CLAIMABLE')
    expect(server.received.find(({ text }) => text.includes('https://pay.example/claim/1'))?.to).toEqual(['ann@example.com'])
    expect((await app.call('GET', pathOf(order.publicUrl))).text).not.toContain('pay.example')
  })
})

describe('the mail settings of a shop', () => {
  test('returns default mail settings, replaces them as a whole, and rejects invalid values', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const read = () => app.call('GET', '/shops/v2/mail', { token })
    expect((await read()).body).toMatchObject({
      senderName: null,
      language: 'en',
      sending: false,
      effective: { senderName: 'shop-1', address: null },
    })
    const put = (body: unknown) => app.call('PUT', '/shops/v2/mail', { token, body })
    for (const invalidSettings of [
      { replyTo: 'a@b.example\r\nBcc: x@y.example' },
      { replyTo: '"a b"@c.example' },
      { senderName: 'A\nB' },
      { senderName: '\u202eA' },
      { senderName: 'x'.repeat(101) },
      { colours: { accent: 'red' } },
      { colours: { accent: '#fff;}' } },
      { language: 'de' },
    ])
      expect([invalidSettings, (await put(invalidSettings)).status]).toEqual([invalidSettings, 400])
    expect((await put({ senderName: 'A', colours: { background: '#000000' } })).body).toMatchObject({
      senderName: 'A',
      colours: { accent: null, background: '#000000' },
    })
    expect((await put({ language: 'mn' })).body).toMatchObject({ senderName: null, language: 'mn' })
  })

  test('previews a mail as HTML, as text and as JSON with both', async () => {
    await using app = await testApp()
    const { token } = await app.merchant({ currency: 'MNT', country: 'MN' })
    const getPreview = (template: string, query = '', accept = '*/*') =>
      app.call('GET', `/shops/v2/mail/preview/${template}${query}`, { token, headers: { accept } })
    const preview = await getPreview('order-confirmed', '?language=mn')
    expect(preview.body.subject).toContain('1001')
    expect(preview.body.text).toContain('₮')
    const html = await getPreview('order-confirmed', '', 'text/html')
    expect([html.headers.get('content-type'), html.headers.get('content-security-policy')?.startsWith('sandbox')]).toEqual([
      'text/html; charset=utf-8',
      true,
    ])
    expect((await getPreview('password-reset', '', 'text/plain')).text).toContain('/pages/reset/')
    expect((await getPreview('nothing')).status).toBe(400)
    expect((await getPreview('test', '?language=de')).status).toBe(400)
  })
})
