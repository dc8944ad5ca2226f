import type { HttpDeps } from '../../../http/deps.ts'
import { expiryOf, isStillAdmitted, streamHeaders } from '../../../http/event-stream.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { LiveDeps } from './index.ts'
import { OperatorEvents, ShopEvents } from './model.ts'

const streamDescription = `Returns server-sent events (\`text/event-stream\`), each after the change that it reports was committed. \`event:\` is the name, \`data:\` is JSON, and \`id:\` is the position in the stream. Events contain ids, states and amounts but no personal data: read the record for the rest.

- The stream starts with new events. To continue after a disconnect, send the last \`id\` as \`Last-Event-ID\`. This works for an hour, also after a restart and at another process. No event is lost; several \`stock.changed\` events of a variant may be combined, and orders are reported with their current status. If the stream cannot continue there, it sends the event \`resync\`: reload what you show.
- Every 15 seconds, the stream sends a comment with the current \`id\`. If you receive nothing for 40 seconds, connect again.
- The stream ends when the access token expires or the server stops, and within a minute after the session, role or key ends or the shop is suspended. Connect again after \`retry\` milliseconds. Staff of a suspended shop can connect again, because they can still read the shop. A client that does not read what was sent is disconnected, and can continue in the same way.
- \`EventSource\` cannot send an \`Authorization\` header. Use \`fetch\` in browsers.`

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
          isAuthorised: () => isStillAdmitted(deps, request, principal, shop),
        })
        return new Response(body, { headers: streamHeaders }) as never
      },
      {
        access: 'orderRead',
        response: { 200: ShopEvents, ...errorResponses(401, 403, 404, 429, 503) },
        detail: {
          operationId: 'streamShopEvents',
          'x-resumable': true,
          summary: 'Streams events of the shop',
          description: `${streamDescription}

FULFILMENT receives events of orders and of the shop only. Each process allows 20 streams for an account or key and 100 for a shop; more are 429. The response is 503 if all streams of the process are in use, or if the server is stopping.`,
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
          isAuthorised: () => isStillAdmitted(deps, request, principal, undefined),
        })
        return new Response(body, { headers: streamHeaders }) as never
      },
      {
        access: 'operator',
        response: { 200: OperatorEvents, ...errorResponses(401, 403, 429, 503) },
        detail: {
          operationId: 'streamInstanceEvents',
          'x-resumable': true,
          summary: 'Streams events of the instance',
          description: `${streamDescription}

Each process allows 20 streams for an account; more are 429.`,
        } as object,
      },
    )
