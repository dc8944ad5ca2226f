import { createLastUsedRecorder } from '../../../core/last-used.ts'
import type { MemberDeps } from '../../identity/member/index.ts'
import { createHostStore } from './hosts-store.ts'
import { createShopStore } from './store.ts'

export function shopProviders(deps: MemberDeps) {
  const shopStore = createShopStore(deps.db)
  return { shopStore, hostStore: createHostStore(deps.db), touchKey: createLastUsedRecorder(deps, 'key', shopStore.touchKey) }
}
export type ShopDeps = MemberDeps & ReturnType<typeof shopProviders>
