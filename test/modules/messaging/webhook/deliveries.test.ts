import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { outbox, webhookDeliveries, webhookEndpoints } from '../../../../db/schema/outbox.ts'
import { deliverWebhooks } from '../../../../jobs/deliver-webhooks.ts'
import { createSafeFetch } from '../../../../src/clients/safe-fetch.ts'
import type { SafeFetch } from '../../../../src/core/outgoing.ts'
import { jitter } from '../../../../src/lib/random.ts'
import { createWebhookSender } from '../../../../src/modules/messaging/webhook/dispatch.ts'
import { leaseMs, retryPausesMs, slotsMax } from '../../../../src/modules/messaging/webhook/domain.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { deliver, deliveriesOf, enqueueEvent, loopbackAllowed, receiver, registerEndpoint } from '../../../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60 * 1000
const longestPauseMs = (1 + jitter) * Math.max(...retryPausesMs)
const toLoopback = createSafeFetch({ allowedNetworks: ['127.0.0.0/8'] })

/** Creates a fetch whose responses the test sends. */
function createManualFetch() {
  const calls: { url: string; answer: (status: number) => void; fail: (error: unknown) => void }[] = []
  const safeFetch: SafeFetch = (url) =>
    new Promise((resolve, reject) => {
      const answer = (status: number) => resolve({ status, headers: new Headers(), bytes: new Uint8Array() })
      calls.push({ url, answer, fail: reject })
    })
  return { calls, safeFetch, urls: () => calls.map(({ url }) => url) }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Verifies a signature with another implementation than souk's. */
async function isSigned({ headers, body }: { headers: Headers; body: string }, secret: string): Promise<boolean> {
  const raw = Uint8Array.fromBase64(secret.replace('whsec_', ''))
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const [version, signature = ''] = (headers.get('webhook-signature') ?? '').split(',')
  const signed = new TextEncoder().encode(`${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`)
  return version === 'v1' && crypto.subtle.verify('HMAC', key, Uint8Array.fromBase64(signature), signed)
}

/** Runs the job every hour for some days. */
async function deliverForDays(app: TestApp, days: number): Promise<void> {
  for (let hour = 0; hour < days * 24; hour++) {
    await deliver(app)
    app.clock.advance(dayMs / 24)
  }
}

describe('sending a webhook message', () => {
  test('a message reaches every subscribed endpoint of its shop, signed with its secret, and no other', async () => {
    await using app = await testApp(loopbackAllowed)
    await using server = receiver()
    const shop = await app.merchant()
    const other = await app.merchant()
    const one = await registerEndpoint(app, shop, `${server.url}one`, ['order.confirmed', 'order.refunded'])
    const two = await registerEndpoint(app, shop, `${server.url}two`)
    await registerEndpoint(app, shop, `${server.url}other-event`, ['order.fulfilled'])
    await registerEndpoint(app, other, `${server.url}other-shop`)
    app.clock.advance(1_234)
    await enqueueEvent(app, shop, 'order.confirmed:1', { data: { text: 'é "\\ \u2028', amount: 12 } })
    app.clock.advance(5_000)
    await deliver(app)

    expect(server.received.map(({ path }) => path).sort()).toEqual(['/one', '/two'])
    const [message] = await app.deps.db.read.select().from(outbox)
    for (const received of server.received) {
      expect(received.body).toBe(message?.body ?? '')
      expect(JSON.parse(received.body)).toEqual({
        type: 'order.confirmed',
        timestamp: '2026-01-06T12:00:01.234Z',
        data: { text: 'é "\\ \u2028', amount: 12 },
      })
      expect(received.headers.get('content-type')).toBe('application/json')
      expect(received.headers.get('user-agent')).toMatch(/^souk\/\d/)
      expect(received.headers.get('webhook-id')).toBe(message?.id ?? '')
      expect(received.headers.get('webhook-timestamp')).toBe(String(Math.floor(app.clock.now() / 1000)))
      const [endpoint, otherEndpoint] = received.path === '/one' ? [one, two] : [two, one]
      expect(await isSigned(received, endpoint.secret)).toBe(true)
      expect(await isSigned(received, otherEndpoint.secret)).toBe(false)
      expect(await isSigned({ ...received, body: `${received.body} ` }, endpoint.secret)).toBe(false)
    }
    expect(message?.id).toMatch(/^msg_[0-9a-z]{26}$/)
    expect(message?.status).toBe('DONE')
  })

  test('a message with the same key is sent once, however often the job runs', async () => {
    await using app = await testApp(loopbackAllowed)
    await using server = receiver()
    const shop = await app.merchant()
    await registerEndpoint(app, shop, server.url)
    await Promise.all(['first', 'second', 'third'].map((data) => enqueueEvent(app, shop, 'order.confirmed:1', { data })))
    await deliver(app)
    await enqueueEvent(app, shop, 'order.confirmed:1', { data: 'late' })
    await deliverForDays(app, 2)
    expect(server.received).toHaveLength(1)
  })

  test('a message is rolled back with its write', async () => {
    await using app = await testApp()
    const shop = await app.merchant()
    const failed = app.deps.db.write(async (tx) => {
      await tx.insert(outbox).values({ id: 'x', key: 'k', shopId: shop.shop.id, event: 'e', body: '', status: 'PENDING', createdAt: 0 })
      throw new Error('the rest failed')
    })
    await expect(failed).rejects.toThrow('the rest failed')
    expect(await app.deps.db.read.select().from(outbox)).toEqual([])
  })

  test('a message is distributed once: an endpoint created later does not get it', async () => {
    await using app = await testApp(loopbackAllowed)
    await using server = receiver()
    const shop = await app.merchant()
    await enqueueEvent(app, shop, 'early')
    await deliver(app)
    await registerEndpoint(app, shop, server.url)
    await enqueueEvent(app, shop, 'late')
    await deliver(app)
    expect(server.received.map(({ body }) => JSON.parse(body).data.key)).toEqual(['late'])
  })

  test('all waiting messages are distributed and sent in one round', async () => {
    await using app = await testApp(loopbackAllowed)
    await using server = receiver()
    const shop = await app.merchant()
    const endpoints = [await registerEndpoint(app, shop, `${server.url}a`), await registerEndpoint(app, shop, `${server.url}b`)]
    const keys = Array.from({ length: 65 }, (_, nth) => `key-${nth}`)
    await Promise.all(keys.map((key) => enqueueEvent(app, shop, key)))
    await deliver(app)
    for (const path of ['/a', '/b']) {
      const receivedKeys = server.received.filter((received) => received.path === path).map(({ body }) => JSON.parse(body).data.key)
      expect(receivedKeys.sort()).toEqual([...keys].sort())
    }
    expect((await deliveriesOf(app, shop, endpoints[0] as { id: string })).every(({ status }) => status === 'DELIVERED')).toBe(true)
  })
})

describe('retries of a failed delivery', () => {
  test('an attempt has ten seconds and reads at most 64 KB of the response', async () => {
    const limits: unknown[] = []
    const safeFetch: SafeFetch = async (_url, { timeoutMs, bytesMax }) => {
      limits.push([timeoutMs, bytesMax])
      return { status: 204, headers: new Headers(), bytes: new Uint8Array() }
    }
    await using app = await testApp(loopbackAllowed, { safeFetch })
    const shop = await app.merchant()
    await registerEndpoint(app, shop, 'http://127.0.0.1:8080/')
    await enqueueEvent(app, shop, 'one')
    await deliver(app)
    expect(limits).toEqual([[10_000, 64 * 1024]])
  })

  test('a failed delivery is retried after its pause with the same id and body and a new signature', async () => {
    await using app = await testApp(loopbackAllowed)
    const statuses = [500, 503, 200]
    await using server = receiver(() => new Response('no', { status: statuses.shift() ?? 500 }))
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, server.url)
    await enqueueEvent(app, shop, 'one')
    await deliver(app)
    const [failed] = await deliveriesOf(app, shop, endpoint)
    expect(failed).toMatchObject({ status: 'PENDING', attempts: 1, lastStatus: 500, lastError: 'answered 500' })
    const pause = Date.parse(failed?.nextAttemptAt ?? '') - app.clock.now()
    expect(Math.abs(pause - retryPausesMs[0])).toBeLessThanOrEqual(jitter * retryPausesMs[0])

    app.clock.advance(pause - 1)
    await deliver(app)
    expect(server.received).toHaveLength(1)
    app.clock.advance(1)
    await deliver(app)
    expect(server.received).toHaveLength(2)
    app.clock.advance((1 + jitter) * retryPausesMs[1])
    await deliver(app)
    expect((await deliveriesOf(app, shop, endpoint))[0]).toMatchObject({
      status: 'DELIVERED',
      attempts: 3,
      nextAttemptAt: null,
      lastStatus: 200,
      lastError: null,
    })
    await deliverForDays(app, 2)
    expect(server.received).toHaveLength(3)
    const headers = (name: string) => new Set(server.received.map((received) => received.headers.get(name)))
    expect([headers('webhook-id').size, headers('webhook-timestamp').size, headers('webhook-signature').size]).toEqual([1, 3, 3])
    expect(new Set(server.received.map(({ body }) => body)).size).toBe(1)
    for (const received of server.received) expect(await isSigned(received, endpoint.secret)).toBe(true)
  })

  test('a failed delivery is given up after nine attempts in about a day', async () => {
    await using app = await testApp(loopbackAllowed)
    const at: number[] = []
    await using server = receiver(() => {
      at.push(app.clock.now())
      return new Response(null, { status: 500 })
    })
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, server.url)
    await enqueueEvent(app, shop, 'one')
    for (let round = 0; round < 12; round++) {
      await deliver(app)
      const [{ nextAttemptAt } = { nextAttemptAt: null }] = await deliveriesOf(app, shop, endpoint)
      app.clock.advance(nextAttemptAt === null ? longestPauseMs : Date.parse(nextAttemptAt) - app.clock.now())
    }
    expect(at).toHaveLength(9)
    const delivery = (await deliveriesOf(app, shop, endpoint))[0]?.id
    const givenUp = app.logged.filter(({ event }) => event === 'webhook.given_up')
    expect(givenUp).toEqual([{ level: 'warn', event: 'webhook.given_up', fields: { delivery, endpoint: endpoint.id } }])
    const pauses = at.slice(1).map((moment, nth) => moment - (at[nth] ?? 0))
    for (const [nth, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual((1 - jitter) * (retryPausesMs[nth] ?? 0) - 1)
      expect(pause).toBeLessThanOrEqual((1 + jitter) * (retryPausesMs[nth] ?? 0) + 1)
    }
    expect(Math.abs((at.at(-1) ?? 0) - (at[0] ?? 0) - dayMs)).toBeLessThan(0.2 * dayMs)
    expect((await deliveriesOf(app, shop, endpoint))[0]).toMatchObject({
      status: 'FAILED',
      attempts: 9,
      nextAttemptAt: null,
      lastStatus: 500,
      lastError: 'answered 500',
    })
  })

  const big = 'x'.repeat(200_000)
  test.each([
    ['a client error', () => new Response(null, { status: 404 }), { status: 'PENDING', lastStatus: 404, lastError: 'answered 404' }],
    ['a redirect', () => Response.redirect('/further', 302), { status: 'PENDING', lastStatus: 302, lastError: 'redirect' }],
    [
      '410 Gone',
      () => new Response(null, { status: 410 }),
      { status: 'FAILED', lastStatus: 410, lastError: 'answered 410', nextAttemptAt: null },
    ],
    [
      'a too large error page',
      () => new Response(big, { status: 500 }),
      { status: 'PENDING', lastStatus: 500, lastError: 'answer too large' },
    ],
    ['no response', () => new Promise<Response>(() => undefined), { status: 'PENDING', lastStatus: null, lastError: 'timeout' }],
    ['a too large success page', () => new Response(big), { status: 'DELIVERED', lastStatus: 200, lastError: null }],
    ['202', () => new Response(null, { status: 202 }), { status: 'DELIVERED', lastStatus: 202, lastError: null }],
  ] as const)('a delivery shows its status and error when the endpoint responds with %s', async (_, answer, expected) => {
    // Only the missing response has a short timeout, because the others depend on the speed of the machine.
    const timeoutMs = expected.lastError === 'timeout' ? 300 : 60_000
    const safeFetch: SafeFetch = (url, options) => toLoopback(url, { ...options, timeoutMs })
    await using app = await testApp(loopbackAllowed, { safeFetch })
    await using server = receiver(answer)
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, server.url)
    await enqueueEvent(app, shop, 'one')
    await deliver(app)
    expect((await deliveriesOf(app, shop, endpoint))[0]).toMatchObject({ attempts: 1, ...expected })
    expect(server.received.map(({ path }) => path)).toEqual(['/'])
    if (expected.status === 'PENDING') return
    await deliverForDays(app, 2)
    expect(server.received).toHaveLength(1)
  })

  test('a failed delivery shows the reason when the connection failed or the address is internal', async () => {
    const safeFetch = createSafeFetch({ allowedNetworks: ['127.0.0.0/8'], lookup: async () => ['10.0.0.1'] })
    await using app = await testApp(loopbackAllowed, { safeFetch })
    const closed = receiver()
    await closed[Symbol.asyncDispose]()
    const shop = await app.merchant()
    const closedEndpoint = await registerEndpoint(app, shop, closed.url)
    const internalEndpoint = await registerEndpoint(app, shop, 'http://internal.example/admin')
    await enqueueEvent(app, shop, 'one')
    await deliver(app)
    expect((await deliveriesOf(app, shop, closedEndpoint))[0]).toMatchObject({
      status: 'PENDING',
      lastStatus: null,
      lastError: 'connection failed',
    })
    expect((await deliveriesOf(app, shop, internalEndpoint))[0]).toMatchObject({
      status: 'PENDING',
      lastStatus: null,
      lastError: 'address not allowed',
    })
    expect(JSON.stringify(app.logged)).not.toContain('internal.example')
  })

  test('a delivery whose secret cannot be opened is logged and retried, and does not block others', async () => {
    await using app = await testApp(loopbackAllowed)
    await using server = receiver()
    const shop = await app.merchant()
    const broken = await registerEndpoint(app, shop, `${server.url}broken`)
    await registerEndpoint(app, shop, `${server.url}good`)
    await app.deps.db.write(async (tx) => {
      await tx.update(webhookEndpoints).set({ sealedSecret: '00000000.AAAA' }).where(eq(webhookEndpoints.id, broken.id))
    })
    await enqueueEvent(app, shop, 'one')
    await deliver(app)
    expect(server.received.map(({ path }) => path)).toEqual(['/good'])
    expect((await deliveriesOf(app, shop, broken))[0]).toMatchObject({ status: 'PENDING', lastError: 'internal error' })
    expect(app.logged.filter(({ level }) => level === 'error').map(({ event }) => event)).toEqual(['webhook.not_sent'])
  })
})

