import { anonymous } from '../core/principal.ts'
import { actorOf } from './actor.ts'
import type { HttpDeps } from './deps.ts'
import { pathnameOf } from './request-url.ts'

type Handle = (request: Request) => Response | Promise<Response>
type NotingDeps = Pick<HttpDeps, 'trail' | 'routeTable' | 'callers' | 'originOf'>

const tooMany = 429

/** Records every 429 response in the audit log, whichever part refused. */
export function auditLimits(deps: NotingDeps, handle: Handle): Handle {
  async function auditIfLimited(request: Request, response: Response): Promise<Response> {
    const { principal, shop } = deps.callers.get(request) ?? { principal: anonymous, shop: undefined }
    // Not the path itself, which may contain a cart id.
    const path = deps.routeTable.match(request.method, pathnameOf(request.url))?.path ?? 'unknown'
    await deps.trail.limitHit({ actor: actorOf(deps, principal, request), route: `${request.method} ${path}`, shopId: shop?.id })
    return response
  }
  const look = (request: Request, response: Response) => (response.status === tooMany ? auditIfLimited(request, response) : response)
  return (request) => {
    const answered = handle(request)
    return answered instanceof Promise ? answered.then((response) => look(request, response)) : look(request, answered)
  }
}
