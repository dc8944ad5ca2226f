import type { Deps } from '../../core/deps.ts'
import { createShopStore } from './store.ts'

export const shopParts = ({ db }: Deps) => ({ shopStore: createShopStore(db) })
export type ShopDeps = Deps & ReturnType<typeof shopParts>
