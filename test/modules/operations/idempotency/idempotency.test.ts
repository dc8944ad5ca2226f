/** Tests that a request with an Idempotency-Key has its effect once, however often it is sent. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { AsyncLocalStorage } from 'node:async_hooks'
import { eq } from 'drizzle-orm'
import { Elysia, t } from 'elysia'
import { engine } from '../../../../db/columns.ts'
import { DatabaseOutcomeUnknown, DatabaseUnavailable, NothingChanged } from '../../../../db/engine.ts'
import { attempts, idempotencyKeys } from '../../../../db/schema/people.ts'
import { removeExpired } from '../../../../jobs/remove-expired.ts'
import { AppError, type ErrorKind } from '../../../../src/core/errors.ts'
import type { Claim } from '../../../../src/core/idempotency.ts'
import { runInRequest } from '../../../../src/core/request-context.ts'
import { errors } from '../../../../src/http/errors.ts'
import { idempotency } from '../../../../src/http/idempotency.ts'
import { answerSeal } from '../../../../src/modules/operations/idempotency/domain.ts'
import { createIdempotency } from '../../../../src/modules/operations/idempotency/service.ts'
import { openShop } from '../../../../src/modules/shop/shop/open-shop.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const request = { scope: 'mer_1 POST /orders', key: 'key-1', fingerprint: 'a' }
const claim = ({ deps }: TestApp, change: Partial<typeof request> = {}) => deps.idempotency.claim({ ...request, ...change })
function expectClaimed(one: Claim): Claim & { kind: 'claimed' } {
  if (one.kind !== 'claimed') throw new Error(`not claimed but ${one.kind}`)
  return one
}
const effectsIn = async ({ deps }: TestApp) => (await deps.db.read.select({ id: attempts.id }).from(attempts)).map(({ id }) => id).sort()

const failures: Record<string, () => Error> = {
  CRASH: () => new Error('crash'),
  BUSY: () => new DatabaseUnavailable('busy'),
  LOST: () => new DatabaseOutcomeUnknown('lost'),
}
const failureOf = (name: string): Error => failures[name]?.() ?? new AppError(name as ErrorKind, 'Told to fail')

/** Stores an effect and the response in one write. */
async function storeEffect(
  app: TestApp,
  claimedKey: Claim & { kind: 'claimed' },
  id: string,
  error?: Error,
  isSure?: boolean,
): Promise<void> {
  await app.deps.db.write(async (tx) => {
    await tx.insert(attempts).values({ id, bucket: 'effect', at: 0 })
    await claimedKey.storeAnswer(tx, 201, { id }, isSure)
    if (error) throw error
  })
}

