/** Buying in the demo's shops, as docs/tutorial.md does: the resolver, a checkout, a click on the stand-in's page, and its message. Over real HTTP. */
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

type Way = { shop: string; method: string; page: (parameters: Json, pages: DemoPayments['pages']) => string; returns: boolean }
/** By the processor: who buys there, how, and where the page is. */
const ways: Record<string, Way> = {
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

type Running = Awaited<ReturnType<typeof running>>
/** The demo on the air, as `souk demo` puts it there. */
async function running(database: TestDatabase, startAt?: number) {
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

  /** A shopper who holds the publishable key alone: the order, and where they pay. */
  async function begin({ shop, method, page }: Way) {
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
    /** No job runs, and nobody comes back to the shop: what confirms an order is what the processor tells. */
    async confirmed(begun: { shop: string; id: string }): Promise<Json> {
      for (let looks = 0; looks < 10_000; looks++) {
        const order = await orderOf(begun)
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
const sold: { shop: string; id: string }[] = []
let demo: Running
beforeAll(async () => {
  database = await testDatabase()
  demo = await running(database)
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
  test('are offered what their merchants chose, what their cohort has, and what their partnership brings', async () => {
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

describe.each(Object.entries(ways))('through the stand-in for %s', (name, way) => {
  test('a purchase waits for its shopper, is paid by a click on the page, and is confirmed by what the processor tells', async () => {
    const begun = await demo.begin(way)
    expect([begun.order.status, begun.payment.processor, begun.payment.status]).toEqual(['PENDING_PAYMENT', name, 'REQUIRES_ACTION'])
    demo.clock.advance(5_000)
    const page = await fetch(begun.page)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('No money moves')])
    expect((await demo.orderOf(begun)).status).toBe('PENDING_PAYMENT')
    const paid = await fetch(begun.page, { method: 'POST', redirect: 'manual' })
    expect([paid.status, paid.headers.get('location')?.startsWith(returnUrl) ?? false]).toEqual(way.returns ? [303, true] : [200, false])
    const order = await demo.confirmed(begun)
    expect([order.status, order.paymentStatus, order.capturedTotal]).toEqual(['CONFIRMED', 'CAPTURED', order.total])
    expect((await fetch(begun.page, { method: 'POST' })).status).toBe(404)
    sold.push(begun)
  })

  test('a sale is given back', async () => {
    const begun = await demo.begin(way)
    demo.clock.advance(5_000)
    await fetch(begun.page, { method: 'POST', redirect: 'manual' })
    await demo.confirmed(begun)
    // By a claim, or worked later, or at once.
    expect(['SUCCEEDED', 'PENDING', 'CLAIMABLE']).toContain((await demo.refund(begun)).status)
  })
})

describe('a demo that is started again', () => {
  test('lets the orders end that its stand-ins know no more, gives past orders back, and sells as before', async () => {
    const open = await Promise.all(Object.values(ways).map((way) => demo.begin(way)))
    const startAt = demo.clock.now() + minuteMs
    await demo.close()
    demo = await running(database, startAt)
    for (let minutes = 0; minutes < 75; minutes += 5) {
      demo.clock.advance(5 * minuteMs)
      await demo.app.jobs.resume()
      await demo.app.jobs.closeOrders()
    }
    expect(await Promise.all(open.map(async (one) => (await demo.orderOf(one)).status))).toEqual(open.map(() => 'EXPIRED'))
    for (const way of Object.values(ways)) {
      const begun = await demo.begin(way)
      demo.clock.advance(5_000)
      await fetch(begun.page, { method: 'POST', redirect: 'manual' })
      expect((await demo.confirmed(begun)).status).toBe('CONFIRMED')
    }
    const key = await demo.keyOf(demoShop.name)
    const { data } = await demo.call('GET', '/v2/orders?limit=100', { key })
    const past = data.find(
      ({ paymentStatus, payments }: Json) => paymentStatus === 'CAPTURED' && /_demo_/.test(payments[0].processorReference),
    )
    expect((await demo.refund({ shop: demoShop.name, id: past.id })).status).toBe('SUCCEEDED')
    // What the stand-ins took before, they have forgotten: they give nothing back, and say so.
    for (const begun of sold) expect((await demo.refund(begun)).status).toBe('FAILED')
  })
})

describe('the settings of a demo', () => {
  test('have accounts with all six on this machine, and none of an operator, whose processor is left out', async () => {
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
