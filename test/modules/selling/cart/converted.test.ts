/** A converted cart shows the amounts of its order, even if prices change later. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Json, testApp } from '../../../support/app.ts'
import { address, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const method = (shop: Selling, amount: number) => ({ code: 'post', title: 'Post', price: shop.money(amount) })

/** Creates a cart with taxes, shipping and a gift card, and returns its last view. */
async function createCart(shop: Selling): Promise<Json> {
  ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', region: 'Maine', rateBps: 550 }] }))
  ok(await shop.put('/shops/v2/shipping-methods', { data: [method(shop, 500)] }))
  const { code } = await shop.giftCard(300)
  const cartId = await shop.cart({ quantity: 2, shippingAddress: address, billingAddress: address, shippingMethod: 'post' })
  return ok(await shop.app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } })).body
}

/** Changes tax rates, shipping methods and the gift card, so that the cart would get other totals. */
async function changePricing(shop: Selling): Promise<void> {
  ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'CA', rateBps: 2_000 }] }))
  ok(await shop.put('/shops/v2/shipping-methods', { data: [] }))
  const [card] = ok(await shop.get('/giftcard')).body.data
  ok(await shop.app.call('PATCH', `/giftcard/${card.id}`, { key: shop.secretKey, body: { status: 'DISABLED' } }))
}

const person = { email: null, shippingAddress: null, billingAddress: null }

for (const [state, paymentToken, status] of [
  ['was bought', 'tok_success', 'CONFIRMED'],
  ['waits for its payment after a decline', 'tok_decline', 'PENDING_PAYMENT'],
] as const)
  test(`shows the order's totals, method and gift cards, and no personal data, in a cart that ${state}`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const shown = await createCart(shop)
    expect(shown).toMatchObject({ totals: { tax: shop.usd(110), shipping: shop.usd(500), giftCards: shop.usd(300) }, notices: [] })
    const { order } = ok(await shop.checkout(shown.id, { paymentToken })).body
    expect(order).toMatchObject({ status, total: shown.totals.total, amountDue: shown.totals.amountDue })
    const read = async () => ok(await app.call('GET', `/cart/${shown.id}`, { key: shop.publishableKey })).body
    const { expiresAt: _, updatedAt: __, lines, ...after } = await read()
    const { expiresAt: ___, updatedAt: ____, lines: shownLines, ...before } = shown
    expect(after).toEqual({ ...before, ...person, status: 'CONVERTED' })
    const amounts = (all: Json[]) => all.map(({ unitPrice, total, quantity }) => [unitPrice, total, quantity])
    expect(amounts(lines)).toEqual(amounts(shownLines))
    await changePricing(shop)
    const { totals, giftCards, shippingMethod, notices } = await read()
    expect({ totals, giftCards, shippingMethod, notices }).toEqual({
      totals: shown.totals,
      giftCards: shown.giftCards,
      shippingMethod: 'post',
      notices: [],
    })
  })
