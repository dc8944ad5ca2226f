import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { resumeOrders } from '../../../../src/modules/selling/order/saga/resume-orders.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { address, customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000
const eventTypes = (order: { events: { type: string }[] }) => order.events.map(({ type }) => type)

/** Confirms a payment at the sandbox, as a shopper does on its page. */
async function confirmAtSandbox(app: TestApp, paymentId: string): Promise<void> {
  const { url, secret } = await app.deps.sandbox.open()
  const answer = await fetch(`${url}/payments/${paymentId}/confirm`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: '{}',
  })
  expect(answer.status).toBe(200)
}

test('turns a cart into a confirmed order, and takes its units from stock', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart({ quantity: 2 })
  const bought = ok(await shop.checkout(cartId), 201).body
  expect(bought.order).toMatchObject({
    number: 1,
    status: 'CONFIRMED',
    paymentStatus: 'CAPTURED',
    fulfilmentStatus: 'UNFULFILLED',
    total: shop.usd(2_000),
    amountDue: shop.usd(2_000),
    capturedTotal: shop.usd(2_000),
    refundedTotal: shop.usd(0),
    fxToUsd: '1',
  })
  expect(bought.payment).toEqual({ processor: 'sandbox', status: 'CAPTURED', clientParameters: {} })
  expect(await shop.stock()).toEqual({ onHand: 8, reserved: 0 })
  const order = await shop.order(bought.order.id)
  expect(order).toEqual(bought.order)
  expect(eventTypes(order)).toEqual(['PLACED', 'PAYMENT_AUTHORIZED', 'PAYMENT_CAPTURED', 'CONFIRMED'])
})

test('shows no personal data of a converted cart, and rejects changes and a second checkout', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart({ shippingAddress: address })
  ok(await shop.checkout(cartId))
  const cart = ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
  expect(cart.body).toMatchObject({ status: 'CONVERTED', email: null, shippingAddress: null })
  expect(cart.text).not.toContain('guest@example.com')
  expect(cart.text).not.toContain('Quay')
  const body = { variantId: shop.variantId, quantity: 1 }
  expect((await app.call('POST', `/cart/${cartId}/items`, { key: shop.publishableKey, body })).status).toBe(409)
  expect((await shop.checkout(cartId)).status).toBe(409)
  expect((await shop.get('/v2/orders')).body.total).toBe(1)
})

describe('repeated checkouts', () => {
  test('replays the response of a checkout under the same idempotency key without a second order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const first = ok(await shop.checkout(cartId, {}, 'once'), 201)
    const replayed = await shop.checkout(cartId, {}, 'once')
    expect(replayed.status).toBe(201)
    expect(replayed.text).toBe(first.text)
    expect(replayed.headers.get('idempotent-replayed')).toBe('true')
    expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
  })

  test('rejects another body under the same idempotency key with 422, and a checkout without a key with 400', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, {}, 'once'))
    expect((await shop.checkout(cartId, { paymentToken: 'tok_decline' }, 'once')).status).toBe(422)
    const keyless = await app.call('POST', `/cart/${cartId}/checkout`, { key: shop.publishableKey, body: { method: 'card' } })
    expect(keyless.status).toBe(400)
    expect(keyless.body.message).toContain('idempotency-key')
  })
})

