import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { DatabaseFull } from '../../../../db/engine.ts'
import { testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

describe('health', () => {
  test('an instance is live while the process responds, and ready if database and disk are', async () => {
    await using app = await testApp()
    expect((await app.call('GET', '/health/live')).body).toEqual({ status: 'ok', version: app.deps.build.version })
    const { status, body, headers } = await app.call('GET', '/health/ready')
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      status: 'ok',
      version: app.deps.build.version,
      checks: [
        'databaseReadable',
        'databaseWritable',
        'migrationsCurrent',
        'diskSpace',
        'databaseInPlace',
        'keysAtHand',
        'clockSteady',
        // Only with SQLite: PostgreSQL is backed up by its own tools.
        ...(app.deps.db.file ? ['backupRecent'] : []),
      ].map((name) => ({
        name,
        ok: true,
      })),
    })
  })

  test('an instance is unready below the disk watermark, and names the failing check', async () => {
    let free = 100 * 1024 * 1024
    await using app = await testApp({ DISK_FREE_MIN_MB: '100' }, { diskFree: () => free })
    expect((await app.call('GET', '/health/ready')).status).toBe(200)
    free--
    app.clock.advance(1_000)
    const answer = await app.call('GET', '/health/ready')
    expect(answer.body).toEqual({ statusCode: 503, message: 'Not ready: diskSpace', error: 'Service Unavailable', code: 'unavailable' })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await app.call('GET', '/health/live')).status).toBe(200)
  })

  test('concurrent readiness probes share checks, which are repeated after a second', async () => {
    await using app = await testApp()
    const { stats } = app.deps.db
    const before = stats.writes
    await Promise.all(Array.from({ length: 20 }, () => app.call('GET', '/health/ready')))
    expect(stats.writes).toBe(before + 1)
    app.clock.advance(1_000)
    await app.call('GET', '/health/ready')
    expect(stats.writes).toBe(before + 2)
  })

  test('readiness is checked again after the clock was set back', async () => {
    await using app = await testApp()
    const { stats } = app.deps.db
    await app.call('GET', '/health/ready')
    const before = stats.writes
    app.clock.advance(-3_600_000)
    app.clock.advance(1_000)
    await app.call('GET', '/health/ready')
    expect(stats.writes).toBe(before + 1)
  })

  test('an instance is unready while writes fail, also when the disk is full, and ready again afterwards', async () => {
    await using app = await testApp({}, { diskFree: () => undefined })
    const { db } = app.deps
    const { write } = db
    db.write = async () => {
      throw new DatabaseFull()
    }
    const answer = await app.call('GET', '/health/ready')
    expect([answer.status, answer.body.message, answer.headers.get('retry-after')]).toEqual([503, 'Not ready: databaseWritable', '5'])
    app.clock.advance(1_000)
    expect((await app.call('GET', '/metrics')).text).toContain('souk_ready{check="databaseWritable"} 0\n')
    expect((await app.call('GET', '/health/live')).status).toBe(200)
    db.write = write
    app.clock.advance(1_000)
    expect((await app.call('GET', '/health/ready')).status).toBe(200)
    expect((await app.call('GET', '/metrics')).text).toContain('souk_ready{check="databaseWritable"} 1\n')
  })

  test('an instance is unready while reads fail', async () => {
    await using app = await testApp()
    const { db } = app.deps
    const { read } = db
    Object.defineProperty(db, 'read', {
      configurable: true,
      get: () => {
        throw new Error('no connection')
      },
    })
    const answer = await app.call('GET', '/health/ready')
    Object.defineProperty(db, 'read', { configurable: true, writable: true, value: read })
    expect([answer.status, answer.body.message]).toEqual([503, 'Not ready: databaseReadable, migrationsCurrent'])
  })

  test('an instance that stops is unready with `stopping`, and stays live', async () => {
    await using app = await testApp()
    app.deps.life.stopping = true
    const answer = await app.call('GET', '/health/ready')
    expect([answer.status, answer.body.message]).toEqual([503, 'Not ready: stopping'])
    expect((await app.call('GET', '/health/live')).status).toBe(200)
  })

  test('an instance stays ready after a clock jump, which `clockSteady` shows for 15 minutes', async () => {
    await using app = await testApp()
    const readSteady = async () => {
      app.clock.advance(1_000)
      const { status, body } = await app.call('GET', '/health/ready')
      const { text } = await app.call('GET', '/metrics')
      const { ok } = body.checks.find(({ name }: { name: string }) => name === 'clockSteady')
      return [status, ok, /^souk_clock_steady (\d)$/m.exec(text)?.[1]]
    }
    expect(await readSteady()).toEqual([200, true, '1'])
    app.clock.set(app.clock.now() + 3_600_000)
    app.deps.clockWatch.isSteady()
    expect(await readSteady()).toEqual([200, false, '0'])
    app.clock.advance(15 * 60_000)
    expect(await readSteady()).toEqual([200, true, '1'])
  })

  test('an instance is unready if the free space is unknown', async () => {
    const diskFree = () => {
      throw new Error('no such directory')
    }
    await using app = await testApp({}, { diskFree })
    const answer = await app.call('GET', '/health/ready')
    expect([answer.status, answer.body.message]).toEqual([503, 'Not ready: diskSpace'])
  })

  test('an instance is unready if a migration is missing, and ready if a newer version added one', async () => {
    await using app = await testApp()
    const { db } = app.deps
    await db.write(async (tx) => void (await tx.rows(sql`insert into souk_migrations (tag, applied_at) values ('9999_newer', 0)`)))
    expect((await app.call('GET', '/health/ready')).status).toBe(200)
    app.clock.advance(1_000)
    await db.write(async (tx) => void (await tx.rows(sql`update souk_migrations set tag = '0001_lost' where tag like '0001%'`)))
    expect((await app.call('GET', '/health/ready')).body.message).toBe('Not ready: migrationsCurrent')
  })

  test('an instance is unready once its database is closed', async () => {
    const app = await testApp()
    await app.deps.db.close()
    expect((await app.call('GET', '/health/ready')).status).toBe(503)
    await app.close()
  })
})

