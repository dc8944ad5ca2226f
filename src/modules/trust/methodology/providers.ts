import type { Deps } from '../../../core/deps.ts'
import type { LenderDeps } from '../../lending/lender/index.ts'
import { createMethodologyStore } from './store.ts'

export const methodologyProviders = ({ db }: Deps) => ({ methodologyStore: createMethodologyStore(db) })
export type MethodologyDeps = LenderDeps & ReturnType<typeof methodologyProviders>
