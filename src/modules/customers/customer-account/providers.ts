import type { CustomerAccountDeps } from './deps.ts'
import { createVerifyAction } from './service.ts'

/** Registers the verification page for shops without an own one. */
export function customerAccountProviders(deps: CustomerAccountDeps): object {
  deps.pageActions.set('verify', createVerifyAction(deps))
  return {}
}
