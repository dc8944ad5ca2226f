/** Payments that succeed at the processor after a decline: no double payment, and none stays open. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, lost, sandboxMessage, succeedAtSandbox } from '../../../support/sandbox.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000
type Declined = { cartId: string; orderId: string; paymentId: string }

/** An order whose payment was declined, and what its processor is called for from then on. */
async function declined(app: TestApp, shop: Selling): Promise<Declined & { calls: string[] }> {
  const cartId = await shop.cart()
  const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }), 201).body
  const calls: string[] = []
  const noted = <T>(call: string, answer: Promise<T>): Promise<T> => {
    calls.push(call)
    return answer
  }
  changeProcessor(app, (sandbox) => ({
    create: (payment) => noted('create', sandbox.create(payment)),
    capture: (name) => noted('capture', sandbox.capture(name)),
    void: (name) => noted('void', sandbox.void(name)),
  }))
  return { cartId, orderId: order.id, paymentId: order.payments[0].id, calls }
}

const takeBack = (app: TestApp, { publishableKey: key }: Selling, { cartId }: Declined) =>
  app.call('DELETE', `/cart/${cartId}/checkout`, { key })

/** Everybody who may come by, and what they are answered. */
const whoAsks: Record<string, (app: TestApp, shop: Selling, order: Declined) => Promise<unknown>> = {
  'the processor’s message': async (app, _, { paymentId }) => (await sandboxMessage(app, paymentId, 'payment.authorized')).status,
  'the shopper who returns': async (app, { publishableKey: key }, { cartId }) =>
    (await app.call('POST', `/cart/${cartId}/complete`, { key })).status,
  'a checkout under another key': async (_, shop, { cartId }) => (await shop.checkout(cartId)).status,
  'a checkout that is taken back': async (app, shop, order) => (await takeBack(app, shop, order)).status,
  'the job that ends orders': async (app) => {
    app.clock.advance(hour)
    await app.jobs.closeOrders()
  },
}
const answers: Record<string, unknown> = { 'a checkout under another key': 409, 'a checkout that is taken back': 409 }

describe('a payment that succeeds at the processor after its decline', () => {
  for (const captured of [true, false])
    for (const [who, asks] of Object.entries(whoAsks)) {
      // Once its time is over, an order is not charged any more.
      const isOver = who === 'the job that ends orders'
      const becomes = isOver && !captured ? 'charges nothing' : 'charges once'
      test(`a success after a decline ${becomes} (${captured ? 'captured' : 'authorized'}, first noticed by ${who})`, async () => {
        await using app = await testApp()
        const shop = await sellingIn(app)
        const order = await declined(app, shop)
        await succeedAtSandbox(app, order.paymentId, { captured })
        expect(await asks(app, shop, order)).toBe(isOver ? undefined : (answers[who] ?? 200))
        const paid = isOver && !captured ? 0 : 1_000
        expect(await shop.order(order.orderId)).toMatchObject({
          status: paid > 0 ? 'CONFIRMED' : 'EXPIRED',
          capturedTotal: shop.usd(paid),
          refunds: [],
          payments: [{ status: paid > 0 ? 'CAPTURED' : 'FAILED', failureCode: paid > 0 ? null : 'card_declined' }],
        })
        expect(order.calls.filter((call) => call === 'create')).toEqual([])
        expect(order.calls.filter((call) => call === 'capture')).toEqual(captured || isOver ? [] : ['capture'])
        expect(violationsAtRest(await booksOf(app))).toEqual([])
      })
    }
})

describe('a declined payment', () => {
  test('voids a declined payment at its processor before it creates another one', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await declined(app, shop)
    expect(ok(await shop.checkout(order.cartId)).body.order.status).toBe('CONFIRMED')
    expect(order.calls).toEqual(['void', 'create', 'capture'])
    await succeedAtSandbox(app, order.paymentId, { captured: true })
    expect((await booksOf(app)).sandbox.map(({ captured }) => captured)).toEqual([0, 1_000])
  })

  test.each(['is taken back', 'expires', 'is cancelled'])('voids a declined payment once when its order %s', async (how) => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await declined(app, shop)
    if (how === 'is taken back') ok(await takeBack(app, shop, order))
    else if (how === 'is cancelled') ok(await shop.post(`/v2/orders/${order.orderId}/cancel`, {}))
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
  })

  test('rejects other attempts while the processor does not say whether a declined payment may still succeed', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await declined(app, shop)
    let away = true
    const unless =
      <Arguments extends unknown[], T>(call: (...given: Arguments) => Promise<T>) =>
      async (...given: Arguments): Promise<T> => {
        if (away) throw lost()
        return call(...given)
      }
    changeProcessor(app, (sandbox) => ({ retrieve: unless(sandbox.retrieve), void: unless(sandbox.void) }))
    const again = await shop.checkout(order.cartId, {}, 'again')
    expect([again.status, Number(again.headers.get('retry-after')) > 0]).toEqual([503, true])
    app.clock.advance(31_000)
    expect((await takeBack(app, shop, order)).status).toBe(409)
    expect(order.calls).toEqual([])
    // The order expires, and the payment is voided once the processor responds.
    app.clock.advance(hour)
    await app.jobs.closeOrders()
    expect((await shop.order(order.orderId)).status).toBe('EXPIRED')
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    await succeedAtSandbox(app, order.paymentId, { captured: false })
    away = false
    for (let looks = 0; looks < 2; looks++) {
      app.clock.advance(hour)
      await app.jobs.resume()
    }
    expect(order.calls).toEqual(['void'])
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('retries voiding a declined payment that was authorized after its order ended', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await declined(app, shop)
    // The processor refuses the void after a delay.
    const deaf = { void: true }
    changeProcessor(app, (sandbox) => ({ void: async (name) => (deaf.void ? Promise.reject(lost()) : sandbox.void(name)) }))
    ok(await shop.post(`/v2/orders/${order.orderId}/cancel`, {}))
    await succeedAtSandbox(app, order.paymentId, { captured: false })
    app.clock.advance(31_000)
    expect((await sandboxMessage(app, order.paymentId, 'payment.authorized')).status).toBe(200)
    expect((await booksOf(app)).sandbox.map(({ status }) => status)).toEqual(['AUTHORIZED'])
    deaf.void = false
    app.clock.advance(31_000)
    await app.jobs.messages()
    expect((await booksOf(app)).sandbox.map(({ status }) => status)).toEqual(['VOIDED'])
    expect(await shop.order(order.orderId)).toMatchObject({ status: 'CANCELLED', payments: [{ status: 'FAILED' }] })
  })
})
