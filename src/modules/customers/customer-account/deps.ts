import type { OrderDeps } from '../../selling/order/index.ts'
import type { AccountPageDeps } from '../account-page/index.ts'

export type CustomerAccountDeps = AccountPageDeps & OrderDeps
