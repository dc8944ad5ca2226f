import type { Actor, Origin } from '../core/change.ts'
import type { Principal } from '../core/principal.ts'
import type { HttpDeps } from './deps.ts'

type Addresses = Pick<HttpDeps, 'callerAddress'>

/** What a request is called, by the id that the edge gave it, and where it came from. */
export const originOf = ({ callerAddress }: Addresses, request: Request): Origin => ({
  requestId: request.headers.get('x-request-id') ?? undefined,
  address: callerAddress(request),
})

/** Who does it, for the audit trail. */
export const actorOf = (deps: Addresses, principal: Principal, request: Request): Actor => ({
  id: principal.id,
  ...originOf(deps, request),
})
