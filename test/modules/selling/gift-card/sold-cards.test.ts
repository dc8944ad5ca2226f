/** Gift cards as products: issued by the sale, mailed once, disabled by refunds. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { eq } from 'drizzle-orm'
import { giftCards } from '../../../../db/schema/selling.ts'
import type { Processor } from '../../../../src/clients/processors/processor.ts'
import { bookFindings } from '../../../../src/modules/payments/ledger/index.ts'
import { orderFindings } from '../../../../src/modules/selling/order/check-store.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { usd } from '../../../support/catalog.ts'
import { type CrashScenario, crash, runUninterrupted } from '../../../support/crash.ts'
import { testDatabase } from '../../../support/database.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows, sendMails } from '../../../support/mails.ts'
import { address, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { scriptedProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const codePattern = /\b[0-9A-HJKMNP-TV-Z]{16}\b/g
const to = 'sara@example.com'
const recipient = { email: to, name: 'Sara', message: 'Happy <b>birthday</b>' }

/** Opens a shop that sells mugs for 10.00, and gift cards for 25.00 and 50.00. */
async function openCardShop(app: TestApp, settings: Parameters<typeof sellingIn>[1] = {}) {
  const shop = await sellingIn(app, { onHand: 100, ...settings })
  const product = ok(
    await shop.post('/product-v2', {
      title: 'Gift card',
      kind: 'GIFT_CARD',
      status: 'ACTIVE',
      options: [{ name: 'Amount', values: ['25', '50'] }],
      variants: [
        { optionValues: ['25'], price: usd(2_500) },
        { optionValues: ['50'], price: usd(5_000), taxable: true, requiresShipping: true, taxClass: 'food' },
      ],
    }),
  ).body
  const [small, large]: string[] = product.variants.map(({ id }: { id: string }) => id)
  const buyCards = (options: Parameters<Selling['cart']>[0] = {}) => shop.placeOrder({ variants: [small ?? ''], ...options })
  const cardsOf = (orderId: string) =>
    app.deps.db.read.select().from(giftCards).where(eq(giftCards.orderId, orderId)).orderBy(giftCards.orderLineId, giftCards.unit)
  return { ...shop, product, small: small ?? '', large: large ?? '', buyCards, cardsOf }
}

async function expectNoProblems(app: TestApp): Promise<void> {
  expect(violationsOf(await booksOf(app))).toEqual([])
  for (const findings of [orderFindings(app.deps.db), bookFindings(app.deps.db)])
    for await (const { subject, problems } of findings) expect([subject, problems]).toEqual([subject, []])
}

describe('a product of kind GIFT_CARD', () => {
  test('a gift card product has untaxed variants without shipping, also if the request differs, and prices above 0', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    expect(shop.product).toMatchObject({ kind: 'GIFT_CARD' })
    for (const variant of shop.product.variants) expect(variant).toMatchObject({ taxable: false, requiresShipping: false, taxClass: null })
    expect((await shop.get(`/product-v2/public/${shop.product.id}`)).body.kind).toBe('GIFT_CARD')
    expect((await app.call('GET', shop.list)).body.data.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['GIFT_CARD', 'STANDARD'])
    const free = await shop.post('/product-v2', { title: 'Free', kind: 'GIFT_CARD', variants: [{ price: usd(0) }] })
    expect([free.status, free.body.field]).toEqual([400, 'variants.0.price.amount'])
    expect((await shop.post('/product-v2', { title: 'x', kind: 'BOND' })).status).toBe(400)
    const mug = ok(await shop.post('/product-v2', { title: 'Cup', variants: [{ price: usd(0) }] })).body
    expect(mug.kind).toBe('STANDARD')
    const changed = await shop.patch(`/product-v2/${mug.id}`, { kind: 'GIFT_CARD' })
    expect([changed.status, changed.body.field]).toEqual([400, 'kind'])
  })

  test('a gift card product is not discounted', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    ok(await shop.post('/discounts', { title: 'Half', kind: 'PERCENT', valueBps: 5_000, status: 'ACTIVE' }), 201)
    const cart = ok(
      await app.call('GET', `/cart/${await shop.cart({ variants: [shop.small, shop.variantId] })}`, { key: shop.publishableKey }),
    ).body
    expect(cart.totals).toMatchObject({ subtotal: usd(3_500), discount: usd(500), total: usd(3_000) })
    expect(cart.lines.map(({ giftCard, discount }: { giftCard: boolean; discount: unknown }) => [giftCard, discount])).toEqual([
      [true, usd(0)],
      [false, usd(500)],
    ])
  })

  test('a gift card product cannot be paid with gift cards, which pay only for the other lines of the cart', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    const { code } = await shop.giftCard(10_000)
    const cartId = await shop.cart({ variants: [shop.small, shop.variantId] })
    const applied = ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } })).body
    expect(applied.totals).toMatchObject({ giftCards: usd(1_000), total: usd(3_500), amountDue: usd(2_500) })
    const { order } = ok(await shop.checkout(cartId)).body
    expect(order).toMatchObject({ giftCardTotal: usd(1_000), capturedTotal: usd(2_500) })
    await expectNoProblems(app)
  })

  test('a gift card product needs no address and no shipping method, and an order has at most 100 gift cards', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    const method = { code: 'post', title: 'Post', zones: [{}], rates: [{ amount: usd(500) }] }
    ok(await shop.put('/shops/v2/shipping-methods', { data: [method] }))
    const order = await shop.buyCards()
    expect(order).toMatchObject({ status: 'FULFILLED', shippingTotal: usd(0), shippingAddress: null })
    const many = await app.call('POST', `/cart/${await shop.cart({ variants: [] })}/items`, {
      key: shop.publishableKey,
      body: { variantId: shop.small, quantity: 101 },
    })
    expect([many.status, many.body.field]).toEqual([400, 'quantity'])
    const tooMany = await shop.checkout(await shop.cart({ variants: [shop.small, shop.large], quantity: 51 }))
    expect([tooMany.status, tooMany.body.code]).toEqual([409, 'cart_incomplete'])
  })
})

