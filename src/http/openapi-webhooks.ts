/** The `webhooks` section of the OpenAPI document: one entry per event. */
import { documentSchema, type Schema, type SharedSchemas } from './openapi-schema.ts'

/** Schemas of the messages by event. The description says when a message is sent. */
export type ToldEvents = { readonly [event: string]: Schema }

const header = (name: string, description: string, schema: Schema) => ({ name, in: 'header', required: true, description, schema })

const standardHeaders = [
  header('webhook-id', 'The message: the same for every attempt.', { type: 'string' }),
  header('webhook-timestamp', 'When this attempt was signed, in seconds since the epoch.', { type: 'string', pattern: '^[0-9]+$' }),
  header('webhook-signature', '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` under the secret of the endpoint.', {
    type: 'string',
  }),
]
const responses = {
  '2XX': { description: 'The message is taken. What the body says is not looked at.' },
  '410': { description: 'The endpoint is gone for good: nothing more is sent to it.' },
  default: { description: 'The message is sent again, with growing pauses.' },
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Describes each message as a POST to a subscribed endpoint. */
export function webhooksOf(events: ToldEvents, tag: string, shared: SharedSchemas): Record<string, { readonly post: Schema }> {
  return Object.fromEntries(Object.entries(events).map(([event, data]) => [event, { post: messageOf(event, data, tag, shared) }]))
}

function messageOf(event: string, data: Schema, tag: string, shared: SharedSchemas): Schema {
  // JSON drops the symbols of TypeBox.
  const shown = documentSchema(JSON.parse(JSON.stringify(data)), shared)
  const schema = {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { const: event, type: 'string' },
      timestamp: { type: 'string', format: 'date-time', description: 'When it happened: ISO 8601, UTC' },
      data: shown,
    },
  }
  return {
    operationId: `on${event.split('.').map(capitalised).join('')}`,
    summary: event,
    description: `${data['description'] ?? 'Something happened'}. Sent to the endpoints of the shop that were registered for \`${event}\`, by Standard Webhooks.`,
    tags: [tag],
    security: [],
    parameters: standardHeaders,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses,
  }
}
