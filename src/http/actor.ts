import type { Actor } from '../core/command-context.ts'
import type { Principal } from '../core/principal.ts'
import type { HttpDeps } from './deps.ts'

/** Returns the actor of a request, for the audit log. */
export const actorOf = ({ originOf }: Pick<HttpDeps, 'originOf'>, { id }: Principal, request: Request): Actor => ({
  id,
  ...originOf(request),
})
