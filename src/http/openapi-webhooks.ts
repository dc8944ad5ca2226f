/** The `webhooks` section of the OpenAPI document: one entry per event. */
import { documentSchema, type Schema, type SharedSchemas } from './openapi-schema.ts'

/** Schemas of the messages by event. The description says when a message is sent. */
export type EventSchemas = { readonly [event: string]: Schema }

const header = (name: string, description: string, schema: Schema) => ({ name, in: 'header', required: true, description, schema })

const standardHeaders = [
  header('webhook-id', 'Id of the message, the same for every attempt.', { type: 'string' }),
  header('webhook-timestamp', 'When this attempt was signed, in seconds since 1970.', { type: 'string', pattern: '^[0-9]+$' }),
  header('webhook-signature', "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` with the endpoint's secret.", {
    type: 'string',
  }),
]
const responses = {
  '2XX': { description: 'The message was received. The body is ignored.' },
  '410': { description: 'The endpoint no longer exists. No more messages are sent to it.' },
  default: { description: 'The message is sent again, after increasing pauses.' },
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Describes each message as a POST to a subscribed endpoint. */
export function webhooksOf(events: EventSchemas, tag: string, shared: SharedSchemas): Record<string, { readonly post: Schema }> {
  return Object.fromEntries(Object.entries(events).map(([event, data]) => [event, { post: messageOf(event, data, tag, shared) }]))
}

function messageOf(event: string, data: Schema, tag: string, shared: SharedSchemas): Schema {
  // JSON drops the symbols of TypeBox.
  const dataSchema = documentSchema(JSON.parse(JSON.stringify(data)), shared)
  const schema = {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { const: event, type: 'string' },
      timestamp: { type: 'string', format: 'date-time', description: 'When the event happened: ISO 8601, UTC' },
      data: dataSchema,
    },
  }
  return {
    operationId: `on${event.split('.').map(capitalised).join('')}`,
    summary: event,
    description: `${data['description'] ?? 'An event happened'}. Sent to the shop's webhook endpoints for \`${event}\`, as in Standard Webhooks.`,
    tags: [tag],
    security: [],
    parameters: standardHeaders,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses,
  }
}
