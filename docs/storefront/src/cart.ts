/**
 * The cart. localStorage holds its id, so that the cart survives a visit. With the id, anyone can change a guest's cart
 * and read its address. The id is therefore deleted after the purchase and at logout.
 */
import { Refused, type Schema } from './api.ts'
import { askAsShopper } from './session.ts'

export type Cart = Schema<'Cart'>
const place = 'souk.cart'
/** The largest quantity that souk accepts. */
export const quantityMax = 9_999

export const cartId = (): string | null => localStorage.getItem(place)
export function forgetCart(): void {
  localStorage.removeItem(place)
  localStorage.removeItem(orderPlace)
}

/**
 * Stores the link of the cart's order for the return from a processor's page. localStorage, because the shopper may
 * return in another tab.
 */
const orderPlace = 'souk.order'
type Ordered = { readonly cartId: string; readonly token: string }

export function keepOrder(id: string, publicUrl: string | undefined): void {
  localStorage.setItem(orderPlace, JSON.stringify({ cartId: id, token: publicUrl?.split('/').at(-1) ?? '' } satisfies Ordered))
}

/** The token of the order's link; '' if this browser does not have it. */
export function orderOf(id: string): string {
  const kept = localStorage.getItem(orderPlace)
  const ordered = kept === null ? undefined : (JSON.parse(kept) as Ordered)
  return ordered?.cartId === id ? ordered.token : ''
}

/** Returns the shopper's current cart, or null. A CONVERTED cart has an order that waits for its payment. */
export async function currentCart(): Promise<Cart | null> {
  const id = cartId()
  if (id === null) return null
  try {
    const cart = await askAsShopper('GET /cart/{id}', { path: { id } })
    if (cart.status !== 'EXPIRED') return cart
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error
  }
  forgetCart()
  return null
}

/** Returns a cart that can be changed. A cart that waits for its payment is not changed. */
async function openCart(): Promise<string> {
  const cart = await currentCart()
  if (cart?.status === 'OPEN') return cart.id
  const { id } = await askAsShopper('POST /cart', { body: {} })
  localStorage.setItem(place, id)
  return id
}

/**
 * Makes the cart of an agent the shopper's cart.
 * @throws Refused 404 if the link is over
 */
export async function takeCart(token: string): Promise<void> {
  const { id } = await askAsShopper('POST /cart/handoff', { body: { token } })
  localStorage.setItem(place, id)
}

/** @throws Refused 409 if there is not enough stock: the message says how many are left */
export async function addToCart(variantId: string, quantity: number): Promise<Cart> {
  return askAsShopper('POST /cart/{id}/items', { path: { id: await openCart() }, body: { variantId, quantity } })
}

export const setQuantity = (id: string, lineId: string, quantity: number): Promise<Cart> =>
  askAsShopper('PATCH /cart/{id}/items/{lineId}', { path: { id, lineId }, body: { quantity } })

export const removeLine = (id: string, lineId: string): Promise<Cart> =>
  askAsShopper('DELETE /cart/{id}/items/{lineId}', { path: { id, lineId } })

/** @param code null removes the code */
export const setDiscount = (id: string, code: string | null): Promise<Cart> =>
  askAsShopper('PATCH /cart/{id}/discount', { path: { id }, body: { code } })

export const applyGiftCard = (id: string, code: string): Promise<Cart> =>
  askAsShopper('PATCH /giftcard/apply', { body: { code, cartId: id } })

export const setRecipient = (id: string, giftCardRecipient: { email: string; name: string; message: string } | null): Promise<Cart> =>
  askAsShopper('PATCH /cart/{id}', { path: { id }, body: { giftCardRecipient } })
export const removeGiftCard = (id: string, giftCardId: string): Promise<Cart> =>
  askAsShopper('PATCH /giftcard/remove', { body: { giftCardId, cartId: id } })

export const piecesIn = (cart: Cart | null): number => (cart?.lines ?? []).reduce((sum, { quantity }) => sum + quantity, 0)
