import type { Processor } from '../../clients/processors/processor.ts'
import type { Deps } from '../../core/deps.ts'
import type { AffiliateDeps } from '../affiliate/service.ts'
import type { CartDeps } from '../cart/service.ts'
import type { CatalogDeps } from '../catalog/service.ts'
import type { CustomerDeps } from '../customer/service.ts'
import type { GiftCardDeps } from '../gift-card/service.ts'
import type { OrderEvent } from './domain.ts'
import type { OrderStore } from './store.ts'

export type OrderDeps = AffiliateDeps &
  CartDeps &
  CatalogDeps &
  CustomerDeps &
  GiftCardDeps & {
    readonly orderStore: OrderStore
    /** By name. */
    readonly processors: ReadonlyMap<string, Processor>
  }

/** An event of an order, with its id and its time; written in the same write as what it tells of. */
export const eventOf = (
  { newId, clock }: Pick<Deps, 'newId' | 'clock'>,
  orderId: string,
  type: string,
  detail: OrderEvent['detail'] = {},
  actor = 'system',
): OrderEvent => ({ id: newId('event'), orderId, type, at: clock.now(), actor, detail })
