/** Failed payment calls open the breaker of a processor, and an open breaker redirects checkouts; over real HTTP. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { checkoutKeys, startCheckoutServer } from '../../../clients/processors/checkout-server.ts'
import { standIn } from '../../../clients/processors/stand-in.ts'
import { testApp } from '../../../support/app.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('five failed payment calls open the breaker of a processor, refused ones do not; pages and checkouts then use the next processor', async () => {
  let status = 401
  let json: unknown = { error: { type: 'api_error', message: 'no' } }
  await using stripe = await standIn(() => ({ status, json }))
  await using checkout = await startCheckoutServer()
  await using app = await testApp({
    STRIPE_PUBLISHABLE_KEY: 'pk_test_standin',
    STRIPE_SECRET_KEY: 'sk_test_standin',
    STRIPE_API_URL: stripe.url,
    CHECKOUT_PUBLISHABLE_KEY: checkoutKeys.publishableKey,
    CHECKOUT_SECRET_KEY: checkoutKeys.secretKey,
    CHECKOUT_CHANNEL_ID: checkoutKeys.channelId,
    CHECKOUT_API_URL: checkout.url,
    UNPAID_ORDERS_PER_ADDRESS: '1000',
  })
  const shop = await sellingIn(app, { onHand: 100 })
  const { token } = await app.superAdmin()
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { card: { enabled: true, processor: 'stripe' } } }))
  const data = [{ name: 'Malls', defaultCardProcessor: 'checkout', shopIds: [shop.shop.id] }]
  ok(await app.call('PUT', '/admin/partnerships', { token, body: { data } }))
  const breaker = () => app.deps.breakers.of({ processor: 'stripe', host: new URL(stripe.url).host })
  const cardAndSkipped = async () => {
    const { card, meta } = ok(await app.call('GET', `/checkout/${shop.shop.name}/payment-intent-resolver`)).body
    return [card.processor, meta.skippedByBreaker]
  }
  const buy = async () => {
    const returnUrl = 'https://shop.example/back'
    return ok(await shop.checkout(await shop.cart({ shippingAddress: address }), { method: 'card', returnUrl })).body.order
  }
  // Statuses for a wrong key, a conflict, too many requests and an impossible request.
  for (status of [401, 409, 429, 400]) {
    const before = stripe.requests.length
    await buy()
    expect(stripe.requests.length).toBeGreaterThan(before)
    expect([status, breaker()]).toMatchObject([status, { state: 'CLOSED', failures: 0 }])
    expect(await cardAndSkipped()).toEqual(['stripe', []])
  }
  // An answer that the client does not understand concerns only its payment.
  const intent = { object: 'payment_intent', id: 'pi_1', amount: 1_000, currency: 'usd', status: 'disputed_by_moon' }
  for (const unknownAnswer of [intent, {}, '<html>', '{"id": "cut o', '', 'null']) {
    json = unknownAnswer
    status = 200
    for (let nth = 0; nth < 2; nth++) await buy()
    expect([unknownAnswer, breaker()]).toMatchObject([unknownAnswer, { state: 'CLOSED', failures: 0 }])
    expect(await cardAndSkipped()).toEqual(['stripe', []])
  }
  const unknownAnswers = app.logged.filter(({ event }) => event === 'payment.unknown_answer')
  expect(unknownAnswers.length).toBeGreaterThanOrEqual(12)
  for (const { fields } of unknownAnswers)
    expect(fields).toMatchObject({ processor: 'stripe', advice: expect.stringContaining('queried again') })
  expect(unknownAnswers.map(({ fields }) => String(fields['error']))).toContainEqual(expect.stringContaining('unexpected answer'))
  json = { error: { type: 'api_error', message: 'no' } }
  status = 500
  const beforeFailing = stripe.requests.length
  for (let nth = 0; nth < 5 && breaker().state === 'CLOSED'; nth++) await buy()
  expect([breaker().state, stripe.requests.length - beforeFailing]).toEqual(['OPEN', 5])
  expect(await cardAndSkipped()).toEqual(['checkout', ['stripe']])
  const before = stripe.requests.length
  const order = await buy()
  expect(order.payments).toMatchObject([{ processor: 'checkout', status: 'REQUIRES_ACTION' }])
  // Open payments of the processor with the open breaker are not queried either.
  app.clock.advance(11 * 60_000)
  await app.jobs.resume()
  await app.jobs.sweep()
  expect(stripe.requests.length).toBe(before)
})
