/** The current price of a cart, and its differences from the shown price. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Sellable } from '../../../../src/modules/catalog/products/domain.ts'
import { type CartItem, type CartSnapshot, listChanges, listSpentCards, priced } from '../../../../src/modules/selling/cart/pricing.ts'
import { cartOf, refreshPrices, snapshotOf } from '../../../../src/modules/selling/cart/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { cartWith, home, storeIn } from '../../../support/carts.ts'
import { usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function takeSnapshot(app: TestApp, store: Awaited<ReturnType<typeof storeIn>>, id: string): Promise<CartSnapshot> {
  const principal = { kind: 'key', id: 'key_1', scopes: ['storefront'], shop: store.shop } as const
  return snapshotOf(app.deps, await cartOf(app.deps, { shop: store.shop, principal }, id))
}

async function openShopWithCart(app: TestApp) {
  const store = await storeIn(app)
  await store.taxes({ country: 'US', rateBps: 825 })
  await store.ships({ code: 'post', title: 'Post', price: usd(500) })
  const shirt = await store.add({
    title: 'Shirt',
    options: [{ name: 'Size', values: ['S', 'M'] }],
    variants: [
      { optionValues: ['S'], sku: 'S-1', price: usd(1_000), onHand: 5 },
      { optionValues: ['M'], price: usd(2_000) },
    ],
  })
  const { id } = await cartWith(store, 333)
  const [small = '', medium = ''] = shirt.variants.map((variant) => variant.id)
  await store.guest.add(id, small, 2)
  await store.guest.add(id, medium)
  const { code } = await store.giftCard(1_500)
  await store.guest.apply(code, id)
  await store.guest.change(id, { email: 'ada@example.com', shippingAddress: home, shippingMethod: 'post' })
  return { store, id, shirt, small, medium }
}

describe('the current price of a cart', () => {
  test('prices an unchanged cart as it was shown, with the tax of each line and the amount of each gift card', async () => {
    await using app = await testApp()
    const { store, id, small, medium } = await openShopWithCart(app)
    const cartSnapshot = await takeSnapshot(app, store, id)
    const now = app.clock.now()
    const { lines, shipping, totals, draws } = priced(cartSnapshot, now)
    expect(listChanges(cartSnapshot, now)).toEqual([])
    expect(
      lines.map(({ variantId, unitPrice, total, taxRateBps, taxInclusive, taxAmount }) => [
        variantId === small ? 'S' : variantId === medium ? 'M' : 'Lamp',
        [unitPrice, total, taxRateBps, taxInclusive, taxAmount],
      ]),
    ).toEqual([
      ['Lamp', [333, 333, 825, false, 27]],
      ['S', [1_000, 2_000, 825, false, 165]],
      ['M', [2_000, 2_000, 825, false, 165]],
    ])
    expect(shipping).toEqual({ code: 'post', title: 'Post', price: usd(500) })
    expect(totals).toEqual({
      subtotal: 4_333,
      discount: 0,
      shipping: 500,
      tax: 357,
      taxIncluded: 0,
      shippingTax: 0,
      giftCards: 1_500,
      total: 5_190,
      amountDue: 3_690,
    })
    expect(draws).toMatchObject([{ amount: 1_500 }])
    expect(cartSnapshot.items.map(({ sellable }) => sellable?.product.title)).toEqual(['Lamp', 'Shirt', 'Shirt'])
    const shownTotals = (await store.guest.cart(id)).body.totals
    expect(Object.fromEntries(Object.entries(shownTotals).map(([name, money]) => [name, (money as { amount: number }).amount]))).toEqual(
      totals,
    )
  })

  test('prices a cart with current prices, and lists every difference from what was shown until a refresh', async () => {
    await using app = await testApp()
    const { store, id, shirt, small } = await openShopWithCart(app)
    const lamp = (await store.guest.cart(id)).body.lines[0]
    await store.patch(`/product-v2/${lamp.productId}`, { status: 'DRAFT' })
    await store.patch(`/product-v2/${shirt.id}`, { variants: [{ id: small, price: usd(1_100) }] })
    await store.count(shirt.id, small, { counted: 1 })
    await store.ships()
    const cartSnapshot = await takeSnapshot(app, store, id)
    const now = app.clock.now()
    expect(listChanges(cartSnapshot, now)).toEqual([
      'Lamp is no longer sold',
      'The price of Shirt (S) has changed',
      'Only 1 of Shirt (S) is left',
      'The shipping method is no longer available',
    ])
    expect(priced(cartSnapshot, now).totals).toMatchObject({ subtotal: 333 + 2_200 + 2_000, shipping: 0 })
    expect((await store.guest.cart(id)).body.totals.subtotal).toEqual(usd(4_333))
    await refreshPrices(app.deps, id, async () => undefined)
    expect(listChanges(await takeSnapshot(app, store, id), now)).toEqual(['Lamp is no longer sold', 'Only 1 of Shirt (S) is left'])
    expect((await store.guest.cart(id)).body).toMatchObject({ shippingMethod: null, totals: { subtotal: usd(4_533), shipping: usd(0) } })
    // The cart does not get the method back when the shop offers it again.
    await store.ships({ code: 'post', title: 'Post', price: usd(500) })
    expect((await store.guest.cart(id)).body.shippingMethod).toBeNull()
  })

  test('keeps the old price for a deleted variant, and reports it as no longer sold', async () => {
    await using app = await testApp()
    const { store, id, shirt, small } = await openShopWithCart(app)
    await store.delete(`/product-v2/${shirt.id}/variants/${small}`)
    const cartSnapshot = await takeSnapshot(app, store, id)
    expect(listChanges(cartSnapshot, app.clock.now())).toEqual(['A product of the cart is no longer sold'])
    expect(cartSnapshot.items.map(({ sellable }) => sellable === undefined)).toEqual([false, true, false])
    expect(priced(cartSnapshot, app.clock.now()).totals.subtotal).toBe(4_333)
  })

  test('counts only usable gift cards, reports unusable ones, and removes them at a refresh', async () => {
    await using app = await testApp()
    const { store, id } = await openShopWithCart(app)
    const [card] = (await store.guest.cart(id)).body.giftCards
    await store.patch(`/giftcard/${card.id}`, { status: 'DISABLED' })
    expect(priced(await takeSnapshot(app, store, id), app.clock.now())).toMatchObject({
      draws: [],
      totals: { giftCards: 0, amountDue: 5_190 },
    })
    expect((await store.guest.cart(id)).body.giftCards).toEqual([{ ...card, amount: usd(0) }])
    expect(listChanges(await takeSnapshot(app, store, id), app.clock.now())).toEqual([
      `The gift card that ends in ${card.last4} can no longer be used`,
    ])
    await refreshPrices(app.deps, id, async () => undefined)
    expect((await store.guest.cart(id)).body.giftCards).toEqual([])
  })
})

describe('snapshots of a cart', () => {
  test('lists what changed since the shopper saw the cart, by line and for the totals', async () => {
    await using app = await testApp()
    const { store, id } = await openShopWithCart(app)
    await store.guest.cart(id)
    const cartSnapshot = await takeSnapshot(app, store, id)
    const now = app.clock.now()
    const changesWith = (change: Partial<CartSnapshot>) => listChanges({ ...cartSnapshot, ...change }, now)
    const { shownTotal, shownDue } = cartSnapshot.cart
    expect(changesWith({})).toEqual([])
    expect(changesWith({ cart: { ...cartSnapshot.cart, shownTotal: (shownTotal ?? 0) + 1 } })).toEqual([
      'Taxes, shipping or discounts have changed, so the total changed',
    ])
    expect(changesWith({ cart: { ...cartSnapshot.cart, shownDue: (shownDue ?? 0) + 1 } })).toEqual([
      'The gift cards pay a different part of the total',
    ])
    const [lamp, small, medium] = cartSnapshot.items as [CartItem, CartItem & { sellable: Sellable }, CartItem]
    const withSmallSellable = (sellable: Sellable) => ({ items: [lamp, { ...small, sellable }, medium] })
    const { variant, product } = small.sellable
    expect(changesWith(withSmallSellable({ variant: { ...variant, onHand: 2, reserved: 0 }, product }))).toEqual([])
    expect(changesWith(withSmallSellable({ variant: { ...variant, onHand: 1, reserved: 0 }, product }))).toEqual([
      'Only 1 of Shirt (S) is left',
    ])
    expect(changesWith(withSmallSellable({ variant, product: { ...product, currency: 'EUR' } }))).toEqual(['Shirt (S) is no longer sold'])
  })

  test('prices a snapshot from its own tax data and its shipping method, also without an address', async () => {
    await using app = await testApp()
    const { store, id } = await openShopWithCart(app)
    const cartSnapshot = await takeSnapshot(app, store, id)
    const now = app.clock.now()
    const pricedWith = (change: Partial<CartSnapshot>) => priced({ ...cartSnapshot, ...change }, now)
    const [lamp, small, medium] = cartSnapshot.items as [CartItem, CartItem & { sellable: Sellable }, CartItem]
    const taxes = (sellable: Sellable | undefined) =>
      pricedWith({ items: [lamp, { ...small, sellable }, medium] }).lines.map((line) => line.taxAmount)
    const { variant, product } = small.sellable
    expect(taxes({ variant: { ...variant, taxable: false }, product })).toEqual([27, 0, 165])
    expect(taxes(undefined)).toEqual([27, 165, 165])
    expect(pricedWith({ cart: { ...cartSnapshot.cart, shippingAddress: null } }).shipping).toMatchObject({ code: 'post' })
  })

  test("draws from a customer's gift card only in that customer's cart", async () => {
    await using app = await testApp()
    const { store, id } = await openShopWithCart(app)
    const cartSnapshot = await takeSnapshot(app, store, id)
    const now = app.clock.now()
    const giftCards = cartSnapshot.giftCards.map((card) => ({ ...card, customerId: 'cus_1' }))
    const snapshotFor = (customerId: string | null): CartSnapshot => ({
      ...cartSnapshot,
      giftCards,
      cart: { ...cartSnapshot.cart, customerId },
    })
    expect(
      [snapshotFor(null), snapshotFor('cus_2'), snapshotFor('cus_1')].map(
        (changedSnapshot) => priced(changedSnapshot, now).totals.giftCards,
      ),
    ).toEqual([0, 0, 1_500])
    expect(
      [snapshotFor(null), snapshotFor('cus_2'), snapshotFor('cus_1')].map((changedSnapshot) => listSpentCards(changedSnapshot, now).length),
    ).toEqual([1, 1, 0])
  })
})

test('does not refresh the prices of an expired cart', async () => {
  await using app = await testApp()
  const { store, id, shirt, medium } = await openShopWithCart(app)
  await store.patch(`/product-v2/${shirt.id}`, { variants: shirt.variants.map((variant) => ({ id: variant.id, price: usd(9_900) })) })
  app.clock.advance(31 * 24 * 60 * 60 * 1000)
  await refreshPrices(app.deps, id, async () => undefined)
  await refreshPrices(app.deps, 'cart_00000000000000000000000000', async () => undefined)
  const { body } = await store.guest.cart(id)
  expect(body.lines.find((line: { variantId: string }) => line.variantId === medium).unitPrice).toEqual(usd(2_000))
})
