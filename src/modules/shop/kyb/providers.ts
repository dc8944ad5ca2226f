import type { Deps } from '../../../core/deps.ts'
import type { ShopDeps } from '../shop/index.ts'
import { createKybStore } from './store.ts'

export function kybProviders({ db }: Deps) {
  const kybStore = createKybStore(db)
  return {
    kybStore,
    /** Whether a merchant's business is approved, for routes that need it; once it is, it stays so. */
    isApproved: async (merchantId: string): Promise<boolean> => (await kybStore.approvedCohort(merchantId)) !== undefined,
  }
}
export type KybDeps = ShopDeps & ReturnType<typeof kybProviders>