describe('the recipient of gift cards', () => {
  test('the recipient of gift cards is stored with the cart and its order, and refused if invalid', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    const key = shop.publishableKey
    const cartId = await shop.cart({ variants: [shop.small], giftCardRecipient: { email: to } })
    const change = (giftCardRecipient: unknown) => app.call('PATCH', `/cart/${cartId}`, { key, body: { giftCardRecipient } })
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key })).body.giftCardRecipient).toMatchObject({ name: null, message: null })
    for (const invalid of [
      {},
      { email: 'x' },
      { email: to, name: 'n'.repeat(101) },
      { email: to, message: 'm'.repeat(501) },
      { email: to, x: 1 },
    ])
      expect((await change(invalid)).status).toBe(400)
    expect(ok(await change(null)).body.giftCardRecipient).toBeNull()
    expect(ok(await change(recipient)).body.giftCardRecipient).toEqual(recipient)
    const { order } = ok(await shop.checkout(cartId)).body
    expect((await shop.order(order.id)).giftCardRecipient).toEqual(recipient)
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key })).body.giftCardRecipient).toBeNull()
    expect((await shop.placeOrder({ giftCardRecipient: recipient })).giftCardRecipient).toBeNull()
    const link = order.publicUrl.split('/').at(-1)
    expect((await app.call('GET', `/v2/orders/public/${link}`)).text).not.toContain(to)
  })

  test('the recipient of gift cards is restored to the cart when an unpaid checkout is cancelled', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    const cartId = await shop.cart({ variants: [shop.small], giftCardRecipient: recipient })
    ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }))
    const reopened = ok(await app.call('DELETE', `/cart/${cartId}/checkout`, { key: shop.publishableKey })).body
    expect(reopened.giftCardRecipient).toEqual(recipient)
    await expectNoProblems(app)
  })
})

