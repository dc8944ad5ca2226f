/** Tests the messages about orders to platforms, over real connections. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createPublicKey } from 'node:crypto'
import { asc } from 'drizzle-orm'
import { agentMessages } from '../../../../db/schema/agents.ts'
import { deliverWebhooks } from '../../../../jobs/deliver-webhooks.ts'
import { isDigestOf, signaturesOf, verifySignature } from '../../../../src/lib/http-signatures.ts'
import { type Release, releases } from '../../../../src/lib/ucp/releases.ts'
import { loadSession } from '../../../../src/modules/agents/agent-session/index.ts'
import { slotsMax } from '../../../../src/modules/agents/order-message/domain.ts'
import { deleteOldOrderMessages } from '../../../../src/modules/agents/order-message/index.ts'
import { agentOf } from '../../../support/agent-calls.ts'
import { platformSettings, type ReceivedMessage, startPlatform } from '../../../support/agent-platform.ts'
import { testApp } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { breachesOf, hasUcpSchemas } from '../../../support/ucp-schemas.ts'
import { loopbackAllowed, receiver, registerEndpoint } from '../../../support/webhooks.ts'

setDefaultTimeout(longTestMs)
const second = 1_000
type Options = NonNullable<Parameters<typeof startPlatform>[0]>

/** Starts a shop with agents on, and a platform whose agent orders there. */
async function startWorld(options: Options = {}, settings: Record<string, string> = {}) {
  const platform = await startPlatform(options)
  const app = await testApp({ AGENTS_ENABLED: 'true', PUBLIC_URL: 'https://shop.example', ...platformSettings, ...settings })
  const shop = await sellingIn(app)
  if (app.deps.config.agentsEnabled) ok((await shop.put('/shops/v2/agents', { enabled: true, access: 'OPEN', policies: [] })) as never)
  const agent = agentOf(app, shop, { profile: platform.url, isProven: true, release: options.release ?? '2026-08-25' })
  return {
    app,
    shop,
    platform,
    /** Places an order by a session of the agent, or of another one. */
    async order(by = agent) {
      const session = await by.create({ line_items: [{ item: { id: shop.variantId }, quantity: 1 }], buyer: { email: 'a@example.com' } })
      const cartId = (await loadSession(app.deps, by.call(), session.id))?.cart.id ?? ''
      // A person must see the cart before it can be paid.
      ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
      return ok(await shop.checkout(cartId)).body.order as { id: string }
    },
    /** Runs the job once and waits for the responses. */
    async deliver() {
      await deliverWebhooks(app.deps)
      await app.deps.webhooks.idle()
      await app.deps.orderMessages.idle()
    },
    rows: () => app.deps.db.read.select().from(agentMessages).orderBy(asc(agentMessages.orderId), asc(agentMessages.sequence)),
    async [Symbol.asyncDispose]() {
      await app.close()
      await platform[Symbol.asyncDispose]()
    },
  }
}

async function isSignedBy(app: Awaited<ReturnType<typeof startWorld>>['app'], { headers, url, body }: ReceivedMessage, origin: string) {
  const profile = await app.call('GET', '/.well-known/ucp', { headers: { host: 'shop.example' } })
  const signature = signaturesOf(headers.get('signature-input') ?? '', headers.get('signature') ?? '')?.[0]
  const jwk = profile.body.keys.find(({ kid }: { kid: string }) => kid === signature?.params.get('keyid'))
  if (!signature || !jwk) return false
  expect(signature.components.map(([name]) => name)).toEqual([
    ...['@method', '@authority', '@path', 'content-digest', 'content-type', 'ucp-agent', 'webhook-id', 'webhook-timestamp'],
  ])
  return (
    isDigestOf(headers.get('content-digest') ?? '', Buffer.from(body)) &&
    verifySignature(signature, { method: 'POST', url: new URL(url, origin), headers }, createPublicKey({ key: jwk, format: 'jwk' }))
  )
}