describe('a key', () => {
  test('an idempotency key is claimed once, and replays the response stored with the effect', async () => {
    await using app = await testApp()
    const claimedKey = expectClaimed(await claim(app))
    await storeEffect(app, claimedKey, 'effect')
    expect(await claim(app)).toEqual({ kind: 'replay', status: 201, body: '{"id":"effect"}' })
    app.clock.advance(24 * 3_600_000 - 1)
    expect(await claim(app)).toEqual({ kind: 'replay', status: 201, body: '{"id":"effect"}' })
    expect(await effectsIn(app)).toEqual(['effect'])
  })

  test('a response stored with its effect survives later refusals', async () => {
    await using app = await testApp()
    const claimedKey = expectClaimed(await claim(app))
    await storeEffect(app, claimedKey, 'effect')
    await claimedKey.storeRefusal(409, { message: 'too late' })
    await claimedKey.release()
    expect(await claim(app)).toEqual({ kind: 'replay', status: 201, body: '{"id":"effect"}' })
  })

  test('an idempotency key with another body is a mismatch, before and after a response, and after its lease', async () => {
    await using app = await testApp()
    const claimedKey = expectClaimed(await claim(app))
    expect(await claim(app, { fingerprint: 'b' })).toEqual({ kind: 'mismatch' })
    app.clock.advance(31_000)
    expect(await claim(app, { fingerprint: 'b' })).toEqual({ kind: 'mismatch' })
    await storeEffect(app, claimedKey, 'effect')
    expect(await claim(app, { fingerprint: 'b' })).toEqual({ kind: 'mismatch' })
  })

  test('an idempotency key belongs to one principal, method and path', async () => {
    await using app = await testApp()
    expectClaimed(await claim(app))
    expectClaimed(await claim(app, { scope: 'mer_2 POST /orders' }))
    expectClaimed(await claim(app, { scope: 'mer_1 POST /carts' }))
    expectClaimed(await claim(app, { key: 'KEY-1' }))
    expect((await claim(app)).kind).toBe('inFlight')
  })

  test('an idempotency key in use returns a time to retry; an expired lease of 30 seconds is taken over', async () => {
    await using app = await testApp()
    const first = expectClaimed(await claim(app))
    app.clock.advance(10_000)
    expect(await claim(app)).toEqual({ kind: 'inFlight', retryAfterSeconds: 1 })
    app.clock.advance(20_000)
    const second = expectClaimed(await claim(app))
    expect((await claim(app)).kind).toBe('inFlight')
    expect(await storeEffect(app, first, 'by the first').catch((error: unknown) => error)).toMatchObject({ kind: 'CONFLICT' })
    const keepSurely = (claimedKey: typeof first) =>
      storeEffect(app, claimedKey, 'surely', undefined, true).catch((error: unknown) => error)
    expect(await keepSurely(first)).toBeInstanceOf(NothingChanged)
    await storeEffect(app, second, 'by the second')
    expect(await keepSurely(second)).toBeInstanceOf(NothingChanged)
    expect(await effectsIn(app)).toEqual(['by the second'])
    expect(await claim(app)).toMatchObject({ kind: 'replay', body: '{"id":"by the second"}' })
    // The late failure of the first attempt does not replace the stored response.
    await first.storeRefusal(409, { message: 'too late' })
    await first.release()
    expect(await claim(app)).toMatchObject({ kind: 'replay', status: 201 })
  })

  test('of many concurrent claims of a key one succeeds', async () => {
    await using app = await testApp()
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(app)))
    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1)
    expect(claims.filter(({ kind }) => kind === 'inFlight')).toHaveLength(19)
  })

  test('a failed effect stores neither effect nor response', async () => {
    await using app = await testApp()
    const claimedKey = expectClaimed(await claim(app))
    await storeEffect(app, claimedKey, 'effect', new Error('power cut')).catch(() => undefined)
    expect(await effectsIn(app)).toEqual([])
    expect((await claim(app)).kind).toBe('inFlight')
    app.clock.advance(30_000)
    await storeEffect(app, expectClaimed(await claim(app)), 'effect')
    expect(await effectsIn(app)).toEqual(['effect'])
  })

  test('an idempotency key expires after a day, by itself and by the job', async () => {
    await using app = await testApp()
    await storeEffect(app, expectClaimed(await claim(app)), 'effect')
    app.clock.advance(24 * 3_600_000)
    const repeated = expectClaimed(await claim(app, { fingerprint: 'b' }))
    await repeated.release()
    expectClaimed(await claim(app))
    await removeExpired(app.deps)
    expect(await app.deps.db.read.select().from(idempotencyKeys)).toHaveLength(1)
    app.clock.advance(24 * 3_600_000)
    await removeExpired(app.deps)
    expect(await app.deps.db.read.select().from(idempotencyKeys)).toEqual([])
  })

  test('a response is sealed for its key', async () => {
    await using app = await testApp()
    await storeEffect(app, expectClaimed(await claim(app)), 'card-number-1234')
    const [row] = await app.deps.db.read.select().from(idempotencyKeys).where(eq(idempotencyKeys.key, request.key)).limit(1)
    expect(JSON.stringify(row)).not.toContain('card-number-1234')
    expect(app.deps.keyring.unseal(row?.sealedAnswer ?? '', answerSeal(request.scope, request.key))).toContain('card-number-1234')
    expect(() => app.deps.keyring.unseal(row?.sealedAnswer ?? '', answerSeal(request.scope, 'key-2'))).toThrow()
  })

  test('a response stored by the previous version is replayed unchanged', async () => {
    await using app = await testApp()
    await storeEffect(app, expectClaimed(await claim(app)), 'effect')
    const now = await claim(app)
    expect(now).toEqual({ kind: 'replay', status: 201, body: '{"id":"effect"}' })
    const sealedAnswer = app.deps.keyring.seal('{"status":201,"body":"{\\"id\\":\\"effect\\"}"}', answerSeal(request.scope, request.key))
    await app.deps.db.write(async (tx) => void (await tx.update(idempotencyKeys).set({ sealedAnswer })))
    expect(await claim(app)).toEqual(now)
  })
})

