import type { CustomerAccountDeps } from './deps.ts'
import { verifyAction } from './service.ts'

/** The page that proves an address, for shops that have none of their own. */
export function customerAccountProviders(deps: CustomerAccountDeps): object {
  deps.pageActions.set('verify', verifyAction(deps))
  return {}
}
