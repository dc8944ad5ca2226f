import type { webhookDeliveries, webhookEndpoints } from '../../../../db/schema/outbox.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect

/** What the outside may be told of. */
export const webhookEvents = [
  'order.confirmed',
  'order.refunded',
  'order.refund_claimable',
  'order.refund_manual',
  'order.cancelled',
  'order.partially_fulfilled',
  'order.fulfilled',
  'order.fulfilment_updated',
  'order.disputed',
  'stock.low',
  'customer.erased',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]
export const disabledReasons = ['GONE', 'FAILING'] as const
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

const isSuccess = (answered: number | null) => answered !== null && answered >= 200 && answered < 300
const jittered = (pause: number, chance: number) => Math.round(pause * (1 - jitter + 2 * jitter * chance))

/** It was we who ended the attempt, before the time that a receiver has: `givingWay`. */
export const gaveWay = 'gave way'

/** What came of an attempt. */
export type Outcome = {
  /** Of the answer; null where there was none. */
  answered: number | null
  failure: string | null
}

/**
 * Where an attempt leaves a delivery. The answer's status decides, even if the rest of the answer was cut off or too long: the
 * receiver has said that it has the message. One that gave way counts as no attempt.
 * @param attempts how many there were, this one included
 * @param chance from 0 to 1
 */
export function afterAttempt(
  { answered, failure }: Outcome,
  attempts: number,
  now: number,
  chance: number,
): Pick<WebhookDelivery, 'status' | 'nextAt' | 'lastStatus' | 'lastError'> & { attempts?: number } {
  if (isSuccess(answered)) return { status: 'DELIVERED', nextAt: now, lastStatus: answered, lastError: null }
  const last = { lastStatus: answered, lastError: failure ?? `answered ${answered}` }
  if (failure === gaveWay) return { status: 'PENDING', attempts: attempts - 1, nextAt: now + jittered(pausesMs[0], chance), ...last }
  const pause = pausesMs[attempts - 1]
  if (answered === gone || pause === undefined) return { status: 'FAILED', nextAt: now, ...last }
  return { status: 'PENDING', nextAt: now + jittered(pause, chance), ...last }
}

/** How many attempts may be under way at once in a process. */
export const placesMax = { all: 64, shop: 4, endpoint: 2 } as const
/** An attempt that has lasted so long gives its place to a shop that has none, once there are no more places. */
export const patienceMs = 2 * seconds

export type Place = { shopId: string; endpointId: string }
/** @property failures of its endpoint in a row, when it was chosen */
export type Turn = Place & { failures: number }
/** @property mayGiveWay whether it may end for others' sake: not one that did so last time */
export type Attempt = Turn & { beganAt: number; mayGiveWay: boolean }

/** The last places are for endpoints that did not fail last time. */
export const leftForHealthy = 16

/**
 * How many places a shop may have while so many are free: the fewer are left, the fewer it may take (dynamic thresholds, Choudhury
 * and Hahne 1998). Shops whose endpoints hang can take most of the places, and never the last ones.
 */
export const shareOf = (free: number): number => Math.min(placesMax.shop, Math.max(1, Math.floor(free / 8)))

/** Which shops and endpoints have as many under way as they may. */
export function crowded(underWay: Iterable<Place>): { shops: string[]; endpoints: string[] } {
  const places = [...underWay]
  const full = (by: keyof Place, max: number) =>
    [...Map.groupBy(places, (place) => place[by])].filter(([, same]) => same.length >= max).map(([id]) => id)
  return { shops: full('shopId', shareOf(placesMax.all - places.length)), endpoints: full('endpointId', placesMax.endpoint) }
}

/** Whether only endpoints that did not fail last time may have one more. */
export const onlyHealthy = (underWay: number): boolean => placesMax.all - underWay <= leftForHealthy

/** Those of the due that there is room for beside what is under way, in their order. */
export function withRoom<Due extends Turn>(due: readonly Due[], underWay: Iterable<Place>): Due[] {
  const places: Place[] = [...underWay]
  return due.filter((one) => {
    const { shops, endpoints } = crowded(places)
    if (one.failures > 0 && onlyHealthy(places.length)) return false
    if (places.length >= placesMax.all || shops.includes(one.shopId) || endpoints.includes(one.endpointId)) return false
    places.push(one)
    return true
  })
}

/**
 * Which attempts give their places to shops that have none: of those that have lasted longer than we are patient, first of endpoints that
 * have failed before, then of shops with many under way, then those that have lasted longest. The next attempt of one that gave way has
 * all its time: a receiver that is slow gets its message, and of one that hangs we learn so.
 * @param waiting how many shops are without a place
 */
export function givingWay<One extends Attempt>(underWay: readonly One[], waiting: number, now: number): One[] {
  const ofShop = Map.groupBy(underWay, ({ shopId }) => shopId)
  const isFailing = ({ failures }: One) => Number(failures > 0)
  const count = ({ shopId }: One) => ofShop.get(shopId)?.length ?? 0
  return underWay
    .filter(({ beganAt, mayGiveWay }) => mayGiveWay && now - beganAt >= patienceMs)
    .sort((a, b) => isFailing(b) - isFailing(a) || count(b) - count(a) || a.beganAt - b.beganAt)
    .slice(0, waiting)
}

