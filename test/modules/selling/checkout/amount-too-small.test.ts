/** Amounts below a processor's minimum are rejected before anything is held. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type NewPayment, type Processor, ProcessorUnavailable } from '../../../../src/clients/processors/processor.ts'
import { stripeMinimums, stripeSupports } from '../../../../src/clients/processors/stripe/amounts.ts'
import type { TestApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { browserOn, draftsOf, formOf } from '../../../support/drafts.ts'
import { sellingThrough } from '../../../support/processor-shops.ts'
import { address, ok } from '../../../support/selling.ts'
import { capabilities, paymentAnswer, scriptedProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test("rejects an amount due below the processor's minimum before it holds stock or gift cards", async () => {
  await using shop = await sellingThrough('stripe')
  const { app, publishableKey: key } = shop
  const checkOut = async (amountDue: number) => {
    const { code, id } = await shop.giftCard(10_500 - amountDue)
    const cartId = await shop.cart({ shippingAddress: address })
    ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId } }))
    return {
      cartId,
      card: id,
      answer: await shop.checkout(cartId, { method: 'card', processor: 'stripe', returnUrl: 'https://shop.example/back' }),
    }
  }
  for (const amountDue of [30, 49]) {
    const { answer, cartId, card } = await checkOut(amountDue)
    expect([answer.status, answer.body]).toEqual([
      409,
      {
        statusCode: 409,
        message: 'The amount is too small: the payment processor requires at least 0.50 USD',
        error: 'Conflict',
        code: 'amount_too_small',
      },
    ])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key })).body).toMatchObject({
      status: 'OPEN',
      totals: { amountDue: shop.money(amountDue) },
    })
    const { data } = ok(await shop.get('/giftcard')).body
    expect(data.find(({ id }: { id: string }) => id === card).balance).toEqual(shop.money(10_500 - amountDue))
  }
  expect(ok(await shop.get('/v2/orders')).body.total).toBe(0)
  expect((await checkOut(50)).answer.status).toBe(201)
  // A cart that gift cards cover needs no processor.
  const { code } = await shop.giftCard(10_500)
  const cartId = await shop.cart({ shippingAddress: address })
  ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId } }))
  expect(ok(await shop.checkout(cartId, { method: 'card' }), 201).body.order.status).toBe('CONFIRMED')
  expect(violationsAtRest(await booksOf(app)).filter((text) => !/PENDING|waits/.test(text))).toEqual([])
})

test("uses the sandbox in TEST for an amount below Stripe's minimum if the checkout names no processor", async () => {
  await using shop = await sellingThrough('stripe')
  const { code } = await shop.giftCard(10_470)
  const cartId = await shop.cart({ shippingAddress: address })
  ok(await shop.app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
  const { order, payment } = ok(await shop.checkout(cartId), 201).body
  expect([order.status, payment.processor]).toEqual(['CONFIRMED', 'sandbox'])
})

test('lists only minimums that Stripe can represent', () => {
  for (const [currency, amount] of Object.entries(stripeMinimums))
    expect([currency, stripeSupports({ amount, currency })]).toEqual([currency, true])
})

type Minimums = NonNullable<Processor['capabilities']['minimums']>

/** Replaces the processor clients of the app with scripted ones. */
function replaceClients(app: TestApp, clients: Record<string, Partial<Processor>>): void {
  const clientFor = ({ processor: name }: { processor: string }) => scriptedProcessor({ name, ...clients[name] })
  Object.assign(app.deps.processorClients, { of: clientFor, open: clientFor })
}

const tooSmall = (minimum: string) => `The amount is too small: the payment processor requires at least ${minimum}`

test('offers no processor with a minimum above the amount on the pay page, and rejects a form that names one', async () => {
  await using shop = await sellingThrough('tap')
  let minimums: Minimums = {}
  const tapClient = () => ({
    capabilities: { ...capabilities, hasHostedPage: true, minimums },
    create: async () => paymentAnswer('REQUIRES_ACTION'),
  })
  Object.assign(shop.app.deps.processorClients, { of: () => scriptedProcessor({ name: 'tap', ...tapClient() }) })
  const lines = [{ variantId: shop.variantId, quantity: 1, unitPrice: shop.money(300) }]
  const draft = ok(await draftsOf(shop).create({ lines, email: 'ann@example.com' }), 201).body
  const page = browserOn(shop.app, draft.payUrl)
  const form = formOf(await page.look(), 'pay')
  expect(form['processor']).toBe('tap')
  minimums = { KWD: 301 }
  // A test shop always offers the sandbox.
  expect(formOf(await page.look(), 'pay')['processor']).toBe('sandbox')
  await page.send(form)
  const answer = await shop.app.call('POST', `/cart/${draft.cartId}/checkout`, {
    key: shop.secretKey,
    body: { method: 'card', processor: 'tap' },
    headers: { 'idempotency-key': 'one' },
  })
  expect([answer.status, answer.body.code, answer.body.message]).toEqual([409, 'amount_too_small', tooSmall('0.301 KWD')])
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  expect(ok(await shop.get('/v2/orders')).body.total).toBe(0)
  expect(await draftsOf(shop).read(draft.id)).toMatchObject({ status: 'OPEN' })
  minimums = { KWD: 300 }
  expect((await page.send(formOf(await page.look(), 'pay'))).status).toBe(303)
  expect(await draftsOf(shop).read(draft.id)).toMatchObject({ status: 'PENDING_PAYMENT' })
})

