import type { Deps } from '../../../core/deps.ts'
import type { SecondFactorDeps } from '../second-factor/index.ts'
import { createUserStore } from './store.ts'

export const merchantProviders = ({ db }: Deps) => ({ userStore: createUserStore(db) })
export type MerchantDeps = SecondFactorDeps & ReturnType<typeof merchantProviders>
