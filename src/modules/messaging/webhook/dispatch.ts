import { locking } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { OutgoingError } from '../../../core/outgoing.ts'
import { atOnceOrAgain } from '../../../lib/coalesce.ts'
import type { Tally } from '../../../lib/prometheus.ts'
import { chanceOf } from '../../../lib/random.ts'
import { signedHeaders } from '../../../lib/standard-webhooks.ts'
import {
  type Attempt,
  afterAttempt,
  changedHealth,
  crowded,
  gaveWay,
  givingWay,
  isFailing,
  leaseMs,
  type Outcome,
  onlyHealthy,
  placesMax,
  skippingLoggedMs,
  type WebhookDelivery,
  waitingMaxOf,
  webhookSecretSeal,
  withRoom,
} from './domain.ts'
import { type ClaimedRow, type Lane, webhookStore as store } from './store.ts'

export type Webhooks = {
  /** Hands new messages out to the endpoints that want them, and begins to send what is due. Does not wait for the answers. */
  run(): Promise<void>
  /** Resolves when nothing is being sent any more. */
  idle(): Promise<void>
  /** Begins nothing new, and resolves when nothing is being sent any more. */
  stop(): Promise<void>
}

type DispatchDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'randomBytes' | 'log' | 'keyring' | 'safeFetch' | 'build'> & {
  /** What came of attempts, and of deliveries that were given up without one. */
  readonly webhookCounts: Tally
}
type Claimed = Lane & ClaimedRow & { body: string }
type Sending = Attempt & { giveWay: AbortController }

/** Messages of one write: each may become a delivery for every endpoint of its shop. */
const messagesPerWrite = 20
const lanesAtOnce = 50
const abandonedAtOnce = 500
const sendTimeoutMs = 10_000
const answerBytesMax = 64 * 1024

/**
 * Sends the messages of the outbox. Every process may: what one has claimed, the others leave alone. Each endpoint is a lane of its own,
 * and they have their turns one after the other, so that what waits for one holds up no other; see `placesMax` for who may have how much
 * under way.
 */
export function createWebhooks(deps: DispatchDeps): Webhooks {
  const { db, clock, log } = deps
  const underWay = new Map<string, Sending>()
  const sends = new Set<Promise<void>>()
  /** The endpoint that had the last turn. */
  let lastTurn = ''
  let stopped = false

  /** Claims and begins what there is room for, one caller at a time: whoever comes meanwhile has it looked at once more. */
  const filling = atOnceOrAgain(async () => {
    if (!stopped) await fillOnce()
  })
  const fill = (): Promise<void> => (stopped ? Promise.resolve() : filling.ask())

  /** Goes from endpoint to endpoint, around and around, until there is no more room or nothing more to begin. */
  async function fillOnce(): Promise<void> {
    let begun = false
    while (!stopped) {
      if (underWay.size >= placesMax.all) return makeRoom()
      const now = clock.now()
      const fromTheStart = lastTurn === ''
      const lanes = await store.lanes(db.read, {
        now,
        after: lastTurn,
        except: crowded(underWay.values()),
        onlyHealthy: onlyHealthy(underWay.size),
        limit: lanesAtOnce,
      })
      const over = lanes.filter(({ over }) => over !== null)
      const chosen = withRoom(
        lanes.filter(({ over }) => over === null),
        underWay.values(),
      )
      const claimed = await claim(deps, chosen, over, now)
      for (const one of claimed) begin(one)
      begun ||= claimed.length + over.length > 0
      const isFull = underWay.size >= placesMax.all
      lastTurn = (isFull ? chosen.at(-1) : lanes.length < lanesAtOnce ? undefined : lanes.at(-1))?.endpointId ?? ''
      if (isFull || lastTurn !== '') continue
      // The last one had its turn.
      if (fromTheStart && !begun) return
      begun = false
    }
  }

  /** Ends attempts that last, for the sake of shops that have none under way. Their ends have the rest looked at. */
  async function makeRoom(): Promise<void> {
    const sending = [...underWay.values()]
    const shops = [...new Set(sending.map(({ shopId }) => shopId))]
    const now = clock.now()
    const except = { shops, endpoints: [] }
    const lanes = await store.lanes(db.read, { now, after: '', except, onlyHealthy: true, limit: placesMax.all })
    const waiting = new Set(lanes.filter(({ over }) => over === null).map(({ shopId }) => shopId)).size
    const giving = sending.filter(({ giveWay }) => giveWay.signal.aborted).length
    const others = sending.filter(({ giveWay }) => !giveWay.signal.aborted)
    for (const { giveWay } of givingWay(others, Math.max(0, waiting - giving), now)) giveWay.abort()
  }

  function begin(delivery: Claimed): void {
    const { shopId, endpointId, failures, lastError } = delivery
    const giveWay = new AbortController()
    underWay.set(delivery.id, { shopId, endpointId, failures, beganAt: clock.now(), mayGiveWay: lastError !== gaveWay, giveWay })
    const sending = send(deps, delivery, giveWay.signal)
      // Its claim runs out, and then it is sent again.
      .catch((error) => log.error('webhook.result_lost', { delivery: delivery.id, error }))
      .then(() => {
        underWay.delete(delivery.id)
        sends.delete(sending)
        return fill()
      })
      .catch((error) => log.error('webhook.claim_failed', { error }))
    sends.add(sending)
  }

  async function idle(): Promise<void> {
    while (filling.underWay() || sends.size > 0) await Promise.allSettled([filling.underWay(), ...sends])
  }

  return {
    async run() {
      if (stopped || !(await store.hasWork(db.read, clock.now()))) return
      // Turn by turn: a shop that has much to tell keeps nobody from being told.
      while ((await handOut(deps)) === messagesPerWrite && !stopped) await fill()
      await fill()
    },
    idle,
    stop() {
      stopped = true
      return idle()
    },
  }
}

