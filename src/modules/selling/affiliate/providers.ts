import type { Deps } from '../../../core/deps.ts'
import { createAffiliateStore } from './store.ts'

export const affiliateProviders = ({ db }: Deps) => ({ affiliateStore: createAffiliateStore(db) })
export type AffiliateDeps = Deps & ReturnType<typeof affiliateProviders>