describe('declined payments', () => {
  test('answers a declined payment with 201 and an order that can be paid under a new key', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart({ quantity: 3 })
    const declined = ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }, 'first'), 201).body
    expect(declined.order).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'FAILED', number: 1 })
    expect(declined.payment.status).toBe('FAILED')
    expect(declined.order.payments[0].failureCode).toBe('card_declined')
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 3 })

    expect(ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }, 'first')).body).toEqual(declined)
    const paid = ok(await shop.checkout(cartId, {}, 'second'), 201).body
    expect(paid.order).toMatchObject({ id: declined.order.id, number: 1, status: 'CONFIRMED', paymentStatus: 'CAPTURED' })
    expect(paid.order.payments.map(({ status }: { status: string }) => status)).toEqual(['FAILED', 'CAPTURED'])
    expect(await shop.stock()).toEqual({ onHand: 7, reserved: 0 })
    expect((await shop.checkout(cartId, {}, 'third')).status).toBe(409)
  })

  test('expires an order whose declined payment is not retried in time, and releases its holds', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const card = await shop.giftCard(300)
    const cartId = await shop.cart()
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
    const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' })).body
    expect(order).toMatchObject({ giftCardTotal: shop.usd(300), amountDue: shop.usd(700) })
    expect((await shop.get('/giftcard')).body.data[0].balance).toEqual(shop.usd(0))

    app.clock.advance(hour - 1)
    await app.jobs.closeOrders()
    expect((await shop.order(order.id)).status).toBe('PENDING_PAYMENT')
    app.clock.advance(1)
    await app.jobs.closeOrders()
    const ended = await shop.order(order.id)
    expect(ended).toMatchObject({ status: 'EXPIRED', paymentStatus: 'FAILED' })
    expect(eventTypes(ended).at(-1)).toBe('EXPIRED')
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect((await shop.get('/giftcard')).body.data[0].balance).toEqual(shop.usd(300))
    expect((await shop.checkout(cartId, {}, 'too-late')).body).toMatchObject({
      statusCode: 409,
      code: 'cart_closed',
      message: 'Order 1 of this cart has expired. Cancel the checkout to change the cart and check out again',
    })
  })
})

describe('payments at a processor', () => {
  test('confirms an order although the response to its capture was lost', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { order, payment } = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_crash' }), 201).body
    expect(order).toMatchObject({ status: 'CONFIRMED', capturedTotal: shop.usd(1_000) })
    expect(payment.status).toBe('CAPTURED')
    expect(app.logged.some(({ event }) => event === 'payment.no_answer')).toBe(true)
  })

  test('keeps an undecided payment pending, fails it in the end, and then accepts a new payment', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const { order, payment } = ok(await shop.checkout(cartId, { paymentToken: 'tok_timeout' }, 'first'), 201).body
    expect(order).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'PENDING' })
    expect(payment.status).toBe('PENDING')
    expect((await shop.checkout(cartId, {}, 'impatient')).status).toBe(409)
    for (let queries = 0; queries < 4; queries++) {
      app.clock.advance(10 * 60 * 1000)
      await app.jobs.resume()
    }
    expect(await shop.order(order.id)).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'FAILED' })
    const paid = ok(await shop.checkout(cartId, {}, 'again')).body
    expect(paid.order.status).toBe('CONFIRMED')
  })

  test('confirms the order when the shopper returns after confirming the payment', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const { order, payment } = ok(await shop.checkout(cartId, { paymentToken: 'tok_action' }), 201).body
    expect(payment).toEqual({
      processor: 'sandbox',
      status: 'REQUIRES_ACTION',
      clientParameters: { action: 'confirm', payment: order.payments[0].id },
    })
    const complete = () => {
      app.clock.advance(2_000)
      return app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey })
    }
    expect(ok(await complete(), 200).body.order.status).toBe('PENDING_PAYMENT')
    await confirmAtSandbox(app, order.payments[0].id)
    const confirmed = ok(await complete(), 200).body
    expect(confirmed).toEqual({
      order: {
        id: order.id,
        number: 1,
        status: 'CONFIRMED',
        paymentStatus: 'CAPTURED',
        total: shop.usd(1_000),
        amountDue: shop.usd(1_000),
      },
      payment: { processor: 'sandbox', status: 'CAPTURED', clientParameters: {} },
    })
    expect(ok(await complete(), 200).body).toEqual(confirmed)
    expect((await app.call('POST', `/cart/${await shop.cart()}/complete`, { key: shop.publishableKey })).status).toBe(404)
  })

  test('refunds money that arrives for an expired order, and keeps the order expired', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_action' })).body
    // The shopper pays just as the order expires.
    app.clock.advance(hour)
    const { processors } = app.deps
    const sandbox = processors.get('sandbox')
    if (!sandbox) throw new Error('no sandbox')
    await confirmAtSandbox(app, order.payments[0].id)
    await app.deps.db.write(async (tx) => {
      await app.deps.orderStore.move(tx, order.id, ['PENDING_PAYMENT'], 'EXPIRED', { resumeAt: app.clock.now() })
    })
    await resumeOrders(app.deps)
    const ended = await shop.order(order.id)
    expect(ended).toMatchObject({
      status: 'EXPIRED',
      paymentStatus: 'REFUNDED',
      capturedTotal: shop.usd(1_000),
      refundedTotal: shop.usd(1_000),
    })
    expect(eventTypes(ended)).toContain('LATE_CAPTURE')
    expect(ended.refunds).toMatchObject([{ status: 'SUCCEEDED', amount: shop.usd(1_000) }])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  })
})

