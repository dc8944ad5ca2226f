/** Tests what processes share through a real Redis, and how they continue without it. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../db/columns.ts'
import { failuresMax } from '../../src/lib/breaker.ts'
import type { BreakerOf } from '../../src/modules/payments/payment-method/breakers.ts'
import { probeProcessors } from '../../src/modules/payments/payment-method/index.ts'
import { standIn } from '../clients/processors/stand-in.ts'
import { type TestApp, type TestAppOptions, testApp } from '../support/app.ts'
import { processorSettings } from '../support/processor-settings.ts'
import { startRedis, whyNoRedis } from '../support/redis.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const stripe: BreakerOf = { processor: 'stripe', host: 'api.stripe.com' }

if (whyNoRedis) process.stderr.write(`skipped: ${whyNoRedis}\n`)

/** On a busy machine Redis may respond late although it is available. */
const longTimeout = { redisTimeoutMs: 30_000 }

/** Starts two processes that share a Redis. */
async function startWorld(settings: Record<string, string> = {}, options: TestAppOptions = longTimeout) {
  const redis = await startRedis()
  const all = { ...processorSettings, REDIS_URL: redis.url, ...settings }
  const one = await testApp(all, options)
  // Two databases suffice, because Redis has the shared data. On SQLite only one server can open a database.
  const two = await testApp(all, options)
  const shops = [await one.merchant(), await two.merchant()]
  return {
    redis,
    one,
    two,
    ask: (app: TestApp, from: string) =>
      app.call('GET', `/checkout/${shops[app === one ? 0 : 1]?.shop.name}/payment-intent-resolver`, { from }),
    shops,
    /** Lets both processes exchange the state of breakers. Twice, because one may read before the other has written. */
    async sync() {
      for (let round = 0; round < 2; round++) await Promise.all([one, two].map(({ deps }) => deps.syncBreakers()))
    },
    async [Symbol.asyncDispose]() {
      await one.close()
      await two.close()
      await redis[Symbol.asyncDispose]()
    },
  }
}

const events = (app: TestApp) => app.logged.map(({ event }) => event).filter((event) => event.startsWith('redis.'))
/** Waits until a condition is true. */
async function waitUntil(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(10)
}
const isHere = (app: TestApp) => app.deps.shared.state() === 'here'

describe.skipIf(whyNoRedis !== undefined)('several processes with one Redis', () => {
  test('processes with one Redis limit an address together to sixty requests a minute', async () => {
    await using world = await startWorld()
    const { one, two, ask } = world
    const from = '203.0.113.1'
    const statuses: number[] = []
    for (let nth = 0; nth < 62; nth++) statuses.push((await ask(nth % 2 === 0 ? one : two, from)).status)
    expect(statuses).toEqual([...Array(60).fill(200), 429, 429])
    const refused = await ask(one, from)
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    expect((await ask(two, '203.0.113.2')).status).toBe(200)
    expect(events(one)).toEqual(['redis.here'])
  })

  test('processes with one Redis count concurrent requests correctly', async () => {
    await using world = await startWorld()
    const { one, two, ask } = world
    const answers = await Promise.all(Array.from({ length: 100 }, (_, nth) => ask(nth % 3 === 0 ? one : two, '203.0.113.3')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40)
  })

  test('processes with one Redis limit the writes of shoppers together, by address and by customer', async () => {
    await using world = await startWorld({ STOREFRONT_WRITES_PER_MINUTE: '5' })
    const { one, two, shops } = world
    const statuses: number[] = []
    for (let nth = 0; nth < 7; nth++) {
      const [app, shop] = nth % 2 === 0 ? [one, shops[0]] : [two, shops[1]]
      const options = { key: shop?.publishableKey ?? '', from: '203.0.113.4', body: { email: 'a@example.com' } }
      statuses.push((await app.call('POST', '/cart', options)).status)
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429])
  })

  test('processes with one Redis share breakers: failures add up, and one probe closes for all', async () => {
    await using server = await standIn(() => ({ status: 200, json: { object: 'balance' } }))
    await using world = await startWorld({ STRIPE_API_URL: server.url })
    const { one, two, sync } = world
    const at: BreakerOf = { processor: 'stripe', host: new URL(server.url).host }
    const states = () => [one, two].map(({ deps }) => deps.breakers.of(at).state)
    // Failures of both add up.
    for (let nth = 1; nth < failuresMax; nth++) one.deps.breakers.failed(at)
    await sync()
    two.deps.breakers.failed(at)
    await sync()
    expect(states()).toEqual(['OPEN', 'OPEN'])
    for (const app of [one, two]) app.clock.advance(30_000)
    await Promise.all([probeProcessors(one.deps), probeProcessors(two.deps)])
    expect(server.requests).toHaveLength(1)
    await sync()
    expect(states()).toEqual(['CLOSED', 'CLOSED'])
    expect([...one.logged, ...two.logged].filter(({ event }) => event === 'breaker.closed')).toHaveLength(2)
  })

  test('a failure counted by one process is reset for all by the next success', async () => {
    await using world = await startWorld()
    const { one, two, sync } = world
    one.deps.breakers.failed(stripe)
    await sync()
    expect(two.deps.breakers.of(stripe)).toEqual({ state: 'CLOSED', failures: 1 })
    two.deps.breakers.recordAnswer(stripe)
    await sync()
    expect(one.deps.breakers.of(stripe)).toEqual({ state: 'CLOSED', failures: 0 })
  })
})

