/** The pay page with invalid input and with payments in progress, and the mail with its link. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { hostedPageUrl } from '../../../../src/modules/payments/payment/index.ts'
import { draftFindings, findLinkedDraft, openPayPage } from '../../../../src/modules/selling/draft-order/index.ts'
import { startStripe } from '../../../clients/processors/stripe-server.ts'
import { testApp } from '../../../support/app.ts'
import { browserOn, draftsOf, formOf, formRequest } from '../../../support/drafts.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { sendMails } from '../../../support/mails.ts'
import { confirmAtSandbox } from '../../../support/sandbox.ts'
import { address, customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test("escapes the shop's texts on the pay page, and uses the shop's language", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { country: 'AE', currency: 'AED' })
  ok(await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { language: 'ar' } }))
  const title = '<script>alert(1)</script>"\u202e'
  const product = await shop.add({ title, variants: [{ price: shop.money(500) }] })
  const lines = [{ variantId: product.variants[0]?.id ?? '', quantity: 2 }]
  const { body: draft } = ok(await draftsOf(shop).create({ lines, email: 'ann@example.com' }), 201)
  const { text } = await browserOn(app, draft.payUrl).look()
  expect(text).toContain('dir="rtl"')
  expect(text).toContain('&lt;script&gt;')
  expect(text).not.toMatch(/<script|\u202e/)
  expect(formOf(await browserOn(app, draft.payUrl).look(), 'details')['countryCode']).toBe('AE')
})

test('creates no order from pay page forms with invalid, settled or unknown values', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const { body: draft } = ok(await drafts.create({ email: 'ann@example.com', shippingAddress: address }), 201)
  const { path, look, send } = browserOn(app, draft.payUrl)
  const form = formOf(await look(), 'pay')
  // Settled fields are ignored, and invalid values are not stored.
  expect((await send({ step: 'details', email: 'eve@example.com', ...address, city: 'Elsewhere' })).status).toBe(303)
  expect(await drafts.read(draft.id)).toMatchObject({ email: 'ann@example.com', shippingAddress: { city: 'Portland' } })
  for (const invalidForm of [
    { step: 'details', email: 'a\r\nBcc: b@example.com' },
    { step: 'details', name: 'x'.repeat(201) },
    { step: 'details', ...address, countryCode: 'ZZZ' },
    { ...form, due: '1' },
    { ...form, seen: '1' },
    { ...form, due: '-5' },
    { ...form, key: '' },
    { ...form, key: 'no key \u00e9' },
    { ...form, processor: 'stripe' },
    { ...form, method: 'wallet' },
    { step: 'pay' },
    { step: 'constructor' },
    {},
  ])
    expect([invalidForm, [200, 303].includes((await send(invalidForm)).status)]).toEqual([invalidForm, true])
  expect((await send({ email: 'a\0b' })).status).toBe(400)
  expect((await app.call('POST', path, { raw: '{}', headers: { 'content-type': 'application/json' } })).status).toBe(415)
  expect((await app.call('POST', path, { ...formRequest({}), raw: 'a'.repeat(17 * 1024) })).status).toBe(413)
  expect((await app.call('POST', `/pages/pay/${'A'.repeat(43)}`, formRequest(form))).text).toContain('This link has expired')
  expect(ok(await shop.get('/v2/orders')).body.total).toBe(0)
  // Only the offered payment tokens reach the sandbox, so this one is ignored.
  expect((await send({ ...formOf(await look(), 'pay'), outcome: 'tok_crash' })).status).toBe(303)
  expect((await drafts.read(draft.id)).status).toBe('COMPLETED')
})

test('shows an incomplete payment on the pay page, lets the payer cancel it, and shows when it is paid', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
  const { look, send } = browserOn(app, draft.payUrl)
  await look()
  const checkout = ok(await shop.checkout(draft.cartId, { paymentToken: 'tok_action' })).body
  expect(checkout.payment.status).toBe('REQUIRES_ACTION')
  const waiting = await look()
  expect(waiting.text).toContain('complete yet')
  expect((await drafts.read(draft.id)).status).toBe('PENDING_PAYMENT')
  expect((await send(formOf(waiting, 'look'))).status).toBe(303)
  expect((await send(formOf(waiting, 'back'))).status).toBe(303)
  expect(await drafts.read(draft.id)).toMatchObject({ status: 'OPEN', email: 'ann@example.com' })
  formOf(await look(), 'pay')
  const secondCheckout = ok(await shop.checkout(draft.cartId, { paymentToken: 'tok_action' })).body
  await confirmAtSandbox(app, secondCheckout.order.payments[0].id)
  app.clock.advance(3_000)
  expect((await look()).text).toContain('Payment received')
})

test('waits for the decision when a processor sends the payer back', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { body: draft } = ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201)
  const { path, look } = browserOn(app, draft.payUrl)
  const checkout = ok(await shop.checkout(draft.cartId, { paymentToken: 'tok_action' })).body
  expect((await look()).text).toContain('complete yet')
  expect(app.slept).toEqual([])
  // The payer returned without a decision, so the page stops waiting after five seconds.
  expect((await app.call('GET', `${path}?token=EC-1`)).text).toContain('complete yet')
  expect(app.slept).toEqual(Array(10).fill(500))
  await confirmAtSandbox(app, checkout.order.payments[0].id)
  // Queries of one payment are at least two seconds apart.
  const deps = { ...app.deps, sleep: async (ms: number) => void app.clock.advance(ms) }
  expect((await openPayPage(deps, await findLinkedDraft(deps, path.split('/').at(-1) ?? ''), true)).html).toContain('Payment received')
})

test('offers the sandbox on the pay page of a shop in test mode whose card processor has no page of its own', async () => {
  await using stripe = await startStripe()
  await using app = await testApp({ STRIPE_API_URL: stripe.url })
  const shop = await sellingIn(app)
  const body = { secretKey: 'sk_test_standin', publishableKey: 'pk_test_standin' }
  ok(await app.call('PUT', '/shops/v2/processor-accounts/stripe', { token: shop.token, body }))
  const card = { enabled: true, processor: 'stripe' }
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { card } }))
  const drafts = draftsOf(shop)
  const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
  const { look, send } = browserOn(app, draft.payUrl)
  const form = formOf(await look(), 'pay')
  expect(form).toMatchObject({ method: 'card', processor: 'sandbox' })
  expect((await send(form)).status).toBe(303)
  expect((await drafts.read(draft.id)).status).toBe('COMPLETED')
  expect(stripe.requests.filter((request) => JSON.stringify(request).includes('payment_intents'))).toEqual([])
})

test("places a customer's draft without a payment when gift cards cover it, and keeps it the customer's", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const ann = await customerOf(app, shop.shop.name)
  const { body: draft } = ok(await drafts.create({ customerId: ann.id }), 201)
  const { code } = await shop.giftCard(5_000)
  ok(await app.call('PATCH', '/giftcard/apply', { token: ann.token, body: { code, cartId: draft.cartId } }))
  const { look, send } = browserOn(app, draft.payUrl)
  const page = await look()
  expect(page.text).toContain('Place order')
  expect((await send(formOf(page, 'pay'))).status).toBe(303)
  const { orderId } = await drafts.read(draft.id)
  expect(await shop.order(orderId)).toMatchObject({ customerId: ann.id, status: 'CONFIRMED', amountDue: shop.money(0) })
})

test('never reports a changed order when the pay button is pressed again during the first request', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  for (const tabs of [1, 2]) {
    const { body: draft } = ok(await drafts.create({ email: 'ann@example.com', shippingAddress: address }), 201)
    const { look, send } = browserOn(app, draft.payUrl)
    const form = formOf(await look(), 'pay')
    const other = tabs === 1 ? form : formOf(await look(), 'pay')
    const answers = await Promise.all([send(form), send(other), send(form), send(other)])
    for (const { status, text } of answers) {
      expect([200, 303]).toContain(status)
      expect(text).not.toContain('The order has changed')
    }
    expect((await drafts.read(draft.id)).status).toBe('COMPLETED')
  }
})

test('shows an incomplete payment from another tab when the pay button is pressed', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { body: draft } = ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201)
  const { look, send } = browserOn(app, draft.payUrl)
  const form = formOf(await look(), 'pay')
  ok(await shop.checkout(draft.cartId, { paymentToken: 'tok_action' }))
  const { text } = await send(form)
  expect(text).toContain('complete yet')
  expect(text).not.toContain('The order has changed')
})

test('says on the pay page that a paid order was cancelled', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
  const { look, send } = browserOn(app, draft.payUrl)
  await send(formOf(await look(), 'pay'))
  expect((await look()).text).toContain('Payment received')
  const { orderId } = await drafts.read(draft.id)
  ok(await shop.post(`/v2/orders/${orderId}/cancel`, {}))
  const { text } = await look()
  expect(text).toContain('was cancelled and your payment is being refunded')
  expect(text).not.toContain('Payment received')
})

test("does not call the last unit unavailable on the pay page when the draft's own order holds it", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 1 })
  const { body: draft } = ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201)
  const { look, send } = browserOn(app, draft.payUrl)
  ok(await shop.checkout(draft.cartId, { paymentToken: 'tok_action' }))
  const waiting = await look()
  expect(waiting.text).toContain('complete yet')
  expect(waiting.text).not.toContain('out of stock in this quantity')
  await send(formOf(waiting, 'back'))
  await send({ ...formOf(await look(), 'pay'), outcome: 'tok_decline' })
  const declined = await look()
  expect(declined.text).toContain('The payment failed')
  expect(declined.text).not.toContain('out of stock in this quantity')
})

test('removes a gift card that was spent elsewhere from a draft, which can still be paid', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const { code } = await shop.giftCard(400)
  const draftList = await Promise.all(['one', 'other'].map(async () => ok(await drafts.create({ email: 'ann@example.com' }), 201).body))
  for (const { cartId } of draftList) ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
  const [first, second] = draftList.map(({ payUrl }) => browserOn(app, payUrl))
  if (!first || !second) throw new Error('two drafts')
  const shownForm = formOf(await second.look(), 'pay')
  expect(shownForm['due']).toBe('600')
  expect((await first.send(formOf(await first.look(), 'pay'))).status).toBe(303)
  const refused = await second.send(shownForm)
  expect(refused.text).toContain('The order has changed')
  const form = formOf(refused, 'pay')
  expect(form['due']).toBe('1000')
  expect((await second.look()).text).not.toContain('can’t be paid')
  expect((await second.send(form)).status).toBe(303)
  expect(await drafts.read(draftList[1]?.id)).toMatchObject({ status: 'COMPLETED', giftCards: [] })
})

test('lets the payer replace a removed shipping method, but not one that the shop fixed', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const offer = (...codes: string[]) =>
    app.call('PUT', '/shops/v2/shipping-methods', {
      token: shop.token,
      body: { data: codes.map((code) => ({ code, title: code, price: shop.money(100) })) },
    })
  ok(await offer('slow', 'fast'))
  const person = { email: 'ann@example.com', shippingAddress: address }
  const { body: draft } = ok(await drafts.create(person), 201)
  const { body: settled } = ok(await drafts.create({ ...person, shippingMethod: 'fast' }), 201)
  const { look, send } = browserOn(app, draft.payUrl)
  await look()
  expect((await send({ step: 'details', shippingMethod: 'fast' })).status).toBe(303)
  formOf(await look(), 'pay')
  ok(await offer('slow', 'slower'))
  expect((await look()).text).not.toContain('can’t be paid')
  expect((await send({ step: 'details', shippingMethod: 'slow' })).status).toBe(303)
  expect((await send(formOf(await look(), 'pay'))).status).toBe(303)
  expect(await drafts.read(draft.id)).toMatchObject({ status: 'COMPLETED', shippingMethod: 'slow' })
  const version = (await shop.get(`/v2/orders/drafts/${settled.id}`)).headers.get('etag')
  expect((await browserOn(app, settled.payUrl).look()).text).toContain('can’t be paid right now')
  expect((await shop.get(`/v2/orders/drafts/${settled.id}`)).headers.get('etag')).toBe(version)
  expect((await drafts.read(settled.id)).settled).toContain('shippingMethod')
})

test('reserves no stock for a draft, and shows that it cannot be paid when stock is too low', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 1 })
  const { body: draft } = ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201)
  const { look, send } = browserOn(app, draft.payUrl)
  const form = formOf(await look(), 'pay')
  await shop.placeOrder()
  expect((await send(form)).text).toContain('out of stock in this quantity')
  expect((await look()).text).toContain('can’t be paid right now')
})

test("mails a draft's link up to twenty times, and rejects it without an email address or a mail server", async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const { body: draftWithoutEmail } = ok(await drafts.create({}), 201)
  expect((await shop.post(`/v2/orders/drafts/${draftWithoutEmail.id}/send`, {})).body).toMatchObject({ statusCode: 409, field: 'email' })
  const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
  const answer = ok(await shop.post(`/v2/orders/drafts/${draft.id}/send`, {}), 200)
  expect(answer.body.sentAt).not.toBeNull()
  await sendMails(app)
  expect(server.received.length).toBe(1)
  expect(server.received[0]?.text).toContain(draft.payUrl)
  expect(server.received[0]?.text).toContain('Mug')
  expect((await drafts.change(draft.id, { note: 'sent' }, { 'if-match': '"v1"' })).status).toBe(200)
  for (let nth = 2; nth <= 20; nth++) ok(await shop.post(`/v2/orders/drafts/${draft.id}/send`, {}), 200)
  expect((await shop.post(`/v2/orders/drafts/${draft.id}/send`, {})).body).toMatchObject({ statusCode: 409, code: 'limit_reached' })
  expect(JSON.stringify(app.logged)).not.toContain(draft.payUrl.split('/').at(-1))
  await using silent = await testApp()
  const other = await sellingIn(silent)
  const { body: unsent } = ok(await draftsOf(other).create({ email: 'ann@example.com' }), 201)
  expect((await other.post(`/v2/orders/drafts/${unsent.id}/send`, {})).body.message).toContain('SMTP_URL')
})

test('accepts only web addresses as the page on which a payment continues', () => {
  expect(hostedPageUrl({ redirectUrl: 'https://pay.example/a b' })).toBe('https://pay.example/a%20b')
  expect(hostedPageUrl({ approveUrl: 'https://pay.example/1', orderId: 'x' })).toBe('https://pay.example/1')
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'no address', 7, null])
    expect(hostedPageUrl({ redirectUrl: url })).toBeUndefined()
})

test('reports a draft and a cart that do not refer to each other', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const [one, other] = [ok(await drafts.create({}), 201).body, ok(await drafts.create({}), 201).body]
  const problems = async () => (await Array.fromAsync(draftFindings(app.deps.db))).flatMap((finding) => finding.problems)
  expect(await problems()).toEqual([])
  const change = (statement: ReturnType<typeof sql>) => app.deps.db.write((tx) => tx.rows(statement))
  await change(sql`update carts set draft = null where id = ${one.cartId} returning 1 as done`)
  await change(sql`delete from draft_orders where id = ${other.id} returning 1 as done`)
  expect(await problems()).toEqual([one.id, other.id].map((id) => expect.stringContaining(id)))
})

test('rejects mailing a draft that changes meanwhile, and uses the new address the next time', async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  const shop = await sellingIn(app)
  const drafts = draftsOf(shop)
  const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
  const { find } = app.deps.cartStore
  app.deps.cartStore.find = async (...args) => {
    const cart = await find(...args)
    app.deps.cartStore.find = find
    ok(await drafts.change(draft.id, { email: 'bea@example.com' }))
    return cart
  }
  const send = () => shop.post(`/v2/orders/drafts/${draft.id}/send`, {})
  expect((await send()).status).toBe(409)
  ok(await send())
  await sendMails(app)
  expect(server.received.map(({ to }) => to)).toEqual([['bea@example.com']])
})
