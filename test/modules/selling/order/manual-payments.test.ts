/** Payments that the shop receives outside souk: bank transfer, cash on delivery. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { browserOn, formOf } from '../../../support/drafts.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { sendMails } from '../../../support/mails.ts'
import { bankTransfer as transfer } from '../../../support/manual-payments.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { staffOf } from '../../../support/staff.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60 * 1000
const cash = { code: 'cash', title: 'Cash on delivery', instructions: 'Pay the courier.', expiresAfterDays: 30 }

const put = (app: TestApp, token: string, body: unknown, headers: Record<string, string> = {}) =>
  app.call('PUT', '/shops/v2/payment-methods', { token, body, headers })

/** Opens a shop that offers both methods, with a function that checks out by bank transfer. */
async function openShop(app: TestApp) {
  const shop = await sellingIn(app)
  ok(await put(app, shop.token, { manual: [transfer, cash] }))
  const placeManualOrder = async (cart: Parameters<Selling['cart']>[0] = {}) => {
    const cartId = await shop.cart(cart)
    const { body } = ok(await shop.checkout(cartId, { method: 'manual', manualCode: 'transfer' }))
    return { cartId, ...body, id: body.order.id as string }
  }
  const markPaid = (id: string, body: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    shop.post(`/v2/orders/${id}/mark-paid`, body, headers)
  return { ...shop, placeManualOrder, markPaid }
}

describe('the settings of manual payments', () => {
  test('manual payment methods are stored, refused if invalid, and offered with code and title', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { token } = shop
    const resolve = async () => ok(await app.call('GET', `/checkout/${shop.shop.name}/payment-intent-resolver`)).body.manual
    expect(await resolve()).toEqual([])
    expect(ok(await put(app, token, { manual: [transfer, cash] })).body.manual).toEqual([transfer, cash])
    expect(await resolve()).toEqual([
      { code: 'transfer', title: 'Bank transfer' },
      { code: 'cash', title: 'Cash on delivery' },
    ])
    for (const [field, manual] of [
      ['manual.1.code', [transfer, transfer]],
      ['manual', Array.from({ length: 6 }, (_, nth) => ({ ...cash, code: `c${nth}` }))],
      ['manual.0.code', [{ ...cash, code: 'No spaces' }]],
      ['manual.0.title', [{ ...cash, title: ' ' }]],
      ['manual.0.title', [{ ...cash, title: 'a'.repeat(101) }]],
      ['manual.0.title', [{ ...cash, title: 'Cash\non delivery' }]],
      ['manual.0.instructions', [{ ...cash, instructions: '' }]],
      ['manual.0.instructions', [{ ...cash, instructions: 'a'.repeat(2_001) }]],
      ['manual.0.expiresAfterDays', [{ ...cash, expiresAfterDays: 0 }]],
      ['manual.0.expiresAfterDays', [{ ...cash, expiresAfterDays: 1.5 }]],
      ['manual.0.expiresAfterDays', [{ ...cash, expiresAfterDays: 91 }]],
      ['manual.0.iban', [{ ...cash, iban: 'x' }]],
    ] as const) {
      const { status, body } = await put(app, token, { manual })
      expect([status, body.field, field]).toEqual([400, field, field])
    }
    // Methods that a request leaves out are removed.
    ok(await put(app, token, {}))
    expect(await resolve()).toEqual([])
  })

  test('manual payment methods can be changed only by an owner', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const manager = await staffOf(app, shop, 'MANAGER')
    const headers = { 'x-shop-id': shop.shop.id }
    expect(ok(await put(app, manager.token, { manual: [transfer, cash], crypto: { enabled: false } }, headers)).body.manual).toHaveLength(2)
    const changed = [{ ...transfer, instructions: 'IBAN of another' }, cash]
    expect((await put(app, manager.token, { manual: changed }, headers)).status).toBe(403)
    expect((await put(app, manager.token, {}, headers)).status).toBe(403)
    expect(ok(await app.call('GET', '/shops/v2/payment-methods', { token: shop.token })).body.manual).toEqual([transfer, cash])
  })
})

