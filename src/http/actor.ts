import type { Actor } from '../core/change.ts'
import type { Principal } from '../core/principal.ts'

/** The id that the edge gave every request. */
export const requestIdOf = (request: Request): string | undefined => request.headers.get('x-request-id') ?? undefined

/** Who does it, for the audit trail. */
export const actorOf = (principal: Principal, request: Request): Actor => ({
  id: principal.id,
  requestId: requestIdOf(request),
})