describe('metrics', () => {
  test('metrics use the text format and count responses', async () => {
    await using app = await testApp()
    await app.call('GET', '/nowhere')
    await app.call('PROPFIND', '/nowhere')
    for (const id of ['prod_1', 'prod_2']) await app.call('GET', `/product-v2/public/${id}`)
    await app.call('GET', '/api/v3/product-v2/public/prod_3')
    const { status, text, headers } = await app.call('GET', '/metrics')
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'no-store',
    ])
    for (const [method, route, count] of [
      ['GET', 'none', 1],
      ['OTHER', 'none', 1],
      // Series use the declared route, never the requested path.
      ['GET', '/product-v2/public/:id', 2],
      ['GET', '/api/v3/product-v2/public/:id', 1],
    ]) {
      expect(text).toContain(`souk_http_requests_total{method="${method}",route="${route}",status="404"} ${count}\n`)
      expect(text).toContain(`souk_http_request_duration_seconds_count{method="${method}",route="${route}"} ${count}\n`)
    }
    expect(text).toContain('souk_http_requests_in_flight 1\n')
    for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[\w"=,.+/:-]+\})? -?[\d.e+-]+)$/)
    const names = text.split('\n').filter((line) => line.startsWith('# TYPE'))
    expect(new Set(names).size).toBe(names.length)
  })

  test('metrics are available from this machine only, not for forwarded requests', async () => {
    await using app = await testApp({ TRUSTED_PROXIES: '127.0.0.1' })
    const status = async (from: string, headers: Record<string, string> = {}) =>
      (await app.call('GET', '/metrics', { from, headers })).status
    expect(await status('127.0.0.1')).toBe(200)
    expect(await status('::1')).toBe(200)
    expect(await status('::ffff:127.0.0.1')).toBe(200)
    expect(await status('203.0.113.9')).toBe(403)
    expect(await status('10.0.0.1')).toBe(403)
    for (const header of [
      'x-forwarded-for',
      'x-real-ip',
      'forwarded',
      'via',
      'x-forwarded-server',
      'x-forwarded-port',
      'x-cluster-client-ip',
    ]) {
      expect([header, await status('127.0.0.1', { [header]: '127.0.0.1' })]).toEqual([header, 403])
      expect([header, await status('::1', { [header]: '127.0.0.1' })]).toEqual([header, 403])
    }
  })

  test("metrics are available under this machine's own name only, not under a host that resolves to it", async () => {
    await using app = await testApp()
    const status = async (host: string) => (await app.call('GET', '/metrics', { headers: { host } })).status
    for (const host of ['localhost', 'LOCALHOST:3000', '127.0.0.1', '127.0.0.9:80', '[::1]', '[::1]:3000'])
      expect([host, await status(host)]).toEqual([host, 200])
    for (const host of ['shop.example', 'localhost.example', '127.0.0.1.example', '10.0.0.1', '[::2]', '128.0.0.1:80'])
      expect([host, await status(host)]).toEqual([host, 403])
  })

  test('metrics report uptime by the monotonic clock, and the start time', async () => {
    await using app = await testApp()
    const readValue = async (name: string) =>
      Number(new RegExp(`^${name} ([\\d.e+]+)$`, 'm').exec((await app.call('GET', '/metrics')).text)?.[1])
    const before = await readValue('souk_uptime_seconds')
    app.clock.advance(-86_400_000)
    const after = await readValue('souk_uptime_seconds')
    expect(after).toBeGreaterThanOrEqual(before)
    expect(after).toBeLessThan(86_400)
    const startedAt = await readValue('process_start_time_seconds')
    expect(startedAt).toBeGreaterThan(1_600_000_000)
    expect(startedAt).toBeLessThanOrEqual(Date.now() / 1_000)
    expect(await readValue('process_start_time_seconds')).toBe(startedAt)
  })

  test('metrics are available from other machines only with a metrics token', async () => {
    await using app = await testApp({ METRICS_TOKEN: 'a-metrics-token-for-tests' })
    const { token } = await app.merchant()
    const withToken = async (value: string) =>
      (
        await app.call('GET', '/metrics', {
          from: '203.0.113.9',
          headers: { authorization: `Bearer ${value}`, 'x-forwarded-for': '198.51.100.1' },
        })
      ).status
    expect(await withToken('a-metrics-token-for-tests')).toBe(200)
    for (const value of ['a-metrics-token-for-test', 'A-METRICS-TOKEN-FOR-TESTS', token]) expect(await withToken(value)).toBe(401)
    await using closed = await testApp()
    expect((await closed.call('GET', '/metrics', { from: '203.0.113.9', headers: { authorization: 'Bearer undefined' } })).status).toBe(401)
  })
})
