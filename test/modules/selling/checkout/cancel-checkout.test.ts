import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ProcessorUnavailable } from '../../../../src/clients/processors/processor.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, confirmAtSandbox } from '../../../support/sandbox.ts'
import { address, customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000
const cancelCheckout = (app: TestApp, { publishableKey: key }: Pick<Selling, 'publishableKey'>, cartId: string): Promise<Answer> =>
  app.call('DELETE', `/cart/${cartId}/checkout`, { key })

describe('cancelling a checkout', () => {
  for (const paymentToken of ['tok_decline', 'tok_action'])
    test(`cancels the order after ${paymentToken}, releases its holds, and reopens the cart with address and email`, async () => {
      await using app = await testApp()
      const shop = await sellingIn(app)
      const card = await shop.giftCard(300)
      const cartId = await shop.cart({ quantity: 2, shippingAddress: address })
      ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
      const { order } = ok(await shop.checkout(cartId, { paymentToken })).body
      expect(await shop.stock()).toEqual({ onHand: 10, reserved: 2 })
      const reopened = ok(await cancelCheckout(app, shop, cartId), 200).body
      expect(reopened).toMatchObject({
        id: cartId,
        status: 'OPEN',
        email: 'guest@example.com',
        shippingAddress: { line1: '1 Quay Street' },
        lines: [{ quantity: 2 }],
        totals: { total: shop.usd(2_000), giftCards: shop.usd(300), amountDue: shop.usd(1_700) },
      })
      expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
      expect((await shop.order(order.id)).status).toBe('CANCELLED')
      // A repeated cancellation changes nothing, and the cart can be checked out again.
      expect(ok(await cancelCheckout(app, shop, cartId), 200).body.status).toBe('OPEN')
      expect(ok(await shop.checkout(cartId)).body.order).toMatchObject({ number: 2, status: 'CONFIRMED' })
      expect(violationsAtRest(await booksOf(app))).toEqual([])
    })

  test('rejects cancelling a checkout with 409 while a payment may succeed, and after it succeeded', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    changeProcessor(app, () => ({ void: () => Promise.reject(new ProcessorUnavailable('away')) }))
    const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_action' })).body
    const refused = await cancelCheckout(app, shop, cartId)
    expect([refused.status, refused.body.message]).toEqual([409, 'A payment for this order may still succeed. Try again in a moment'])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 1 })
    await confirmAtSandbox(app, order.payments[0].id)
    app.clock.advance(31_000)
    const paid = await cancelCheckout(app, shop, cartId)
    expect([paid.status, paid.body.message]).toEqual([409, 'The cart was already paid'])
    expect((await shop.order(order.id)).status).toBe('CONFIRMED')
  })

  test('rejects cancelling the checkout of an expired draft with 409, and states that its cart has expired', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const draft = ok(
      await shop.post('/v2/orders/drafts', { email: 'ann@example.com', lines: [{ variantId: shop.variantId, quantity: 1 }] }),
    ).body
    ok(await shop.checkout(draft.cartId, { paymentToken: 'tok_decline' }))
    app.clock.advance(Date.parse(draft.expiresAt) - app.clock.now())
    await app.jobs.closeOrders()
    const refused = await cancelCheckout(app, shop, draft.cartId)
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'cart_closed', message: 'The cart has expired. Create a new cart' }])
  })

  test('reopens the cart of an expired order, and leaves a cart without a checkout unchanged', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }))
    app.clock.advance(hour)
    await app.jobs.closeOrders()
    expect(ok(await cancelCheckout(app, shop, cartId)).body).toMatchObject({ status: 'OPEN', email: 'guest@example.com' })
    expect(ok(await shop.checkout(cartId)).body.order.status).toBe('CONFIRMED')
    expect(ok(await cancelCheckout(app, shop, await shop.cart())).body.status).toBe('OPEN')
    expect((await cancelCheckout(app, shop, cartId)).status).toBe(409)
    expect((await cancelCheckout(app, shop, 'cart_none')).status).toBe(404)
  })

  test('lets only the customer cancel their checkout', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { token } = await customerOf(app, shop.shop.name)
    const other = await customerOf(app, shop.shop.name, 'other@example.com')
    const cartId = await shop.cart({ token })
    ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }, 'k', token))
    expect((await cancelCheckout(app, shop, cartId)).status).toBe(404)
    expect((await app.call('DELETE', `/cart/${cartId}/checkout`, { token: other.token })).status).toBe(404)
    expect(ok(await app.call('DELETE', `/cart/${cartId}/checkout`, { token })).body.status).toBe('OPEN')
  })
})

describe('a cart whose checkout was cancelled', () => {
  test('shows the totals of the last order in a cart that was changed and bought after a cancelled checkout', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const key = shop.publishableKey
    const { code } = await shop.giftCard(300)
    const cartId = await shop.cart({ quantity: 2 })
    ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId } }))
    ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }))
    const [line] = ok(await cancelCheckout(app, shop, cartId)).body.lines
    ok(await app.call('PATCH', `/cart/${cartId}/items/${line.id}`, { key, body: { quantity: 1 } }))
    ok(await app.call('PATCH', '/giftcard/remove', { key, body: { cartId } }))
    const { order } = ok(await shop.checkout(cartId)).body
    expect(order.total).toEqual(shop.usd(1_000))
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key })).body).toMatchObject({
      status: 'CONVERTED',
      lines: [{ quantity: 1 }],
      giftCards: [],
      totals: { total: shop.usd(1_000), giftCards: shop.usd(0), amountDue: shop.usd(1_000) },
    })
  })

  test('keeps a cart with its new order when a slow cancellation of the previous checkout ends later', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, { paymentToken: 'tok_action' }))
    const release = Promise.withResolvers<void>()
    const voidStarted = Promise.withResolvers<void>()
    let calls = 0
    changeProcessor(app, (sandbox) => ({
      async void(name) {
        if (++calls === 1) {
          voidStarted.resolve()
          await release.promise
        }
        return sandbox.void(name)
      },
    }))
    const slow = cancelCheckout(app, shop, cartId)
    await voidStarted.promise
    // The lease of the slow cancellation has expired.
    app.clock.advance(31_000)
    expect(ok(await cancelCheckout(app, shop, cartId)).body.status).toBe('OPEN')
    const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_action' })).body
    release.resolve()
    const refused = await slow
    expect([refused.status, refused.body.message]).toEqual([409, 'The cart was checked out by another request'])
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey })).body).toMatchObject({
      status: 'CONVERTED',
      email: null,
    })
    expect(await shop.order(order.id)).toMatchObject({ status: 'PENDING_PAYMENT' })
    expect((await shop.checkout(cartId)).body.message).toBe('A payment for this order is in progress')
  })
})

