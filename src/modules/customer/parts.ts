import type { Deps } from '../../core/deps.ts'
import type { AuthDeps } from '../auth/index.ts'
import { createCustomerStore } from './store.ts'

export const customerParts = ({ db }: Deps) => ({ customerStore: createCustomerStore(db) })
export type CustomerDeps = AuthDeps & ReturnType<typeof customerParts>
