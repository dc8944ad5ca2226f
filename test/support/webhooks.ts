/** Webhook endpoints of shops, and servers that receive the messages. */
import { outbox, webhookDeliveries, webhookEndpoints } from '../../db/schema/outbox.ts'
import { deliverWebhooks } from '../../jobs/deliver-webhooks.ts'
import { webhookSecret, webhookSecretBytes } from '../../src/lib/standard-webhooks.ts'
import { healthy, type WebhookEvent, webhookSecretSeal } from '../../src/modules/messaging/webhook/domain.ts'
import { enqueueMessage, type Message } from '../../src/modules/messaging/webhook/service.ts'
import type { TestApp } from './app.ts'

/** Setting that allows calls to receivers on loopback. */
export const loopbackAllowed = { OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' }

export type Received = { path: string; headers: Headers; body: string }

/** Starts a server that records the requests it receives. */
export function receiver(answer: (received: Received) => Response | Promise<Response> = () => new Response(null, { status: 204 })) {
  const received: Received[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const one = { path: new URL(request.url).pathname, headers: request.headers, body: await request.text() }
      received.push(one)
      return answer(one)
    },
  })
  return {
    received,
    url: `http://127.0.0.1:${server.port}/`,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
}

export type Shop = Awaited<ReturnType<TestApp['merchant']>>

/** Registers an endpoint with the shop's secret key. */
export async function registerEndpoint(
  app: TestApp,
  shop: Shop,
  url: string,
  events: readonly WebhookEvent[] = ['order.confirmed'],
): Promise<{ id: string; secret: string }> {
  const { status, body, text } = await app.call('POST', '/webhook-endpoints', { key: shop.secretKey, body: { url, events } })
  if (status !== 201) throw new Error(`${status} ${text}`)
  return body
}

/** Enqueues a message with any data. */
export const enqueueEvent = (
  app: TestApp,
  shop: Shop,
  key: string,
  { event = 'order.confirmed', data = { key } }: { event?: WebhookEvent; data?: unknown } = {},
): Promise<void> => app.deps.db.write((tx) => enqueueMessage(tx, app.deps, { shopId: shop.shop.id, event, key, data } as Message))

/** Runs the delivery job and waits for the responses. */
export async function deliver(app: TestApp): Promise<void> {
  await deliverWebhooks(app.deps)
  await app.deps.webhooks.idle()
}

export type RecordedDelivery = {
  id: string
  messageId: string
  event: string
  status: string
  attempts: number
  nextAttemptAt: string | null
  lastStatus: number | null
  lastError: string | null
  createdAt: string
  updatedAt: string
}

/** Returns an endpoint's deliveries as the shop sees them, newest first. */
export async function deliveriesOf(app: TestApp, shop: Shop, { id }: { id: string }): Promise<RecordedDelivery[]> {
  const { status, body, text } = await app.call('GET', `/webhook-endpoints/${id}/deliveries?limit=100`, { key: shop.secretKey })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.data
}

/** Inserts a failed delivery of a new endpoint. Returns its path and the ids. */
export async function insertFailedDelivery(app: TestApp, shop: Shop): Promise<{ path: string; endpointId: string; id: string }> {
  const now = app.clock.now()
  const endpointId = app.deps.newId('endpoint')
  const { shop: of } = shop
  const sealedSecret = app.deps.keyring.seal(webhookSecret(new Uint8Array(webhookSecretBytes)), webhookSecretSeal(of.id, endpointId))
  const endpoint = { id: endpointId, shopId: of.id, url: 'https://hooks.example/again', events: ['order.confirmed'], sealedSecret }
  const outboxId = app.deps.newId('message')
  const id = app.deps.newId('delivery')
  const message = { id: outboxId, key: `again:${outboxId}`, shopId: shop.shop.id, event: 'order.confirmed', body: '{}' }
  await app.deps.db.write(async (tx) => {
    await tx.insert(webhookEndpoints).values({ ...endpoint, createdAt: now, removedAt: null, ...healthy })
    await tx.insert(outbox).values({ ...message, status: 'DONE', createdAt: now })
    const last = { lastStatus: 500, lastError: 'answered 500', createdAt: now, updatedAt: now }
    await tx
      .insert(webhookDeliveries)
      .values({ id, endpointId, outboxId, event: 'order.confirmed', status: 'FAILED', attempts: 9, nextAt: now, ...last })
  })
  return { path: `/webhook-endpoints/${endpointId}/deliveries/${id}`, endpointId, id }
}
