import type { AccountPageDeps } from '../account-page/index.ts'
import type { OrderDeps } from '../order/index.ts'

export type CustomerAccountDeps = AccountPageDeps & OrderDeps
