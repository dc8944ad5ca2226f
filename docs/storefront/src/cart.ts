/**
 * The cart.
 *
 * Its id is kept in localStorage, so that a basket is still there tomorrow. Whoever has the id and the publishable key may change the cart
 * of a guest, and read what was typed into its checkout: it is forgotten as soon as the cart is bought, and at a logout.
 */
import { Refused, type Schema } from './api.ts'
import { askAsShopper } from './session.ts'

export type Cart = Schema<'Cart'>
const place = 'souk.cart'
/** As many as souk takes of one thing. */
export const quantityMax = 9_999

export const cartId = (): string | null => localStorage.getItem(place)
export function forgetCart(): void {
  localStorage.removeItem(place)
  localStorage.removeItem(orderPlace)
}

/**
 * The link of the order that a cart became, for when the shopper comes back from a processor's page: which may be in another tab, so that it is kept
 * where the cart's id is, and for as long.
 */
const orderPlace = 'souk.order'
type Ordered = { readonly cartId: string; readonly token: string }

export function keepOrder(id: string, publicUrl: string | undefined): void {
  localStorage.setItem(orderPlace, JSON.stringify({ cartId: id, token: publicUrl?.split('/').at(-1) ?? '' } satisfies Ordered))
}

/** The token of the order's link; '' where this browser has never heard of it. */
export function orderOf(id: string): string {
  const kept = localStorage.getItem(orderPlace)
  const ordered = kept === null ? undefined : (JSON.parse(kept) as Ordered)
  return ordered?.cartId === id ? ordered.token : ''
}

/** The shopper's cart as souk has it now; null where there is none (any more). It may be CONVERTED: an order waits for its payment. */
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

/** A cart that can be filled. One that waits for its payment stays as it is. */
async function openCart(): Promise<string> {
  const cart = await currentCart()
  if (cart?.status === 'OPEN') return cart.id
  const { id } = await askAsShopper('POST /cart', { body: {} })
  localStorage.setItem(place, id)
  return id
}

/** @throws Refused 409 when there are not so many: its message says how many are left */
export async function addToCart(variantId: string, quantity: number): Promise<Cart> {
  return askAsShopper('POST /cart/{id}/items', { path: { id: await openCart() }, body: { variantId, quantity } })
}

export const setQuantity = (id: string, lineId: string, quantity: number): Promise<Cart> =>
  askAsShopper('PATCH /cart/{id}/items/{lineId}', { path: { id, lineId }, body: { quantity } })

export const removeLine = (id: string, lineId: string): Promise<Cart> =>
  askAsShopper('DELETE /cart/{id}/items/{lineId}', { path: { id, lineId } })

/** @param code null takes the code off */
export const setDiscount = (id: string, code: string | null): Promise<Cart> =>
  askAsShopper('PATCH /cart/{id}/discount', { path: { id }, body: { code } })

export const applyGiftCard = (id: string, code: string): Promise<Cart> =>
  askAsShopper('PATCH /giftcard/apply', { body: { code, cartId: id } })

export const removeGiftCard = (id: string, giftCardId: string): Promise<Cart> =>
  askAsShopper('PATCH /giftcard/remove', { body: { giftCardId, cartId: id } })

export const piecesIn = (cart: Cart | null): number => (cart?.lines ?? []).reduce((sum, { quantity }) => sum + quantity, 0)
