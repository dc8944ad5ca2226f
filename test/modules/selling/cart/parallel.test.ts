/** Parallel changes of one cart and of several carts. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { NothingChanged } from '../../../../db/engine.ts'
import { changeCart } from '../../../../src/modules/selling/cart/change-cart.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { cartWith, storeIn, tryConversion } from '../../../support/carts.ts'
import { usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('applies every parallel change of one cart exactly once', async () => {
  await using app = await testApp()
  const store = await storeIn(app)
  const { id, variantId, lineId } = await cartWith(store)
  const { code } = await store.giftCard(100)
  const others = await Promise.all([1, 2, 3].map((nth) => store.variant(`Lamp ${nth}`, 10)))
  const answers = await Promise.all([
    ...Array.from({ length: 4 }, () => store.guest.add(id, variantId)),
    ...others.map((other) => store.guest.add(id, other)),
    store.guest.change(id, { email: 'ada@example.com' }),
    store.guest.apply(code, id),
  ])
  expect(answers.map(({ status }) => status)).toEqual([...Array(7).fill(201), 200, 200])
  const { body } = await store.guest.cart(id)
  expect(body.lines.find((line: Json) => line.id === lineId).quantity).toBe(5)
  expect(body).toMatchObject({ email: 'ada@example.com', giftCards: [{ amount: usd(100) }], totals: { total: usd(5_030) } })
  expect(body.lines.length).toBe(4)
})

test('adds a variant as one line when several requests add it at the same time', async () => {
  await using app = await testApp()
  const store = await storeIn(app)
  const variantId = await store.variant('Lamp', 10)
  const { body } = await store.guest.begin()
  await Promise.all(Array.from({ length: 6 }, () => store.guest.add(body.id, variantId)))
  expect((await store.guest.cart(body.id)).body.lines).toMatchObject([{ quantity: 6 }])
})

test('accepts parallel changes of many carts', async () => {
  await using app = await testApp()
  const store = await storeIn(app)
  const variantId = await store.variant('Lamp', 10)
  const carts = await Promise.all(Array.from({ length: 24 }, () => store.guest.begin()))
  const answers = await Promise.all(carts.map(({ body }) => store.guest.add(body.id, variantId, 2)))
  expect(answers.map(({ status, body }) => [status, body.lines.length])).toEqual(Array(24).fill([201, 1]))
})

test('either applies a change before the conversion of the cart or rejects it afterwards', async () => {
  await using app = await testApp()
  const store = await storeIn(app)
  const { id, variantId, cart } = await cartWith(store)
  const [wasConverted, ...answers] = await Promise.all([
    tryConversion(app, { id, updatedAt: Date.parse(cart.updatedAt) }),
    ...Array.from({ length: 4 }, () => store.guest.add(id, variantId)),
  ])
  const { body } = await store.guest.cart(id)
  // In either order, an order has the lines that the shopper saw.
  if (wasConverted) {
    expect(body.status).toBe('CONVERTED')
    expect(body.lines).toMatchObject([{ quantity: 1 }])
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(409))
  } else {
    expect(body.status).toBe('OPEN')
    expect(body.lines).toMatchObject([{ quantity: 5 }])
  }
})

test('gives up a change of a cart that always conflicts with UNAVAILABLE, and asks for a retry', async () => {
  await using app = await testApp()
  const store = await storeIn(app)
  const { id, cart } = await cartWith(store)
  const principal = { kind: 'key', id: 'key_1', scopes: ['storefront'], shop: store.shop } as const
  const saveSurely = async () => {
    throw new NothingChanged()
  }
  const busy = { ...app.deps, cartStore: { ...app.deps.cartStore, saveSurely } }
  const change = changeCart(busy, { shop: store.shop, principal }, id, { email: 'ada@example.com' })
  expect(await change.catch((error: unknown) => error)).toMatchObject({ kind: 'UNAVAILABLE', retryAfterSeconds: 1 })
  expect((await store.guest.cart(id)).body).toEqual(cart)
})
