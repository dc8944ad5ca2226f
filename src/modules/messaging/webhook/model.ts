import { t } from 'elysia'
import { fieldsOf, Instant, integer, nullable, oneOf, pageOf, text, Url } from '../../../http/schema.ts'
import { deliveryStatuses, disabledReasons, webhookEvents } from './domain.ts'

const fields = {
  ...fieldsOf(t.String(), 'id', 'shopId', 'url'),
  events: t.Array(oneOf(webhookEvents)),
  createdAt: Instant,
  failingSince: nullable(t.String({ ...Instant, description: 'When attempts started to fail. Null after a success' })),
  disabledAt: nullable(t.String({ ...Instant, description: 'When the endpoint was disabled. Nothing is sent to it' })),
  disabledReason: nullable(oneOf(disabledReasons, { description: 'GONE: it returned 410. FAILING: it failed for five days' })),
  skipped: integer({
    minimum: 0,
    description: 'Number of messages skipped because too many deliveries were pending. Their deliveries are FAILED with `too many waiting`',
  }),
  skippedAt: nullable(t.String({ ...Instant, description: 'When the last message was skipped' })),
}
export const EndpointRecord = t.Object(fields, { title: 'WebhookEndpoint' })
export const NewEndpoint = t.Object(
  {
    ...fields,
    secret: t.String({ description: '`whsec_` and the signing key in base64. Returned only once' }),
  },
  { title: 'NewWebhookEndpoint' },
)
export const Endpoints = pageOf(EndpointRecord)

export const DeliveryRecord = t.Object(
  {
    id: t.String(),
    messageId: t.String({ description: "The message's `webhook-id`, the same for every attempt" }),
    event: oneOf(webhookEvents),
    status: oneOf(deliveryStatuses),
    attempts: integer({ description: 'Number of attempts' }),
    nextAttemptAt: nullable(Instant),
    lastStatus: nullable(integer({ description: 'HTTP status of the last response' })),
    lastError: nullable(
      t.String({ description: 'Error of the last attempt. `gave way`: the attempt was ended to make room for others and does not count' }),
    ),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'WebhookDelivery' },
)
export const Deliveries = pageOf(DeliveryRecord)

export const DeliveryParams = t.Object({ id: text(64), deliveryId: text(64) })

export const CreateEndpoint = t.Object({
  url: Url,
  events: t.Array(oneOf(webhookEvents), { minItems: 1, maxItems: 20, description: 'Events to send' }),
})