describe('a checkout with a manual payment', () => {
  for (const mode of ['TEST', 'LIVE'] as const)
    test(`a checkout with a manual payment in mode ${mode} waits until the shop marks the order as paid`, async () => {
      await using app = await testApp()
      const shop = await openShop(app)
      const { token } = await customerOf(app, shop.shop.name)
      const cartId = await shop.cart({ quantity: 2, token })
      await app.deps.db.write(async (tx) => void (await app.deps.shopStore.update(tx, shop.shop.id, { mode })))
      const manual = { method: 'manual', manualCode: 'transfer' }
      const { order, payment } = ok(await shop.checkout(cartId, manual, undefined, token)).body
      const { id } = order
      // A test key does not work in a live shop, so requests use the owner's token.
      const callAsOwner = (method: 'GET' | 'POST', path: string, body?: unknown) =>
        app.call(method, path, { token: shop.token, ...(body ? { body } : {}) })
      const stock = async () => (await booksOf(app)).variants.map(({ onHand, reserved }) => ({ onHand, reserved }))
      expect(order).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'PENDING', amountDue: shop.money(2_000), mode })
      const { code, title, instructions } = transfer
      expect(payment).toEqual({ processor: 'manual', status: 'PENDING', clientParameters: { code, title, instructions } })
      expect(Date.parse(order.expiresAt) - Date.parse(order.createdAt)).toBe(7 * dayMs)
      expect(await stock()).toEqual([{ onHand: 10, reserved: 2 }])
      // No query is scheduled.
      expect((await booksOf(app)).orders.map(({ resumeAt }) => resumeAt)).toEqual([null])
      app.clock.advance(dayMs / 48)
      await app.jobs.resume()
      await app.jobs.closeOrders()
      expect(ok(await callAsOwner('GET', `/v2/orders/${id}`)).body.status).toBe('PENDING_PAYMENT')
      const paid = ok(await callAsOwner('POST', `/v2/orders/${id}/mark-paid`, { reference: 'BANK-1' })).body
      expect(paid).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED', capturedTotal: shop.money(2_000) })
      expect(paid.payments).toMatchObject([
        { method: 'manual', processor: 'manual', processorReference: 'BANK-1', status: 'CAPTURED', manual: { code, title, instructions } },
      ])
      expect(paid.events.map(({ type }: { type: string }) => type)).toEqual(['PLACED', 'PAYMENT_CAPTURED', 'CONFIRMED'])
      expect(await stock()).toEqual([{ onHand: 8, reserved: 0 }])
      const books = await booksOf(app)
      // The checks of the books cover only shops in mode TEST.
      if (mode === 'TEST') expect(violationsAtRest(books)).toEqual([])
      expect(books.movements).toMatchObject([{ kind: 'CAPTURE', processor: 'manual', amount: 2_000, confirmed: true }])
      expect(books.outbox.map(({ event }) => event)).toEqual(['order.confirmed'])
      expect(books.audits.filter(({ subject }) => subject === id)).toEqual([{ action: 'order.marked_paid', subject: id }])
      expect((await callAsOwner('POST', `/v2/orders/${id}/mark-paid`, {})).status).toBe(409)
    })

  test('a manual checkout is refused with contradicting fields, and with a code that the shop does not offer', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const cartId = await shop.cart()
    for (const [status, field, body] of [
      [400, 'manualCode', { method: 'manual' }],
      [400, 'manualCode', { method: 'card', manualCode: 'transfer' }],
      [400, 'processor', { method: 'manual', manualCode: 'transfer', processor: 'sandbox' }],
      [400, 'paymentToken', { method: 'manual', manualCode: 'transfer', paymentToken: 'tok_success' }],
      [409, 'manualCode', { method: 'manual', manualCode: 'cheque' }],
      [409, 'processor', { method: 'card', processor: 'manual' }],
    ] as const) {
      const answer = await shop.checkout(cartId, body)
      expect([answer.status, answer.body.field]).toEqual([status, field])
    }
    expect((await shop.checkout(cartId, { method: 'manual' })).body.code).toBe('missing_field')
    expect((await booksOf(app)).orders).toEqual([])
  })

  test('a manual checkout needs no payment if gift cards pay for everything', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const { code } = await shop.giftCard(5_000)
    const cartId = await shop.cart()
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
    const { order, payment } = ok(await shop.checkout(cartId, { method: 'manual', manualCode: 'cash' })).body
    expect([order.status, payment.status]).toEqual(['CONFIRMED', 'NOT_REQUIRED'])
  })

  test('an unpaid manual order expires after the days of its method, and releases stock, gift cards and discount uses', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    ok(
      await shop.post('/discounts', {
        title: 'Once',
        code: 'ONCE',
        kind: 'PERCENT',
        valueBps: 1_000,
        usageLimit: 1,
        status: 'ACTIVE',
      }),
    )
    const { code } = await shop.giftCard(300)
    const cartId = await shop.cart()
    const key = shop.publishableKey
    ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId } }))
    ok(await app.call('PATCH', `/cart/${cartId}/discount`, { key, body: { code: 'ONCE' } }))
    const { order } = ok(await shop.checkout(cartId, { method: 'manual', manualCode: 'transfer' })).body
    expect(order.amountDue).toEqual(shop.money(600))
    app.clock.advance(7 * dayMs - 1)
    await app.jobs.closeOrders()
    expect((await shop.order(order.id)).status).toBe('PENDING_PAYMENT')
    app.clock.advance(1)
    await app.jobs.closeOrders()
    expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', paymentStatus: 'VOIDED' })
    const books = await booksOf(app)
    expect(violationsAtRest(books)).toEqual([])
    expect(books.cards.map(({ balance }) => balance)).toEqual([300])
    expect(books.discountUses).toEqual([])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(books.payments.map(({ askAt }) => askAt)).toEqual([null])
    const refused = await shop.markPaid(order.id)
    expect([refused.status, refused.body.code]).toEqual([409, 'invalid_transition'])
  })

  test('a shopper can cancel a manual checkout and then pay by card', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const { cartId, id } = await shop.placeManualOrder()
    expect((await shop.checkout(cartId)).status).toBe(409)
    ok(await app.call('DELETE', `/cart/${cartId}/checkout`, { key: shop.publishableKey }))
    expect((await shop.markPaid(id)).status).toBe(409)
    expect(ok(await shop.checkout(cartId)).body.order.status).toBe('CONFIRMED')
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('a manual payment continues an order whose card was declined, with the expiry of the manual method', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }))
    const { order } = ok(await shop.checkout(cartId, { method: 'manual', manualCode: 'cash' })).body
    expect(order).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'PENDING' })
    expect(Date.parse(order.expiresAt) - app.clock.now()).toBe(30 * dayMs)
    expect(ok(await shop.markPaid(order.id)).body.status).toBe('CONFIRMED')
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('a manual order keeps its instructions when the shop changes or removes the method', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const { id, order } = await shop.placeManualOrder()
    ok(await put(app, shop.token, {}))
    const page = (await app.call('GET', new URL(order.publicUrl).pathname)).body
    expect(page.manualPayment).toEqual({ title: transfer.title, instructions: transfer.instructions })
    const html = await app.call('GET', new URL(order.publicUrl).pathname, { headers: { accept: 'text/html' } })
    expect(html.text).toContain('<bdi>IBAN DE02 1203 0000</bdi><br><bdi>&lt;b&gt;Reference&lt;/b&gt;: the order number</bdi>')
    ok(await shop.markPaid(id, { reference: 'of Ann <b>' }))
    const later = (await app.call('GET', new URL(order.publicUrl).pathname)).text
    expect(later).toContain('"manualPayment":null')
    expect(later).not.toContain('of Ann')
  })
})

