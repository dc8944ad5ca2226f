import { ownUrl } from '../../../core/public-url.ts'
import { draftIdIn, draftTokenOf, orderIdIn, orderTokenOf } from '../../../lib/order-token.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'

/** The page of an order, which is found by its link alone. */
export const orderPagePath = '/v2/orders/public/'
/** The page on which a draft is paid, which is found by its link alone, too. */
export const payPagePath = '/pages/pay/'

/** Makes and reads the links of orders' pages, under a key of the instance that never changes. */
export type OrderLinks = {
  urlOf(orderId: string): string
  tokenOf(orderId: string): string
  /** Undefined for a token that nobody made. */
  orderIdOf(token: string): string | undefined
  /** The link by which a draft is paid. */
  payUrlOf(draftId: string): string
  /** Undefined for a token that nobody made. */
  draftIdOf(token: string): string | undefined
}

export function createOrderLinks(deps: Pick<InstanceKeyDeps, 'instanceKeys' | 'config' | 'life'>) {
  let links: OrderLinks | undefined

  async function ready(): Promise<OrderLinks> {
    const key = await deps.instanceKeys.of('ORDER_LINKS')
    links ??= {
      urlOf: (orderId) => `${ownUrl(deps)}${orderPagePath}${orderTokenOf(key, orderId)}`,
      tokenOf: (orderId) => orderTokenOf(key, orderId),
      orderIdOf: (token) => orderIdIn(key, token),
      payUrlOf: (draftId) => `${ownUrl(deps)}${payPagePath}${draftTokenOf(key, draftId)}`,
      draftIdOf: (token) => draftIdIn(key, token),
    }
    return links
  }

  return {
    /** Makes the key of an instance that has none: not inside a write. */
    ready: (): OrderLinks | Promise<OrderLinks> => links ?? ready(),
    /** Undefined until somebody has asked for them. */
    now: (): OrderLinks | undefined => links,
  }
}
