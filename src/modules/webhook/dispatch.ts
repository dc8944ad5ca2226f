import type { Deps } from '../../core/deps.ts'
import { OutgoingError } from '../../core/outgoing.ts'
import { signedHeaders } from '../../lib/standard-webhooks.ts'
import {
  afterAttempt,
  crowded,
  type Outcome,
  type Place,
  underWayMax,
  type WebhookDelivery,
  webhookSecretSeal,
  withRoom,
} from './domain.ts'
import { type DueDelivery, webhookStore as store } from './store.ts'

export type Webhooks = {
  /** Hands new messages out to the endpoints that want them, and begins to send what is due. Does not wait for the answers. */
  run(): Promise<void>
  /** Resolves when nothing is being sent any more. */
  idle(): Promise<void>
  /** Begins nothing new, and resolves when nothing is being sent any more. */
  stop(): Promise<void>
}

type DispatchDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'randomBytes' | 'log' | 'keyring' | 'safeFetch' | 'build'>
type Claimed = DueDelivery & Pick<WebhookDelivery, 'attempts'> & { body: string }

/** Messages of one write: each may become a delivery for every endpoint of its shop. */
const messagesPerWrite = 20
const dueAtOnce = 50
const sendTimeoutMs = 10_000
const answerBytesMax = 64 * 1024
/** Well above what an attempt and the write of its result take: whoever claimed a delivery and vanished leaves it to others after that. */
export const leaseMs = 60_000

/** Sends the messages of the outbox. Every process may: what one has claimed, the others leave alone. */
export function createWebhooks(deps: DispatchDeps): Webhooks {
  const { db, clock, log } = deps
  const underWay = new Map<string, Place>()
  const sends = new Set<Promise<void>>()
  let filling: Promise<void> | undefined
  let fillAgain = false
  let stopped = false

  /** Claims and begins what there is room for, one caller at a time: whoever comes meanwhile has it looked at once more. */
  function fill(): Promise<void> {
    if (stopped) return Promise.resolve()
    fillAgain = true
    filling ??= fillWhileAsked()
    return filling
  }

  async function fillWhileAsked(): Promise<void> {
    try {
      while (fillAgain && !stopped) {
        fillAgain = false
        await fillOnce()
      }
    } finally {
      // In the same turn as the last look at fillAgain: nobody's wish falls between the two.
      filling = undefined
    }
  }

  async function fillOnce(): Promise<void> {
    while (!stopped && underWay.size < underWayMax.all) {
      const now = clock.now()
      const due = await store.dueDeliveries(db.read, { now, except: crowded(underWay.values()), limit: dueAtOnce })
      const orphans = due.filter(({ removedAt }) => removedAt !== null)
      const chosen = withRoom(
        due.filter(({ removedAt }) => removedAt === null),
        underWay.values(),
      )
      for (const one of await claim(deps, chosen, orphans, now)) begin(one)
      // Else there may be more behind those that were looked at.
      if (due.length < dueAtOnce) return
    }
  }

  function begin(delivery: Claimed): void {
    underWay.set(delivery.id, delivery)
    const sending = send(deps, delivery)
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
    while (filling || sends.size > 0) await Promise.allSettled([filling, ...sends])
  }

  return {
    async run() {
      if (stopped || !(await store.hasWork(db.read, clock.now()))) return
      await handOut(deps)
      await fill()
    },
    idle,
    stop() {
      stopped = true
      return idle()
    },
  }
}

/** Makes of every new message a delivery to each endpoint that wants it. */
async function handOut({ db, clock, newId }: DispatchDeps): Promise<void> {
  for (;;) {
    const messages = await store.pendingMessages(db.read, messagesPerWrite)
    if (messages.length === 0) return
    // Read after the messages: an endpoint that was there before one of them is among these.
    const endpoints = await store.endpointsOf(db.read, [...new Set(messages.map(({ shopId }) => shopId))])
    const now = clock.now()
    const deliveries = messages.flatMap(({ id: outboxId, shopId, event }) =>
      endpoints
        .filter((endpoint) => endpoint.shopId === shopId && endpoint.events.includes(event))
        .map(({ id: endpointId }) => newDelivery({ id: newId('delivery'), endpointId, outboxId, event }, now)),
    )
    await db.write(async (tx) => {
      const finished = new Set(
        await store.finishMessages(
          tx,
          messages.map(({ id }) => id),
        ),
      )
      const ours = deliveries.filter(({ outboxId }) => finished.has(outboxId))
      if (ours.length > 0) await store.insertDeliveries(tx, ours)
    })
    if (messages.length < messagesPerWrite) return
  }
}

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

/** Takes deliveries for an attempt, and gives up those whose endpoint is gone. */
async function claim(
  { db }: DispatchDeps,
  chosen: readonly DueDelivery[],
  orphans: readonly DueDelivery[],
  now: number,
): Promise<Claimed[]> {
  if (chosen.length + orphans.length === 0) return []
  const claimed = await db.write(async (tx) => {
    if (orphans.length > 0) await store.abandon(tx, idsOf(orphans), now, 'endpoint removed')
    return chosen.length > 0 ? store.claim(tx, idsOf(chosen), now, now + leaseMs) : []
  })
  if (claimed.length === 0) return []
  const bodies = await store.bodies(db.read, [...new Set(chosen.map(({ outboxId }) => outboxId))])
  return claimed.flatMap(({ id, attempts }) => {
    const due = chosen.find((one) => one.id === id)
    return due ? [{ ...due, attempts, body: bodies.get(due.outboxId) ?? '' }] : []
  })
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

/** One attempt, and what came of it. */
async function send(deps: DispatchDeps, delivery: Claimed): Promise<void> {
  const { db, clock, randomBytes, log } = deps
  const outcome = await attempt(deps, delivery)
  const now = clock.now()
  const result = afterAttempt(outcome, delivery.attempts, now, Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32)
  await db.write((tx) => store.settle(tx, delivery, { ...result, updatedAt: now }))
  if (result.status === 'FAILED') log.warn('webhook.given_up', { delivery: delivery.id, endpoint: delivery.endpointId })
}

async function attempt({ clock, keyring, safeFetch, build, log }: DispatchDeps, delivery: Claimed): Promise<Outcome> {
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
    })
    return { answered: status, failure: null }
  } catch (error) {
    if (error instanceof OutgoingError) return { answered: error.status ?? null, failure: error.kind }
    log.error('webhook.not_sent', { delivery: id, error })
    return { answered: null, failure: 'internal error' }
  }
}
