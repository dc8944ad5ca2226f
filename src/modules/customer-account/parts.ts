import type { AccountPageDeps } from '../account-page/index.ts'
import type { OrderDeps } from '../order/index.ts'
import { verifyAction } from './service.ts'

export type CustomerAccountDeps = AccountPageDeps & OrderDeps

/** The page that proves an address, for shops that have none of their own. */
export function customerAccountParts(deps: CustomerAccountDeps): object {
  deps.pageActions.set('verify', verifyAction(deps))
  return {}
}
