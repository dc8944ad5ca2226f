/** Amounts below what a processor takes: refused before anything is held. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { stripeMinimums, stripeSays } from '../../../src/clients/processors/stripe-amounts.ts'
import { booksOf, violationsAtRest } from '../../support/books.ts'
import { sellingThrough } from '../../support/outside.ts'
import { address, ok } from '../../support/selling.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('what a gift card leaves below the minimum of the processor is refused before stock and cards are held', async () => {
  await using shop = await sellingThrough('stripe')
  const { app, publishableKey: key } = shop
  const begin = async (left: number) => {
    const { code, id } = await shop.giftCard(10_500 - left)
    const cartId = await shop.cart({ shippingAddress: address })
    ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId } }))
    return {
      cartId,
      card: id,
      answer: await shop.checkout(cartId, { method: 'card', processor: 'stripe', returnUrl: 'https://shop.example/back' }),
    }
  }
  for (const left of [30, 49]) {
    const { answer, cartId, card } = await begin(left)
    expect([answer.status, answer.body]).toEqual([
      409,
      {
        statusCode: 409,
        message: 'The amount to pay is too small: the payment processor takes 0.50 USD or more',
        error: 'Conflict',
        code: 'amount_too_small',
      },
    ])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key })).body).toMatchObject({
      status: 'OPEN',
      totals: { amountDue: shop.money(left) },
    })
    const { data } = ok(await shop.get('/giftcard')).body
    expect(data.find(({ id }: { id: string }) => id === card).balance).toEqual(shop.money(10_500 - left))
  }
  expect(ok(await shop.get('/v2/orders')).body.total).toBe(0)
  expect((await begin(50)).answer.status).toBe(201)
  // Nothing to pay needs no processor.
  const { code } = await shop.giftCard(10_500)
  const cartId = await shop.cart({ shippingAddress: address })
  ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId } }))
  expect(ok(await shop.checkout(cartId, { method: 'card' }), 201).body.order.status).toBe('CONFIRMED')
  expect(violationsAtRest(await booksOf(app)).filter((text) => !/PENDING|waits/.test(text))).toEqual([])
})

test('where another processor takes the amount, it does: in TEST the sandbox, for a checkout that names none', async () => {
  await using shop = await sellingThrough('stripe')
  const { code } = await shop.giftCard(10_470)
  const cartId = await shop.cart({ shippingAddress: address })
  ok(await shop.app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
  const { order, payment } = ok(await shop.checkout(cartId), 201).body
  expect([order.status, payment.processor]).toEqual(['CONFIRMED', 'sandbox'])
})

test('every minimum is an amount that Stripe can say', () => {
  for (const [currency, amount] of Object.entries(stripeMinimums))
    expect([currency, stripeSays({ amount, currency })]).toEqual([currency, true])
})
