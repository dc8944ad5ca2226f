import { isoTimes, pick } from '../../../lib/objects.ts'
import type { Cart } from '../cart/domain.ts'
import type { CartView } from '../cart/index.ts'
import type { Order } from '../order/domain.ts'
import type { Draft, DraftStatus } from './domain.ts'

/** A draft with its cart and order. */
export type LoadedDraft = {
  readonly draft: Draft
  readonly cart: Cart
  readonly view: CartView
  /** The last order of its cart. */
  readonly order: Order | undefined
  readonly status: DraftStatus
}

/** Renders a draft as its shop sees it. Once ordered, the order holds the person's data. */
export function draftView({ draft, cart, view, order, status }: LoadedDraft, payUrl: string) {
  const person = cart.status === 'CONVERTED' && order && status !== 'EXPIRED' ? order : cart
  return {
    ...pick(draft, 'id', 'shopId'),
    status,
    payUrl,
    cartId: cart.id,
    orderId: order?.id ?? null,
    ...pick(view, 'customerId', 'currency', 'lines', 'giftCards', 'discountCode', 'discounts'),
    ...pick(person, 'email', 'shippingAddress', 'billingAddress'),
    ...pick(view, 'shippingMethod', 'totals', 'notices'),
    settled: cart.draft?.settled ?? [],
    ...pick(draft, 'note'),
    ...isoTimes(pick(draft, 'sentAt')),
    ...isoTimes(pick(cart, 'expiresAt')),
    ...isoTimes(pick(draft, 'createdAt', 'updatedAt')),
    version: draft.version,
  }
}
export type DraftView = ReturnType<typeof draftView>