/** How an endpoint has answered lately. */
export type Health = Pick<WebhookEndpoint, 'failures' | 'failingSince' | 'retryAt' | 'disabledAt' | 'disabledReason'>

/** After so many failures in a row an endpoint counts as failing: one attempt at a time, with growing pauses. */
export const failuresTolerated = 3
const endpointPauseMs = { first: 5 * seconds, longest: 10 * minutes }
/** An endpoint of which nothing came in all of this time, nor in so many attempts, gets nothing more. */
export const disabledAfter = { ms: 5 * 24 * hours, failures: 20 } as const
/**
 * Limit of pending deliveries of an endpoint that is failing or behind. Further ones are skipped: they fail at once.
 */
export const waitingMax = 1_000
/** Limit for healthy endpoints, large enough for a burst. */
export const burstMax = 10_000
/** An endpoint is behind once the first delivery that waits for it has been due for this long. */
export const behindAfterMs = minutes

/** An endpoint's pending deliveries and the due time of the oldest. */
export type Backlog = { readonly waiting: number; readonly dueAt: number }

/** How many deliveries may wait for an endpoint now. */
export const waitingMaxOf = (endpoint: Pick<Health, 'failures'>, { dueAt }: Pick<Backlog, 'dueAt'>, now: number): number =>
  isFailing(endpoint) || dueAt <= now - behindAfterMs ? waitingMax : burstMax

/** Skipping is logged once for an endpoint, and again only if it skipped nothing for this long. */
export const skippingLoggedMs = hours
/** What could not be delivered by then is given up. */
export const waitedMaxMs = 3 * 24 * hours

const restMs = (failures: number) =>
  Math.min(endpointPauseMs.longest, endpointPauseMs.first * 2 ** Math.max(0, failures - failuresTolerated))

export const isFailing = ({ failures }: Pick<Health, 'failures'>): boolean => failures >= failuresTolerated
export const healthy: Health = { failures: 0, failingSince: null, retryAt: null, disabledAt: null, disabledReason: null }

/**
 * What an attempt says of its endpoint. One that gave way says that it is not quick: it rests, and has none of the last places until it
 * succeeds, but it has not failed. Standard Webhooks asks to disable one that answers 410, and one that has failed for days.
 * @param chance from 0 to 1
 * @returns undefined where it says nothing: it was our own fault
 */
export function healthAfter(before: Health, { answered, failure }: Outcome, now: number, chance: number): Health | undefined {
  if (failure === 'internal error') return undefined
  const { disabledAt, disabledReason } = before
  if (isSuccess(answered)) return { ...healthy, disabledAt, disabledReason }
  const restUntil = (failures: number) => now + jittered(restMs(failures), chance)
  if (failure === gaveWay) return { ...before, failures: Math.max(before.failures, 1), retryAt: restUntil(before.failures) }
  const failures = before.failures + 1
  const failingSince = before.failingSince ?? now
  const retryAt = failures < failuresTolerated ? null : restUntil(failures)
  const isHopeless = failures >= disabledAfter.failures && now - failingSince >= disabledAfter.ms
  const reason = answered === gone ? 'GONE' : isHopeless ? 'FAILING' : null
  if (disabledAt !== null || reason === null) return { failures, failingSince, retryAt, disabledAt, disabledReason }
  return { failures, failingSince, retryAt, disabledAt: now, disabledReason: reason }
}

/** The same where it is another than before; undefined where nothing changes. */
export function changedHealth(endpoint: Health, outcome: Outcome, now: number, chance: number): Health | undefined {
  const before = pick(endpoint, 'failures', 'failingSince', 'retryAt', 'disabledAt', 'disabledReason')
  const after = healthAfter(before, outcome, now, chance)
  return after && !Bun.deepEquals(after, before) ? after : undefined
}

/** Well above what an attempt and the write of its result take: whoever claimed a delivery and vanished leaves it to others after that. */
export const leaseMs = 60_000

/** Whether an attempt at a delivery may be under way: whoever claims one says until when, and when that was. */
export const isBeingSent = ({ status, attempts, nextAt, updatedAt }: WebhookDelivery, now: number): boolean =>
  status === 'PENDING' && attempts > 0 && nextAt > now && nextAt - updatedAt === leaseMs

/** Of every endpoint, since nothing of one ever changes. */
export const endpointVersion = 1

/** An endpoint as its shop sees it: never with its secret. */
export const endpointView = (endpoint: WebhookEndpoint) => ({
  ...pick(endpoint, 'id', 'shopId', 'url'),
  events: endpoint.events as WebhookEvent[],
  ...isoTimes(pick(endpoint, 'createdAt', 'failingSince', 'disabledAt', 'skippedAt')),
  ...pick(endpoint, 'disabledReason', 'skipped'),
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
