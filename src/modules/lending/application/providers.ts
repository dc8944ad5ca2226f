import type { Deps } from '../../../core/deps.ts'
import type { MerchantDeps } from '../../identity/merchant/index.ts'
import type { KybDeps } from '../../shop/kyb/index.ts'
import type { CreditDeps } from '../credit/index.ts'
import { createQueueStore } from './queue-store.ts'
import { createLendingStore } from './store.ts'

export const lendingProviders = ({ db }: Deps) => ({ lendingStore: createLendingStore(db), queueStore: createQueueStore(db) })
export type LendingDeps = CreditDeps & KybDeps & MerchantDeps & ReturnType<typeof lendingProviders>