describe('over HTTP', () => {
  /** Creates a route that counts its runs and fails as requested. */
  function createRoute(app: TestApp, mode: true | 'required' = true) {
    let runs = 0
    const resumed: boolean[] = []
    const http = new Elysia()
      .use(errors(app.deps))
      .resolve({ as: 'global' }, ({ request: { headers } }) => ({
        principal: { kind: 'merchant', id: headers.get('x-who') ?? 'mer_1', sessionId: 's' } as const,
      }))
      .use(idempotency(app.deps))
      .post(
        '/effect',
        ({ body, once }) =>
          once(201, async (write, attempt) => {
            runs++
            resumed.push(attempt.isResumed)
            if (body.startsWork) await app.deps.db.write(async () => undefined)
            if (body.fail !== undefined) throw failureOf(body.fail)
            const answer = { nth: runs, name: body.name ?? null }
            const stored = await write(async () => answer)
            return body.twice ? write(async () => answer) : stored
          }),
        {
          idempotent: mode,
          body: t.Object({
            name: t.Optional(t.String()),
            fail: t.Optional(t.String()),
            twice: t.Optional(t.Boolean()),
            startsWork: t.Optional(t.Boolean()),
          }),
          response: { 201: t.Object({ nth: t.Number(), name: t.Union([t.String(), t.Null()]) }) },
        },
      )
    return {
      runs: () => runs,
      /** Lists `isResumed` of each run. */
      resumed,
      async post(body: unknown, key?: string, headers: Record<string, string> = {}) {
        const sent = new Request('http://localhost/effect', {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }), ...headers },
        })
        const response = await runInRequest('test', () => http.handle(sent))
        return { status: response.status, text: await response.text(), headers: response.headers }
      },
    }
  }

  test('a repeated request with a key gets the same status and bytes, marked as a replay', async () => {
    await using app = await testApp()
    const route = createRoute(app)
    const first = await route.post({ name: 'ä "quoted"' }, 'k')
    const second = await route.post({ name: 'ä "quoted"' }, 'k')
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.text).toBe(first.text)
    expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([null, 'true'])
    expect(route.runs()).toBe(1)
  })

  test('storing a second response is an error of souk: 500, and the one stored with the effect remains', async () => {
    await using app = await testApp()
    const route = createRoute(app)
    expect((await route.post({ twice: true }, 'k')).status).toBe(500)
    const repeated = await route.post({ twice: true }, 'k')
    expect([repeated.status, repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([201, '{"nth":1,"name":null}', 'true'])
    expect(route.runs()).toBe(1)
  })

  test('another body with the key is 422, another principal has another key, and no key means no replay', async () => {
    await using app = await testApp()
    const route = createRoute(app)
    await route.post({ name: 'a' }, 'k')
    expect(JSON.parse((await route.post({ name: 'b' }, 'k')).text)).toEqual({
      statusCode: 422,
      message: 'idempotency-key: this key was used with another body: use a new key',
      error: 'Unprocessable Entity',
      code: 'idempotency_key_reused',
      field: 'idempotency-key',
    })
    expect((await route.post({ name: 'b' }, 'k', { 'x-who': 'mer_2' })).status).toBe(201)
    await route.post({ name: 'a' })
    await route.post({ name: 'a' })
    expect(route.runs()).toBe(4)
  })

  test('a request sent many times concurrently has one effect; the others get a time to retry', async () => {
    await using app = await testApp()
    const route = createRoute(app)
    const answers = await Promise.all(Array.from({ length: 10 }, () => route.post({}, 'k')))
    expect(route.runs()).toBe(1)
    for (const { status, headers } of answers.filter(({ status }) => status !== 201))
      expect([status, Number(headers.get('retry-after')) > 0]).toEqual([409, true])
  })

  test('a permanent failure is stored and replayed', async () => {
    await using app = await testApp()
    for (const [fail, status] of [
      ['NOT_FOUND', 404],
      ['CONFLICT', 409],
      ['INCOMPLETE', 422],
    ] as const) {
      const route = createRoute(app)
      const first = await route.post({ fail }, fail)
      const second = await route.post({ fail }, fail)
      expect([first.status, second.status, second.text]).toEqual([status, status, first.text])
      expect(route.runs()).toBe(1)
    }
  })

  test('a temporary failure is not stored: the same key works again at once', async () => {
    await using app = await testApp()
    for (const fail of ['INVALID', 'UNAUTHENTICATED', 'FORBIDDEN', 'RATE_LIMITED', 'UNAVAILABLE', 'INTERNAL']) {
      const route = createRoute(app)
      expect((await route.post({ fail }, fail)).status).toBeGreaterThanOrEqual(400)
      expect((await route.post({ fail }, fail)).headers.get('idempotent-replayed')).toBeNull()
      expect(route.runs()).toBe(2)
    }
    expect(await app.deps.db.read.select().from(idempotencyKeys)).toEqual([])
  })

  test('a failure before any change releases the key, and a retry begins again', async () => {
    await using app = await testApp()
    const route = createRoute(app)
    for (let tries = 0; tries < 2; tries++) {
      const { status, text } = await route.post({ fail: 'CRASH' }, 'k')
      expect([status, JSON.parse(text).message]).toEqual([500, 'Something went wrong on our side'])
    }
    expect(route.resumed).toEqual([false, false])
  })

  test('a failure after a change hands the key over: a retry resumes at once, and the response says so', async () => {
    await using app = await testApp()
    const route = createRoute(app)
    for (let tries = 0; tries < 2; tries++) {
      const { status, text } = await route.post({ startsWork: true, fail: 'CRASH' }, 'k')
      expect(status).toBe(500)
      expect(JSON.parse(text).message).toBe('Something went wrong on our side: send it again under the same Idempotency-Key')
    }
    expect(route.resumed).toEqual([false, true])
  })

  test('a 503 says whether nothing was changed, the request was accepted, or the outcome is unknown', async () => {
    await using app = await testApp()
    const route = createRoute(app)
    const messageOf = async (body: object, key?: string) => JSON.parse((await route.post(body, key)).text).message
    expect(await messageOf({ fail: 'BUSY' }, 'a')).toBe('The database is busy: nothing was changed, try again later')
    expect(await messageOf({ startsWork: true, fail: 'BUSY' }, 'b')).toBe(
      'The database is busy, but the request was accepted: send it again under the same Idempotency-Key',
    )
    expect(await messageOf({ startsWork: true, fail: 'BUSY' })).toBe(
      'The database is busy, and part of the request was done: read the record before you send it again',
    )
    expect(await messageOf({ fail: 'LOST' }, 'c')).toBe(
      'The connection to the database was lost, and the outcome is unknown: send it again under the same Idempotency-Key, or read the record first',
    )
    expect(await messageOf({ fail: 'LOST' })).toBe(
      'The connection to the database was lost, and the outcome is unknown: read the record before you send it again',
    )
  })

  test('an attempt that ends while the database is away is remembered: a retry continues at once', async () => {
    await using app = await testApp()
    const { db, idempotency: claims } = app.deps
    const first = expectClaimed(await claim(app))
    const write = db.write
    db.write = () => Promise.reject(new DatabaseUnavailable('away'))
    await expect(first.handOver()).rejects.toThrow('away')
    db.write = write
    await claims.flushEnded()
    const [row] = await db.read.select().from(idempotencyKeys)
    expect(row?.leaseUntil).toBe(0)
    expect(expectClaimed(await claim(app)).isResumed).toBe(true)

    const other = expectClaimed(await claims.claim({ ...request, key: 'key-2' }))
    db.write = () => Promise.reject(new DatabaseUnavailable('away'))
    await expect(other.release()).rejects.toThrow('away')
    db.write = write
    expect(expectClaimed(await claims.claim({ ...request, key: 'key-2' })).isResumed).toBe(true)
  })

  test('a claim with a lost commit changes nothing: the response says so, and the key is free at once', async () => {
    for (const isStored of [true, false]) {
      await using app = await testApp()
      const route = createRoute(app)
      const { db } = app.deps
      const { write } = db
      const lost = new DatabaseOutcomeUnknown('lost')
      const postWithLostClaim = async (key: string, body = {}) => {
        db.write = async (work, options) => {
          db.write = write
          if (isStored) await write(work, options)
          throw lost
        }
        const { status, text } = await route.post(body, key)
        expect([status, JSON.parse(text).message]).toEqual([503, 'The database is busy: nothing was changed, try again later'])
      }
      await postWithLostClaim('a')
      expect((await route.post({}, 'a')).status).toBe(201)
      // Until the flush, only this process knows that the claim ended. The flush releases it in the database.
      await postWithLostClaim('b')
      await app.deps.idempotency.flushEnded()
      expect(await db.read.select().from(idempotencyKeys)).toHaveLength(1)
      // If work of the earlier attempt began, the next attempt resumes it.
      const body = { startsWork: true, fail: 'BUSY' }
      expect((await route.post(body, 'c')).status).toBe(503)
      await postWithLostClaim('c', body)
      await app.deps.idempotency.flushEnded()
      expect((await route.post(body, 'c')).status).toBe(503)
      expect(route.resumed.at(-1)).toBe(true)
    }
  })

  test.skipIf(engine !== 'postgres')('a key that is released during another claim is claimed exactly once', async () => {
    await using app = await testApp()
    const first = expectClaimed(await claim(app))
    const { db } = app.deps
    const { write } = db
    const outsideContext = AsyncLocalStorage.snapshot()
    db.write = (work, options) => {
      db.write = write
      return write((tx) => {
        let reads = 0
        // Releases the key between the insert, which finds it, and the read.
        const releaseBeforeRead = async (...args: Parameters<typeof tx.first>) => {
          if (++reads === 2) await outsideContext(first.release)
          return tx.first(...args)
        }
        return work(Object.create(tx, { first: { value: releaseBeforeRead } }))
      }, options)
    }
    const second = expectClaimed(await claim(app))
    expect((await claim(app)).kind).toBe('inFlight')
    await storeEffect(app, second, 'effect')
    expect((await claim(app)).kind).toBe('replay')
  })

  test('a request that read the time before the claim of another does not take over its key', async () => {
    await using app = await testApp()
    expectClaimed(await claim(app))
    app.clock.advance(-1)
    expect((await claim(app)).kind).toBe('inFlight')
    app.clock.advance(-999)
    expect((await claim(app)).kind).toBe('inFlight')
  })

  test('a lease from before the clock stepped back is taken over at once', async () => {
    await using app = await testApp()
    expectClaimed(await claim(app))
    app.clock.advance(-3_600_000)
    expect(expectClaimed(await claim(app)).isResumed).toBe(true)
  })

  test('a key of a dead process is taken over at once with SQLite, and after its lease with PostgreSQL', async () => {
    await using app = await testApp()
    expectClaimed(await claim(app))
    const storedKey = expectClaimed(await claim(app, { key: 'kept' }))
    await storeEffect(app, storedKey, 'effect')
    expect((await claim(app)).kind).toBe('inFlight')
    // This is the next start, after the first process ended.
    const next = createIdempotency(app.deps)
    expect((await next.claim({ ...request, key: 'kept' })).kind).toBe('replay')
    expect((await next.claim({ ...request, fingerprint: 'b' })).kind).toBe('mismatch')
    const found = await next.claim(request)
    if (engine === 'postgres') return expect(found.kind).toBe('inFlight')
    expect(expectClaimed(found).isResumed).toBe(true)
    expect((await next.claim(request)).kind).toBe('inFlight')
    await expectClaimed(found).handOver()
    expect(expectClaimed(await next.claim(request)).isResumed).toBe(true)
  })

  test('a lease is renewed during the work and not afterwards', async () => {
    await using app = await testApp()
    const first = expectClaimed(await claim(app))
    app.clock.advance(20_000)
    await first.renew()
    app.clock.advance(20_000)
    expect((await claim(app)).kind).toBe('inFlight')
    await first.handOver()
    await first.renew()
    expect(expectClaimed(await claim(app)).isResumed).toBe(true)
  })

  test('an empty, too long or non-ASCII key is 400, as is a missing one that is required', async () => {
    await using app = await testApp()
    const route = createRoute(app)
    for (const key of ['', 'x'.repeat(256), 'a b', 'é']) expect([key, (await route.post({}, key)).status]).toEqual([key, 400])
    expect((await route.post({}, 'x'.repeat(255))).status).toBe(201)
    const requiringRoute = createRoute(app, 'required')
    expect((await requiringRoute.post({})).status).toBe(400)
    expect(requiringRoute.runs()).toBe(0)
  })

  test('a product is created once with a key', async () => {
    await using app = await testApp()
    const { token, secretKey } = await app.merchant()
    const create = (options: object, key = 'create-1', title = 'Lamp') =>
      app.call('POST', '/product-v2', { ...options, body: { title }, headers: { 'idempotency-key': key } })
    const [first, second] = [await create({ token }), await create({ token })]
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text])
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect((await create({ token }, 'create-1', 'Chair')).status).toBe(422)
    // The scope includes the caller: the shop's secret key is another one.
    expect((await create({ key: secretKey }, 'create-1', 'Chair')).status).toBe(201)
    expect((await app.call('GET', '/product-v2', { token })).body.total).toBe(2)
    // 401 and 400 are decided before the key is read.
    expect((await create({})).status).toBe(401)
    expect((await app.call('POST', '/product-v2', { token, body: {}, headers: { 'idempotency-key': 'create-2' } })).status).toBe(400)
    expect((await create({ token }, 'create-2')).status).toBe(201)
  })
})

