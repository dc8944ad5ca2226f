import { t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, pageQuery, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import {
  createEndpoint,
  findDelivery,
  findEndpoint,
  listDeliveries,
  listEndpoints,
  removeEndpoint,
  resendDelivery,
  type WebhookDeps,
} from './index.ts'
import { messageData } from './messages.ts'
import { CreateEndpoint, Deliveries, DeliveryParams, DeliveryRecord, EndpointRecord, Endpoints, NewEndpoint } from './model.ts'

const deliveryDescription = `What each event tells is in this document under \`webhooks\`. Messages are sent as Standard Webhooks asks: a POST of \`{ type, timestamp, data }\` with the headers \`webhook-id\`, \
\`webhook-timestamp\` and \`webhook-signature\` (\`v1,\` and the base64 HMAC-SHA256 of \`id.timestamp.body\` under the key that \`secret\` holds \
after \`whsec_\`). A message may come more than once, and then under the same \`webhook-id\`.

Any 2xx status within 10 seconds is a success. Anything else is tried again after about 5 seconds, 1, 5 and 30 minutes, 2, 5, 7 and 10 hours: \
nine times in about a day, and then no more. Redirects are not followed. While other shops wait for a place to send from, an attempt without an \
answer may be ended after 2 seconds (\`lastError\`: \`gave way\`). That is no failure and no attempt that counts; it is sent again after a rest \
of about 5 seconds, and then has its 10 seconds.

An endpoint that has failed three times in a row gets one attempt at a time, with rests of 5 seconds to 10 minutes between them, until it \
succeeds again. At most 1,000 deliveries wait for an endpoint that fails, or that answers too slowly: its first delivery has been due for a \
minute. 10,000 wait for any other. Messages beyond that are skipped: their deliveries are FAILED with \`too many waiting\`, \`skipped\` of the \
endpoint counts them, and each can be sent again. No delivery waits longer than three days. As Standard Webhooks asks, one that \
answers 410, or that has failed for five days, is disabled (\`disabledAt\`, \`disabledReason\`): nothing more is sent to it. Remove it and \
register it anew.

The URL must lead to a public address and to a port of a web server: below 1024 that is 80 or 443, and above it any that is not known to be \
another service's (databases, caches, queues, …). An address or a port that is not is refused here, and a name that leads to such an address \
when it is called.`

/** For the OpenAPI document. */
const eventExtension: object = { 'x-events': messageData }

export const webhookRoutes = (deps: HttpDeps & WebhookDeps) =>
  routes(deps, 'Webhooks')
    .post('/webhook-endpoints', ({ body, shop, actor, once }) => once(201, (write) => createEndpoint(deps, { shop, actor, write }, body)), {
      access: 'ownerManagement',
      idempotent: true,
      body: CreateEndpoint,
      response: { 201: NewEndpoint, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: { summary: 'Have events sent to a URL', description: deliveryDescription, ...eventExtension },
    })
    .get('/webhook-endpoints', ({ query, shop }) => listEndpoints(deps, shop, sliceOf(query)), {
      access: 'ownerManagement',
      query: t.Object(pageQuery),
      csv: csvOf('webhook-endpoints', Endpoints, ({ shop }, slice) => listEndpoints(deps, shop, slice)),
      response: { 200: Endpoints, ...errorResponses(401, 403, 404) },
      detail: { summary: "The shop's webhook endpoints", description: 'Newest first.' },
    })
    .get('/webhook-endpoints/:id', ({ params, shop }) => findEndpoint(deps, shop, params.id), {
      access: 'ownerManagement',
      versioned: true,
      params: RecordId,
      response: { 200: EndpointRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A webhook endpoint' },
    })
    .delete(
      '/webhook-endpoints/:id',
      async ({ params, shop, actor, expected, set }) => {
        await removeEndpoint(deps, { shop, actor, expected }, params.id)
        set.status = 204
      },
      {
        access: 'ownerManagement',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'Nothing more is sent to it' }), ...errorResponses(401, 403, 404) },
        detail: { summary: 'Remove a webhook endpoint', description: 'What was still to be sent to it is not sent any more.' },
      },
    )
    .get('/webhook-endpoints/:id/deliveries', ({ params, query, shop }) => listDeliveries(deps, shop, params.id, sliceOf(query)), {
      access: 'ownerManagement',
      params: RecordId,
      query: t.Object(pageQuery),
      csv: csvOf('webhook-deliveries', Deliveries, ({ shop, params }: ListRequest<object, { id: string }>, slice) =>
        listDeliveries(deps, shop, params.id, slice),
      ),
      response: { 200: Deliveries, ...errorResponses(401, 403, 404) },
      detail: { summary: 'What was sent to a webhook endpoint', description: 'Newest first; forgotten after 30 days.' },
    })
    .post(
      '/webhook-endpoints/:id/deliveries/:deliveryId/resend',
      ({ params: { id, deliveryId }, shop, actor, once }) =>
        once(200, (write) => resendDelivery(deps, { shop, actor, write }, id, deliveryId), {
          sees: () => findDelivery(deps, shop, id, deliveryId),
        }),
      {
        access: 'ownerManagement',
        idempotent: true,
        params: DeliveryParams,
        response: { 200: DeliveryRecord, ...errorResponses(401, 403, 404, 409, 422) },
        detail: {
          summary: 'Send a message again',
          description:
            'Now, byte for byte and under the same `webhook-id`, signed anew. One that was delivered or given up is tried as if it were new, nine times in about a day, but no longer than three days after it was made; one that waits for its next attempt is sent without the wait. An endpoint that rests because it failed rests no longer. 409 while an attempt is under way, and for an endpoint that is disabled.',
        },
      },
    )
