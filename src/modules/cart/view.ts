import { moneyOf } from '../../lib/money.ts'
import { isoTimes, pick } from '../../lib/records.ts'
import { availableCount } from '../catalog/domain.ts'
import { type Cart, statusAt } from './domain.ts'
import { type CartItem, type CartSnapshot, isStillSold, pricedAsSeen } from './pricing.ts'

/** A cart as the API answers it. */
export function cartView(snapshot: CartSnapshot, now: number) {
  const { cart, items, giftCards } = snapshot
  const { currency } = cart
  const { lines, shipping, totals, draws } = pricedAsSeen(snapshot, now)
  const status = statusAt(cart, now)
  const isOpen = status === 'OPEN'
  return {
    ...pick(cart, 'id', 'shopId', 'customerId', 'currency'),
    lines: items.map((item, at) => lineView(item, lines[at]?.total ?? 0, cart, now)),
    giftCards: giftCards.map(({ id, last4 }) => ({
      id,
      last4,
      amount: { amount: draws.find(({ giftCardId }) => giftCardId === id)?.amount ?? 0, currency },
    })),
    // Of a cart that is over, nothing is shown of the person.
    email: isOpen ? cart.email : null,
    shippingAddress: isOpen ? cart.shippingAddress : null,
    billingAddress: isOpen ? cart.billingAddress : null,
    shippingMethod: shipping?.code ?? null,
    affiliateCode: cart.affiliateCode,
    totals: moneyOf({ ...totals, currency }, 'subtotal', 'discount', 'shipping', 'tax', 'taxIncluded', 'giftCards', 'total', 'amountDue'),
    status,
    ...isoTimes(pick(cart, 'expiresAt', 'createdAt', 'updatedAt')),
  }
}
export type CartView = ReturnType<typeof cartView>

function lineView(item: CartItem, total: number, cart: Cart, now: number) {
  const { line, sellable } = item
  const images = sellable?.product.images ?? []
  const image = images.find(({ id }) => id === sellable?.variant.imageId) ?? images[0]
  return {
    id: line.id,
    variantId: line.variantId,
    productId: sellable?.product.id ?? null,
    title: sellable?.product.title ?? null,
    variantTitle: sellable?.variant.title ?? null,
    sku: sellable?.variant.sku ?? null,
    imageUrl: image?.url ?? null,
    quantity: line.quantity,
    ...moneyOf({ unitPrice: line.unitPrice, total, currency: cart.currency }, 'unitPrice', 'total'),
    available: isStillSold(item, cart, now) && availableCount(item.sellable.variant) >= line.quantity,
  }
}

/** What an answer shows of a cart's price. */
export const shownBy = ({ totals: { total, amountDue } }: CartView): Pick<Cart, 'shownTotal' | 'shownDue'> => ({
  shownTotal: total.amount,
  shownDue: amountDue.amount,
})