describe('endpoints that hang', () => {
  test('a hanging endpoint has at most two deliveries in flight and blocks neither others nor the job', async () => {
    const { calls, safeFetch, urls } = createManualFetch()
    await using app = await testApp({}, { safeFetch })
    const shop = await app.merchant()
    const hanging = await registerEndpoint(app, shop, 'http://hanging.example/')
    await registerEndpoint(app, shop, 'http://quick.example/', ['order.refunded'])
    for (const key of ['a', 'b', 'c', 'd', 'e']) await enqueueEvent(app, shop, key)
    await deliverWebhooks(app.deps)
    expect(urls()).toEqual(['http://hanging.example/', 'http://hanging.example/'])
    await enqueueEvent(app, shop, 'f', { event: 'order.refunded' })
    await deliverWebhooks(app.deps)
    expect(urls().slice(2)).toEqual(['http://quick.example/'])
    await deliverWebhooks(app.deps)
    expect(calls).toHaveLength(3)
    // A finished attempt starts the next one at once, without the job.
    calls[0]?.answer(200)
    await until(() => calls.length > 3)
    expect(urls().slice(3)).toEqual(['http://hanging.example/'])
    for (let nth = 1; nth < 6; nth++) {
      await until(() => calls.length > nth)
      calls[nth]?.answer(200)
    }
    await app.deps.webhooks.idle()
    expect((await deliveriesOf(app, shop, hanging)).map(({ status, attempts }) => [status, attempts])).toEqual(
      Array(5).fill(['DELIVERED', 1]),
    )
  })

  test('hanging endpoints of one shop leave slots for another shop, even with a backlog above the batch size', async () => {
    const { safeFetch, urls } = createManualFetch()
    await using app = await testApp({}, { safeFetch })
    const shop = await app.merchant()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await registerEndpoint(app, shop, `http://${name}.example/`)
    for (let nth = 0; nth < 30; nth++) await enqueueEvent(app, shop, `hanging-${nth}`)
    const other = await app.merchant()
    await registerEndpoint(app, other, 'http://other.example/')
    app.clock.advance(1_000)
    await enqueueEvent(app, other, 'other')
    await deliverWebhooks(app.deps)
    expect(urls().filter((url) => url !== 'http://other.example/')).toHaveLength(slotsMax.shop)
    expect(urls().filter((url) => url === 'http://other.example/')).toHaveLength(1)
  })

  test('a hanging endpoint leaves slots for others of its shop, even with a backlog above the batch size', async () => {
    const { safeFetch, urls } = createManualFetch()
    await using app = await testApp({}, { safeFetch })
    const shop = await app.merchant()
    await registerEndpoint(app, shop, 'http://hanging.example/')
    await registerEndpoint(app, shop, 'http://quick.example/', ['order.refunded'])
    for (let nth = 0; nth < 60; nth++) await enqueueEvent(app, shop, `hanging-${nth}`)
    app.clock.advance(1_000)
    await enqueueEvent(app, shop, 'quick', { event: 'order.refunded' })
    await deliverWebhooks(app.deps)
    expect(urls().sort()).toEqual(['http://hanging.example/', 'http://hanging.example/', 'http://quick.example/'])
  })

  test('hanging endpoints never have more deliveries in flight than the total limit', async () => {
    const { safeFetch, calls } = createManualFetch()
    await using app = await testApp({}, { safeFetch })
    for (let nth = 0; nth <= slotsMax.all; nth++) {
      const shop = await app.merchant()
      for (const name of ['a', 'b']) await registerEndpoint(app, shop, `http://${name}.example/`)
      await enqueueEvent(app, shop, `message-${nth}`)
    }
    await Promise.all([deliverWebhooks(app.deps), deliverWebhooks(app.deps)])
    expect(calls).toHaveLength(slotsMax.all)
  })
})

