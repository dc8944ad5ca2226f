import type { StaffDeps } from './deps.ts'
import { invitationAction } from './service.ts'

/** The page that an invitation leads to, for shops that have none of their own. */
export function staffProviders(deps: StaffDeps): object {
  deps.pageActions.set('invitation', invitationAction(deps))
  return {}
}
