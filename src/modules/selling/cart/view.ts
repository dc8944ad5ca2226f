import { moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { availableCount } from '../../catalog/products/domain.ts'
import { orderDiscount, orderDiscountView } from '../discount/domain.ts'
import { type Cart, type Notice, type SoldCart, statusAt } from './domain.ts'
import {
  type CartItem,
  type CartSnapshot,
  codedOffer,
  discountNotices,
  isCardItem,
  isStillSellable,
  noticesIn,
  pricedAsSeen,
} from './pricing.ts'

/** Returns a cart as the API shows it. */
export function cartView(snapshot: CartSnapshot, now: number): CartView {
  const sum = pricedAsSeen(snapshot, now)
  const { lines, shipping, totals, draws, discounts } = sum
  const cards = snapshot.giftCards.map(({ id, last4 }) => {
    const draw = draws.find(({ giftCardId }) => giftCardId === id)
    return { id, last4, amount: draw?.amount ?? 0 }
  })
  const ofLines = new Map(discounts.length === 0 ? [] : lines.map(({ id, discount }) => [id, discount]))
  const sold = { totals, shippingMethod: shipping?.code ?? null, cards, discounts: discounts.map(orderDiscount), ofLines }
  return soldView(snapshot, sold, now, discountNotices(snapshot, sum))
}

/** Returns a converted cart with the amounts of its order. */
export function soldView(
  snapshot: CartSnapshot,
  { totals, shippingMethod, cards, discounts, ofLines }: SoldCart,
  now: number,
  ofDiscounts: readonly Notice[] = [],
) {
  const { cart, items } = snapshot
  const { currency } = cart
  const status = statusAt(cart, now)
  const isOpen = status === 'OPEN'
  return {
    ...pick(cart, 'id', 'shopId', 'customerId', 'currency'),
    draftId: cart.draft?.id ?? null,
    lines: items.map((item) => lineView(item, cart, ofLines.get(item.line.id) ?? 0, now)),
    giftCards: cards.map(({ amount, ...card }) => ({ ...card, amount: { amount, currency } })),
    discountCode: codedOffer(snapshot)?.code ?? cart.discountCode,
    discounts: discounts.map((discount) => orderDiscountView(discount, currency)),
    // A cart that is over shows no personal data.
    email: isOpen ? cart.email : null,
    acceptsMarketing: cart.acceptsMarketing,
    shippingAddress: isOpen ? cart.shippingAddress : null,
    billingAddress: isOpen ? cart.billingAddress : null,
    shippingMethod,
    giftCardRecipient: isOpen ? cart.giftCardRecipient : null,
    affiliateCode: cart.affiliateCode,
    totals: moneyOf(
      { ...totals, currency },
      'subtotal',
      'discount',
      'shipping',
      'tax',
      'taxIncluded',
      'shippingTax',
      'giftCards',
      'total',
      'amountDue',
    ),
    notices: isOpen ? [...noticesIn(snapshot, totals), ...ofDiscounts] : [],
    status,
    ...isoTimes(pick(cart, 'expiresAt', 'createdAt', 'updatedAt')),
  }
}
export type CartView = ReturnType<typeof soldView>

function lineView(item: CartItem, cart: Cart, discount: number, now: number) {
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
    giftCard: isCardItem(item),
    ...moneyOf(
      { unitPrice: line.unitPrice, total: line.unitPrice * line.quantity, discount, currency: cart.currency },
      'unitPrice',
      'total',
      'discount',
    ),
    available: isStillSellable(item, cart, now) && availableCount(item.sellable.variant) >= line.quantity,
  }
}

/** Returns the part of a price that a cart stores as shown. */
export const shownBy = ({
  totals: { total, amountDue },
  discounts,
}: CartView): Pick<Cart, 'shownTotal' | 'shownDue' | 'shownDiscounts'> => ({
  shownDiscounts: shownDiscountsText(discounts),
  shownTotal: total.amount,
  shownDue: amountDue.amount,
})

/** Returns shown discounts as a cart stores them. */
export const shownDiscountsText = (discounts: readonly { readonly id: string }[]): string => discounts.map(({ id }) => id).join()
