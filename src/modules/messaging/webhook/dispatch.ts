import type { Writer } from '../../../../db/engine.ts'
import { locking } from '../../../core/command-context.ts'
import { createDeliveryQueue, lanesPerQuery, type Sender } from '../../../core/delivery-queue.ts'
import type { Deps } from '../../../core/deps.ts'
import { OutgoingError } from '../../../core/outgoing.ts'
import type { Tally } from '../../../lib/prometheus.ts'
import { randomFraction } from '../../../lib/random.ts'
import { signedHeaders } from '../../../lib/standard-webhooks.ts'
import {
  type Attempt,
  type AttemptSlot,
  afterAttempt,
  fullShopsAndEndpoints,
  gaveWay,
  hasSlot,
  healthIfChanged,
  isFailing,
  leaseMs,
  type Outcome,
  onlyHealthy,
  pendingMaxOf,
  selectToAbort,
  skipLogIntervalMs,
  slotsMax,
  type WebhookDelivery,
  webhookSecretSeal,
} from './domain.ts'
import { type ClaimedRow, type Lane, type OutboxMessage, webhookStore as store } from './store.ts'

type DispatchDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'randomBytes' | 'log' | 'keyring' | 'safeFetch' | 'build'> & {
  /** Counts of attempts, and of deliveries given up without one. */
  readonly webhookCounts: Tally
  readonly outboxConsumers: readonly OutboxConsumer[]
}
/** Handles new messages for receivers other than endpoints, in the write that creates the deliveries. */
export type OutboxConsumer = (tx: Writer, messages: readonly OutboxMessage[]) => Promise<void>
type ClaimedDelivery = Lane & ClaimedRow & { body: string }
type RunningAttempt = Attempt & { giveWay: AbortController }

/** Messages per write; each may create a delivery for every endpoint of its shop. */
const messagesPerWrite = 20
const abandonBatchSize = 500
const sendTimeoutMs = 10_000
const answerBytesMax = 64 * 1024

/**
 * Sends the messages of the outbox. Endpoints are the lanes.
 */
export function createWebhookSender(deps: DispatchDeps): Sender {
  const { db, clock, log } = deps
  const inFlight = new Map<string, RunningAttempt>()
  const queue = createDeliveryQueue<AttemptSlot, Lane, ClaimedDelivery>({
    slots: slotsMax.all,
    hasSlot: (lane, taken) => lane.over === null && hasSlot(lane, taken),
    inFlight,
    onFull: makeRoom,
    lanes: (after) =>
      store.lanes(db.read, {
        now: clock.now(),
        after,
        except: fullShopsAndEndpoints(inFlight.values()),
        onlyHealthy: onlyHealthy(inFlight.size),
        limit: lanesPerQuery,
      }),
    laneName: ({ endpointId }) => endpointId,
    async claim(selected, found) {
      const over = found.filter(({ over }) => over !== null)
      return { claimed: await claim(deps, selected, over), ended: over.length }
    },
    send(delivery) {
      const { shopId, endpointId, failures, lastError } = delivery
      const giveWay = new AbortController()
      inFlight.set(delivery.id, { shopId, endpointId, failures, beganAt: clock.now(), mayGiveWay: lastError !== gaveWay, giveWay })
      return send(deps, delivery, giveWay.signal)
    },
    onError: (error, delivery) => log.error(delivery === undefined ? 'webhook.claim_failed' : 'webhook.result_lost', { delivery, error }),
  })

  /** Aborts long attempts in favour of shops without a slot. Their end triggers the next fill. */
  async function makeRoom(): Promise<void> {
    const sending = [...inFlight.values()]
    const shops = [...new Set(sending.map(({ shopId }) => shopId))]
    const now = clock.now()
    const except = { shops, endpoints: [] }
    const lanes = await store.lanes(db.read, { now, after: '', except, onlyHealthy: true, limit: slotsMax.all })
    const waiting = new Set(lanes.filter(({ over }) => over === null).map(({ shopId }) => shopId)).size
    const givingWayCount = sending.filter(({ giveWay }) => giveWay.signal.aborted).length
    const others = sending.filter(({ giveWay }) => !giveWay.signal.aborted)
    for (const { giveWay } of selectToAbort(others, Math.max(0, waiting - givingWayCount), now)) giveWay.abort()
  }

  return {
    async run() {
      if (queue.isStopped() || !(await store.hasWork(db.read, clock.now()))) return
      // Alternates, so that a shop with many messages does not delay others.
      while ((await createDeliveries(deps)) === messagesPerWrite && !queue.isStopped()) await queue.fill()
      await queue.fill()
    },
    idle: queue.idle,
    stop: queue.stop,
  }
}

