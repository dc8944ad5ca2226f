import { publicUrlOf } from '../../../core/public-url.ts'
import { draftIdIn, draftTokenOf, orderIdIn, orderTokenOf, sessionIdIn, sessionTokenOf } from '../../../lib/order-token.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'

/** The path of an order's page. */
const orderPagePath = '/v2/orders/public/'
/** The path of a draft's pay page. */
const payPagePath = '/pages/pay/'
/** The path of the page where the cart of an agent's session is paid. */
const buyPagePath = '/pages/buy/'

/** Creates and verifies links of pages with an instance key that never changes. */
type OrderLinks = {
  urlOf(orderId: string): string
  tokenOf(orderId: string): string
  /** Undefined for a token that we did not make. */
  orderIdOf(token: string): string | undefined
  /** The URL where a draft is paid. */
  payUrlOf(draftId: string): string
  /** Undefined for a token that we did not make. */
  draftIdOf(token: string): string | undefined
  /** The URL where the cart of an agent's session is paid. */
  buyUrlOf(sessionId: string): string
  sessionTokenOf(sessionId: string): string
  /** Undefined for a token that we did not make. */
  sessionIdOf(token: string): string | undefined
}

/** Creates the links of an instance, whose key is read once. */
export function createOrderLinks(deps: Pick<InstanceKeyDeps, 'instanceKeys' | 'config' | 'life'>) {
  let links: OrderLinks | undefined

  async function ready(): Promise<OrderLinks> {
    const key = await deps.instanceKeys.of('ORDER_LINKS')
    links ??= {
      urlOf: (orderId) => `${publicUrlOf(deps)}${orderPagePath}${orderTokenOf(key, orderId)}`,
      tokenOf: (orderId) => orderTokenOf(key, orderId),
      orderIdOf: (token) => orderIdIn(key, token),
      payUrlOf: (draftId) => `${publicUrlOf(deps)}${payPagePath}${draftTokenOf(key, draftId)}`,
      draftIdOf: (token) => draftIdIn(key, token),
      buyUrlOf: (sessionId) => `${publicUrlOf(deps)}${buyPagePath}${sessionTokenOf(key, sessionId)}`,
      sessionTokenOf: (sessionId) => sessionTokenOf(key, sessionId),
      sessionIdOf: (token) => sessionIdIn(key, token),
    }
    return links
  }

  return {
    /** Creates the instance key if missing: not inside a write. */
    ready: (): OrderLinks | Promise<OrderLinks> => links ?? ready(),
    /** Undefined until `ready` was called. */
    now: (): OrderLinks | undefined => links,
  }
}
