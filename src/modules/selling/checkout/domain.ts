/** In characters. An Apple Pay token is a few kilobytes of JSON. */
export const paymentTokenMax = 16_384

/** Lists what a cart lacks before it can be bought, one sentence each. */
export function missingForCheckout(
  cart: { email: string | null; shippingAddress: unknown; shippingMethod: string | null },
  { lines, shipsByMethod, isReached = true }: { lines: number; shipsByMethod: boolean; isReached?: boolean },
): string[] {
  return [
    ...(lines === 0 ? ['it is empty'] : []),
    ...(cart.email === null ? ['it has no e-mail address'] : []),
    ...(shipsByMethod && !cart.shippingAddress ? ['it has no shipping address'] : []),
    ...(isReached ? [] : ['no shipping method of the shop goes to its shipping address']),
    ...(shipsByMethod && isReached && cart.shippingMethod === null ? ['it has no shipping method'] : []),
  ]
}
