/** A shop with a product, its carts and orders, and its customers. */
import { randomUUID } from 'node:crypto'
import type { Answer, TestApp } from './app.ts'
import { shopIn, usd } from './catalog.ts'

export const address = {
  name: 'Noor Haddad',
  line1: '1 Quay Street',
  city: 'Portland',
  province: 'ME',
  postalCode: '04101',
  countryCode: 'US',
}

/**
 * Returns a response if its status is one of these, by default 200 or 201.
 * @throws Error with the response otherwise
 */
export function ok(answer: Answer, ...statuses: number[]): Answer {
  if (!(statuses.length > 0 ? statuses : [200, 201]).includes(answer.status)) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

export type Selling = Awaited<ReturnType<typeof sellingIn>>

/** Creates a shop with one product, by default of price 10.00 and a stock of 10. */
export async function sellingIn(
  app: TestApp,
  { onHand = 10, price = 1_000, ...settings }: Parameters<TestApp['merchant']>[0] & { onHand?: number; price?: number } = {},
) {
  const shop = await shopIn(app, settings)
  const { currency } = shop.shop
  const mug = await shop.add({ title: 'Mug', variants: [{ price: { amount: price, currency }, onHand }] })
  const variantId = mug.variants[0]?.id ?? ''
  const key = shop.publishableKey

  /** Creates a cart of a guest, or of the customer with this token. */
  async function cart({
    quantity = 1,
    token,
    email = 'guest@example.com',
    variants = [variantId],
    ...body
  }: Record<string, unknown> & { quantity?: number; token?: string; variants?: string[] } = {}): Promise<string> {
    const credential = token === undefined ? { key } : { token }
    const created = ok(await app.call('POST', '/cart', { ...credential, body: { email, ...body } }))
    const id: string = created.body.id
    for (const one of variants) ok(await app.call('POST', `/cart/${id}/items`, { ...credential, body: { variantId: one, quantity } }))
    return id
  }
  const checkout = (
    cartId: string,
    body: Record<string, unknown> = {},
    idempotencyKey: string = randomUUID(),
    token?: string,
  ): Promise<Answer> =>
    app.call('POST', `/cart/${cartId}/checkout`, {
      ...(token === undefined ? { key } : { token }),
      body: { method: 'card', ...body },
      headers: { 'idempotency-key': idempotencyKey },
    })
  const order = async (id: string): Promise<Answer['body']> => ok(await shop.get(`/v2/orders/${id}`)).body
  const refund = (id: string, body: Record<string, unknown> = { all: true }, idempotencyKey: string = randomUUID()): Promise<Answer> =>
    shop.post(`/v2/orders/${id}/refunds`, body, { 'idempotency-key': idempotencyKey })

  return {
    ...shop,
    app,
    productId: mug.id,
    variantId,
    cart,
    checkout,
    order,
    refund,
    /** Places and pays an order. Returns it. */
    async placeOrder(options: Parameters<typeof cart>[0] = {}): Promise<Answer['body']> {
      return ok(await checkout(await cart(options), {}, undefined, options.token)).body.order
    },
    /** Issues a gift card. Returns its code and id. */
    async giftCard(amount: number, more: Record<string, unknown> = {}): Promise<{ id: string; code: string }> {
      return ok(await shop.post('/giftcard', { amount: { amount, currency }, ...more })).body
    },
    async stock(): Promise<{ onHand: number; reserved: number }> {
      const { onHand, reserved } = ok(await shop.get(`/product-v2/${mug.id}`)).body.variants[0]
      return { onHand, reserved }
    },
    money: (amount: number) => ({ amount, currency }),
    usd,
  }
}

/** Places an order and fulfils it in one shipment. `path` is the path of the fulfilment. */
export async function fulfilledOrderOf(shop: Selling): Promise<{ orderId: string; fulfilmentId: string; path: string }> {
  const { id: orderId } = await shop.placeOrder()
  const { id: fulfilmentId } = ok(await shop.post(`/v2/orders/${orderId}/fulfilments`, {}), 201).body
  return { orderId, fulfilmentId, path: `/v2/orders/${orderId}/fulfilments/${fulfilmentId}` }
}

/** Creates a logged-in customer of a shop. */
export async function customerOf(app: TestApp, shopName: string, email = 'shopper@example.com'): Promise<{ id: string; token: string }> {
  const login = { shopName, email, password: 'a password of theirs' }
  const { body } = ok(await app.call('POST', '/customer/signup', { body: login }))
  const session = ok(await app.call('POST', '/customer/login', { body: login }))
  return { id: body.id, token: session.body.data.accessToken }
}
