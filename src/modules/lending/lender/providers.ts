import type { Deps } from '../../../core/deps.ts'
import type { TrustDeps } from '../../trust/fabric/index.ts'
import { createLenderStore } from './store.ts'

export const lenderParts = ({ db }: Deps) => ({ lenderStore: createLenderStore(db) })
export type LenderDeps = TrustDeps & ReturnType<typeof lenderParts>