describe('gift cards at checkout', () => {
  test('needs no processor when gift cards cover the whole order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const card = await shop.giftCard(5_000)
    const cartId = await shop.cart()
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
    const { order, payment } = ok(await shop.checkout(cartId), 201).body
    expect(payment).toEqual({ processor: null, status: 'NOT_REQUIRED', clientParameters: {} })
    expect(order).toMatchObject({ status: 'CONFIRMED', giftCardTotal: shop.usd(1_000), amountDue: shop.usd(0), payments: [] })
    expect((await shop.get('/giftcard')).body.data[0].balance).toEqual(shop.usd(4_000))
  })

  test('rejects a checkout with an unusable gift card, and the next checkout proceeds without it', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const card = await shop.giftCard(400)
    const cartId = await shop.cart()
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
    ok(await shop.patch(`/giftcard/${card.id}`, { status: 'DISABLED' }))
    const refused = await shop.checkout(cartId)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain('gift card')
    expect(ok(await shop.checkout(cartId)).body.order.capturedTotal).toEqual(shop.usd(1_000))
  })
})

describe('checkouts of a changed cart', () => {
  test('rejects a checkout after a price change with the reason, and shows the new price on the next read', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart({ quantity: 2 })
    ok(await shop.patch(`/product-v2/${shop.productId}`, { variants: [{ id: shop.variantId, price: shop.usd(1_200) }] }))
    const refused = await shop.checkout(cartId)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain('The price of Mug has changed')
    expect((await shop.get('/v2/orders')).body.total).toBe(0)
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey })).body.totals.total).toEqual(shop.usd(2_400))
    expect(ok(await shop.checkout(cartId)).body.order.total).toEqual(shop.usd(2_400))
  })

  test('rejects a checkout of more units than are left in stock', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 2 })
    const cartId = await shop.cart({ quantity: 2 })
    await shop.placeOrder()
    const refused = await shop.checkout(cartId)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain('Mug')
    expect(await shop.stock()).toEqual({ onHand: 1, reserved: 0 })
  })

  test('rejects a checkout with a product that is no longer sold', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    ok(await app.call('DELETE', `/product-v2/${shop.productId}`, { key: shop.secretKey }))
    const refused = await shop.checkout(cartId)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain('no longer sold')
  })

  test('rejects a checkout after shipping changed, and charges the new totals once the cart was read', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const method = { code: 'post', title: 'Post', price: shop.usd(100), countries: [] }
    ok(await shop.put('/shops/v2/shipping-methods', { data: [method] }))
    const cartId = await shop.cart({ shippingAddress: address, shippingMethod: 'post' })
    ok(await shop.put('/shops/v2/shipping-methods', { data: [{ ...method, price: shop.usd(99_999) }] }))
    const refused = await shop.checkout(cartId)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'The cart has changed. Taxes, shipping or discounts have changed, so the total changed. Read the cart again',
    ])
    ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 1_000 }] }))
    // Reading the cart is enough: the next checkout charges the shown total.
    const shown = ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey })).body.totals.total
    expect(ok(await shop.checkout(cartId)).body.order.capturedTotal).toEqual(shown)
  })

  test('rejects a checkout when a gift card pays less than was shown', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const card = await shop.giftCard(1_500)
    const carts = [await shop.cart(), await shop.cart()]
    for (const cartId of carts)
      expect(
        ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } })).body.totals
          .amountDue,
      ).toEqual(shop.usd(0))
    ok(await shop.checkout(carts[0] ?? ''))
    const refused = await shop.checkout(carts[1] ?? '')
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'The cart has changed. The gift cards pay a different part of the total. Read the cart again',
    ])
    expect(ok(await shop.checkout(carts[1] ?? '')).body.order).toMatchObject({ giftCardTotal: shop.usd(500), amountDue: shop.usd(500) })
  })

  test('rejects an incomplete cart, and names everything that is missing', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const empty = ok(await app.call('POST', '/cart', { key: shop.publishableKey, body: {} })).body.id
    const refused = await shop.checkout(empty)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toBe('The cart cannot be checked out: it is empty, it has no email address')
    const method = { code: 'post', title: 'Post', price: shop.usd(500), countries: ['US'] }
    ok(await shop.put('/shops/v2/shipping-methods', { data: [method] }))
    const cartId = await shop.cart()
    expect((await shop.checkout(cartId)).body.message).toContain('it has no shipping address, it has no shipping method')
    const patched = await app.call('PATCH', `/cart/${cartId}`, {
      key: shop.publishableKey,
      body: { shippingAddress: address, shippingMethod: 'post' },
    })
    expect(ok(patched).body.totals.total).toEqual(shop.usd(1_500))
    const { order } = ok(await shop.checkout(cartId)).body
    expect(order).toMatchObject({
      shippingTotal: shop.usd(500),
      shippingMethod: { code: 'post', title: 'Post' },
      shippingAddress: { city: 'Portland' },
    })
  })

  test('rejects the checkout of an expired cart', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    app.clock.advance(30 * 24 * hour)
    expect((await shop.checkout(cartId)).status).toBe(409)
  })
})

