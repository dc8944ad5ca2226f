/** Totals of carts, sessions and orders, in the order that the protocol requires. */

export type Total = { type: string; amount: number }

/** Amounts in minor units, none below 0. */
export type Amounts = {
  readonly subtotal: number
  /** Discounts of lines. */
  readonly itemsDiscount: number
  /** What a discount takes off shipping. */
  readonly freeShipping: number
  /** What is paid for shipping. */
  readonly shipping: number
  /** Tax added to prices. */
  readonly tax: number
  readonly total: number
}

/** Returns the totals, whose last is the sum of the others. @param isShippingChosen shows a price of 0 too */
export function totalsOf({ subtotal, itemsDiscount, freeShipping, shipping, tax, total }: Amounts, isShippingChosen: boolean): Total[] {
  // Before the discount that makes it free.
  const fulfillment = shipping + freeShipping
  return [
    { type: 'subtotal', amount: subtotal },
    ...(itemsDiscount > 0 ? [{ type: 'items_discount', amount: -itemsDiscount }] : []),
    ...(freeShipping > 0 ? [{ type: 'discount', amount: -freeShipping }] : []),
    ...(isShippingChosen || fulfillment > 0 ? [{ type: 'fulfillment', amount: fulfillment }] : []),
    ...(tax > 0 ? [{ type: 'tax', amount: tax }] : []),
    { type: 'total', amount: total },
  ]
}

/** Returns the totals of a line. @param subtotal before the line's share of discounts */
export const lineTotalsOf = (subtotal: number, discount: number): Total[] => [
  { type: 'subtotal', amount: subtotal },
  ...(discount > 0 ? [{ type: 'items_discount', amount: -discount }] : []),
  { type: 'total', amount: subtotal - discount },
]
