import type { Actor } from '../core/command-context.ts'
import type { Principal } from '../core/principal.ts'
import type { HttpDeps } from './deps.ts'

/** Who does it, for the audit trail. */
export const actorOf = ({ originOf }: Pick<HttpDeps, 'originOf'>, { id }: Principal, request: Request): Actor => ({
  id,
  ...originOf(request),
})