describe('a delivery in flight', () => {
  /** Creates the sender of another process on the same database. */
  const createSecondSender = (app: TestApp, safeFetch: SafeFetch) => createWebhookSender({ ...app.deps, safeFetch })

  test('a delivery in flight is not sent by other processes until its lease ends, and is then sent again', async () => {
    const unfinished = createManualFetch()
    await using app = await testApp({}, { safeFetch: unfinished.safeFetch })
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, 'http://hook.example/')
    await enqueueEvent(app, shop, 'one')
    await deliverWebhooks(app.deps)
    expect(unfinished.calls).toHaveLength(1)
    const other = createManualFetch()
    const webhooks = createSecondSender(app, other.safeFetch)
    app.clock.advance(leaseMs - 1)
    await webhooks.run()
    expect(other.calls).toHaveLength(0)
    app.clock.advance(1)
    await webhooks.run()
    expect(other.calls).toHaveLength(1)
    other.calls[0]?.answer(200)
    await webhooks.idle()
    expect((await deliveriesOf(app, shop, endpoint))[0]).toMatchObject({ status: 'DELIVERED', attempts: 2 })
  })

  test('deliveries that several processes find at once are sent once each', async () => {
    await using app = await testApp(loopbackAllowed)
    await using server = receiver()
    const shop = await app.merchant()
    await registerEndpoint(app, shop, server.url)
    for (let nth = 0; nth < 10; nth++) await enqueueEvent(app, shop, `key-${nth}`)
    const processes = [app.deps.webhooks, createSecondSender(app, app.deps.safeFetch), createSecondSender(app, app.deps.safeFetch)]
    await Promise.all(processes.map((webhooks) => webhooks.run()))
    await Promise.all(processes.map((webhooks) => webhooks.idle()))
    await Promise.all(processes.map((webhooks) => webhooks.run()))
    await Promise.all(processes.map((webhooks) => webhooks.idle()))
    expect(server.received.map(({ body }) => JSON.parse(body).data.key).sort()).toEqual(
      Array.from({ length: 10 }, (_, nth) => `key-${nth}`),
    )
  })

  test('a late failure does not overwrite a later attempt, but a late success counts', async () => {
    for (const lateStatus of [500, 200]) {
      const slow = createManualFetch()
      await using app = await testApp({}, { safeFetch: slow.safeFetch })
      const shop = await app.merchant()
      const endpoint = await registerEndpoint(app, shop, 'http://hook.example/')
      await enqueueEvent(app, shop, 'one')
      await deliverWebhooks(app.deps)
      app.clock.advance(leaseMs)
      const later = createManualFetch()
      const webhooks = createSecondSender(app, later.safeFetch)
      await webhooks.run()
      later.calls[0]?.answer(503)
      await webhooks.idle()
      slow.calls[0]?.answer(lateStatus)
      await app.deps.webhooks.idle()
      const [seen] = await deliveriesOf(app, shop, endpoint)
      expect(seen).toMatchObject(
        lateStatus === 200
          ? { status: 'DELIVERED', lastStatus: 200, attempts: 2, nextAttemptAt: null }
          : { status: 'PENDING', lastStatus: 503, attempts: 2 },
      )
    }
  })

  test('concurrent failures in two processes all count against the endpoint', async () => {
    const [ownFetch, otherFetch] = [createManualFetch(), createManualFetch()]
    await using app = await testApp({}, { safeFetch: ownFetch.safeFetch })
    const shop = await app.merchant()
    await registerEndpoint(app, shop, 'http://hook.example/')
    for (const key of ['a', 'b', 'c', 'd']) await enqueueEvent(app, shop, key)
    await deliverWebhooks(app.deps)
    const webhooks = createSecondSender(app, otherFetch.safeFetch)
    await webhooks.run()
    const calls = [...ownFetch.calls, ...otherFetch.calls]
    expect(calls).toHaveLength(4)
    for (const { answer } of calls) answer(500)
    await Promise.all([app.deps.webhooks.idle(), webhooks.idle()])
    expect((await app.deps.db.read.select().from(webhookEndpoints)).map(({ failures }) => failures)).toEqual([4])
  })

  test('stopping waits for deliveries in flight and starts no new ones', async () => {
    const { calls, safeFetch } = createManualFetch()
    await using app = await testApp({}, { safeFetch })
    const shop = await app.merchant()
    const endpoint = await registerEndpoint(app, shop, 'http://hook.example/')
    for (const key of ['a', 'b', 'c']) await enqueueEvent(app, shop, key)
    await deliverWebhooks(app.deps)
    let stopped = false
    const stopping = app.deps.webhooks.stop().then(() => {
      stopped = true
    })
    await deliverWebhooks(app.deps)
    expect([calls.length, stopped]).toEqual([2, false])
    for (const { answer } of calls) answer(200)
    await stopping
    expect(calls).toHaveLength(2)
    const states = (await deliveriesOf(app, shop, endpoint)).map(({ status }) => status)
    expect(states.sort()).toEqual(['DELIVERED', 'DELIVERED', 'PENDING'])
  })

  test('removing an endpoint fails its due deliveries, and nothing more is sent to it', async () => {
    const { calls, safeFetch } = createManualFetch()
    await using app = await testApp({}, { safeFetch })
    const shop = await app.merchant()
    const { id } = await registerEndpoint(app, shop, 'http://hook.example/')
    for (const key of ['a', 'b', 'c']) await enqueueEvent(app, shop, key)
    await deliverWebhooks(app.deps)
    await app.call('DELETE', `/webhook-endpoints/${id}`, { key: shop.secretKey })
    await enqueueEvent(app, shop, 'd')
    for (const { answer } of [...calls]) answer(500)
    await app.deps.webhooks.idle()
    await deliverForDays(app, 1)
    expect(calls).toHaveLength(2)
    const rows = await app.deps.db.read.select().from(webhookDeliveries)
    expect(rows.map(({ status, lastError }) => [status, lastError])).toEqual(Array(3).fill(['FAILED', 'endpoint removed']))
  })
})

