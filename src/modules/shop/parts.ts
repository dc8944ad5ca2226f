import type { Deps } from '../../core/deps.ts'
import { createTouch } from '../../core/touches.ts'
import { createHostStore } from './hosts-store.ts'
import { createShopStore } from './store.ts'

export function shopParts(deps: Deps) {
  const shopStore = createShopStore(deps.db)
  return { shopStore, hostStore: createHostStore(deps.db), touchKey: createTouch(deps, 'key', shopStore.touchKey) }
}
export type ShopDeps = Deps & ReturnType<typeof shopParts>
