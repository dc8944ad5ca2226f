/** Sends orders to platforms that placed them: one message of an order after the other, each signed by the shop. */
import { locking } from '../../../core/command-context.ts'
import { createDeliveryQueue, lanesPerQuery, type Sender } from '../../../core/delivery-queue.ts'
import { OutgoingError } from '../../../core/outgoing.ts'
import { signMessage } from '../../../lib/http-signatures.ts'
import { randomFraction } from '../../../lib/random.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { capabilityNames } from '../../../lib/ucp/releases.ts'
import type { Outcome } from '../../messaging/webhook/domain.ts'
import { findAgentOrder, orderAnswer } from '../agent-order/index.ts'
import type { AgentSessionDeps } from '../agent-session/index.ts'
import { type AgentSettingsDeps, readAgentSettings, signingKeyOf } from '../agent-settings/index.ts'
import type { PlatformDeps } from '../platform/index.ts'
import { afterOrderMessage, hasSlot, leaseMs, type MessageSlot, sendLimits, slotsMax } from './domain.ts'
import { type DueMessage, type OrderMessage, orderMessageStore as store } from './store.ts'

export type OrderMessageDeps = AgentSessionDeps & AgentSettingsDeps & PlatformDeps
type ClaimedMessage = OrderMessage & Pick<DueMessage, 'profile'>

/** Creates the sender. Orders are its lanes. */
export function createOrderMessageSender(deps: OrderMessageDeps): Sender {
  const { db, clock, log } = deps
  const inFlight = new Map<string, MessageSlot>()
  const queue = createDeliveryQueue<MessageSlot, DueMessage, ClaimedMessage>({
    slots: slotsMax.all,
    hasSlot,
    inFlight,
    lanes: (after) => store.due(db.read, clock.now(), after, lanesPerQuery),
    laneName: ({ orderId }) => orderId,
    async claim(selected) {
      const now = clock.now()
      const ids = selected.map(({ id }) => id)
      const claimed = ids.length === 0 ? [] : await db.write((tx) => store.claim(tx, ids, now, now + leaseMs), locking)
      const profileOf = (id: string) => selected.find((due) => due.id === id)?.profile ?? ''
      return { claimed: claimed.map((message) => ({ ...message, profile: profileOf(message.id) })), ended: 0 }
    },
    async send(message) {
      inFlight.set(message.id, message)
      const outcome = await attempt(deps, message)
      const now = clock.now()
      const result = afterOrderMessage(outcome, message.attempts, now, randomFraction(deps.randomBytes))
      await db.write((tx) => store.change(tx, message.id, { ...result, updatedAt: now }), locking)
      if (outcome && result.status === 'FAILED') log.warn('order_message.given_up', { message: message.id })
    },
    onError: (error, message) =>
      log.error(message === undefined ? 'order_message.claim_failed' : 'order_message.result_lost', { message, error }),
  })
  return { run: queue.fill, idle: queue.idle, stop: queue.stop }
}

/** Makes one attempt. @returns undefined if the platform wants no messages */
async function attempt(deps: OrderMessageDeps, message: ClaimedMessage): Promise<Outcome | undefined> {
  try {
    const content = message.body === '' ? await compose(deps, message) : message
    return content && { answered: await send(deps, { ...message, ...content }), failure: null }
  } catch (error) {
    if (error instanceof OutgoingError) return { answered: error.status ?? null, failure: error.message }
    if (!(error instanceof UcpError)) deps.log.error('order_message.not_sent', { message: message.id, error })
    return { answered: null, failure: 'not sent' }
  }
}

/**
 * Renders the current order in the platform's release, and stores it, so that every attempt sends the same bytes.
 * @returns undefined if the profile names no URL for messages
 * @throws UcpError if the profile cannot be read
 */
async function compose(deps: OrderMessageDeps, { id, orderId, profile }: ClaimedMessage) {
  const { release, webhookUrl } = await deps.platformProfiles.read(profile)
  const order = webhookUrl === null ? undefined : await findAgentOrder(deps, orderId)
  if (webhookUrl === null || !order) return undefined
  const content = { url: webhookUrl, body: JSON.stringify(orderAnswer(order, { release, capabilities: new Set(capabilityNames) })) }
  await deps.db.write((tx) => store.change(tx, id, content), locking)
  return content
}

/** Sends a message, and returns the status of the answer. */
async function send(deps: OrderMessageDeps, { id, shopId, url, body, createdAt }: OrderMessage): Promise<number> {
  const [key, { profile }] = await Promise.all([signingKeyOf(deps, shopId), readAgentSettings(deps, { id: shopId })])
  if (!key) throw new Error('the shop has no key')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    // Of the event, not of the attempt: platforms ignore orders that are older than the last they got.
    'webhook-timestamp': String(Math.floor(createdAt / 1_000)),
    ...(profile === null ? {} : { 'ucp-agent': `profile="${profile}"` }),
  }
  const signed = signMessage({ method: 'POST', url: new URL(url), headers, body }, key, Math.floor(deps.clock.now() / 1_000))
  const signedHeaders = { ...signed, 'user-agent': `souk/${deps.build.version}` }
  const { status } = await deps.platformFetch(url, { method: 'POST', headers: signedHeaders, body, ...sendLimits })
  return status
}
