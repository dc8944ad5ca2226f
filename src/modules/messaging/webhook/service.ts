import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertVersion } from '../../../core/versions.ts'
import { inBatches } from '../../../lib/batches.ts'
import { idBoundary } from '../../../lib/ids.ts'
import { createAddressGuard, literalAddressOf } from '../../../lib/networks.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { isServicePort } from '../../../lib/service-ports.ts'
import { webhookSecret, webhookSecretBytes } from '../../../lib/standard-webhooks.ts'
import { audited } from '../../operations/audit/index.ts'
import {
  deliveryMaxAgeMs,
  deliveryView,
  type EndpointView,
  endpointsPerShopMax,
  endpointVersion,
  endpointView,
  healthy,
  isBeingSent,
  messageBody,
  retentionMs,
  type WebhookEndpoint,
  type WebhookEvent,
  webhookSecretSeal,
} from './domain.ts'
import type { MessageData } from './messages.ts'
import type { WebhookDeps } from './providers.ts'
import { webhookStore as store } from './store.ts'

type Shop = Pick<ShopContext, 'id'>

/** Rows per write. */
const deletionBatchSize = 500

type TypedMessage<Event extends WebhookEvent> = {
  shopId: string
  event: Event
  /** Names the event, so that it is sent once: `order.confirmed:order_…`. */
  key: string
  /** The JSON data of the message. */
  data: MessageData[Event]
}
export type Message = { [Event in WebhookEvent]: TypedMessage<Event> }[WebhookEvent]

/** Adds a message for the shop's endpoints to the outbox. A second message with the same key is ignored. */
export function enqueueMessage(
  tx: Writer,
  { clock, newId }: Pick<Deps, 'clock' | 'newId'>,
  { shopId, event, key, data }: Message,
): Promise<void> {
  const now = clock.now()
  return store.insertMessage(tx, {
    id: newId('message'),
    key,
    shopId,
    event,
    body: messageBody(event, now, data),
    status: 'PENDING',
    createdAt: now,
  })
}

const noSuchEndpoint = () => new AppError('NOT_FOUND', 'No such webhook endpoint')

/** Returns the audited fields: only the URL's host, because the rest may be a secret. */
const auditedFields = ({ url, events }: Pick<WebhookEndpoint, 'url' | 'events'>) => ({ host: URL.parse(url)?.host ?? null, events })

/** Refuses private addresses at once. Host names are resolved and checked when something is sent. */
function assertPublicUrl({ outgoingAllowedNetworks }: Deps['config'], address: string): void {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) throw invalidField('url', 'must be an http or https URL')
  if (url.username || url.password) throw invalidField('url', 'must not contain a user name or password')
  const literal = literalAddressOf(url)
  if (isServicePort(url)) throw invalidField('url', 'must not use the port of a service other than a web server')
  if (literal !== undefined && !createAddressGuard(outgoingAllowedNetworks)(literal)) throw invalidField('url', 'must be a public address')
}

/**
 * Registers an endpoint. The secret is shown once.
 * @throws AppError INVALID, naming the field; CONFLICT at the limit of endpoints
 */
export async function createEndpoint(
  deps: Deps,
  by: CommandContext,
  { url, events }: { url: string; events: readonly WebhookEvent[] },
): Promise<EndpointView & { secret: string }> {
  const { config, clock, newId, randomBytes, keyring } = deps
  assertPublicUrl(config, url)
  const id = newId('endpoint')
  const shopId = by.shop.id
  const secret = webhookSecret(randomBytes(webhookSecretBytes))
  const sealedSecret = keyring.seal(secret, webhookSecretSeal(shopId, id))
  const endpoint = {
    id,
    shopId,
    url,
    events: [...new Set(events)],
    sealedSecret,
    createdAt: clock.now(),
    removedAt: null,
    skipped: 0,
    skippedAt: null,
    ...healthy,
  }
  return audited(deps, by, { action: 'webhook_endpoint.created', subject: id }, async (tx, setDifference) => {
    if ((await store.countEndpoints(tx, shopId)) >= endpointsPerShopMax)
      throw new AppError('CONFLICT', `A shop has at most ${endpointsPerShopMax} webhook endpoints: remove one first`, {
        code: 'limit_reached',
      })
    await store.insertEndpoint(tx, endpoint)
    setDifference({ after: auditedFields(endpoint) })
    return { ...endpointView(endpoint), secret }
  })
}

/** Lists a shop's endpoints without those that it removed. */
export async function listEndpoints({ db }: Pick<Deps, 'db'>, shop: Shop, slice: PageSlice): Promise<Page<EndpointView>> {
  const { rows, total } = await store.listEndpoints(db.read, shop.id, slice)
  return pageOf(rows.map(endpointView), total, slice)
}

/** @throws AppError NOT_FOUND, also for another shop's and a removed one */
export async function findEndpoint({ db }: Pick<Deps, 'db'>, shop: Shop, id: string): Promise<EndpointView> {
  const endpoint = await store.findEndpoint(db.read, shop.id, id)
  if (!endpoint) throw noSuchEndpoint()
  return endpointView(endpoint)
}