/** Creates the deliveries of some new messages. Returns the number of messages. */
async function createDeliveries({ db, clock, newId, log, webhookCounts, outboxConsumers }: DispatchDeps): Promise<number> {
  const messages = await store.pendingMessages(db.read, messagesPerWrite)
  if (messages.length === 0) return 0
  // Read after the messages, so that an endpoint created before a message is included.
  const endpoints = await store.endpointsOf(db.read, [...new Set(messages.map(({ shopId }) => shopId))])
  const backlogs = await store.backlogs(
    db.read,
    endpoints.map(({ id }) => id),
  )
  const now = clock.now()
  const deliveries = messages.flatMap(({ id: outboxId, shopId, event }) =>
    endpoints
      .filter((endpoint) => endpoint.shopId === shopId && endpoint.events.includes(event))
      .map((endpoint) => {
        const { id: endpointId } = endpoint
        const backlog = backlogs.get(endpointId) ?? { waiting: 0, dueAt: now }
        const delivery = newDelivery({ id: newId('delivery'), endpointId, outboxId, event }, now)
        if (backlog.waiting >= pendingMaxOf(endpoint, backlog, now))
          return { ...delivery, status: 'FAILED' as const, lastError: skippedError }
        backlogs.set(endpointId, { ...backlog, waiting: backlog.waiting + 1 })
        return delivery
      }),
  )
  await db.write(async (tx) => {
    const finished = new Set(
      await store.finishMessages(
        tx,
        messages.map(({ id }) => id),
      ),
    )
    const storedDeliveries = deliveries.filter(({ outboxId }) => finished.has(outboxId))
    const refused = Map.groupBy(
      storedDeliveries.filter(({ status }) => status === 'FAILED'),
      ({ endpointId }) => endpointId,
    )
    for (const { id, shopId, skippedAt } of endpoints) {
      const count = refused.get(id)?.length ?? 0
      if (count === 0) continue
      await store.addSkipped(tx, id, count, now)
      tx.afterCommit(() => {
        webhookCounts.add('dead', count)
        if (skippedAt === null || skippedAt <= now - skipLogIntervalMs) log.warn('webhook.endpoint_behind', { endpoint: id, shop: shopId })
      })
    }
    if (storedDeliveries.length > 0) await store.insertDeliveries(tx, storedDeliveries)
    const taken = messages.filter(({ id }) => finished.has(id))
    for (const consume of outboxConsumers) await consume(tx, taken)
  }, locking)
  return messages.length
}

const skippedError = 'too many waiting'

const newDelivery = (of: Pick<WebhookDelivery, 'id' | 'endpointId' | 'outboxId' | 'event'>, now: number): WebhookDelivery => ({
  ...of,
  status: 'PENDING',
  attempts: 0,
  nextAt: now,
  lastStatus: null,
  lastError: null,
  createdAt: now,
  updatedAt: now,
})

/** Claims deliveries for an attempt, and gives up those of removed or disabled endpoints. */
async function claim(
  { db, clock, webhookCounts }: DispatchDeps,
  selected: readonly Lane[],
  over: readonly Lane[],
): Promise<ClaimedDelivery[]> {
  if (selected.length + over.length === 0) return []
  const now = clock.now()
  const failing = selected.filter(isFailing).map(({ endpointId }) => endpointId)
  const claimed = await db.write(async (tx) => {
    for (const { endpointId, over: why } of over) {
      const abandoned = await store.abandon(tx, endpointId, now, `endpoint ${why}`, abandonBatchSize)
      tx.afterCommit(() => webhookCounts.add('dead', abandoned))
    }
    const claimedEndpoints = failing.length > 0 ? await store.claimEndpoints(tx, failing, now, now + leaseMs) : []
    const free = selected
      .filter((lane) => !isFailing(lane) || claimedEndpoints.includes(lane.endpointId))
      .map(({ deliveryId }) => deliveryId)
    return free.length > 0 ? store.claim(tx, free, now, now + leaseMs) : []
  }, locking)
  if (claimed.length === 0) return []
  const bodies = await store.loadBodies(db.read, [...new Set(claimed.map(({ outboxId }) => outboxId))])
  return claimed.flatMap((row) => {
    const lane = selected.find(({ deliveryId }) => deliveryId === row.id)
    return lane ? [{ ...lane, ...row, body: bodies.get(row.outboxId) ?? '' }] : []
  })
}

/** Makes one attempt and stores its result. */
async function send(deps: DispatchDeps, delivery: ClaimedDelivery, giveWay: AbortSignal): Promise<void> {
  const { db, clock, randomBytes, log, webhookCounts } = deps
  const { shopId, endpointId } = delivery
  const outcome = await attempt(deps, delivery, giveWay)
  const now = clock.now()
  const chance = randomFraction(randomBytes)
  const result = afterAttempt(outcome, delivery.attempts, now, chance)
  const isDisabled = await db.write(async (tx) => {
    const endpoint = await store.findEndpoint(tx, shopId, endpointId)
    // Locks the endpoint only if its health changes, so that most results do not wait.
    const changesHealth = endpoint && healthIfChanged(endpoint, outcome, now, chance)
    const before = changesHealth && (await store.lockEndpoint(tx, shopId, endpointId))
    await store.settle(tx, delivery, { ...result, updatedAt: now })
    const after = before && healthIfChanged(before, outcome, now, chance)
    if (!after) return false
    await store.setHealth(tx, endpointId, after)
    return before.disabledAt === null && after.disabledAt !== null
  }, locking)
  webhookCounts.add({ DELIVERED: 'delivered', PENDING: 'failed', FAILED: 'dead' }[result.status])
  if (result.status === 'FAILED') log.warn('webhook.given_up', { delivery: delivery.id, endpoint: endpointId })
  if (isDisabled) log.warn('webhook.endpoint_disabled', { endpoint: endpointId })
}

async function attempt(
  { clock, keyring, safeFetch, build, log }: DispatchDeps,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Outcome> {
  const { id, shopId, endpointId, outboxId, url, sealedSecret, body } = delivery
  try {
    const secret = keyring.unseal(sealedSecret, webhookSecretSeal(shopId, endpointId))
    const timestamp = Math.floor(clock.now() / 1_000)
    const { status } = await safeFetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `souk/${build.version}`,
        ...signedHeaders(secret, { id: outboxId, timestamp, body }),
      },
      body,
      timeoutMs: sendTimeoutMs,
      bytesMax: answerBytesMax,
      signal,
    })
    return { answered: status, failure: null }
  } catch (error) {
    if (error instanceof OutgoingError) {
      const isOurs = signal.aborted && error.kind === 'timeout' && error.status === undefined
      return { answered: error.status ?? null, failure: isOurs ? gaveWay : error.message }
    }
    log.error('webhook.not_sent', { delivery: id, error })
    return { answered: null, failure: 'internal error' }
  }
}
