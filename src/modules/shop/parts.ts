import type { Deps } from '../../core/deps.ts'
import { createKeyTouches } from './key-touches.ts'
import { createShopStore } from './store.ts'

export function shopParts(deps: Deps) {
  const shopStore = createShopStore(deps.db)
  return { shopStore, touchKey: createKeyTouches({ ...deps, shopStore }) }
}
export type ShopDeps = Deps & ReturnType<typeof shopParts>
