/**
 * Tests buying in the demo's shops over real HTTP, as docs/tutorial.md does: the resolver, a checkout, a click on the
 * stand-in's page, and its message.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parseConfig } from '../../src/config.ts'
import { demoShop } from '../../src/demo/data.ts'
import { fillDemo } from '../../src/demo/fill.ts'
import { type DemoPayments, startPayments } from '../../src/demo/payments.ts'
import { pastProcessors } from '../../src/demo/processors.ts'
import { shopsAbroad } from '../../src/demo/shops-abroad.ts'
import { keySeal } from '../../src/modules/shop/shop/domain.ts'
import { pause } from '../cli/souk.ts'
import { type Json, type TestApp, testApp } from '../support/app.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minuteMs = 60_000
const [kuwait, mongolia, japan] = shopsAbroad.map(({ name }) => name)
const returnUrl = 'https://shop.example/back'

type PaymentCase = { shop: string; method: string; page: (parameters: Json, pages: DemoPayments['pages']) => string; returns: boolean }
/** For each processor: the shop, the payment method and the payment page. */
const paymentCases: Record<string, PaymentCase> = {
  stripe: { shop: demoShop.name, method: 'card', page: ({ clientSecret }, { stripe }) => `${stripe}${clientSecret}`, returns: false },
  tap: { shop: kuwait ?? '', method: 'card', page: ({ redirectUrl }) => redirectUrl, returns: true },
  qpay: { shop: mongolia ?? '', method: 'card', page: ({ shortUrl }) => shortUrl, returns: false },
  checkout: {
    shop: japan ?? '',
    method: 'card',
    page: ({ paymentSession }, { checkout }) => `${checkout}${paymentSession.id}`,
    returns: true,
  },
  paypal: { shop: demoShop.name, method: 'paypal', page: ({ approveUrl }) => approveUrl, returns: true },
  btcpay: { shop: demoShop.name, method: 'crypto', page: ({ checkoutLink }) => checkoutLink, returns: true },
}

type ServedDemo = Awaited<ReturnType<typeof serveDemo>>
/** Serves the demo over HTTP, as `souk demo` does. */
async function serveDemo(database: TestDatabase, startAt?: number) {
  let app: TestApp | undefined
  const payments = await startPayments({ now: () => app?.clock.now() ?? startAt ?? 0 })
  app = await testApp({ ...payments.settings }, { database, processors: pastProcessors, ...(startAt ? { startAt } : {}) })
  const { edge, deps, clock } = app
  await fillDemo(deps)
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request, self) => edge.fetch(request, self) })
  const url = server.url.origin
  deps.life.url = url
  payments.tellTo(url)

  async function call(method: string, path: string, { key, body }: { key?: string; body?: Json } = {}) {
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
      ...(key ? { 'x-service-api-key': key } : {}),
    }
    const answer = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    return ok({ status: answer.status, headers: answer.headers, text: '', body: await answer.json() }).body
  }

  /** Starts a purchase with the publishable key only. Returns the order and its payment page. */
  async function begin({ shop, method, page }: PaymentCase) {
    const { publishableKey: key } = await call('GET', `/shops/v2/public/name/${shop}`)
    const { data } = await call('GET', `/product-v2/public/shop/${shop}?limit=100`)
    const variants = data.flatMap((product: Json) => product.variants).filter((variant: Json) => variant.available)
    const { places, shippingMethods } = [demoShop, ...shopsAbroad].find(({ name }) => name === shop) ?? demoShop
    const { ships: shippingMethod = shippingMethods[0]?.code, street, ...place } = places[0] ?? {}
    const shippingAddress = { name: 'Ada Lovelace', line1: `1 ${street}`, ...place }
    const cart = await call('POST', '/cart', { key, body: { email: 'ada@example.com', shippingAddress, shippingMethod } })
    await call('POST', `/cart/${cart.id}/items`, { key, body: { variantId: variants[0].id, quantity: 1 } })
    const { order, payment } = await call('POST', `/cart/${cart.id}/checkout`, { key, body: { method, returnUrl } })
    return { shop, id: order.id as string, order, payment, page: page(payment.clientParameters, payments.pages) }
  }

  async function keyOf(name: string): Promise<string> {
    const shop = await deps.shopStore.findByName(name)
    const secret = shop && (await deps.shopStore.currentKey(shop.id, 'SECRET', 'TEST'))
    return secret?.sealed ? deps.keyring.unseal(secret.sealed, keySeal(secret.shopId, secret.id)) : ''
  }
  const orderOf = async ({ shop, id }: { shop: string; id: string }) => call('GET', `/v2/orders/${id}`, { key: await keyOf(shop) })

  const refund = async ({ shop, id }: { shop: string; id: string }) =>
    call('POST', `/v2/orders/${id}/refunds`, { key: await keyOf(shop), body: { all: true, reason: 'A test' } })

  return {
    app,
    clock,
    refund,
    call,
    begin,
    keyOf,
    orderOf,
    /** Waits until the processor's message confirms the order. No job runs and no shopper returns. */
    async confirmed(purchase: { shop: string; id: string }): Promise<Json> {
      for (let looks = 0; looks < 10_000; looks++) {
        const order = await orderOf(purchase)
        if (order.status === 'CONFIRMED') return order
        await pause()
      }
      throw new Error('the order was never confirmed')
    },
    async close() {
      await server.stop(true)
      await app.close()
      await payments.close()
    },
  }
}