describe('a sale of gift cards', () => {
  test('a sale issues one card for each unit, which can be spent, and mails it once to the recipient', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await openCardShop(app)
    const order = await shop.buyCards({ quantity: 2, giftCardRecipient: recipient, billingAddress: address })
    expect(order).toMatchObject({ status: 'FULFILLED', fulfilmentStatus: 'FULFILLED', taxTotal: usd(0), total: usd(5_000) })
    expect(order.lines[0]).toMatchObject({ giftCard: true, fulfilledQuantity: 2, unfulfilledQuantity: 0 })
    const rows = await app.call('GET', '/v2/orders?lines=true', { token: shop.token, headers: { accept: 'text/csv' } })
    expect(parse(rows.text, { columns: true })).toMatchObject([{ 'line.fulfilledQuantity': '2', 'line.unfulfilledQuantity': '0' }])
    expect(order.events.map(({ type }: { type: string }) => type).slice(-4)).toEqual([
      'CONFIRMED',
      'GIFT_CARD_ISSUED',
      'GIFT_CARD_ISSUED',
      'FULFILLED',
    ])
    await sendMails(app)
    await sendMails(app)
    const sent = server.received.filter((mail) => mail.to.includes(to))
    expect(sent).toHaveLength(2)
    const codes = sent.map(({ text }) => text.match(codePattern)?.[0] ?? '')
    expect(new Set(codes).size).toBe(2)
    for (const { text, html } of sent) {
      expect(text).toContain('Happy <b>birthday</b>')
      expect(text).toContain('$25.00')
      expect(text).toContain('Noor Haddad')
      expect(html).not.toContain('<b>')
    }
    // The buyer and the shop never see a code.
    const others = server.received.filter((mail) => !mail.to.includes(to)).map(({ text, html }) => text + html)
    const listed = ok(await shop.get('/giftcard'))
    for (const code of codes) {
      expect(others.join()).not.toContain(code)
      expect(listed.text + JSON.stringify([await shop.order(order.id), app.logged, await mailRows(app)])).not.toContain(code)
    }
    expect(listed.body.data.map(({ orderId, balance }: Record<string, unknown>) => [orderId, balance])).toEqual([
      [order.id, usd(2_500)],
      [order.id, usd(2_500)],
    ])
    const cartId = await shop.cart()
    const applied = await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: codes[0], cartId } })
    expect(ok(applied).body.totals.amountDue).toEqual(usd(0))
    ok(await shop.checkout(cartId))
    await expectNoProblems(app)
  })

  test('a sale without a recipient mails the buyer, and an unpaid order issues no card', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await openCardShop(app)
    ok(await shop.checkout(await shop.cart({ variants: [shop.large] }), { paymentToken: 'tok_decline' }))
    await shop.buyCards()
    await sendMails(app)
    const mails = server.received.filter(({ text }) => codePattern.test(text))
    expect(mails.map((mail) => mail.to)).toEqual([['guest@example.com']])
    expect(await app.deps.db.read.select().from(giftCards)).toHaveLength(1)
    await expectNoProblems(app)
  })

  test('issuing gift cards does not fulfil the goods of the order, which is FULFILLED when they are sent', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    const order = await shop.buyCards({ variants: [shop.small, shop.variantId] })
    expect([order.status, order.fulfilmentStatus]).toEqual(['CONFIRMED', 'UNFULFILLED'])
    const [card, mug] = order.lines
    const refused = await shop.post(`/v2/orders/${order.id}/fulfilments`, { lines: [{ lineId: card.id, quantity: 1 }] })
    expect(refused.status).toBe(409)
    expect(ok(await shop.get('/v2/orders?toFulfil=true')).body.total).toBe(1)
    const sent = ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {})).body
    expect([sent.status, sent.fulfilments[0].lines]).toEqual(['FULFILLED', [{ lineId: mug.id, quantity: 1 }]])
    const other = await shop.buyCards({ variants: [shop.small, shop.variantId] })
    ok(await shop.refund(other.id, { lines: [{ lineId: other.lines[1].id, quantity: 1 }] }))
    expect((await shop.order(other.id)).status).toBe('FULFILLED')
    expect(ok(await shop.get('/v2/orders?toFulfil=true')).body.total).toBe(0)
    await expectNoProblems(app)
  })

  test('each gift card is issued once when the process stops between any two writes', async () => {
    await using server = await mailServer()
    const database = await testDatabase()
    const first = await testApp(server.settings, { database })
    const shop = await openCardShop(first)
    const cartId = await shop.cart({ variants: [shop.small], quantity: 2, giftCardRecipient: recipient })
    const startAt = first.deps.clock.now()
    await first.close()
    const stage: CrashScenario = {
      database,
      startAt,
      settings: server.settings,
      operation: {
        method: 'POST',
        path: `/cart/${cartId}/checkout`,
        options: { key: shop.publishableKey, body: { method: 'card' }, headers: { 'idempotency-key': randomUUID() } },
      },
      extraRows: async (app) => {
        const cards = await app.deps.db.read.select().from(giftCards)
        const mailed = (await mailRows(app)).filter(({ template }) => template === 'gift_card')
        return [cards.map(({ unit }) => unit).sort(), mailed.length]
      },
    }
    const uninterrupted = await runUninterrupted(stage, 'here', ['untilQuiet'])
    expect([uninterrupted.extraRows, uninterrupted.problems]).toEqual([[[1, 2], 2], []])
    for (let stopAfter = 1; stopAfter <= uninterrupted.count; stopAfter++)
      for (const end of await crash(stage, 'here', stopAfter, [
        ['resume', 'sendAgain', 'untilQuiet'],
        ['sendAgain', 'untilQuiet'],
      ]))
        expect([end.what, end.extraRows, end.problems]).toEqual([end.what, [[1, 2], 2], []])
    await database.drop()
  })
})

