/** Hand-offs: links on which a shopper continues the cart of an agent's checkout session. */
import { AppError } from '../../../core/errors.ts'
import { pick } from '../../../lib/objects.ts'
import { hasHostedPage } from '../../payments/payment/index.ts'
import { type CartCaller, type CartView, readCart } from '../../selling/cart/index.ts'
import { endedWithoutSale } from '../../selling/order/domain.ts'
import { type OrderDeps, orderOfCart } from '../../selling/order/index.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { type HandOffSession, sessionById } from './store.ts'

/** The cart of a hand-off, and the URL of souk's page for it. */
type HandOff = { readonly shopId: string; readonly cartId: string; readonly url: string }

/**
 * Finds the cart of a hand-off for souk's page. A shopper who returns from a processor must learn the result: the page
 * shows a placed order even after the session ended, or the shop switched agents off.
 */
export async function findHandOff(deps: OrderDeps, token: string): Promise<HandOff | undefined> {
  const { buyUrlOf } = await deps.orderLinks.ready()
  const session = await findSession(deps, token)
  if (!session || session.canceledAt !== null) return undefined
  const isOver = !session.isOn || session.expiresAt <= deps.clock.now()
  const order = isOver ? await orderOfCart(deps, session.cartId) : undefined
  if (isOver && (!order || endedWithoutSale(order))) return undefined
  return { ...pick(session, 'shopId', 'cartId'), url: buyUrlOf(session.id) }
}

/**
 * Returns the cart of a hand-off to the shop's storefront.
 * @throws AppError NOT_FOUND unless the session is open
 */
export async function takeHandOff(deps: OrderDeps, caller: CartCaller, token: string): Promise<CartView> {
  const session = await findSession(deps, token)
  if (session?.shopId !== caller.shop.id || !(await isOpenSession(deps, session)))
    throw new AppError('NOT_FOUND', 'The link is invalid or has expired', { code: 'invalid_link' })
  return readCart(deps, caller, session.cartId)
}

async function findSession(deps: OrderDeps, token: string): Promise<HandOffSession | undefined> {
  const id = (await deps.orderLinks.ready()).sessionIdOf(token)
  return id === undefined ? undefined : deps.db.read.first(sessionById, { id })
}

/** Returns whether a session is neither ended, canceled nor paid, and its shop has agents on. */
async function isOpenSession(deps: OrderDeps, { isOn, canceledAt, expiresAt, cartId }: HandOffSession): Promise<boolean> {
  if (!isOn || canceledAt !== null || expiresAt <= deps.clock.now()) return false
  const order = await orderOfCart(deps, cartId)
  return !order || order.status === 'PENDING_PAYMENT' || endedWithoutSale(order)
}

/**
 * Returns where a person continues an open session: the shop's own page, else souk's page where the amount can be paid
 * by a link.
 * @param amountDue in minor units
 * @returns undefined if the shop has neither
 */
export async function continueUrlOf(
  deps: OrderDeps,
  shop: Readonly<Shop>,
  { id, amountDue }: { readonly id: string; readonly amountDue: number },
): Promise<string | undefined> {
  const { sessionTokenOf, buyUrlOf } = await deps.orderLinks.ready()
  const page = shop.pages.checkout ? URL.parse(shop.pages.checkout) : null
  if (page) {
    page.searchParams.set('token', sessionTokenOf(id))
    return page.href
  }
  const context = pick(shop, 'id', 'merchantId', 'currency', 'mode', 'origins', 'timeZone')
  const isPayable = amountDue === 0 || (await hasHostedPage(deps, context, { amount: amountDue, currency: shop.currency }))
  return isPayable ? buyUrlOf(id) : undefined
}
