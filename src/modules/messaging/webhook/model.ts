import { t } from 'elysia'
import { fieldsOf, Instant, integer, nullable, oneOf, pageOf, text, Url } from '../../../http/schema.ts'
import { deliveryStatuses, disabledReasons, webhookEvents } from './domain.ts'

const fields = {
  ...fieldsOf(t.String(), 'id', 'shopId', 'url'),
  events: t.Array(oneOf(webhookEvents)),
  createdAt: Instant,
  failingSince: nullable(t.String({ ...Instant, description: 'Since when no attempt was answered with success' })),
  disabledAt: nullable(t.String({ ...Instant, description: 'Since when nothing is sent to it any more' })),
  disabledReason: nullable(oneOf(disabledReasons, { description: 'GONE: it answered 410. FAILING: it failed for five days' })),
  skipped: integer({
    minimum: 0,
    description: 'Messages that were skipped because too many deliveries were pending: their deliveries are FAILED with `too many waiting`',
  }),
  skippedAt: nullable(t.String({ ...Instant, description: 'When the last of them was skipped' })),
}
export const EndpointRecord = t.Object(fields, { title: 'WebhookEndpoint' })
export const NewEndpoint = t.Object(
  {
    ...fields,
    secret: t.String({ description: '`whsec_` and the key of the signatures in base64. Shown this once' }),
  },
  { title: 'NewWebhookEndpoint' },
)
export const Endpoints = pageOf(EndpointRecord)

export const DeliveryRecord = t.Object(
  {
    id: t.String(),
    messageId: t.String({ description: 'The `webhook-id` that the endpoint gets, the same for every attempt' }),
    event: oneOf(webhookEvents),
    status: oneOf(deliveryStatuses),
    attempts: integer({ description: 'How many were begun' }),
    nextAttemptAt: nullable(Instant),
    lastStatus: nullable(integer({ description: 'HTTP status of the last answer' })),
    lastError: nullable(
      t.String({ description: 'Why the last attempt failed; `gave way`: we ended it for others, and it counts as none' }),
    ),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'WebhookDelivery' },
)
export const Deliveries = pageOf(DeliveryRecord)

export const DeliveryParams = t.Object({ id: text(64), deliveryId: text(64) })

export const CreateEndpoint = t.Object({
  url: Url,
  events: t.Array(oneOf(webhookEvents), { minItems: 1, maxItems: 20, description: 'Which events it is to get' }),
})