describe('a refund of gift cards', () => {
  test('a refund disables the unspent gift card at once and for good', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    const order = await shop.buyCards({ quantity: 2 })
    const [line] = order.lines
    ok(await shop.refund(order.id, { lines: [{ lineId: line.id, quantity: 1 }] }), 201)
    const [first, second] = await shop.cardsOf(order.id)
    const read = async (id = '') => ok(await shop.get(`/giftcard/${id}`)).body.status
    expect([await read(first?.id), await read(second?.id)]).toEqual(['DISABLED', 'ACTIVE'])
    const enabled = await shop.patch(`/giftcard/${first?.id}`, { status: 'ACTIVE' })
    expect([enabled.status, enabled.body.code]).toEqual([409, 'invalid_transition'])
    ok(await shop.refund(order.id, { all: true }), 201)
    expect(await read(second?.id)).toBe('DISABLED')
    expect((await shop.order(order.id)).paymentStatus).toBe('REFUNDED')
    await expectNoProblems(app)
  })

  test('a refund of a gift card is refused after the card was spent, while other lines can be refunded', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await openCardShop(app)
    const order = await shop.buyCards({ variants: [shop.small, shop.variantId], giftCardRecipient: recipient })
    await sendMails(app)
    const code = server.received.find((mail) => mail.to.includes(to))?.text.match(codePattern)?.[0]
    const cartId = await shop.cart()
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
    ok(await shop.checkout(cartId))
    const [card, mug] = order.lines
    for (const body of [{ all: true }, { lines: [{ lineId: card.id, quantity: 1 }] }, { amount: usd(3_500) }]) {
      const refused = await shop.refund(order.id, body)
      expect([refused.status, refused.body.code]).toEqual([409, 'gift_card_spent'])
    }
    const cancelled = await shop.post(`/v2/orders/${order.id}/cancel`, {}, { 'idempotency-key': randomUUID() })
    expect([cancelled.status, cancelled.body.code]).toEqual([409, 'gift_card_spent'])
    const tooMuch = await shop.refund(order.id, { amount: usd(1_001) })
    expect([tooMuch.status, tooMuch.body.code]).toEqual([409, 'refund_too_large'])
    ok(await shop.refund(order.id, { lines: [{ lineId: mug.id, quantity: 1 }] }), 201)
    await expectNoProblems(app)
  })

  test('a refund that the processor declines enables the gift card again', async () => {
    await using app = await testApp()
    const shop = await openCardShop(app)
    const captured = async () => ({ reference: 'ref', state: 'CAPTURED' as const, authorized: 2_500, captured: 2_500 })
    const refund = async () => ({ reference: undefined, state: 'FAILED' as const, failureCode: 'refused' })
    const processors = app.deps.processors as Map<string, Processor>
    processors.set('scripted', scriptedProcessor({ create: captured, retrieve: captured, refund }))
    const { order } = ok(await shop.checkout(await shop.cart({ variants: [shop.small] }), { processor: 'scripted' })).body
    const { body } = await shop.refund(order.id)
    expect(body.status).toBe('FAILED')
    const [card] = await shop.cardsOf(order.id)
    expect(ok(await shop.get(`/giftcard/${card?.id}`)).body.status).toBe('ACTIVE')
  })

  test('a refund of a gift card and a parallel purchase with the same card exclude each other', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await openCardShop(app)
    for (let round = 0; round < 4; round++) {
      const order = await shop.buyCards({ giftCardRecipient: { email: `r${round}@example.com` } })
      await sendMails(app)
      const code = server.received.find((mail) => mail.to.includes(`r${round}@example.com`))?.text.match(codePattern)?.[0]
      const cartId = await shop.cart()
      ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
      const [refund, purchase] = await Promise.all([shop.refund(order.id), shop.checkout(cartId)])
      expect([refund.status, purchase.status].sort()).toEqual([201, 409])
      await expectNoProblems(app)
    }
  })
})