let database: TestDatabase
const purchases: { shop: string; id: string }[] = []
let demo: ServedDemo
beforeAll(async () => {
  database = await testDatabase()
  demo = await serveDemo(database)
})
afterAll(async () => {
  await demo.close()
  await database.drop()
})

const selected = ({ meta }: Json) =>
  meta.chain
    .filter(({ outcome }: Json) => outcome === 'SELECTED')
    .map(({ method, step, candidate }: Json) => `${method} ${step} ${candidate}`)

describe("the demo's shops", () => {
  test('offer the payment methods of their merchant, cohort or partnership', async () => {
    const resolved = (shop = '') => demo.call('GET', `/checkout/${shop}/payment-intent-resolver`)
    expect(selected(await resolved(demoShop.name))).toEqual([
      'card SHOP_CONFIG stripe',
      'paypal SHOP_CONFIG paypal',
      'crypto SHOP_CONFIG btcpay',
      'wallet SHOP_CONFIG stripe',
    ])
    expect(selected(await resolved(kuwait))).toEqual(['card KYB_COHORT tap', 'crypto PUBLISHABLE_KEY btcpay', 'wallet KYB_COHORT tap'])
    expect(selected(await resolved(mongolia))).toEqual(['card KYB_COHORT qpay', 'crypto PUBLISHABLE_KEY btcpay'])
    const abroad = await resolved(japan)
    expect(selected(abroad)).toEqual([
      'card PARTNERSHIP checkout',
      'paypal PUBLISHABLE_KEY paypal',
      'crypto PUBLISHABLE_KEY btcpay',
      'wallet PARTNERSHIP checkout',
    ])
    expect(abroad.meta).toMatchObject({ partnership: 'Kyoto Makers', kybCohort: 'INTL_OTHER', skippedByBreaker: [] })
  })
})

