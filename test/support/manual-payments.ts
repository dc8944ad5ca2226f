/** Orders that the shopper pays outside souk. */
import { ok, type Selling } from './selling.ts'

export const bankTransfer = {
  code: 'transfer',
  title: 'Bank transfer',
  instructions: 'IBAN DE02 1203 0000\n\n<b>Reference</b>: the order number',
  expiresAfterDays: 7,
}

/** Creates an order that awaits a bank transfer. Returns the ids of the order and its cart. */
export async function manualOrderOf(
  { app, token, cart, checkout }: Selling,
  options: Parameters<Selling['cart']>[0] = {},
): Promise<{ orderId: string; cartId: string }> {
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token, body: { manual: [bankTransfer] } }))
  const cartId = await cart(options)
  const { order } = ok(await checkout(cartId, { method: 'manual', manualCode: bankTransfer.code }, undefined, options.token)).body
  return { orderId: order.id, cartId }
}