test('rejects cancelling with 409 when a checkout completes at the same moment', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  const { cartStore } = app.deps
  const { find } = cartStore
  cartStore.find = async (...args) => {
    const found = await find(...args)
    cartStore.find = find
    ok(await shop.checkout(cartId), 201)
    return found
  }
  const refused = await cancelCheckout(app, shop, cartId)
  expect([refused.status, refused.body.message]).toEqual([409, 'The cart was checked out by another request'])
  expect((await shop.get('/v2/orders')).body.data).toMatchObject([{ status: 'CONFIRMED' }])
})

describe('limits on unpaid orders', () => {
  test('limits unpaid orders per network address, and frees a slot when a checkout is cancelled', async () => {
    await using app = await testApp({ UNPAID_ORDERS_PER_ADDRESS: '3' })
    const shop = await sellingIn(app)
    const placeUnpaid = async (from: string, key = shop.publishableKey) => {
      const cartId = await shop.cart()
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const body = { method: 'card', paymentToken: 'tok_decline' }
      return { cartId, answer: await app.call('POST', `/cart/${cartId}/checkout`, { key, body, headers, from }) }
    }
    const first = await placeUnpaid('203.0.113.7')
    for (let nth = 1; nth < 3; nth++) expect((await placeUnpaid('203.0.113.7')).answer.status).toBe(201)
    const refused = (await placeUnpaid('203.0.113.7')).answer
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await placeUnpaid('203.0.113.8')).answer.status).toBe(201)
    ok(await cancelCheckout(app, shop, first.cartId))
    expect((await placeUnpaid('203.0.113.7')).answer.status).toBe(201)
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 4 })
  })

  test('limits unpaid orders per network address also for simultaneous checkouts', async () => {
    await using app = await testApp({ UNPAID_ORDERS_PER_ADDRESS: '3' })
    const shop = await sellingIn(app, { onHand: 20 })
    const carts = await Promise.all(Array.from({ length: 8 }, () => shop.cart()))
    const answers = await Promise.all(
      carts.map((cartId) => {
        const headers = { 'idempotency-key': crypto.randomUUID() }
        const body = { method: 'card', paymentToken: 'tok_decline' }
        return app.call('POST', `/cart/${cartId}/checkout`, { key: shop.publishableKey, body, headers, from: '203.0.113.7' })
      }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429, 429, 429, 429])
    const numbers = answers.flatMap(({ status, body }) => (status === 201 ? [body.order.number] : []))
    expect(numbers.sort()).toEqual([1, 2, 3])
    expect(await shop.stock()).toEqual({ onHand: 20, reserved: 3 })
  })

  test('limits unpaid orders of a shop for its shoppers, but not for its own server', async () => {
    await using app = await testApp({ UNPAID_ORDERS_PER_ADDRESS: '2', UNPAID_ORDERS_PER_SHOP: '3' })
    const shop = await sellingIn(app)
    const buy = async (from: string, paymentToken: string, key = shop.publishableKey) => {
      const cartId = await shop.cart()
      const headers = { 'idempotency-key': crypto.randomUUID() }
      return app.call('POST', `/cart/${cartId}/checkout`, { key, body: { method: 'card', paymentToken }, headers, from })
    }
    for (const from of ['203.0.113.7', '203.0.113.7', '203.0.113.8']) ok(await buy(from, 'tok_decline'), 201)
    const refused = await buy('203.0.113.9', 'tok_success')
    expect([refused.status, refused.body.message]).toEqual([429, 'The shop has too many unpaid orders. Try again later'])
    // The shop's server sends the requests of all shoppers from one address, so the limits do not apply to it.
    for (const paymentToken of ['tok_success', 'tok_decline', 'tok_decline', 'tok_decline'])
      expect(ok(await buy('203.0.113.9', paymentToken, shop.secretKey), 201).body.order.paymentStatus).toBe(
        paymentToken === 'tok_success' ? 'CAPTURED' : 'FAILED',
      )
    expect((await buy('203.0.113.9', 'tok_success')).status).toBe(429)
    app.clock.advance(hour)
    await app.jobs.closeOrders()
    expect((await buy('203.0.113.9', 'tok_success')).status).toBe(201)
  })

  test('limits unpaid orders of a shop, and checkouts of one cart to ten', async () => {
    await using app = await testApp({ UNPAID_ORDERS_PER_SHOP: '2' })
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    for (let nth = 0; nth < 10; nth++) {
      ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }))
      ok(await cancelCheckout(app, shop, cartId))
    }
    expect((await shop.checkout(cartId)).body.message).toBe('The cart was checked out 10 times, which is the maximum. Create a new cart')
    for (let nth = 0; nth < 2; nth++) ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' }))
    expect((await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' })).status).toBe(429)
  })
})
