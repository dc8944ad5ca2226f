import { t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
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

const deliveryDescription = `The section \`webhooks\` of this document describes the events. Messages follow Standard Webhooks: a POST of \`{ type, timestamp, data }\` with the headers \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`. The signature is \`v1,\` and the base64 HMAC-SHA256 of \`id.timestamp.body\`; the key is the base64 text after \`whsec_\` in \`secret\`. A message may be delivered more than once, with the same \`webhook-id\`.

Any 2xx status within 10 seconds is a success. Otherwise the message is sent again after about 5 seconds, 1, 5 and 30 minutes, and 2, 5, 7 and 10 hours: nine attempts in about a day. Redirects are not followed. While deliveries of other shops wait, an attempt may be ended after 2 seconds (\`lastError\`: \`gave way\`). It does not count, and is repeated after about 5 seconds with the full 10 seconds.

After three failures in a row, an endpoint gets one attempt at a time, with pauses of 5 seconds to 10 minutes, until one succeeds. At most 1,000 deliveries wait for an endpoint that fails or is slow (its first delivery has been due for a minute), and 10,000 for any other. Further messages are skipped: their deliveries are FAILED with \`too many waiting\`, \`skipped\` of the endpoint counts them, and you can resend each. A delivery waits at most three days. An endpoint is disabled if it returns 410 or fails for five days (\`disabledAt\`, \`disabledReason\`). To enable it, delete it and create it again.

The URL must have a public address and a port of a web server: 80, 443, or a port above 1023 that is not known for another service, such as a database, cache or queue. Other URLs are rejected; names are also checked when they are called.`

/** For the OpenAPI document. */
const eventExtension: object = { 'x-events': messageData }

export const webhookRoutes = (deps: HttpDeps & WebhookDeps) =>
  routes(deps, 'Webhooks')
    .post('/webhook-endpoints', ({ body, shop, actor, once }) => once(201, (write) => createEndpoint(deps, { shop, actor, write }, body)), {
      access: 'ownerManagement',
      idempotent: true,
      body: CreateEndpoint,
      response: { 201: NewEndpoint, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: {
        operationId: 'createWebhookEndpoint',
        summary: 'Creates a webhook endpoint',
        description: deliveryDescription,
        ...eventExtension,
      },
    })
    .get('/webhook-endpoints', ({ query, shop }) => listEndpoints(deps, shop, sliceOf(query)), {
      access: 'ownerManagement',
      query: t.Object(pageQuery),
      csv: csvOf('webhook-endpoints', Endpoints, ({ shop }, slice) => listEndpoints(deps, shop, slice)),
      response: { 200: Endpoints, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'listWebhookEndpoints', summary: 'Lists webhook endpoints', description: 'Returns endpoints, newest first.' },
    })
    .get('/webhook-endpoints/:id', ({ params, shop }) => findEndpoint(deps, shop, params.id), {
      access: 'ownerManagement',
      versioned: true,
      params: RecordId,
      response: { 200: EndpointRecord, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getWebhookEndpoint', summary: 'Returns a webhook endpoint' },
    })
    .delete(
      '/webhook-endpoints/:id',
      ({ params, shop, actor, expected, set }) => noContent(set, removeEndpoint(deps, { shop, actor, expected }, params.id)),
      {
        access: 'ownerManagement',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'The endpoint was deleted' }), ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'deleteWebhookEndpoint',
          summary: 'Deletes a webhook endpoint',
          description: 'Pending deliveries are cancelled.',
        },
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
      detail: {
        operationId: 'listWebhookDeliveries',
        summary: 'Lists deliveries of a webhook endpoint',
        description: 'Returns deliveries, newest first. They are deleted after 30 days.',
      },
    })
    .post(
      '/webhook-endpoints/:id/deliveries/:deliveryId/resend',
      ({ params: { id, deliveryId }, shop, actor, once }) =>
        once(200, (write) => resendDelivery(deps, { shop, actor, write }, id, deliveryId), {
          assertVisible: () => findDelivery(deps, shop, id, deliveryId),
        }),
      {
        access: 'ownerManagement',
        idempotent: true,
        params: DeliveryParams,
        response: { 200: DeliveryRecord, ...errorResponses(401, 403, 404, 409, 422) },
        detail: {
          operationId: 'resendWebhookDelivery',
          summary: 'Resends a delivery',
          description:
            'Sends the same body with the same `webhook-id` and a new signature, at once. A delivery that succeeded or failed gets nine new attempts in about a day, but none later than three days after it was created. A pause of a failing endpoint ends. The response is 409 during an attempt, and for a disabled endpoint.',
        },
      },
    )
