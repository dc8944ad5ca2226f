import type { CustomerAccountDeps } from './deps.ts'
import { createVerifyAction } from './service.ts'

/** Registers souk's verification page, for shops that have none of their own. */
export function customerAccountProviders(deps: CustomerAccountDeps): object {
  deps.pageActions.set('verify', createVerifyAction(deps))
  return {}
}
