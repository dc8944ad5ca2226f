import type { StaffDeps } from './deps.ts'
import { createInvitationAction } from './service.ts'

/** Registers the invitation page for shops without an own one. */
export function staffProviders(deps: StaffDeps): object {
  deps.pageActions.set('invitation', createInvitationAction(deps))
  return {}
}
