import type { StaffDeps } from './deps.ts'
import { createInvitationAction } from './service.ts'

/** Registers souk's invitation page, for shops that have none of their own. */
export function staffProviders(deps: StaffDeps): object {
  deps.pageActions.set('invitation', createInvitationAction(deps))
  return {}
}
