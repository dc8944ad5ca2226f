import type { Deps } from '../../core/deps.ts'
import type { AuthDeps } from '../auth/index.ts'
import { createUserStore } from './store.ts'

export const merchantParts = ({ db }: Deps) => ({ userStore: createUserStore(db) })
export type MerchantDeps = AuthDeps & ReturnType<typeof merchantParts>
