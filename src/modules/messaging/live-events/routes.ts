import type { HttpDeps } from '../../../http/deps.ts'
import { expiryOf, isStillAdmitted, streamHeaders } from '../../../http/event-stream.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { LiveDeps } from './index.ts'
import { OperatorEvents, ShopEvents } from './model.ts'

const streamDescription = `Server-sent events (\`text/event-stream\`), each when what it tells of is committed: \`event:\` names it, \`data:\` is JSON, \`id:\` says where the stream is. They say what happened and to what, with nothing of a person: read the record for the rest.

- The stream begins with the present. Sent back as \`Last-Event-ID\`, an \`id\` goes on behind it for an hour, over restarts and at another process too; nothing is left out, but of \`stock.changed\` the last of each variant stands for those before it, and the states of an order are those of when it is told. What cannot be gone on from is answered by the event \`resync\`: read anew what you show.
- A comment comes every 15 seconds, with the present \`id\` and no event. Whoever hears nothing for 40 seconds connects again.
- It ends with the access token, within a minute when the session, the role or the key does, when the shop is suspended, and when the server stops: connect again, \`retry\` milliseconds later. Whoever works in a suspended shop reads it as before, and is let in here again as well. Who does not read what was sent is cut off, and goes on the same way.
- \`EventSource\` sends no headers of one's own: pages read it by \`fetch\`.`

export const liveRoutes = (deps: HttpDeps & Pick<LiveDeps, 'live'>) =>
  routes(deps, 'Events')
    .get(
      '/v2/events',
      ({ request, principal, shop }) => {
        const seesCatalog = !(principal.kind === 'merchant' && principal.role === 'FULFILMENT')
        const body = deps.live.follow({
          viewer: { shopId: shop.id, accountId: principal.id, seesCatalog },
          lastEventId: request.headers.get('last-event-id') ?? undefined,
          expiresAt: expiryOf(request),
          isStill: () => isStillAdmitted(deps, request, principal, shop),
        })
        return new Response(body, { headers: streamHeaders }) as never
      },
      {
        access: 'orderRead',
        response: { 200: ShopEvents, ...errorResponses(401, 403, 404, 429, 503) },
        detail: {
          'x-resumable': true,
          summary: 'What happens in the shop, as it happens',
          description: `${streamDescription}\n\nStaff who only send orders (FULFILMENT) are told of orders, and of the shop itself, alone. 20 streams of an account or a key and 100 of a shop may be open in a process, else 429; 503 while too many of shops are open in all, or the server stops.`,
        } as object,
      },
    )
    .get(
      '/admin/events',
      ({ request, principal }) => {
        const body = deps.live.follow({
          viewer: { shopId: undefined, accountId: principal.id, seesCatalog: true },
          lastEventId: request.headers.get('last-event-id') ?? undefined,
          expiresAt: expiryOf(request),
          isStill: () => isStillAdmitted(deps, request, principal, undefined),
        })
        return new Response(body, { headers: streamHeaders }) as never
      },
      {
        access: 'operator',
        response: { 200: OperatorEvents, ...errorResponses(401, 403, 429, 503) },
        detail: {
          'x-resumable': true,
          summary: 'What happens in the instance, as it happens',
          description: `${streamDescription}\n\n20 streams of an account may be open in a process, else 429.`,
        } as object,
      },
    )