describe.each(Object.entries(paymentCases))('through the stand-in for %s', (name, paymentCase) => {
  test('a purchase waits for its shopper, is paid by a click on the page, and is confirmed by the message of the processor', async () => {
    const purchase = await demo.begin(paymentCase)
    expect([purchase.order.status, purchase.payment.processor, purchase.payment.status]).toEqual([
      'PENDING_PAYMENT',
      name,
      'REQUIRES_ACTION',
    ])
    demo.clock.advance(5_000)
    const page = await fetch(purchase.page)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('No money moves')])
    expect((await demo.orderOf(purchase)).status).toBe('PENDING_PAYMENT')
    const paid = await fetch(purchase.page, { method: 'POST', redirect: 'manual' })
    expect([paid.status, paid.headers.get('location')?.startsWith(returnUrl) ?? false]).toEqual(
      paymentCase.returns ? [303, true] : [200, false],
    )
    const order = await demo.confirmed(purchase)
    expect([order.status, order.paymentStatus, order.capturedTotal]).toEqual(['CONFIRMED', 'CAPTURED', order.total])
    expect((await fetch(purchase.page, { method: 'POST' })).status).toBe(404)
    purchases.push(purchase)
  })

  test('a purchase is refunded', async () => {
    const purchase = await demo.begin(paymentCase)
    demo.clock.advance(5_000)
    await fetch(purchase.page, { method: 'POST', redirect: 'manual' })
    await demo.confirmed(purchase)
    // Processors refund at once, later, or by a claim.
    expect(['SUCCEEDED', 'PENDING', 'CLAIMABLE']).toContain((await demo.refund(purchase)).status)
  })
})

describe('a demo that is started again', () => {
  test('expires orders that its new stand-ins do not know, refunds past orders, and sells as before', async () => {
    const open = await Promise.all(Object.values(paymentCases).map((paymentCase) => demo.begin(paymentCase)))
    const startAt = demo.clock.now() + minuteMs
    await demo.close()
    demo = await serveDemo(database, startAt)
    for (let minutes = 0; minutes < 75; minutes += 5) {
      demo.clock.advance(5 * minuteMs)
      await demo.app.jobs.resume()
      await demo.app.jobs.closeOrders()
    }
    expect(await Promise.all(open.map(async (one) => (await demo.orderOf(one)).status))).toEqual(open.map(() => 'EXPIRED'))
    for (const paymentCase of Object.values(paymentCases)) {
      const purchase = await demo.begin(paymentCase)
      demo.clock.advance(5_000)
      await fetch(purchase.page, { method: 'POST', redirect: 'manual' })
      expect((await demo.confirmed(purchase)).status).toBe('CONFIRMED')
    }
    const key = await demo.keyOf(demoShop.name)
    const { data } = await demo.call('GET', '/v2/orders?limit=100', { key })
    const pastOrder = data.find(
      ({ paymentStatus, payments }: Json) => paymentStatus === 'CAPTURED' && /_demo_/.test(payments[0].processorReference),
    )
    expect((await demo.refund({ shop: demoShop.name, id: pastOrder.id })).status).toBe('SUCCEEDED')
    // The new stand-ins do not know earlier payments, so refunds of these fail.
    for (const purchase of purchases) expect((await demo.refund(purchase)).status).toBe('FAILED')
  })
})

describe('the settings of a demo', () => {
  test('have accounts with all six processors on this machine, and ignore the settings of the operator', async () => {
    const payments = await startPayments()
    try {
      const real = { STRIPE_SECRET_KEY: 'sk_live_real', PAYPAL_WEBHOOK_ID: 'WH-REAL', CHECKOUT_API_URL: 'https://abc.api.checkout.com' }
      const { config, leftOut } = payments.configured(
        parseConfig({ ...real, PUBLIC_URL: 'https://shop.example', FX_RATES_URL: 'https://rates.example/' }),
      )
      expect(leftOut).toEqual(['Stripe', 'PayPal'])
      const text = JSON.stringify(config)
      for (const value of [...Object.values(real), 'https://shop.example', 'https://rates.example/', 'https://api.stripe.com'])
        expect(text).not.toContain(value)
      const urls = Object.entries(config).filter(([name]) => /^(stripe|tap|qpay|checkout|paypal|btcpay)ApiUrl$/.test(name))
      expect(urls.map(([, url]) => String(url).startsWith('http://127.0.0.1:'))).toEqual(urls.map(() => true))
      expect(urls).toHaveLength(6)
      expect([config.stripePublishableKey, config.paypalClientId]).toEqual([undefined, undefined])
      expect(config.tapSecretKey).toStartWith('sk_test_')
    } finally {
      await payments.close()
    }
  })
})
