import { soldCardsMax } from '../cart/domain.ts'

/** In characters. An Apple Pay token is a few kilobytes of JSON. */
export const paymentTokenMax = 16_384

/**
 * Returns whether goods can be sent to an address. Agents may send only country and province, which is enough for
 * prices.
 */
export const isWholeAddress = ({ name, line1, city }: { name: string; line1: string; city: string }): boolean =>
  [name, line1, city].every((part) => part !== '')

/** Lists what a cart lacks before it can be bought, one sentence each. */
export function missingForCheckout(
  cart: { email: string | null; shippingAddress: Parameters<typeof isWholeAddress>[0] | null; shippingMethod: string | null },
  {
    lines,
    shipsByMethod,
    isSent = shipsByMethod,
    isReached = true,
    giftCards = 0,
  }: { lines: number; shipsByMethod: boolean; isSent?: boolean; isReached?: boolean; giftCards?: number },
): string[] {
  return [
    ...(lines === 0 ? ['it is empty'] : []),
    ...(giftCards > soldCardsMax ? [`it has more than ${soldCardsMax} gift cards`] : []),
    ...(cart.email === null ? ['it has no email address'] : []),
    ...(shipsByMethod && !cart.shippingAddress ? ['it has no shipping address'] : []),
    ...(isSent && cart.shippingAddress && !isWholeAddress(cart.shippingAddress) ? ['its shipping address is incomplete'] : []),
    ...(isReached ? [] : ['no shipping method of the shop covers its content and shipping address']),
    ...(shipsByMethod && isReached && cart.shippingMethod === null ? ['it has no shipping method'] : []),
  ]
}
