import type { Deps } from '../../core/deps.ts'
import type { ShopDeps } from '../shop/index.ts'
import { createKybStore } from './store.ts'

export const kybParts = ({ db }: Deps) => ({ kybStore: createKybStore(db) })
export type KybDeps = ShopDeps & ReturnType<typeof kybParts>