test('a message to one endpoint costs three writes: distribute, claim, settle', async () => {
  await using app = await testApp(loopbackAllowed)
  await using server = receiver()
  const shop = await app.merchant()
  await registerEndpoint(app, shop, server.url)
  await enqueueEvent(app, shop, 'one')
  const { writes } = app.deps.db.stats
  await deliver(app)
  expect([app.deps.db.stats.writes - writes, server.received.length]).toEqual([3, 1])
})

test('a round with nothing to send makes no write and no request', async () => {
  const { calls, safeFetch } = createManualFetch()
  await using app = await testApp({}, { safeFetch })
  const shop = await app.merchant()
  await registerEndpoint(app, shop, 'http://hook.example/')
  const { writes } = app.deps.db.stats
  await deliver(app)
  expect([app.deps.db.stats.writes - writes, calls.length]).toEqual([0, 0])
})

test('the metrics show waiting messages and deliveries, how long they wait, and the result of each attempt', async () => {
  await using app = await testApp(loopbackAllowed)
  let status = 500
  await using server = receiver(() => new Response(null, { status }))
  const shop = await app.merchant()
  const endpoint = await registerEndpoint(app, shop, server.url)
  const readFigures = async () => {
    app.clock.advance(15_000)
    const { text } = await app.call('GET', '/metrics')
    const sampleOf = (series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1],
      )
    return {
      messages: sampleOf('souk_webhook_messages_waiting'),
      oldestAge: sampleOf('souk_webhook_message_oldest_age_seconds'),
      deliveries: sampleOf('souk_webhook_deliveries_waiting'),
      overdue: sampleOf('souk_webhook_delivery_overdue_seconds'),
      attempts: ['delivered', 'failed', 'dead'].map((result) => sampleOf(`souk_webhook_attempts_total{result="${result}"}`)),
    }
  }
  expect(await readFigures()).toEqual({ messages: 0, oldestAge: 0, deliveries: 0, overdue: 0, attempts: [0, 0, 0] })
  await enqueueEvent(app, shop, 'one')
  app.clock.advance(45_000)
  await enqueueEvent(app, shop, 'two')
  expect(await readFigures()).toEqual({ messages: 2, oldestAge: 60, deliveries: 0, overdue: 0, attempts: [0, 0, 0] })
  await deliver(app)
  const due = (await deliveriesOf(app, shop, endpoint)).map(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? ''))
  const failed = await readFigures()
  const overdue = (app.clock.now() - Math.min(...due)) / 1_000
  expect(overdue).toBeGreaterThan(0)
  expect(failed).toEqual({ messages: 0, oldestAge: 0, deliveries: 2, overdue, attempts: [0, 2, 0] })
  status = 204
  await deliver(app)
  status = 410
  await enqueueEvent(app, shop, 'three')
  await deliver(app)
  expect(await readFigures()).toEqual({ messages: 0, oldestAge: 0, deliveries: 0, overdue: 0, attempts: [2, 2, 1] })
})
