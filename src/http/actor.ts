import type { Principal } from './principal.ts'

/** Who does it, for the audit trail. */
export const actorOf = (principal: Principal, request: Request): { id: string; requestId: string | undefined } => ({
  id: principal.id,
  requestId: request.headers.get('x-request-id') ?? undefined,
})
