/** Reads sessions and carts of platforms with their carts. */
import type { AgentCall } from '../../../core/agent-call.ts'
import { anonymous, type ShopContext } from '../../../core/principal.ts'
import type { Payment } from '../../payments/payment/domain.ts'
import { paymentsOf } from '../../payments/payment/index.ts'
import type { Cart } from '../../selling/cart/domain.ts'
import { type CartCaller, type CartSnapshot, type CartView, viewCart } from '../../selling/cart/index.ts'
import { type Order, paymentOf } from '../../selling/order/domain.ts'
import { type AgentSession, kindOfId } from './domain.ts'
import type { AgentSessionDeps } from './providers.ts'

/** A session or cart of a platform, with the cart that holds its contents. */
export type LoadedSession = {
  readonly session: AgentSession
  readonly cart: Cart
  readonly snapshot: CartSnapshot
  /** A converted cart has the amounts of its order. */
  readonly view: CartView
  /** The last order of a converted cart, and its latest payment. */
  readonly order: Order | undefined
  readonly payment: Payment | undefined
}

/** Returns the caller who may read and change the cart of a session. */
export const callerOf = (shop: ShopContext): CartCaller & { readonly shop: ShopContext } => ({ shop, principal: anonymous, hasLink: true })

/**
 * Reads a session (`chk_…`) or cart (`ucart_…`) of the platform.
 * @returns undefined for an unknown id, for that of another shop or platform, and for a cart that is over
 */
export async function loadSession(deps: AgentSessionDeps, { shop, platform }: AgentCall, id: string): Promise<LoadedSession | undefined> {
  if (kindOfId(id) === undefined) return undefined
  const session = await deps.agentSessionStore.find(id)
  const isOwn = session?.shopId === shop.id && session.profile === platform.profile && session.isProven === platform.isProven
  if (!session || !isOwn) return undefined
  if (session.kind === 'CART' && (session.canceledAt !== null || session.expiresAt <= deps.clock.now())) return undefined
  const loaded = await withCart(deps, shop, session)
  // A cart that was canceled after its session was read is over too.
  return session.kind === 'CART' && loaded.cart.status !== 'OPEN' ? undefined : loaded
}

/** Finds the session or agent cart whose contents a cart holds. */
export const findSessionOfCart = ({ agentSessionStore }: AgentSessionDeps, cartId: string): Promise<AgentSession | undefined> =>
  agentSessionStore.findByCart(cartId)

/** Reads the cart of a session. */
export async function withCart(deps: AgentSessionDeps, shop: ShopContext, session: AgentSession): Promise<LoadedSession> {
  const viewed = await viewCart(deps, callerOf(shop), session.cartId)
  const { order } = viewed
  return { session, ...viewed, payment: order && paymentOf({ payments: await paymentsOf(deps, order.id) }) }
}