/** Makes of some new messages a delivery to each endpoint that wants it, and says how many messages it were. */
async function handOut({ db, clock, newId, log, webhookCounts }: DispatchDeps): Promise<number> {
  const messages = await store.pendingMessages(db.read, messagesPerWrite)
  if (messages.length === 0) return 0
  // Read after the messages: an endpoint that was there before one of them is among these.
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
        if (backlog.waiting >= waitingMaxOf(endpoint, backlog, now)) return { ...delivery, status: 'FAILED' as const, lastError: skipped }
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
    const ours = deliveries.filter(({ outboxId }) => finished.has(outboxId))
    const refused = Map.groupBy(
      ours.filter(({ status }) => status === 'FAILED'),
      ({ endpointId }) => endpointId,
    )
    for (const { id, shopId, skippedAt } of endpoints) {
      const count = refused.get(id)?.length ?? 0
      if (count === 0) continue
      await store.addSkipped(tx, id, count, now)
      tx.afterCommit(() => {
        webhookCounts.add('dead', count)
        if (skippedAt === null || skippedAt <= now - skippingLoggedMs) log.warn('webhook.endpoint_behind', { endpoint: id, shop: shopId })
      })
    }
    if (ours.length > 0) await store.insertDeliveries(tx, ours)
  }, locking)
  return messages.length
}

const skipped = 'too many waiting'

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

/** Takes deliveries for an attempt, and gives up those whose endpoint is to get nothing more. */
async function claim({ db, webhookCounts }: DispatchDeps, chosen: readonly Lane[], over: readonly Lane[], now: number): Promise<Claimed[]> {
  if (chosen.length + over.length === 0) return []
  const failing = chosen.filter(isFailing).map(({ endpointId }) => endpointId)
  const claimed = await db.write(async (tx) => {
    for (const { endpointId, over: why } of over) {
      const abandoned = await store.abandon(tx, endpointId, now, `endpoint ${why}`, abandonedAtOnce)
      tx.afterCommit(() => webhookCounts.add('dead', abandoned))
    }
    const ours = failing.length > 0 ? await store.claimEndpoints(tx, failing, now, now + leaseMs) : []
    const free = chosen.filter((lane) => !isFailing(lane) || ours.includes(lane.endpointId)).map(({ deliveryId }) => deliveryId)
    return free.length > 0 ? store.claim(tx, free, now, now + leaseMs) : []
  }, locking)
  if (claimed.length === 0) return []
  const bodies = await store.bodies(db.read, [...new Set(claimed.map(({ outboxId }) => outboxId))])
  return claimed.flatMap((row) => {
    const lane = chosen.find(({ deliveryId }) => deliveryId === row.id)
    return lane ? [{ ...lane, ...row, body: bodies.get(row.outboxId) ?? '' }] : []
  })
}

/** One attempt, and what came of it. */
async function send(deps: DispatchDeps, delivery: Claimed, giveWay: AbortSignal): Promise<void> {
  const { db, clock, randomBytes, log, webhookCounts } = deps
  const { shopId, endpointId } = delivery
  const outcome = await attempt(deps, delivery, giveWay)
  const now = clock.now()
  const chance = chanceOf(randomBytes)
  const result = afterAttempt(outcome, delivery.attempts, now, chance)
  const isDisabled = await db.write(async (tx) => {
    const known = await store.findEndpoint(tx, shopId, endpointId)
    // Most say nothing new of their endpoint, and wait for nobody else's end.
    const isNews = known && changedHealth(known, outcome, now, chance)
    const before = isNews && (await store.lockEndpoint(tx, shopId, endpointId))
    await store.settle(tx, delivery, { ...result, updatedAt: now })
    const after = before && changedHealth(before, outcome, now, chance)
    if (!after) return false
    await store.setHealth(tx, endpointId, after)
    return before.disabledAt === null && after.disabledAt !== null
  }, locking)
  webhookCounts.add({ DELIVERED: 'delivered', PENDING: 'failed', FAILED: 'dead' }[result.status])
  if (result.status === 'FAILED') log.warn('webhook.given_up', { delivery: delivery.id, endpoint: endpointId })
  if (isDisabled) log.warn('webhook.endpoint_disabled', { endpoint: endpointId })
}

async function attempt({ clock, keyring, safeFetch, build, log }: DispatchDeps, delivery: Claimed, signal: AbortSignal): Promise<Outcome> {
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