describe('invalid checkouts', () => {
  test('rejects an invalid checkout field with 400, naming the field, and an unavailable processor with 409', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    for (const [body, field] of [
      [{ method: 'cheque' }, 'method'],
      [{ method: undefined }, 'method'],
      [{ paymentToken: 'tok_other' }, 'paymentToken'],
      [{ returnUrl: 'javascript:alert(1)' }, 'returnUrl'],
    ] as const) {
      const answer = await shop.checkout(cartId, body)
      expect(answer.status, field).toBe(400)
      expect(answer.body.message, field).toContain(field)
    }
    // A valid processor that the resolver does not offer is a conflict, not an invalid field.
    const { status, body } = await shop.checkout(cartId, { processor: 'stripe' })
    expect([status, body.message]).toEqual([409, expect.stringContaining('processor:')])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  })

  test('rejects the sandbox processor in a live shop', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id: customer, token } = await customerOf(app, shop.shop.name)
    const cartId = await shop.cart({ token })
    await app.deps.db.write(async (tx) => void (await app.deps.shopStore.update(tx, shop.shop.id, { mode: 'LIVE' })))
    const answer = await shop.checkout(cartId, {}, 'live', token)
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('no payment processor')])
    const named = await shop.checkout(cartId, { processor: 'sandbox' }, 'named', token)
    expect([named.status, named.body.message]).toEqual([409, expect.stringContaining('processor:')])
    expect(customer).toStartWith('cus_')
  })
})

test("does not replay a secret key's checkout to a publishable key with the same idempotency key", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token } = await customerOf(app, shop.shop.name)
  const cartId = await shop.cart({ token, email: 'private@example.com' })
  const send = (key: string) =>
    app.call('POST', `/cart/${cartId}/checkout`, { key, body: { method: 'card' }, headers: { 'idempotency-key': 'order-42' } })
  ok(await send(shop.secretKey), 201)
  const stranger = await send(shop.publishableKey)
  expect(stranger.status).toBe(404)
  expect(stranger.text).not.toContain('private@example.com')
})

