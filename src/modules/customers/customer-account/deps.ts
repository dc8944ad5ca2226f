import type { AccountPageDeps } from '../account-page/index.ts'
import type { OrderDeps } from '../../selling/order/index.ts'

export type CustomerAccountDeps = AccountPageDeps & OrderDeps
