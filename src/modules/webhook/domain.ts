import type { webhookDeliveries, webhookEndpoints } from '../../../db/schema/outbox.ts'
import type { OutgoingFailure } from '../../core/outgoing.ts'
import { isoTimes, pick } from '../../lib/records.ts'

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect

/** What the outside may be told of. */
export const webhookEvents = ['order.confirmed', 'order.refunded', 'order.cancelled', 'order.fulfilled'] as const
export type WebhookEvent = (typeof webhookEvents)[number]
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const

export const endpointsPerShopMax = 20
const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes
/** How long what was told stays to be looked at. */
export const keptMs = 30 * 24 * hours

/** What an endpoint's sealed secret is bound to. */
export const webhookSecretSeal = (shopId: string, endpointId: string): string => `${shopId}/webhook-endpoint/${endpointId}`

/** The body of a message in the form that Standard Webhooks recommends; it is kept and signed byte for byte. */
export const messageBody = (event: WebhookEvent, at: number, data: unknown): string =>
  JSON.stringify({ type: event, timestamp: new Date(at).toISOString(), data })

/** The pause after each failed attempt but the last: nine attempts in about a day. */
export const pausesMs = [5 * seconds, minutes, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours, 7 * hours, 10 * hours] as const
/** A pause is longer or shorter by up to this part of it, so that what failed together does not come back together. */
export const jitter = 0.1
const gone = 410

/** What came of an attempt. */
export type Outcome = {
  /** Of the answer; null where there was none. */
  answered: number | null
  failure: OutgoingFailure | 'internal error' | null
}

/**
 * Where an attempt leaves a delivery. The answer's status decides, even if the rest of the answer was cut off or too long: the
 * receiver has said that it has the message.
 * @param attempts how many there were, this one included
 * @param chance from 0 to 1
 */
export function afterAttempt(
  { answered, failure }: Outcome,
  attempts: number,
  now: number,
  chance: number,
): Pick<WebhookDelivery, 'status' | 'nextAt' | 'lastStatus' | 'lastError'> {
  if (answered !== null && answered >= 200 && answered < 300)
    return { status: 'DELIVERED', nextAt: now, lastStatus: answered, lastError: null }
  const last = { lastStatus: answered, lastError: failure ?? `answered ${answered}` }
  const pause = pausesMs[attempts - 1]
  if (answered === gone || pause === undefined) return { status: 'FAILED', nextAt: now, ...last }
  return { status: 'PENDING', nextAt: now + Math.round(pause * (1 - jitter + 2 * jitter * chance)), ...last }
}

/** How many may be under way at once: one that hangs holds up neither the others of its shop nor other shops. */
export const underWayMax = { all: 24, shop: 4, endpoint: 2 } as const

export type Place = { shopId: string; endpointId: string }

/** Which shops and endpoints have as many under way as they may. */
export function crowded(underWay: Iterable<Place>): { shops: string[]; endpoints: string[] } {
  const places = [...underWay]
  const full = (by: keyof Place, max: number) =>
    [...Map.groupBy(places, (place) => place[by])].filter(([, same]) => same.length >= max).map(([id]) => id)
  return { shops: full('shopId', underWayMax.shop), endpoints: full('endpointId', underWayMax.endpoint) }
}

/** Those of the due that there is room for beside what is under way, in their order. */
export function withRoom<Due extends Place>(due: readonly Due[], underWay: Iterable<Place>): Due[] {
  const places: Place[] = [...underWay]
  return due.filter((one) => {
    const { shops, endpoints } = crowded(places)
    if (places.length >= underWayMax.all || shops.includes(one.shopId) || endpoints.includes(one.endpointId)) return false
    places.push(one)
    return true
  })
}

/** Of every endpoint, since nothing of one ever changes. */
export const endpointVersion = 1

/** An endpoint as its shop sees it: never with its secret. */
export const endpointView = (endpoint: WebhookEndpoint) => ({
  ...pick(endpoint, 'id', 'shopId', 'url'),
  events: endpoint.events as WebhookEvent[],
  ...isoTimes(pick(endpoint, 'createdAt')),
  version: endpointVersion,
})
export type EndpointView = ReturnType<typeof endpointView>

/** A delivery as its shop sees it. */
export const deliveryView = ({ id, outboxId, event, status, attempts, nextAt, lastStatus, lastError, ...times }: WebhookDelivery) => ({
  id,
  messageId: outboxId,
  event: event as WebhookEvent,
  status,
  attempts,
  ...isoTimes({ nextAttemptAt: status === 'PENDING' ? nextAt : null }),
  lastStatus,
  lastError,
  ...isoTimes(pick(times, 'createdAt', 'updatedAt')),
})