/**
 * Removes an endpoint: nothing more is sent to it. @throws AppError NOT_FOUND, also for another shop's;
 * PRECONDITION_FAILED
 */
export async function removeEndpoint(deps: Deps, by: CommandContext, id: string): Promise<void> {
  await audited(deps, by, { action: 'webhook_endpoint.removed', subject: id }, async (tx, setDifference) => {
    const endpoint = await store.findEndpoint(tx, by.shop.id, id)
    if (!endpoint) throw noSuchEndpoint()
    assertVersion(by.expected, endpointVersion)
    if (!(await store.removeEndpoint(tx, by.shop.id, id, deps.clock.now()))) throw noSuchEndpoint()
    setDifference({ before: auditedFields(endpoint) })
  })
}

/** Lists an endpoint's deliveries, newest first. @throws AppError NOT_FOUND, also for another shop's */
export async function listDeliveries(
  { db }: Pick<Deps, 'db'>,
  shop: Shop,
  endpointId: string,
  slice: PageSlice,
): Promise<Page<ReturnType<typeof deliveryView>>> {
  if (!(await store.findEndpoint(db.read, shop.id, endpointId))) throw noSuchEndpoint()
  const { rows, total } = await store.listDeliveries(db.read, endpointId, slice)
  return pageOf(rows.map(deliveryView), total, slice)
}

const noSuchDelivery = () => new AppError('NOT_FOUND', 'No such delivery')

/**
 * Sends a delivery again now. A finished one starts from its first attempt; a pending one skips its pause.
 * @throws AppError NOT_FOUND, also for another shop's and a deleted one; CONFLICT for a disabled endpoint and during an
 * attempt
 */
export async function resendDelivery(
  deps: WebhookDeps,
  by: CommandContext,
  endpointId: string,
  deliveryId: string,
): Promise<ReturnType<typeof deliveryView>> {
  const entry = { action: 'webhook_delivery.resent', subject: deliveryId }
  const view = await audited(deps, withLocks(deps, by), entry, async (tx, setDifference) => {
    const endpoint = await store.lockEndpoint(tx, by.shop.id, endpointId)
    if (!endpoint || endpoint.removedAt !== null) throw noSuchEndpoint()
    const before = await store.lockDelivery(tx, endpointId, deliveryId)
    if (!before) throw noSuchDelivery()
    if (endpoint.disabledAt !== null) throw new AppError('CONFLICT', 'The endpoint is disabled. Delete it and register it again')
    const now = deps.clock.now()
    if (isBeingSent(before, now))
      throw new AppError('CONFLICT', 'The delivery is being sent now. Check its result before you send it again')
    const change = { status: 'PENDING', attempts: before.status === 'PENDING' ? before.attempts : 0, nextAt: now, updatedAt: now } as const
    await store.changeDelivery(tx, deliveryId, change)
    await store.wake(tx, endpointId, now)
    setDifference({ before: { status: before.status }, after: { status: change.status } })
    return deliveryView({ ...before, ...change })
  })
  // Without this, it would be sent within seconds.
  void deps.webhooks.run().catch((error: unknown) => deps.log.warn('webhook.not_begun', { error }))
  return view
}

/** Finds a delivery of an endpoint. @throws AppError NOT_FOUND, also for another shop's */
export async function findDelivery({ db }: Pick<Deps, 'db'>, shop: Shop, endpointId: string, deliveryId: string) {
  const endpoint = await store.findEndpoint(db.read, shop.id, endpointId)
  if (!endpoint) throw noSuchEndpoint()
  const delivery = await store.findDelivery(db.read, endpointId, deliveryId)
  if (!delivery) throw noSuchDelivery()
  return deliveryView(delivery)
}

/**
 * Gives up deliveries after three days, and deletes messages, deliveries and removed endpoints after a month. Small
 * writes, so that others do not wait long.
 */
export async function deleteOldMessages({ db, clock, webhookCounts }: Pick<WebhookDeps, 'db' | 'clock' | 'webhookCounts'>): Promise<void> {
  const now = clock.now()
  const before = now - retentionMs
  const old = { before: now - deliveryMaxAgeMs, now, lastError: 'waited too long', limit: deletionBatchSize }
  const removals = [
    async (tx: Writer) => {
      const abandoned = await store.abandonOld(tx, old)
      tx.afterCommit(() => webhookCounts.add('dead', abandoned))
      return abandoned
    },
    (tx: Writer) => store.removeOldDeliveries(tx, idBoundary('delivery', before), deletionBatchSize),
    (tx: Writer) => store.removeOldMessages(tx, idBoundary('message', before), deletionBatchSize),
    (tx: Writer) => store.removeOldEndpoints(tx, before, deletionBatchSize),
  ]
  for (const remove of removals) await inBatches(deletionBatchSize, () => db.write(remove))
}
