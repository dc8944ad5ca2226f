/** Payments that succeed at the processor after a decline: no double payment, and none stays open. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, connectionLost, sandboxMessage, succeedAtSandbox } from '../../../support/sandbox.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000
type DeclinedOrder = { cartId: string; orderId: string; paymentId: string }

/** Places an order whose payment is declined, and records the later calls of its processor. */
async function placeDeclinedOrder(app: TestApp, shop: Selling): Promise<DeclinedOrder & { calls: string[] }> {
  const cartId = await shop.cart()
  const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }), 201).body
  const calls: string[] = []
  const recordCall = <T>(call: string, answer: Promise<T>): Promise<T> => {
    calls.push(call)
    return answer
  }
  changeProcessor(app, (sandbox) => ({
    create: (payment) => recordCall('create', sandbox.create(payment)),
    capture: (name) => recordCall('capture', sandbox.capture(name)),
    void: (name) => recordCall('void', sandbox.void(name)),
  }))
  return { cartId, orderId: order.id, paymentId: order.payments[0].id, calls }
}

const cancelCheckout = (app: TestApp, { publishableKey: key }: Selling, { cartId }: DeclinedOrder) =>
  app.call('DELETE', `/cart/${cartId}/checkout`, { key })

/** Requests and jobs that may notice the late success. Each returns its status. */
const triggers: Record<string, (app: TestApp, shop: Selling, order: DeclinedOrder) => Promise<unknown>> = {
  'the processor’s message': async (app, _, { paymentId }) => (await sandboxMessage(app, paymentId, 'payment.authorized')).status,
  'the shopper who returns': async (app, { publishableKey: key }, { cartId }) =>
    (await app.call('POST', `/cart/${cartId}/complete`, { key })).status,
  'a checkout under another key': async (_, shop, { cartId }) => (await shop.checkout(cartId)).status,
  'a cancelled checkout': async (app, shop, order) => (await cancelCheckout(app, shop, order)).status,
  'the job that ends orders': async (app) => {
    app.clock.advance(hour)
    await app.jobs.closeOrders()
  },
}
const expectedStatuses: Record<string, unknown> = { 'a checkout under another key': 409, 'a cancelled checkout': 409 }

describe('a payment that succeeds at the processor after its decline', () => {
  for (const captured of [true, false])
    for (const [triggerName, trigger] of Object.entries(triggers)) {
      // An order is not charged after it expired.
      const isExpiry = triggerName === 'the job that ends orders'
      const effect = isExpiry && !captured ? 'charges nothing' : 'charges once'
      test(`a success after a decline ${effect} (${captured ? 'captured' : 'authorized'}, first noticed by ${triggerName})`, async () => {
        await using app = await testApp()
        const shop = await sellingIn(app)
        const order = await placeDeclinedOrder(app, shop)
        await succeedAtSandbox(app, order.paymentId, { captured })
        expect(await trigger(app, shop, order)).toBe(isExpiry ? undefined : (expectedStatuses[triggerName] ?? 200))
        const paid = isExpiry && !captured ? 0 : 1_000
        expect(await shop.order(order.orderId)).toMatchObject({
          status: paid > 0 ? 'CONFIRMED' : 'EXPIRED',
          capturedTotal: shop.usd(paid),
          refunds: [],
          payments: [{ status: paid > 0 ? 'CAPTURED' : 'FAILED', failureCode: paid > 0 ? null : 'card_declined' }],
        })
        expect(order.calls.filter((call) => call === 'create')).toEqual([])
        expect(order.calls.filter((call) => call === 'capture')).toEqual(captured || isExpiry ? [] : ['capture'])
        expect(violationsAtRest(await booksOf(app))).toEqual([])
      })
    }
})

describe('a declined payment', () => {
  test('voids a declined payment at its processor before it creates another one', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await placeDeclinedOrder(app, shop)
    expect(ok(await shop.checkout(order.cartId)).body.order.status).toBe('CONFIRMED')
    expect(order.calls).toEqual(['void', 'create', 'capture'])
    await succeedAtSandbox(app, order.paymentId, { captured: true })
    expect((await booksOf(app)).sandbox.map(({ captured }) => captured)).toEqual([0, 1_000])
  })

  test.each(['is cancelled by the shopper', 'expires', 'is cancelled by the shop'])(
    'voids a declined payment once when its order %s',
    async (ending) => {
      await using app = await testApp()
      const shop = await sellingIn(app)
      const order = await placeDeclinedOrder(app, shop)
      if (ending === 'is cancelled by the shopper') ok(await cancelCheckout(app, shop, order))
      else if (ending === 'is cancelled by the shop') ok(await shop.post(`/v2/orders/${order.orderId}/cancel`, {}))
      else {
        app.clock.advance(hour)
        await app.jobs.closeOrders()
      }
      expect(order.calls).toEqual(['void'])
      await succeedAtSandbox(app, order.paymentId, { captured: true })
      expect((await booksOf(app)).sandbox.map(({ captured }) => captured)).toEqual([0])
      app.clock.advance(hour)
      await app.jobs.resume()
      expect(order.calls).toEqual(['void'])
      expect(violationsAtRest(await booksOf(app))).toEqual([])
    },
  )

  test('rejects other attempts while the processor does not say whether a declined payment may still succeed', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await placeDeclinedOrder(app, shop)
    let isUnavailable = true
    const unlessUnavailable =
      <Arguments extends unknown[], T>(call: (...args: Arguments) => Promise<T>) =>
      async (...args: Arguments): Promise<T> => {
        if (isUnavailable) throw connectionLost()
        return call(...args)
      }
    changeProcessor(app, (sandbox) => ({ retrieve: unlessUnavailable(sandbox.retrieve), void: unlessUnavailable(sandbox.void) }))
    const refused = await shop.checkout(order.cartId, {}, 'again')
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
    app.clock.advance(31_000)
    expect((await cancelCheckout(app, shop, order)).status).toBe(409)
    expect(order.calls).toEqual([])
    // The order expires, and the payment is voided once the processor responds.
    app.clock.advance(hour)
    await app.jobs.closeOrders()
    expect((await shop.order(order.orderId)).status).toBe('EXPIRED')
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    await succeedAtSandbox(app, order.paymentId, { captured: false })
    isUnavailable = false
    for (let runs = 0; runs < 2; runs++) {
      app.clock.advance(hour)
      await app.jobs.resume()
    }
    expect(order.calls).toEqual(['void'])
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('retries voiding a declined payment that was authorized after its order ended', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await placeDeclinedOrder(app, shop)
    // Voiding fails until the call is available again.
    const unavailableCalls = { void: true }
    changeProcessor(app, (sandbox) => ({
      void: async (name) => (unavailableCalls.void ? Promise.reject(connectionLost()) : sandbox.void(name)),
    }))
    ok(await shop.post(`/v2/orders/${order.orderId}/cancel`, {}))
    await succeedAtSandbox(app, order.paymentId, { captured: false })
    app.clock.advance(31_000)
    expect((await sandboxMessage(app, order.paymentId, 'payment.authorized')).status).toBe(200)
    expect((await booksOf(app)).sandbox.map(({ status }) => status)).toEqual(['AUTHORIZED'])
    unavailableCalls.void = false
    app.clock.advance(31_000)
    await app.jobs.messages()
    expect((await booksOf(app)).sandbox.map(({ status }) => status)).toEqual(['VOIDED'])
    expect(await shop.order(order.orderId)).toMatchObject({ status: 'CANCELLED', payments: [{ status: 'FAILED' }] })
  })
})
