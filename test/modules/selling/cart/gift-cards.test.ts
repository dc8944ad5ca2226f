import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Json, testApp } from '../../../support/app.ts'
import { cartWith, shopperOf, storeIn } from '../../../support/carts.ts'
import { usd } from '../../../support/catalog.ts'
import { customerIn } from '../../../support/customers.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const day = 24 * 60 * 60 * 1000
const second = 1_000
const unknownCode = '0000-0000-0000-0000'
const notFound = { statusCode: 404, message: 'No such gift card', error: 'Not Found', code: 'not_found' }

describe('applying a gift card to a cart', () => {
  test('pays as much of a cart as the gift card covers, without its code or balance in the response', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id } = await cartWith(store)
    const { code, id: cardId, last4 } = await store.giftCard(77_777)
    const { status, body, text } = await store.guest.apply(code.toLowerCase(), id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      giftCards: [{ id: cardId, last4, amount: usd(1_000) }],
      totals: { total: usd(1_000), giftCards: usd(1_000), amountDue: usd(0) },
    })
    expect(text).not.toContain(code)
    expect(text).not.toMatch(/\b77777\b/)
    expect((await store.guest.cart(id)).body).toEqual(body)
    const repeated = await store.guest.apply(code, id)
    expect([repeated.status, repeated.body.giftCards]).toEqual([200, body.giftCards])
  })

  test('draws first from the gift card that expires first, and keeps cards with nothing to pay on the cart', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id, lineId } = await cartWith(store)
    const unlimited = await store.giftCard(600)
    const soon = await store.giftCard(300, { expiresAt: app.clock.now() + day })
    const later = await store.giftCard(300, { expiresAt: app.clock.now() + 9 * day })
    for (const { code } of [unlimited, soon, later]) await store.guest.apply(code, id)
    const amounts = async () => {
      const { giftCards, totals } = (await store.guest.cart(id)).body
      return [
        [unlimited, soon, later].map((card) => giftCards.find((one: Json) => one.id === card.id)?.amount.amount),
        totals.amountDue.amount,
      ]
    }
    expect(await amounts()).toEqual([[400, 300, 300], 0])
    await store.guest.changeLine(id, lineId, 2)
    expect(await amounts()).toEqual([[600, 300, 300], 800])
    app.clock.advance(day)
    expect(await amounts()).toEqual([[600, 0, 300], 1_100])
  })

  test("applies a gift card to the customer's latest open cart if no cart is named", async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { code } = await store.giftCard()
    const ada = await customerIn(app, store.shop)
    const shopper = shopperOf(app, { token: ada.token })
    expect((await shopper.apply(code)).body.message).toBe('No such cart')
    expect((await shopper.unapply()).status).toBe(404)
    const first = await shopper.begin()
    app.clock.advance(second)
    const latest = await shopper.begin()
    await store.guest.begin()
    expect((await shopper.apply(code)).body).toMatchObject({ id: latest.body.id, giftCards: [{ last4: code.slice(-4) }] })
    expect((await shopper.apply(code, first.body.id)).body.id).toBe(first.body.id)
    // The body is optional.
    const removed = await app.call('PATCH', '/giftcard/remove', { token: ada.token })
    expect([removed.status, removed.body.id, removed.body.giftCards]).toEqual([200, latest.body.id, []])
    app.clock.advance(30 * day)
    const { token } = await customerSession(app, store.shop, ada)
    expect((await shopperOf(app, { token }).apply(code)).status).toBe(404)
  })

  test('requires the cart id from keys and merchants that apply a gift card', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { code } = await store.giftCard()
    for (const shopper of [store.guest, store.server, store.owner]) {
      const answers = [await shopper.apply(code), await shopper.unapply()]
      expect(answers.map(({ status, body }) => [status, body.field])).toEqual(Array(2).fill([400, 'cartId']))
    }
    expect((await store.guest.call('PATCH', '/giftcard/apply', { cartId: 'cart_1' })).status).toBe(400)
  })

  test('rejects every unusable gift card for a cart with the same 404', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const other = await storeIn(app)
    const eve = await customerIn(app, store.shop)
    const cards = [
      await store.giftCard(100, { expiresAt: app.clock.now() + 1 }),
      await store.giftCard(100, { customerId: eve.id }),
      await other.giftCard(),
      await store.giftCard(100),
    ]
    await store.patch(`/giftcard/${cards[3]?.id}`, { status: 'DISABLED' })
    app.clock.advance(1)
    const { id } = await cartWith(store)
    for (const code of [unknownCode, ...cards.map((card) => card.code)]) {
      const answer = await store.guest.apply(code, id)
      expect([answer.status, answer.body]).toEqual([404, notFound])
    }
    // A customer who takes over the cart may use their own card.
    const mine = await shopperOf(app, { token: eve.token }).apply(cards[1]?.code ?? '', id)
    expect(mine.body).toMatchObject({ customerId: eve.id, giftCards: [{ last4: cards[1]?.last4, amount: usd(100) }] })
    expect((await store.server.apply(cards[1]?.code ?? '', id)).status).toBe(200)
  })

  test('limits failed gift card codes per cart and per network address, except with a secret key', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const first = await cartWith(store)
    const { code } = await store.giftCard()
    for (let nth = 0; nth < 10; nth++) expect((await store.guest.apply(unknownCode, first.id)).status).toBe(404)
    const refused = await store.guest.apply(code, first.id)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    for (let cart = 0; cart < 2; cart++) {
      const { body } = await store.guest.begin()
      for (let nth = 0; nth < 10; nth++) expect((await store.guest.apply(unknownCode, body.id)).status).toBe(404)
    }
    const { body: fresh } = await store.guest.begin()
    expect((await store.guest.apply(code, fresh.id)).status).toBe(429)
    expect((await store.owner.apply(code, fresh.id)).status).toBe(429)
    expect((await store.server.apply(code, fresh.id)).status).toBe(200)
    expect((await store.guest.call('PATCH', '/giftcard/apply', { code, cartId: fresh.id }, {}, '198.51.100.7')).status).toBe(200)
    app.clock.advance(60 * second)
    expect((await store.guest.apply(code, first.id)).status).toBe(200)
  })

  test('accepts at most ten gift cards on a cart', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id } = await cartWith(store)
    const cards = await Promise.all(Array.from({ length: 11 }, () => store.giftCard(10)))
    for (const { code } of cards.slice(0, 10)) expect((await store.guest.apply(code, id)).status).toBe(200)
    const refused = await store.guest.apply(cards[10]?.code ?? '', id)
    expect([refused.status, refused.body.message]).toEqual([409, 'A cart can have at most 10 gift cards'])
    expect((await store.guest.apply(cards[3]?.code ?? '', id)).body.totals.giftCards).toEqual(usd(100))
  })
})