describe('ownership of keys', () => {
  const create = (app: TestApp, options: { token?: string; key?: string; headers?: Record<string, string> }, title = 'Lamp') =>
    app.call('POST', '/product-v2', { ...options, body: { title }, headers: { 'idempotency-key': 'same', ...options.headers } })
  const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed')

  test("a merchant's idempotency key belongs to one shop: the same key and body in another shop create a product there", async () => {
    await using app = await testApp()
    const { id, token, shop } = await app.merchant()
    const second = await app.deps.db.write((tx) =>
      openShop(tx, app.deps, { merchantId: id, name: 'second-shop', country: 'AE', currency: 'AED' }),
    )
    const inSecond = { token, headers: { 'x-shop-id': second.id } }
    const [first, other] = [await create(app, { token }), await create(app, inSecond)]
    expect([first.status, first.body.shopId, replayed(first)]).toEqual([201, shop.id, null])
    expect([other.status, other.body.shopId, replayed(other)]).toEqual([201, second.id, null])
    expect(other.body.id).not.toBe(first.body.id)
    // Each is replayed in its shop, whether or not the header names the first shop.
    for (const options of [{ token }, { token, headers: { 'x-shop-id': shop.id } }]) {
      const repeated = await create(app, options)
      expect([repeated.text, replayed(repeated)]).toEqual([first.text, 'true'])
    }
    const repeated = await create(app, inSecond)
    expect([repeated.text, replayed(repeated)]).toEqual([other.text, 'true'])
    expect((await create(app, inSecond, 'Chair')).status).toBe(422)
    for (const headers of [{}, inSecond.headers]) expect((await app.call('GET', '/product-v2', { token, headers })).body.total).toBe(1)
  })

  test('the idempotency key of a secret key belongs to the shop: a retry with the rotated secret key is a replay', async () => {
    await using app = await testApp()
    const { token, secretKey } = await app.merchant()
    const first = await create(app, { key: secretKey })
    const { body } = await app.call('POST', '/shops/v2/private-key/rotate', { token, body: {} })
    expect((await create(app, { key: secretKey })).status).toBe(401)
    const repeated = await create(app, { key: body.privateKey })
    expect([repeated.status, repeated.text, replayed(repeated)]).toEqual([201, first.text, 'true'])
    expect((await create(app, { key: body.privateKey }, 'Chair')).status).toBe(422)
    expect((await app.call('GET', '/product-v2', { token })).body.total).toBe(1)
  })

  test("a merchant's token and a secret key do not share idempotency keys, nor do two shops", async () => {
    await using app = await testApp()
    const [one, two] = [await app.merchant(), await app.merchant()]
    const answers = []
    for (const options of [{ token: one.token }, { key: one.secretKey }, { token: two.token }, { key: two.secretKey }])
      answers.push(await create(app, options))
    expect(answers.map((answer) => [answer.status, replayed(answer)])).toEqual(Array(4).fill([201, null]))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(4)
  })
})
