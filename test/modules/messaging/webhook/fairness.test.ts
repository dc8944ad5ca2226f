/** Tests webhook endpoints that hang, fail or are gone, over real sockets. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { outbox, webhookDeliveries, webhookEndpoints } from '../../../../db/schema/outbox.ts'
import { deliverWebhooks } from '../../../../jobs/deliver-webhooks.ts'
import { createSafeFetch } from '../../../../src/clients/safe-fetch.ts'
import type { SafeFetch } from '../../../../src/core/outgoing.ts'
import { createWebhookSender } from '../../../../src/modules/messaging/webhook/dispatch.ts'
import {
  behindAfterMs,
  burstMax,
  disabledAfter,
  gaveWay,
  patienceMs,
  pendingMax,
  pendingMaxOf,
  slotsMax,
} from '../../../../src/modules/messaging/webhook/domain.ts'
import { deleteOldMessages } from '../../../../src/modules/messaging/webhook/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { deliver, deliveriesOf, enqueueEvent, loopbackAllowed, receiver, registerEndpoint, type Shop } from '../../../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60 * 1000

/** A server that accepts every connection and request, and never responds. */
function startHangingServer() {
  const open = new Set<{ terminate(): void }>()
  let accepted = 0
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        accepted++
        open.add(socket)
      },
      data() {},
      close: (socket) => void open.delete(socket),
      error: () => undefined,
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/`,
    /** Returns the number of open connections. */
    waiting: () => open.size,
    /** Returns the number of connections so far. */
    accepted: () => accepted,
    [Symbol.dispose]() {
      for (const socket of open) socket.terminate()
      server.stop(true)
    },
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve))
}

/** A fetch whose timeout is longer than any test. */
const fetchWithoutTimeout: SafeFetch = (url, options) => toLoopback(url, { ...options, timeoutMs: 600_000 })
const toLoopback = createSafeFetch({ allowedNetworks: ['127.0.0.0/8'] })

/** Creates shops whose endpoints all have this URL, and queues messages for each. */
async function createHangingShops(
  app: TestApp,
  url: string,
  { shops, endpoints, messages }: { shops: number; endpoints: number; messages: number },
): Promise<void> {
  for (let nth = 0; nth < shops; nth++) {
    const shop = await app.merchant()
    for (let each = 0; each < endpoints; each++) await registerEndpoint(app, shop, url)
    for (let each = 0; each < messages; each++) await enqueueEvent(app, shop, `${each}-${shop.shop.id}`)
  }
}

describe('webhook endpoints that hang forever', () => {
  test('hanging endpoints of a dozen shops do not delay the messages of another shop', async () => {
    using hanging = startHangingServer()
    await using answering = receiver()
    await using app = await testApp(loopbackAllowed, { safeFetch: fetchWithoutTimeout })
    await createHangingShops(app, hanging.url, { shops: 12, endpoints: 4, messages: 2 })
    await deliverWebhooks(app.deps)
    await until(() => hanging.waiting() >= 40)
    const shop = await app.merchant()
    await registerEndpoint(app, shop, answering.url)
    for (let nth = 0; nth < 10; nth++) await enqueueEvent(app, shop, `mine-${nth}`)
    await deliverWebhooks(app.deps)
    const hung = hanging.waiting()
    await until(() => answering.received.length === 10)
    // No hanging attempt was aborted.
    expect(hanging.waiting()).toBe(hung)
    expect(hanging.waiting()).toBeLessThan(slotsMax.all)
    hanging[Symbol.dispose]()
    await app.deps.webhooks.stop()
  })

  test('when hanging endpoints hold every slot, old attempts are aborted for shops that have none', async () => {
    using hanging = startHangingServer()
    await using answering = receiver()
    await using app = await testApp(loopbackAllowed, { safeFetch: fetchWithoutTimeout })
    await createHangingShops(app, hanging.url, { shops: slotsMax.all + 6, endpoints: 1, messages: 1 })
    await deliverWebhooks(app.deps)
    await until(() => hanging.waiting() === slotsMax.all)
    const shops = [await app.merchant(), await app.merchant()]
    const endpoints = []
    for (const shop of shops) endpoints.push(await registerEndpoint(app, shop, answering.url))
    for (const shop of shops) await enqueueEvent(app, shop, `mine-${shop.shop.id}`)
    await deliverWebhooks(app.deps)
    expect([answering.received.length, hanging.accepted()]).toEqual([0, slotsMax.all])
    app.clock.advance(patienceMs)
    await deliverWebhooks(app.deps)
    await until(() => answering.received.length === 2)
    // Aborted attempts do not count as failures, and no others were aborted. Some results are stored only after the new
    // attempts.
    const findAborted = async () =>
      (await app.deps.db.read.select().from(webhookDeliveries)).filter(({ lastError }) => lastError === gaveWay)
    await until(async () => (await findAborted()).length >= 8)
    const aborted = await findAborted()
    expect(aborted).toHaveLength(8)
    expect(aborted.every(({ status, attempts }) => status === 'PENDING' && attempts === 0)).toBe(true)
    const endpointRows = await app.deps.db.read.select().from(webhookEndpoints)
    expect(endpointRows.filter(({ retryAt }) => retryAt !== null).map(({ failures, failingSince }) => [failures, failingSince])).toEqual(
      Array(8).fill([1, null]),
    )
    hanging[Symbol.dispose]()
    await app.deps.webhooks.stop()
  })

  test('a hanging endpoint leaves slots for the other endpoints of its shop', async () => {
    using hanging = startHangingServer()
    await using answering = receiver()
    await using app = await testApp(loopbackAllowed, { safeFetch: fetchWithoutTimeout })
    const shop = await app.merchant()
    await registerEndpoint(app, shop, hanging.url)
    await registerEndpoint(app, shop, answering.url, ['order.refunded'])
    for (let nth = 0; nth < 70; nth++) await enqueueEvent(app, shop, `hanging-${nth}`)
    for (let nth = 0; nth < 5; nth++) await enqueueEvent(app, shop, `quick-${nth}`, { event: 'order.refunded' })
    await deliverWebhooks(app.deps)
    await until(() => answering.received.length === 5)
    expect(hanging.waiting()).toBe(slotsMax.endpoint)
    hanging[Symbol.dispose]()
    await app.deps.webhooks.stop()
  })
})

/** Inserts a backlog of messages for an endpoint. */
async function fillBacklog({ deps }: TestApp, { shop }: Shop, endpoint: { id: string }, count: number): Promise<void> {
  const at = deps.clock.now()
  const messages = Array.from({ length: count }, (_, nth) => ({
    ...{ id: deps.newId('message'), key: `waiting-${nth}`, shopId: shop.id, event: 'order.confirmed', body: '{}' },
    ...{ status: 'DONE' as const, createdAt: at },
  }))
  const deliveries = messages.map(({ id, event }) => ({
    ...{ id: deps.newId('delivery'), endpointId: endpoint.id, outboxId: id, event },
    ...{ status: 'PENDING' as const, attempts: 0, nextAt: at, createdAt: at, updatedAt: at },
  }))
  await deps.db.write(async (tx) => {
    await tx.insert(outbox).values(messages)
    await tx.insert(webhookDeliveries).values(deliveries)
  })
}

describe('a webhook endpoint that keeps failing', () => {
  /** Starts a server with a settable status that counts its requests. */
  function startReceiver(status: number) {
    const state = { status, requests: 0 }
    const server = receiver(() => {
      state.requests++
      return new Response(null, { status: state.status })
    })
    return { state, server }
  }

  test('a failing endpoint gets one attempt after each rest, and all its deliveries after its first success', async () => {
    const { state, server } = startReceiver(500)
    await using receiving = server
    await using app = await testApp(loopbackAllowed)
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, receiving.url)
    for (let nth = 0; nth < 20; nth++) await enqueueEvent(app, shop, `key-${nth}`)
    await deliver(app)
    // Three failures in a row, and the attempt in flight beside the third.
    expect(state.requests).toBeLessThanOrEqual(4)
    expect((await app.call('GET', `/webhook-endpoints/${endpoint.id}`, { key: shop.secretKey })).body.failingSince).not.toBeNull()
    const before = state.requests
    await deliver(app)
    expect(state.requests).toBe(before)
    app.clock.advance(60_000)
    await deliver(app)
    expect(state.requests).toBe(before + 1)
    state.status = 204
    app.clock.advance(60_000)
    await deliver(app)
    expect(state.requests).toBe(before + 1 + 20)
    expect((await deliveriesOf(app, shop, endpoint)).every(({ status }) => status === 'DELIVERED')).toBe(true)
    expect((await app.call('GET', `/webhook-endpoints/${endpoint.id}`, { key: shop.secretKey })).body.failingSince).toBeNull()
  })

  test('a failing endpoint gets one attempt after a rest, from only one of several processes', async () => {
    const { state, server } = startReceiver(500)
    await using receiving = server
    await using app = await testApp(loopbackAllowed)
    const shop = await app.merchant()
    await registerEndpoint(app, shop, receiving.url)
    for (let nth = 0; nth < 20; nth++) await enqueueEvent(app, shop, `key-${nth}`)
    await deliver(app)
    const processes = [app.deps.webhooks, createWebhookSender(app.deps), createWebhookSender(app.deps)]
    for (let round = 0; round < 4; round++) {
      const before = state.requests
      app.clock.advance(20 * 60_000)
      await Promise.all(processes.map((webhooks) => webhooks.run()))
      await Promise.all(processes.map((webhooks) => webhooks.idle()))
      expect(state.requests).toBe(before + 1)
    }
  })

  test('the backlog of a failing endpoint is bounded, and skipped messages are counted and shown', async () => {
    const { server } = startReceiver(500)
    await using receiving = server
    await using answering = receiver()
    await using app = await testApp(loopbackAllowed)
    const shop = await app.merchant()
    const failing = await registerEndpoint(app, shop, receiving.url)
    const good = await registerEndpoint(app, shop, answering.url)
    for (let nth = 0; nth < 5; nth++) await enqueueEvent(app, shop, `first-${nth}`)
    await deliver(app)
    await fillBacklog(app, shop, failing, pendingMax - 10)
    for (let nth = 0; nth < 20; nth++) await enqueueEvent(app, shop, `more-${nth}`)
    await deliver(app)
    const rows = await app.deps.db.read.select().from(webhookDeliveries)
    const of = ({ id }: { id: string }) => rows.filter(({ endpointId }) => endpointId === id)
    const dropped = of(failing).filter(({ lastError }) => lastError === 'too many waiting')
    expect(dropped).toHaveLength(15)
    expect(dropped.every(({ status, attempts }) => status === 'FAILED' && attempts === 0)).toBe(true)
    expect(of(failing).filter(({ status }) => status === 'PENDING')).toHaveLength(pendingMax)
    expect(of(good).map(({ status }) => status)).toEqual(Array(25).fill('DELIVERED'))
    expect((await app.call('GET', `/webhook-endpoints/${failing.id}`, { key: shop.secretKey })).body).toMatchObject({
      skipped: 15,
      skippedAt: new Date(app.clock.now()).toISOString(),
    })
    // Deliveries that wait too long fail, too.
    app.clock.advance(3 * dayMs + 1)
    await deleteOldMessages(app.deps)
    const left = await app.deps.db.read.select().from(webhookDeliveries)
    expect(left.filter(({ status }) => status === 'PENDING')).toEqual([])
  })

  test('an endpoint that fails for five days is disabled, logged and gets nothing more', async () => {
    const { state, server } = startReceiver(500)
    await using receiving = server
    await using app = await testApp(loopbackAllowed)
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, receiving.url)
    const readEndpoint = async () => (await app.call('GET', `/webhook-endpoints/${endpoint.id}`, { key: shop.secretKey })).body
    for (let hour = 0; hour < 5 * 24; hour++) {
      if (hour % 8 === 0) await enqueueEvent(app, shop, `key-${hour}`)
      await deliver(app)
      expect((await readEndpoint()).disabledAt).toBeNull()
      app.clock.advance(dayMs / 24)
    }
    expect(state.requests).toBeGreaterThan(disabledAfter.failures)
    await enqueueEvent(app, shop, 'last')
    await deliver(app)
    expect(await readEndpoint()).toMatchObject({ disabledReason: 'FAILING', disabledAt: new Date(app.clock.now()).toISOString() })
    expect(app.logged.filter(({ event }) => event === 'webhook.endpoint_disabled')).toHaveLength(1)
    const { requests } = state
    app.clock.advance(dayMs)
    await enqueueEvent(app, shop, 'later')
    await deliver(app)
    expect(state.requests).toBe(requests)
    expect((await deliveriesOf(app, shop, endpoint)).filter(({ status }) => status === 'PENDING')).toEqual([])
  })
})

describe('a slow webhook endpoint', () => {
  /** Starts a server that responds only after `release`. */
  function startSlowServer() {
    const { promise, resolve } = Promise.withResolvers<void>()
    const server = receiver(async () => {
      await promise
      return new Response(null, { status: 204 })
    })
    return { server, release: resolve }
  }
  const readEndpoint = async (app: TestApp, shop: Shop, { id }: { id: string }) =>
    (await app.call('GET', `/webhook-endpoints/${id}`, { key: shop.secretKey })).body

  test('the backlog of a slow endpoint is bounded: skipped messages are counted, logged once, and can be resent', async () => {
    const { server, release } = startSlowServer()
    await using slow = server
    await using quick = receiver()
    await using app = await testApp(loopbackAllowed, { safeFetch: fetchWithoutTimeout })
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, slow.url)
    const other = await registerEndpoint(app, shop, quick.url)
    expect(await readEndpoint(app, shop, endpoint)).toMatchObject({ skipped: 0, skippedAt: null })
    await fillBacklog(app, shop, endpoint, pendingMax - 10)
    app.clock.advance(behindAfterMs)
    for (let nth = 0; nth < 25; nth++) await enqueueEvent(app, shop, `more-${nth}`)
    await deliverWebhooks(app.deps)
    const skippedAt = new Date(app.clock.now()).toISOString()
    expect(await readEndpoint(app, shop, endpoint)).toMatchObject({ skipped: 15, skippedAt, disabledAt: null, failingSince: null })
    app.clock.advance(1_000)
    await enqueueEvent(app, shop, 'one more')
    await deliverWebhooks(app.deps)
    expect((await readEndpoint(app, shop, endpoint)).skipped).toBe(16)
    expect(app.logged.filter(({ event }) => event === 'webhook.endpoint_behind').map(({ fields }) => fields['endpoint'])).toEqual([
      endpoint.id,
    ])
    const rows = await app.deps.db.read.select().from(webhookDeliveries)
    const ofSlow = rows.filter(({ endpointId }) => endpointId === endpoint.id)
    expect(ofSlow.filter(({ status }) => status === 'PENDING')).toHaveLength(pendingMax)
    const [skipped] = await deliveriesOf(app, shop, endpoint)
    expect(skipped).toMatchObject({ status: 'FAILED', attempts: 0, lastError: 'too many waiting' })
    await until(() => quick.received.length === 26)
    expect(await readEndpoint(app, shop, other)).toMatchObject({ skipped: 0, skippedAt: null })
    release()
    await app.deps.webhooks.idle()
    const resent = await app.call('POST', `/webhook-endpoints/${endpoint.id}/deliveries/${skipped?.id}/resend`, { key: shop.secretKey })
    expect(resent.status).toBe(200)
    await deliver(app)
    expect((await deliveriesOf(app, shop, endpoint))[0]).toMatchObject({ id: skipped?.id, status: 'DELIVERED' })
    await enqueueEvent(app, shop, 'afterwards')
    await deliver(app)
    expect((await readEndpoint(app, shop, endpoint)).skipped).toBe(16)
  })

  test('an endpoint that keeps up gets a whole burst, up to a larger limit', async () => {
    const { server, release } = startSlowServer()
    await using answering = server
    await using app = await testApp(loopbackAllowed, { safeFetch: fetchWithoutTimeout })
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, answering.url)
    await fillBacklog(app, shop, endpoint, pendingMax + 100)
    for (let nth = 0; nth < 30; nth++) await enqueueEvent(app, shop, `more-${nth}`)
    await deliverWebhooks(app.deps)
    expect((await readEndpoint(app, shop, endpoint)).skipped).toBe(0)
    const stopped = app.deps.webhooks.stop()
    release()
    await stopped
    const at = app.clock.now()
    expect([
      pendingMaxOf({ failures: 0 }, { dueAt: at - behindAfterMs + 1 }, at),
      pendingMaxOf({ failures: 0 }, { dueAt: at - behindAfterMs }, at),
      pendingMaxOf({ failures: 3 }, { dueAt: at }, at),
    ]).toEqual([burstMax, pendingMax, pendingMax])
  })
})

test('an endpoint that responds 410 is disabled at once, its deliveries fail, and it is still listed', async () => {
  await using app = await testApp(loopbackAllowed)
  await using goneServer = receiver(() => new Response(null, { status: 410 }))
  await using other = receiver()
  const shop = await app.merchant()
  const endpoint = await registerEndpoint(app, shop, goneServer.url)
  const good = await registerEndpoint(app, shop, other.url)
  for (let nth = 0; nth < 15; nth++) await enqueueEvent(app, shop, `key-${nth}`)
  await deliver(app)
  expect(goneServer.received.length).toBeLessThanOrEqual(slotsMax.endpoint)
  expect(other.received).toHaveLength(15)
  const states = (await deliveriesOf(app, shop, endpoint)).map(({ status, lastError }) => `${status} ${lastError}`)
  expect(states).toHaveLength(15)
  expect(new Set(states)).toEqual(new Set(['FAILED answered 410', 'FAILED endpoint disabled']))
  const { body } = await app.call('GET', '/webhook-endpoints', { key: shop.secretKey })
  expect(body.data.map(({ id, disabledReason }: { id: string; disabledReason: string | null }) => [id, disabledReason])).toEqual([
    [good.id, null],
    [endpoint.id, 'GONE'],
  ])
  const requests = goneServer.received.length
  await enqueueEvent(app, shop, 'later')
  await deliver(app)
  expect([goneServer.received.length, other.received.length]).toEqual([requests, 16])
  expect((await deliveriesOf(app, shop, endpoint)).length).toBe(15)
  expect((await app.call('DELETE', `/webhook-endpoints/${endpoint.id}`, { key: shop.secretKey })).status).toBe(204)
})

test('every endpoint gets its deliveries when there are more endpoints than one batch holds', async () => {
  await using app = await testApp(loopbackAllowed)
  await using server = receiver()
  for (let nth = 0; nth < 24; nth++) {
    const shop = await app.merchant()
    for (let each = 0; each < 5; each++) await registerEndpoint(app, shop, `${server.url}${nth}/${each}`)
    for (const key of ['a', 'b', 'c']) await enqueueEvent(app, shop, `${key}-${nth}`)
  }
  await deliver(app)
  const counts = [...Map.groupBy(server.received, ({ path }) => path).values()].map((all) => all.length)
  expect(counts).toEqual(Array(120).fill(3))
  expect((await app.deps.db.read.select().from(webhookEndpoints)).every(({ failures }) => failures === 0)).toBe(true)
})
