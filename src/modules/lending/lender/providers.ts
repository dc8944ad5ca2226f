import type { Deps } from '../../../core/deps.ts'
import type { TrustDeps } from '../../trust/fabric/index.ts'
import { createLenderStore } from './store.ts'

export const lenderProviders = ({ db }: Deps) => ({ lenderStore: createLenderStore(db) })
export type LenderDeps = TrustDeps & ReturnType<typeof lenderProviders>
