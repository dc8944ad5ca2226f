import type { webhookDeliveries, webhookEndpoints } from '../../../../db/schema/outbox.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/day.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { addJitter } from '../../../lib/random.ts'

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect

/** Events that webhooks can receive. */
export const webhookEvents = [
  'order.confirmed',
  'order.refunded',
  'order.refund_claimable',
  'order.refund_manual',
  'order.cancelled',
  'order.partially_fulfilled',
  'order.fulfilled',
  'order.fulfilment_updated',
  'order.updated',
  'order.return_updated',
  'order.disputed',
  'stock.low',
  'customer.updated',
  'customer.erased',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]
export const disabledReasons = ['GONE', 'FAILING'] as const
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const

export const endpointsPerShopMax = 20
const seconds = 1_000
/** How long messages are kept. */
export const retentionMs = 30 * dayMs

/** Returns what an endpoint's sealed secret is bound to. */
export const webhookSecretSeal = (shopId: string, endpointId: string): string => `${shopId}/webhook-endpoint/${endpointId}`

/** Builds a message's body in the form of Standard Webhooks. It is stored and signed byte for byte. */
export const messageBody = (event: WebhookEvent, at: number, data: unknown): string =>
  JSON.stringify({ type: event, timestamp: new Date(at).toISOString(), data })

/** Pause after each failed attempt but the last: nine attempts in about a day. */
export const retryPausesMs = [5 * seconds, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 7 * hourMs, 10 * hourMs] as const
const goneStatus = 410

const isSuccess = (answered: number | null) => answered !== null && answered >= 200 && answered < 300

/** Marks an attempt that was aborted for others before the receiver's time was over. */
export const gaveWay = 'gave way'

/** The result of an attempt. */
export type Outcome = {
  /** Status of the response; null if there was none. */
  answered: number | null
  failure: string | null
}

/**
 * Returns a delivery's state after an attempt. The status decides, even if the rest of the response was cut off. An
 * attempt that gave way does not count.
 * @param attempts including this one
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
  if (failure === gaveWay) return { status: 'PENDING', attempts: attempts - 1, nextAt: now + addJitter(retryPausesMs[0], chance), ...last }
  const pause = retryPausesMs[attempts - 1]
  if (answered === goneStatus || pause === undefined) return { status: 'FAILED', nextAt: now, ...last }
  return { status: 'PENDING', nextAt: now + addJitter(pause, chance), ...last }
}

/** Concurrent attempts per process. */
export const slotsMax = { all: 64, shop: 4, endpoint: 2 } as const
/** After this time an attempt can be aborted in favour of a shop without a slot. */
export const patienceMs = 2 * seconds

export type AttemptSlot = { shopId: string; endpointId: string }
/** @property failures consecutive failures of the endpoint when it was selected */
type DueAttempt = AttemptSlot & { failures: number }
/** @property mayGiveWay false if the previous attempt gave way */
export type Attempt = DueAttempt & { beganAt: number; mayGiveWay: boolean }

/** Slots that are reserved for endpoints that did not fail last time. */
const reservedForHealthy = 16

/**
 * Returns the slots a shop may use while `free` are left: fewer as fewer are free (dynamic thresholds, Choudhury and
 * Hahne 1998). Hanging endpoints can take most slots but never the last ones.
 */
export const slotsPerShop = (free: number): number => Math.min(slotsMax.shop, Math.max(1, Math.floor(free / 8)))

/** Returns the shops and endpoints that use all their slots. */
export function fullShopsAndEndpoints(inFlight: Iterable<AttemptSlot>): { shops: string[]; endpoints: string[] } {
  const slots = [...inFlight]
  const full = (by: keyof AttemptSlot, max: number) =>
    [...Map.groupBy(slots, (slot) => slot[by])].filter(([, same]) => same.length >= max).map(([id]) => id)
  return { shops: full('shopId', slotsPerShop(slotsMax.all - slots.length)), endpoints: full('endpointId', slotsMax.endpoint) }
}

/** Returns whether the remaining slots are reserved for healthy endpoints. */
export const onlyHealthy = (inFlight: number): boolean => slotsMax.all - inFlight <= reservedForHealthy

/** Returns whether a due delivery may be sent while others are in flight. */
export function hasSlot({ shopId, endpointId, failures }: DueAttempt, inFlight: readonly AttemptSlot[]): boolean {
  if (inFlight.length >= slotsMax.all || (failures > 0 && onlyHealthy(inFlight.length))) return false
  const { shops, endpoints } = fullShopsAndEndpoints(inFlight)
  return !shops.includes(shopId) && !endpoints.includes(endpointId)
}

/**
 * Selects attempts to abort in favour of shops without a slot: those beyond `patienceMs`, of failing endpoints first,
 * then of shops with many attempts, then the longest. Their next attempt gets the full time, so a slow receiver gets
 * its message.
 * @param waiting number of shops without a slot
 */
