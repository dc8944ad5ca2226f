/** Shoppers and their carts in a shop. */
import { NothingChanged } from '../../db/engine.ts'
import { system } from '../../src/core/command-context.ts'
import { convertCart } from '../../src/modules/selling/cart/service.ts'
import { issueGiftCard, type NewGiftCard } from '../../src/modules/selling/gift-card/service.ts'
import type { Answer, CallOptions, Json, TestApp } from './app.ts'
import { shopIn } from './catalog.ts'

export const home = { name: 'Ada Lovelace', line1: '12 Analytical Way', city: 'Springfield', countryCode: 'US' }

/** Returns the cart routes, called with a credential. */
export function shopperOf(app: TestApp, credential: CallOptions) {
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, from = '127.0.0.1'): Promise<Answer> =>
    app.call(method, path, { ...credential, headers, from, ...(body === undefined ? {} : { body }) })
  return {
    call,
    begin: (body: unknown = {}) => call('POST', '/cart', body),
    cart: (id: string) => call('GET', `/cart/${id}`),
    change: (id: string, body: unknown) => call('PATCH', `/cart/${id}`, body),
    add: (id: string, variantId: string, quantity = 1) => call('POST', `/cart/${id}/items`, { variantId, quantity }),
    changeLine: (id: string, lineId: string, quantity: number) => call('PATCH', `/cart/${id}/items/${lineId}`, { quantity }),
    removeLine: (id: string, lineId: string) => call('DELETE', `/cart/${id}/items/${lineId}`),
    apply: (code: string, cartId?: string) => call('PATCH', '/giftcard/apply', { code, ...(cartId === undefined ? {} : { cartId }) }),
    unapply: (body: { giftCardId?: string; cartId?: string } = {}) => call('PATCH', '/giftcard/remove', body),
  }
}

/** Creates a shop, with cart routes as guest, server and owner. */
export async function storeIn(app: TestApp, settings: Parameters<TestApp['merchant']>[0] = {}) {
  const shop = await shopIn(app, settings)
  const { currency } = shop.shop
  const price = (amount: number) => ({ amount, currency })
  /** Creates a product with one variant, and returns the variant's id. */
  async function variant(title: string, amount: number, more: Json = {}): Promise<string> {
    const { variants } = await shop.add({ title, variants: [{ price: price(amount), ...more }] })
    return variants[0]?.id ?? ''
  }
  return {
    ...shop,
    price,
    variant,
    guest: shopperOf(app, { key: shop.publishableKey }),
    server: shopperOf(app, { key: shop.secretKey }),
    owner: shopperOf(app, { token: shop.token }),
    giftCard: (amount = 5_000, more: Partial<NewGiftCard> = {}) =>
      issueGiftCard(app.deps, { shop: shop.shop, actor: system }, { amount: price(amount), ...more }),
    taxes: (...data: Json[]) => shop.put('/shops/v2/tax-rates', { data }),
    ships: (...data: Json[]) => shop.put('/shops/v2/shipping-methods', { data }),
  }
}

/** Creates a guest's open cart with one line. */
export async function cartWith(store: Awaited<ReturnType<typeof storeIn>>, amount = 1_000) {
  const variantId = await store.variant('Lamp', amount)
  const { body } = await store.guest.begin()
  const added = await store.guest.add(body.id, variantId)
  if (added.status !== 201) throw new Error(added.text)
  return { id: String(body.id), variantId, lineId: String(added.body.lines[0].id), cart: added.body as Json }
}

/** Converts a cart as an order does. Returns false if it is not open or has changed. */
export const tryConversion = ({ deps }: TestApp, cart: { id: string; updatedAt: number }): Promise<boolean> =>
  deps.db
    .write((tx) => convertCart(tx, deps, cart))
    .then(
      () => true,
      (error: unknown) => {
        if (error instanceof NothingChanged) return false
        throw error
      },
    )