test("rejects a retried payment below the processor's minimum, and keeps the order and its payment unchanged", async () => {
  await using shop = await sellingThrough('stripe')
  const { app, publishableKey: key } = shop
  const { code } = await shop.giftCard(10_470)
  const cartId = await shop.cart({ shippingAddress: address })
  ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId } }))
  const declined = ok(await shop.checkout(cartId, { processor: 'sandbox', paymentToken: 'tok_decline' }), 201).body.order
  expect([declined.status, declined.paymentStatus]).toEqual(['PENDING_PAYMENT', 'FAILED'])
  const attempt = crypto.randomUUID()
  for (let nth = 0; nth < 2; nth++) {
    const refused = await shop.checkout(cartId, { processor: 'stripe', returnUrl: 'https://shop.example/back' }, attempt)
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([409, 'amount_too_small', tooSmall('0.50 USD')])
  }
  const { payments, ...order } = await shop.order(declined.id)
  expect([order.status, payments.map(({ status }: { status: string }) => status)]).toEqual(['PENDING_PAYMENT', ['FAILED']])
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 1 })
  expect(ok(await shop.checkout(cartId, { processor: 'sandbox' }), 201).body.order.status).toBe('CONFIRMED')
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})

const stripe = { STRIPE_PUBLISHABLE_KEY: 'pk_test_standin', STRIPE_SECRET_KEY: 'sk_test_standin', STRIPE_WEBHOOK_SECRET: 'whsec_standin' }

/** Opens a shop whose cards go to Checkout.com, which does not answer, and then to Stripe. */
async function openShopWithTwoProcessors(minimums: Record<'checkout' | 'stripe', Minimums>) {
  const shop = await sellingThrough('checkout', stripe)
  const { app } = shop
  const operator = await app.superAdmin()
  const data = [{ name: 'Malls', defaultCardProcessor: 'stripe', shopIds: [shop.shop.id] }]
  ok(await app.call('PUT', '/admin/partnerships', { token: operator.token, body: { data } }))
  const created: [string, number][] = []
  const create = (name: string, isUp: boolean) => async (payment: NewPayment) => {
    created.push([name, payment.amount])
    if (!isUp) throw new ProcessorUnavailable('away', { neverSent: true })
    return paymentAnswer('REQUIRES_ACTION')
  }
  replaceClients(app, {
    checkout: {
      capabilities: { ...capabilities, minimums: minimums.checkout },
      create: create('checkout', false),
      void: async () => paymentAnswer('VOIDED'),
    },
    stripe: { capabilities: { ...capabilities, minimums: minimums.stripe }, create: create('stripe', true) },
  })
  const buy = async (due: number, body: Record<string, unknown> = {}) => {
    const { code } = await shop.giftCard(10_500 - due)
    const cartId = await shop.cart({ shippingAddress: address })
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
    created.length = 0
    return shop.checkout(cartId, { returnUrl: 'https://shop.example/back', ...body })
  }
  return { shop, created, buy }
}

test('fails over to the next processor only if the amount reaches its minimum', async () => {
  const { shop, created, buy } = await openShopWithTwoProcessors({ checkout: {}, stripe: { USD: 50 } })
  await using _ = shop
  const failedOver = ok(await buy(50), 201).body
  expect([failedOver.payment.processor, created]).toEqual([
    'stripe',
    [
      ['checkout', 50],
      ['stripe', 50],
    ],
  ])
  await buy(49)
  expect(created.every(([name]) => name === 'checkout')).toBe(true)
})

test('replaces a named processor whose minimum is above the amount, unless the request has its token', async () => {
  const { shop, created, buy } = await openShopWithTwoProcessors({ checkout: { USD: 60 }, stripe: { USD: 50 } })
  await using _ = shop
  const other = ok(await buy(50, { processor: 'checkout' }), 201).body
  expect([other.payment.processor, created]).toEqual(['stripe', [['stripe', 50]]])
  const withToken = await buy(50, { processor: 'checkout', paymentToken: 'tok_of_checkout' })
  expect([withToken.status, withToken.body.message, created]).toEqual([409, tooSmall('0.60 USD'), []])
  const neither = await buy(49)
  expect([neither.status, neither.body.message]).toEqual([201, undefined])
  expect(neither.body.payment.processor).toBe('sandbox')
})