describe('marking an order as paid', () => {
  test('marking an order as paid succeeds once for parallel requests, and once for one idempotency key', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const { id } = await shop.placeManualOrder()
    const answers = await Promise.all(Array.from({ length: 6 }, (_, nth) => shop.markPaid(id, { reference: `R${nth}` })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    const { id: other } = await shop.placeManualOrder()
    const key = { 'idempotency-key': 'mark' }
    const first = ok(await shop.markPaid(other, {}, key))
    const replayed = ok(await shop.markPaid(other, {}, key))
    expect([replayed.text, replayed.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    expect((await shop.markPaid(other, { reference: 'x' }, key)).status).toBe(422)
    const books = await booksOf(app)
    expect(books.movements).toHaveLength(2)
    expect(violationsAtRest(books)).toEqual([])
  })

  test.each([
    ['mark-paid', 'CONFIRMED'],
    ['cancel', 'CANCELLED'],
  ])('a retried %s succeeds although the stalled first request completes the work meanwhile', async (command, status) => {
    await using app = await testApp()
    const shop = await openShop(app)
    const { id } = await shop.placeManualOrder()
    const { find } = app.deps.orderStore
    const [stalled, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const send = () => shop.post(`/v2/orders/${id}/${command}`, {}, { 'idempotency-key': 'once' })
    Object.assign(app.deps.orderStore, {
      find: async (orderId: string) => {
        const order = await find(orderId)
        stalled.resolve()
        await resume.promise
        return order
      },
    })
    const first = send()
    await stalled.promise
    app.clock.advance(31_000)
    Object.assign(app.deps.orderStore, {
      find: async (orderId: string) => {
        const order = await find(orderId)
        resume.resolve()
        await first
        return order
      },
    })
    expect(ok(await send()).body).toMatchObject({ id, status })
    expect((await first).body.code).toBe('idempotency_in_progress')
    const replayed = ok(await send())
    expect([replayed.body.status, replayed.headers.get('idempotent-replayed')]).toEqual([status, 'true'])
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('only one of marking as paid, cancellation and expiry succeeds in parallel', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    for (let round = 0; round < 4; round++) {
      const { id, cartId } = await shop.placeManualOrder()
      if (round % 2 === 0) app.clock.advance(7 * dayMs)
      const [marked, cancelled, checkoutCancelled] = await Promise.all([
        shop.markPaid(id),
        shop.post(`/v2/orders/${id}/cancel`, {}),
        app.call('DELETE', `/cart/${cartId}/checkout`, { key: shop.publishableKey }),
        ...(round % 2 === 0 ? [app.jobs.closeOrders()] : []),
      ])
      const { status, confirmedAt } = await shop.order(id)
      expect(marked.status).toBe(confirmedAt === null ? 409 : 200)
      for (const { status: answered } of [cancelled, checkoutCancelled]) expect([200, 409]).toContain(answered)
      expect(['CONFIRMED', 'CANCELLED', 'EXPIRED']).toContain(status)
      expect(violationsAtRest(await booksOf(app))).toEqual([])
    }
  })

  test('marking as paid is refused for orders without a manual payment or of another shop, and for roles below manager', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const other = await openShop(app)
    const paidOrder = await shop.placeOrder()
    expect((await shop.markPaid(paidOrder.id)).body.code).toBe('invalid_transition')
    const waiting = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_action' })).body.order
    expect((await shop.markPaid(waiting.id)).status).toBe(409)
    const { id } = await shop.placeManualOrder()
    expect((await other.markPaid(id)).status).toBe(404)
    expect((await shop.markPaid(id, { amount: 1 })).body).toMatchObject({ statusCode: 400, field: 'amount' })
    expect((await shop.markPaid(id, { reference: 'a'.repeat(201) })).status).toBe(400)
    const headers = { 'x-shop-id': shop.shop.id }
    for (const role of ['FULFILMENT', 'READ_ONLY'] as const) {
      const { token } = await staffOf(app, shop, role)
      expect((await app.call('POST', `/v2/orders/${id}/mark-paid`, { token, body: {}, headers })).status).toBe(403)
    }
    expect(ok(await app.call('POST', `/v2/orders/${id}/mark-paid`, { key: shop.secretKey, body: {} })).body.status).toBe('CONFIRMED')
  })
})

describe('refunds of a manual payment', () => {
  test('refunds of a manual payment wait for the shop to pay by hand, and count when they are settled', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const { id } = await shop.placeManualOrder({ quantity: 2 })
    ok(await shop.markPaid(id))
    const refund = ok(await shop.refund(id, { amount: shop.money(500) }), 201).body
    expect(refund).toMatchObject({ status: 'MANUAL', processor: 'manual', failureCode: 'paid_by_hand', amount: shop.money(500) })
    expect((await shop.order(id)).paymentStatus).toBe('CAPTURED')
    const path = `/v2/orders/${id}/refunds/${refund.id}/settled`
    expect(ok(await shop.post(path, { reference: 'BACK-1' })).body).toMatchObject({ status: 'SUCCEEDED', settledReference: 'BACK-1' })
    expect(await shop.order(id)).toMatchObject({ paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: shop.money(500) })
    // A cancellation creates a refund of the remaining amount.
    const cancelled = ok(await shop.post(`/v2/orders/${id}/cancel`, {})).body
    expect(cancelled.status).toBe('CANCELLED')
    const rest = cancelled.refunds.find(({ status }: { status: string }) => status === 'MANUAL')
    expect(rest.amount).toEqual(shop.money(1_500))
    ok(await shop.post(`/v2/orders/${id}/refunds/${rest.id}/settled`, { reference: 'BACK-2' }))
    expect((await shop.order(id)).paymentStatus).toBe('REFUNDED')
    expect(violationsAtRest(await booksOf(app))).toEqual([])
    expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('the pay page of a draft', () => {
  test('the pay page offers manual payments, shows how to pay, and lets the shopper pay another way', async () => {
    await using app = await testApp()
    const shop = await openShop(app)
    const lines = [{ variantId: shop.variantId, quantity: 1 }]
    const { id, payUrl } = ok(await shop.post('/v2/orders/drafts', { lines, email: 'ann@example.com' })).body
    const { look, send } = browserOn(app, payUrl)
    const page = await look()
    expect(page.text).toContain('Bank transfer')
    const form = formOf(page, 'pay', 1)
    expect(form).toMatchObject({ method: 'manual', processor: 'transfer' })
    expect((await send({ ...form, processor: 'cheque' })).text).toContain('role="alert"')
    expect((await send(form)).status).toBe(303)
    const waiting = await look()
    expect(waiting.text).toContain('<bdi>IBAN DE02 1203 0000</bdi><br>')
    expect((await booksOf(app)).payments).toHaveLength(1)
    expect((await send(formOf(waiting, 'back'))).status).toBe(303)
    expect((await send(formOf(await look(), 'pay', 2))).status).toBe(303)
    const { orderId } = ok(await shop.get(`/v2/orders/drafts/${id}`)).body
    expect(ok(await shop.markPaid(orderId)).body.payments.at(-1).manual.code).toBe('cash')
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })
})

describe('the mail with the instructions', () => {
  test('the mail with payment instructions has the order number, and is not sent after the payment', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await openShop(app)
    const { order } = await shop.placeManualOrder({ email: 'ann@example.com' })
    await sendMails(app)
    const [mail] = server.received
    expect(mail?.headers.get('subject')).toContain(String(order.number))
    expect(mail?.text).toContain('IBAN DE02 1203 0000')
    expect(mail?.html).toContain('&lt;b&gt;Reference&lt;/b&gt;: the order number')
    const { id } = await shop.placeManualOrder({ email: 'ann@example.com' })
    ok(await shop.markPaid(id))
    await sendMails(app)
    expect(server.received.filter(({ headers }) => headers.get('subject')?.startsWith('How to pay'))).toHaveLength(1)
  })
})