test.each(releases)('an order is sent to its platform in release %s, signed, at every change', async (release: Release) => {
  await using it = await startWorld({ release })
  const { id } = await it.order()
  expect(it.platform.messages).toEqual([])
  await it.deliver()
  ok(await it.shop.post(`/v2/orders/${id}/fulfil`, { trackingNumber: 'T1', carrier: 'Post' }, { 'idempotency-key': 'fulfil' }))
  await it.deliver()
  const bodies = it.platform.messages.map(({ body }) => JSON.parse(body))
  expect(bodies.map((body) => [body.id, body.ucp.version, body.fulfillment.events.length])).toEqual([
    [id, release, 0],
    [id, release, 1],
  ])
  if (hasUcpSchemas) for (const body of bodies) expect(breachesOf(release, 'schemas/shopping/order.json', body)).toEqual([])
  for (const message of it.platform.messages) {
    expect(message.url).toBe('/orders')
    expect(message.headers.get('webhook-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number(message.headers.get('webhook-timestamp'))).toBe(it.app.clock.now() / second)
    expect(message.headers.get('ucp-agent')).toBe('profile="https://shop.example/.well-known/ucp"')
    expect(await isSignedBy(it.app, message, new URL(it.platform.url).origin)).toBe(true)
  }
  expect((await it.rows()).map(({ status, sequence, attempts }) => [status, sequence, attempts])).toEqual([
    ['DELIVERED', 1, 1],
    ['DELIVERED', 2, 1],
  ])
})

test('a message that fails is sent again with the same bytes and timestamp after two seconds, and delays later messages', async () => {
  let status = 500
  await using it = await startWorld({ answer: () => status })
  const { id } = await it.order()
  await it.deliver()
  ok(await it.shop.post(`/v2/orders/${id}/fulfil`, {}, { 'idempotency-key': 'fulfil' }))
  await it.deliver()
  expect(it.platform.messages.length).toBe(1)
  it.app.clock.advance(1.5 * second)
  await it.deliver()
  expect(it.platform.messages.length).toBe(1)
  it.app.clock.advance(second)
  await it.deliver()
  expect(it.platform.messages.length).toBe(2)
  status = 200
  it.app.clock.advance(10 * second)
  await it.deliver()
  const ids = it.platform.messages.map(({ headers }) => headers.get('webhook-id'))
  expect(new Set(ids.slice(0, 3)).size).toBe(1)
  expect(new Set(it.platform.messages.slice(0, 3).map(({ body }) => body)).size).toBe(1)
  // Platforms order messages by the time of the event.
  expect(new Set(it.platform.messages.slice(0, 3).map(({ headers }) => headers.get('webhook-timestamp'))).size).toBe(1)
  for (const message of it.platform.messages) expect(await isSignedBy(it.app, message, new URL(it.platform.url).origin)).toBe(true)
  expect(ids.length).toBe(4)
  expect(JSON.parse(it.platform.messages[3]?.body ?? '').fulfillment.events.length).toBe(1)
})

test('events before the first run of the job are sent in order', async () => {
  await using it = await startWorld()
  const { id } = await it.order()
  ok(await it.shop.post(`/v2/orders/${id}/fulfil`, {}, { 'idempotency-key': 'fulfil' }))
  await it.deliver()
  const rows = await it.rows()
  expect(rows.map(({ sequence, status }) => [sequence, status])).toEqual([
    [1, 'DELIVERED'],
    [2, 'DELIVERED'],
  ])
  expect(it.platform.messages.map(({ headers }) => headers.get('webhook-id'))).toEqual(rows.map((row) => row.id))
})

test('a platform that does not answer does not delay others', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<number>()
  await using it = await startWorld({ answer: () => answered })
  await using other = await startPlatform()
  for (let nth = 0; nth < 6; nth++) await it.order()
  await it.order(agentOf(it.app, it.shop, { profile: other.url, isProven: true }))
  await deliverWebhooks(it.app.deps)
  const hasArrived = () => other.messages.length > 0 && it.platform.messages.length >= slotsMax.platform
  for (let tries = 0; tries < 2_000 && !hasArrived(); tries++) await Bun.sleep(5)
  expect(it.platform.messages.length).toBe(slotsMax.platform)
  answer(200)
  await it.deliver()
  expect([it.platform.messages.length, other.messages.length]).toEqual([6, 1])
})

test('a message fails after ten attempts, or at 410, and the next one is sent', async () => {
  let status = 503
  await using it = await startWorld({ answer: () => status })
  const first = await it.order()
  for (let nth = 0; nth < 12; nth++) {
    await it.deliver()
    it.app.clock.advance(11 * 3_600_000)
  }
  expect(it.platform.messages.length).toBe(10)
  expect((await it.rows()).map(({ status, attempts }) => [status, attempts])).toEqual([['FAILED', 10]])
  status = 410
  ok(await it.shop.post(`/v2/orders/${first.id}/fulfil`, {}, { 'idempotency-key': 'fulfil' }))
  await it.deliver()
  await it.deliver()
  expect((await it.rows()).map(({ status, attempts }) => [status, attempts])).toEqual([
    ['FAILED', 10],
    ['FAILED', 1],
  ])
  it.app.clock.advance(31 * 86_400_000)
  await deleteOldOrderMessages(it.app.deps)
  expect(await it.rows()).toEqual([])
})

test('a crash after an attempt sends the same bytes again', async () => {
  await using it = await startWorld()
  await it.order()
  const { db } = it.app.deps
  await deliverWebhooks({
    ...it.app.deps,
    orderMessages: { run: async () => undefined, idle: async () => undefined, stop: async () => undefined },
  })
  await it.app.deps.webhooks.idle()
  await it.deliver()
  const [row] = await it.rows()
  // As if the process died before it stored the answer.
  await db.write((tx) => tx.update(agentMessages).set({ status: 'PENDING', nextAt: it.app.clock.now() + 60_000 }))
  await it.deliver()
  expect(it.platform.messages.length).toBe(1)
  it.app.clock.advance(60_000)
  await it.deliver()
  expect(it.platform.messages.map(({ body }) => body)).toEqual([row?.body ?? '', row?.body ?? ''])
})

test('an order whose platform has no profile or no URL for messages is sent to no platform, and webhooks continue', async () => {
  await using shopServer = await receiver()
  await using it = await startWorld({ capabilities: ['checkout'] }, loopbackAllowed)
  await registerEndpoint(it.app, it.shop as never, shopServer.url)
  await it.order()
  await it.order(agentOf(it.app, it.shop))
  await it.deliver()
  expect(it.platform.messages).toEqual([])
  expect(shopServer.received.length).toBe(2)
  expect((await it.rows()).map(({ status, body }) => [status, body])).toEqual([['FAILED', '']])
})

test('a profile that cannot be read delays the message', async () => {
  await using it = await startWorld()
  await it.order(agentOf(it.app, it.shop, { profile: 'http://127.0.0.1:1/profile', isProven: true }))
  await it.deliver()
  expect((await it.rows()).map(({ status, attempts, body }) => [status, attempts, body])).toEqual([['PENDING', 1, '']])
})

test('with agents off, nothing is queued', async () => {
  await using it = await startWorld({}, { AGENTS_ENABLED: 'false' })
  await it.order()
  await it.deliver()
  expect(await it.rows()).toEqual([])
})
