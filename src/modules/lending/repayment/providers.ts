import type { Deps } from '../../../core/deps.ts'
import { createRepaymentStore } from './store.ts'

export const repaymentProviders = ({ db }: Deps) => ({ repaymentStore: createRepaymentStore(db) })
export type RepaymentDeps = Deps & ReturnType<typeof repaymentProviders>