describe.skipIf(whyNoRedis !== undefined)('without a reachable Redis', () => {
  test('without Redis, each process continues with its own counts, logs once and stays ready with a note', async () => {
    await using world = await startWorld()
    const { redis, one, two, ask } = world
    const from = '203.0.113.5'
    for (let nth = 0; nth < 40; nth++) expect((await ask(one, from)).status).toBe(200)
    for (let nth = 0; nth < 20; nth++) expect((await ask(two, from)).status).toBe(200)
    expect((await ask(one, from)).status).toBe(429)
    await redis.stop()
    await waitUntil(() => !isHere(one) && !isHere(two))
    // Each process has counted its own requests.
    const allowed: number[] = []
    for (const app of [one, two]) {
      let count = 0
      while ((await ask(app, from)).status === 200) count++
      allowed.push(count)
    }
    expect(allowed).toEqual([20, 40])
    for (const app of [one, two]) {
      expect(events(app)).toEqual(['redis.here', 'redis.away'])
      const ready = await app.call('GET', '/health/ready')
      expect([ready.status, ready.body.checks.find(({ name }: { name: string }) => name === 'redisReachable')]).toEqual([
        200,
        { name: 'redisReachable', ok: false },
      ])
      expect((await app.call('GET', '/metrics')).text).toContain('\nsouk_redis_up 0\n')
    }
    for (let nth = 0; nth < failuresMax; nth++) one.deps.breakers.failed(stripe)
    expect([one, two].map(({ deps }) => deps.breakers.of(stripe).state)).toEqual(['OPEN', 'CLOSED'])
    // Changes made during the outage are shared once Redis is back.
    await redis.start()
    await waitUntil(() => isHere(one) && isHere(two))
    await one.deps.syncBreakers()
    await two.deps.syncBreakers()
    expect(two.deps.breakers.of(stripe).state).toBe('OPEN')
    expect(events(one)).toEqual(['redis.here', 'redis.away', 'redis.here'])
    expect((await one.call('GET', '/metrics')).text).toContain('\nsouk_redis_up 1\n')
  })

  test('a hanging Redis costs a few short waits, and is used again once it responds', async () => {
    await using world = await startWorld({}, {})
    const { redis, one, ask } = world
    redis.hang()
    for (let nth = 0; nth < 60; nth++) expect((await ask(one, '203.0.113.6')).status).toBe(200)
    expect(isHere(one)).toBe(false)
    const failures = one.deps.shared.failures()
    expect(failures).toBe(3)
    expect((await ask(one, '203.0.113.6')).status).toBe(429)
    expect(one.deps.shared.failures()).toBe(failures)
    redis.wake()
    await waitUntil(() => isHere(one))
    expect((await ask(one, '203.0.113.7')).status).toBe(200)
    expect(events(one)).toEqual(['redis.here', 'redis.away', 'redis.here'])
  })

  test('a start without Redis succeeds, and the log does not contain the password of its URL', async () => {
    await using app = await testApp({ REDIS_URL: 'redis://user:SECRET-password@127.0.0.1:1/3' })
    expect(events(app)).toEqual(['redis.away'])
    const { shop } = await app.merchant()
    for (let nth = 0; nth < 60; nth++)
      expect((await app.call('GET', `/checkout/${shop.name}/payment-intent-resolver`, { from: '203.0.113.8' })).status).toBe(200)
    expect((await app.call('GET', `/checkout/${shop.name}/payment-intent-resolver`, { from: '203.0.113.8' })).status).toBe(429)
    expect(JSON.stringify(app.logged)).not.toContain('SECRET')
  })
})

test('a process without REDIS_URL shares nothing, and warns on PostgreSQL that limits are per process', async () => {
  await using app = await testApp()
  expect(app.deps.shared.state()).toBe('off')
  expect(app.logged.filter(({ event }) => event === 'limits.by_process')).toHaveLength(engine === 'postgres' ? 1 : 0)
  const { body } = await app.call('GET', '/health/ready')
  expect(body.checks.map(({ name }: { name: string }) => name)).not.toContain('redisReachable')
  expect((await app.call('GET', '/metrics')).text).not.toMatch(/^souk_redis/m)
})