test("accepts a publishable key with a customer token as that customer, from the shop's own origins only", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id, token } = await customerOf(app, shop.shop.name)
  const credentials = { key: shop.publishableKey, token }
  const cart = ok(await app.call('POST', '/cart', { ...credentials, body: {} })).body
  expect(cart).toMatchObject({ customerId: id, email: 'shopper@example.com' })
  expect((await app.call('GET', `/cart/${cart.id}`, { key: shop.publishableKey })).status).toBe(404)
  const foreign = await customerOf(app, (await sellingIn(app)).shop.name)
  expect(ok(await app.call('POST', '/cart', { key: shop.publishableKey, token: foreign.token, body: {} })).body.customerId).toBeNull()
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { storefrontOrigins: ['https://good.example'] } }))
  const createCartFrom = (origin: string) => app.call('POST', '/cart', { token, body: {}, headers: { origin } })
  expect((await createCartFrom('https://evil.example')).status).toBe(403)
  expect((await createCartFrom('https://good.example')).status).toBe(201)
})

test("rejects the checkout of another shop's or another customer's cart with 404", async () => {
  await using app = await testApp()
  const [shop, otherShop] = [await sellingIn(app), await sellingIn(app)]
  const cartId = await shop.cart()
  expect((await otherShop.checkout(cartId)).status).toBe(404)
  expect((await otherShop.checkout('cart_00000000000000000000000000')).body).toEqual((await otherShop.checkout(cartId)).body)
  const owner = await customerOf(app, shop.shop.name)
  const stranger = await customerOf(app, shop.shop.name, 'stranger@example.com')
  const customerCart = await shop.cart({ token: owner.token })
  expect((await shop.checkout(customerCart)).status).toBe(404)
  expect((await shop.checkout(customerCart, {}, 'k', stranger.token)).status).toBe(404)
  const { order } = ok(await shop.checkout(customerCart, {}, 'k', owner.token)).body
  expect(order.customerId).toBe(owner.id)
})

/** Runs `meanwhile` once, directly after the next read of a cart. */
function runAfterCartRead({ deps: { cartStore } }: TestApp, meanwhile: () => Promise<unknown>) {
  const { find } = cartStore
  cartStore.find = async (...args) => {
    const found = await find(...args)
    cartStore.find = find
    await meanwhile()
    return found
  }
}

describe('a cart that changes during a request', () => {
  test('rejects a checkout whose cart changes while it is read, without naming prices as the reason', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const key = shop.publishableKey
    const cartId = await shop.cart()
    const item = { variantId: shop.variantId, quantity: 2 }
    runAfterCartRead(app, async () => ok(await app.call('POST', `/cart/${cartId}/items`, { key, body: item })))
    const changed = { status: 409, body: { message: 'The cart was changed or checked out by another request' } }
    expect(await shop.checkout(cartId)).toMatchObject(changed)
    expect(ok(await shop.checkout(cartId), 201).body.order).toMatchObject({ total: shop.usd(3_000), lines: [{ quantity: 3 }] })
    const otherShop = await shop.cart()
    const { code } = await shop.giftCard(300)
    runAfterCartRead(app, async () => ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId: otherShop } })))
    expect(await shop.checkout(otherShop)).toMatchObject(changed)
    expect(ok(await shop.checkout(otherShop), 201).body.order).toMatchObject({ giftCardTotal: shop.usd(300), amountDue: shop.usd(700) })
  })

  test('reads a cart as of one moment while it changes', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const key = shop.publishableKey
    const cartId = await shop.cart()
    runAfterCartRead(app, async () => {
      ok(await app.call('POST', `/cart/${cartId}/items`, { key, body: { variantId: shop.variantId, quantity: 2 } }))
      ok(await app.call('PATCH', `/cart/${cartId}`, { key, body: { email: 'later@example.com' } }))
    })
    const { email, lines } = ok(await app.call('GET', `/cart/${cartId}`, { key })).body
    expect([
      ['guest@example.com', 1],
      ['later@example.com', 3],
    ]).toContainEqual([email, lines[0].quantity])
  })
})
