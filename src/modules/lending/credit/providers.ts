import type { Deps } from '../../../core/deps.ts'
import type { RepaymentDeps } from '../repayment/index.ts'
import { createCreditStore } from './store.ts'

export const creditProviders = ({ db }: Deps) => ({ creditStore: createCreditStore(db) })
export type CreditDeps = RepaymentDeps & ReturnType<typeof creditProviders>