export function selectToAbort<One extends Attempt>(inFlight: readonly One[], waiting: number, now: number): One[] {
  const ofShop = Map.groupBy(inFlight, ({ shopId }) => shopId)
  const isFailing = ({ failures }: One) => Number(failures > 0)
  const count = ({ shopId }: One) => ofShop.get(shopId)?.length ?? 0
  return inFlight
    .filter(({ beganAt, mayGiveWay }) => mayGiveWay && now - beganAt >= patienceMs)
    .sort((a, b) => isFailing(b) - isFailing(a) || count(b) - count(a) || a.beganAt - b.beganAt)
    .slice(0, waiting)
}

/** The recent health of an endpoint. */
export type Health = Pick<WebhookEndpoint, 'failures' | 'failingSince' | 'retryAt' | 'disabledAt' | 'disabledReason'>

/** After this many consecutive failures an endpoint gets one attempt at a time, with growing pauses. */
export const failuresTolerated = 3
const endpointPauseMs = { first: 5 * seconds, longest: 10 * minuteMs }
/** Endpoints that failed for this long and this often are disabled. */
export const disabledAfter = { ms: 5 * dayMs, failures: 20 } as const
/** Limit of pending deliveries of an endpoint that is failing or behind. Further ones fail at once. */
export const pendingMax = 1_000
/** Limit for healthy endpoints, large enough for a burst. */
export const burstMax = 10_000
/** An endpoint is behind once its first delivery has been due for this long. */
export const behindAfterMs = minuteMs

/** An endpoint's pending deliveries and the due time of the oldest. */
export type Backlog = { readonly waiting: number; readonly dueAt: number }

/** Returns how many deliveries may be pending for an endpoint. */
export const pendingMaxOf = (endpoint: Pick<Health, 'failures'>, { dueAt }: Pick<Backlog, 'dueAt'>, now: number): number =>
  isFailing(endpoint) || dueAt <= now - behindAfterMs ? pendingMax : burstMax

/** Skipping is logged once per endpoint, and again only after this long without skips. */
export const skipLogIntervalMs = hourMs
/** Deliveries older than this are given up. */
export const deliveryMaxAgeMs = 3 * dayMs

const endpointRestMs = (failures: number) =>
  Math.min(endpointPauseMs.longest, endpointPauseMs.first * 2 ** Math.max(0, failures - failuresTolerated))

/** Returns whether an endpoint gets one attempt at a time. */
export const isFailing = ({ failures }: Pick<Health, 'failures'>): boolean => failures >= failuresTolerated
export const healthy: Health = { failures: 0, failingSince: null, retryAt: null, disabledAt: null, disabledReason: null }

/**
 * Returns an endpoint's health after an attempt. One that gave way rests and loses the reserved slots until it
 * succeeds, but has not failed. Endpoints are disabled as Standard Webhooks asks: after 410, and after days of
 * failures.
 * @param chance from 0 to 1
 * @returns undefined after an internal error
 */
export function healthAfter(before: Health, { answered, failure }: Outcome, now: number, chance: number): Health | undefined {
  if (failure === 'internal error') return undefined
  const { disabledAt, disabledReason } = before
  if (isSuccess(answered)) return { ...healthy, disabledAt, disabledReason }
  const restUntil = (failures: number) => now + addJitter(endpointRestMs(failures), chance)
  if (failure === gaveWay) return { ...before, failures: Math.max(before.failures, 1), retryAt: restUntil(before.failures) }
  const failures = before.failures + 1
  const failingSince = before.failingSince ?? now
  const retryAt = failures < failuresTolerated ? null : restUntil(failures)
  const isHopeless = failures >= disabledAfter.failures && now - failingSince >= disabledAfter.ms
  const reason = answered === goneStatus ? 'GONE' : isHopeless ? 'FAILING' : null
  if (disabledAt !== null || reason === null) return { failures, failingSince, retryAt, disabledAt, disabledReason }
  return { failures, failingSince, retryAt, disabledAt: now, disabledReason: reason }
}

/** Returns the new health; undefined if it does not change. */
export function healthIfChanged(endpoint: Health, outcome: Outcome, now: number, chance: number): Health | undefined {
  const before = pick(endpoint, 'failures', 'failingSince', 'retryAt', 'disabledAt', 'disabledReason')
  const after = healthAfter(before, outcome, now, chance)
  return after && !Bun.deepEquals(after, before) ? after : undefined
}

/** Longer than an attempt and its write take. After this, other processes may claim the delivery. */
export const leaseMs = 60_000

/** Returns whether an attempt is in progress: a claim sets `nextAt` to exactly one lease after `updatedAt`. */
export const isBeingSent = ({ status, attempts, nextAt, updatedAt }: WebhookDelivery, now: number): boolean =>
  status === 'PENDING' && attempts > 0 && nextAt > now && nextAt - updatedAt === leaseMs

/** Endpoints never change. */
export const endpointVersion = 1

/** Renders an endpoint without its secret. */
export const endpointView = (endpoint: WebhookEndpoint) => ({
  ...pick(endpoint, 'id', 'shopId', 'url'),
  events: endpoint.events as WebhookEvent[],
  ...isoTimes(pick(endpoint, 'createdAt', 'failingSince', 'disabledAt', 'skippedAt')),
  ...pick(endpoint, 'disabledReason', 'skipped'),
  version: endpointVersion,
})
export type EndpointView = ReturnType<typeof endpointView>

/** Renders a delivery without its content. `nextAttemptAt` is null once it is finished. */
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
