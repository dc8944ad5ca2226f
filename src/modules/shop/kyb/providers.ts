import type { Deps } from '../../../core/deps.ts'
import type { ShopDeps } from '../shop/index.ts'
import { createKybStore } from './store.ts'

export function kybProviders({ db }: Deps) {
  const kybStore = createKybStore(db)
  return {
    kybStore,
    /** Returns whether a merchant's business is approved. Approval is final. */
    isApproved: async (merchantId: string): Promise<boolean> => (await kybStore.approvedCohort(merchantId)) !== undefined,
  }
}
export type KybDeps = ShopDeps & ReturnType<typeof kybProviders>