describe('removing a gift card from a cart', () => {
  test('removes one gift card, or all if none is named, and answers 404 for one that is not on the cart', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id } = await cartWith(store)
    const cards = [await store.giftCard(100), await store.giftCard(200), await store.giftCard(300)]
    for (const { code } of cards) await store.guest.apply(code, id)
    const removed = await store.guest.unapply({ cartId: id, giftCardId: cards[1]?.id ?? '' })
    expect([removed.status, removed.body.totals]).toMatchObject([200, { giftCards: usd(400), amountDue: usd(600) }])
    const refused = await store.guest.unapply({ cartId: id, giftCardId: cards[1]?.id ?? '' })
    expect([refused.status, refused.body.message]).toEqual([404, 'No such gift card on the cart'])
    const all = await store.guest.unapply({ cartId: id })
    expect([all.status, all.body.giftCards, all.body.totals.giftCards]).toEqual([200, [], usd(0)])
    expect((await store.guest.unapply({ cartId: id })).status).toBe(200)
  })
})

/** Logs a customer in again, because a token expires after an hour and the clock has advanced by days. */
async function customerSession(
  app: Awaited<ReturnType<typeof testApp>>,
  shop: { name: string },
  credentials: { email: string; password: string },
) {
  const { body } = await app.call('POST', '/customer/login', {
    body: { shopName: shop.name, email: credentials.email, password: credentials.password },
  })
  return { token: String(body.data.accessToken) }
}
