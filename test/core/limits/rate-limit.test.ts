/** Tests the limit of writes per minute. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createRateLimit } from '../../../src/core/limits/rate-limit.ts'
import { type Answer, testApp } from '../../support/app.ts'
import { customerIn } from '../../support/customers.ts'
import { sellingIn } from '../../support/selling.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const second = 1_000

function createTestLimit(most: number, keysMax?: number) {
  let now = 1_000_000_000
  const limit = createRateLimit({ name: 'test', most, now: () => now, ...(keysMax === undefined ? {} : { keysMax }) })
  return {
    take: (key = 'a') => limit.take(key),
    takeOf: (key: string, wider: string, times = 10) => limit.take(key, [{ key: wider, times }]),
    advance: (ms: number) => {
      now += ms
    },
  }
}

describe('a sliding window', () => {
  test('a sliding window allows `most` requests in any minute, and returns the seconds until the next one', () => {
    const { take, advance } = createTestLimit(3)
    expect(take()).toBeUndefined()
    advance(20 * second)
    expect([take(), take()]).toEqual([undefined, undefined])
    advance(10_500)
    expect(take()).toBe(29.5)
    advance(29_499)
    expect(take()).toBeCloseTo(0.001)
    advance(1)
    expect(take()).toBeUndefined()
    // The two requests of second 20 are still within the minute.
    expect(take()).toBe(20)
  })

  test('a sliding window does not count refused requests', () => {
    const { take, advance } = createTestLimit(2)
    take()
    take()
    for (let nth = 0; nth < 59; nth++) {
      expect(take()).toBe(60 - nth)
      advance(second)
    }
    advance(second)
    expect([take(), take(), take()]).toEqual([undefined, undefined, 60])
  })

  test('a sliding window never allows more than `most` in a minute, whatever the intervals', () => {
    const { take, advance } = createTestLimit(5)
    const allowedAt: number[] = []
    let at = 0
    for (let nth = 0; nth < 2_000; nth++) {
      const step = (nth * 7_919) % 4_001
      advance(step)
      at += step
      if (take() === undefined) allowedAt.push(at)
    }
    expect(allowedAt.length).toBeGreaterThan(100)
    for (const [nth, time] of allowedAt.entries()) expect(time - (allowedAt[nth - 5] ?? -60_000)).toBeGreaterThan(59_000)
  })

  test('a sliding window counts each key separately, and restarts when the clock is set back', () => {
    const { take, advance } = createTestLimit(1)
    expect([take('a'), take('a'), take('b')]).toEqual([undefined, 60, undefined])
    advance(-3_600 * second)
    expect([take('a'), take('a')]).toEqual([undefined, 60])
  })

  test('a sliding window remembers a bounded number of keys, and evicts the least recent one', () => {
    const { take, advance } = createTestLimit(1, 3)
    for (const key of ['a', 'b', 'c', 'a', 'd']) {
      take(key)
      advance(second)
    }
    expect(take('a')).toBe(55)
    expect(take('b')).toBeUndefined()
  })
})

/** Creates the reference implementation: a list of all allowed requests. */
function createReferenceLimit(most: number) {
  const allowed = new Map<string, number[]>()
  return (now: number, key: string, wider: readonly { key: string; times: number }[]): number | undefined => {
    const second = Math.floor(now / 1_000)
    const levels = [
      { name: `one ${key}`, most },
      ...wider.map((level) => ({ name: `${level.times} ${level.key}`, most: level.times * most })),
    ]
    for (const { name } of levels) allowed.set(name, allowed.get(name)?.filter((then) => then > second - 60) ?? [])
    const waits = levels.flatMap(({ name, most }) => {
      const recent = allowed.get(name) as number[]
      return recent.length >= most ? [(recent[0] as number) + 60 - now / 1_000] : []
    })
    if (waits.length > 0) return Math.max(...waits)
    for (const { name } of levels) allowed.get(name)?.push(second)
    return undefined
  }
}

describe('counts by key', () => {
  const key = fc.constantFrom('203.0.113.9', '203.0.113.10', '0.0.0.0', '255.255.255.255', '2001:db8:1:2::/64', 'cus_1', 'unknown', '-1')
  const wider = fc.constantFrom(
    [],
    [{ key: 'site', times: 2 }],
    [
      { key: '203.0.113.9', times: 2 },
      { key: 'site', times: 3 },
    ],
  )
  const call = fc.record({ key, wider, later: fc.oneof(fc.constant(0), fc.nat(999), fc.nat(70_000)) })

  test('allows as many requests and returns the same waits as the reference implementation', () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 20, maxLength: 120 }), fc.integer({ min: 1, max: 4 }), (calls, most) => {
        let now = 1_000_000_000
        const limit = createRateLimit({ name: 'test', most, now: () => now })
        const reference = createReferenceLimit(most)
        for (const { key, wider, later } of calls) {
          now += later
          expect(limit.take(key, wider)).toEqual(reference(now, key, wider))
        }
      }),
    )
  })

  test('an evicted key is never counted for the key that replaces it', () => {
    const { take, takeOf, advance } = createTestLimit(2, 2)
    take('a')
    take('b')
    // Within one second the order does not change: `a` is the quietest and is evicted for the office.
    expect([takeOf('a', 'office', 1), takeOf('c', 'office', 1), takeOf('d', 'office', 1)]).toEqual([undefined, undefined, 60])
    for (let nth = 0; nth < 1_000; nth++) expect([take(`10.0.${nth >> 8}.${nth & 255}`), take(`${nth}`)]).toEqual([undefined, undefined])
    advance(second)
    expect([take('999'), take('999')]).toEqual([undefined, 59])
  })
})

describe('a wider count', () => {
  test('a wider count allows ten times as many requests of all its keys, and a refused request is not counted', () => {
    const { takeOf, advance } = createTestLimit(2)
    for (let nth = 0; nth < 10; nth++) for (let time = 0; time < 2; time++) expect(takeOf(`c${nth}`, 'office')).toBeUndefined()
    expect(takeOf('another', 'office')).toBe(60)
    expect([takeOf('another', 'home'), takeOf('another', 'home'), takeOf('another', 'home')]).toEqual([undefined, undefined, 60])
    advance(60 * second)
    // Refused requests of the customer do not count against the office.
    for (let nth = 0; nth < 50; nth++) takeOf('eager', 'office')
    for (let nth = 0; nth < 18; nth++) expect(takeOf(`d${nth}`, 'office')).toBeUndefined()
    expect(takeOf('one more', 'office')).toBe(60)
  })

  test('a wider count is separate: a key with the same name does not use it up', () => {
    const { take, takeOf } = createTestLimit(1)
    expect([take('office'), take('office')]).toEqual([undefined, 60])
    expect(takeOf('customer', 'office')).toBeUndefined()
  })
})

const lowLimit = { STOREFRONT_WRITES_PER_MINUTE: '5' }
const statuses = (answers: Answer[]) => answers.map(({ status }) => status)

describe('writes with a publishable key', () => {
  test('writes with a publishable key are limited by address, reads are not, and a 429 has Retry-After', async () => {
    await using app = await testApp(lowLimit)
    const { publishableKey: key, shop, ...merchant } = await sellingIn(app)
    const other = await app.merchant()
    const { body: cart } = await app.call('POST', '/cart', { key, body: {} })
    const item = { variantId: merchant.variantId, quantity: 1 }
    const writes = [
      await app.call('PATCH', `/cart/${cart.id}`, { key, body: { email: 'a@example.com' } }),
      await app.call('POST', `/cart/${cart.id}/items`, { key, body: item, headers: { 'idempotency-key': 'once' } }),
      await app.call('POST', '/affiliates/clicks', { key, body: { code: 'nobody' } }),
      await app.call('PATCH', '/giftcard/remove', { key, body: { cartId: cart.id } }),
    ]
    expect(statuses(writes).includes(429)).toBe(false)
    app.clock.advance(10 * second)
    const limited = [
      await app.call('POST', '/cart', { key, body: {} }),
      await app.call('POST', `/cart/${cart.id}/checkout`, { key, body: { method: 'card' }, headers: { 'idempotency-key': 'buy' } }),
      await app.call('POST', '/cart', { key: other.publishableKey, body: {} }),
      // Limits are checked after the key and before the body.
      await app.call('POST', '/cart', { key, body: { email: 5 } }),
    ]
    expect(statuses(limited)).toEqual([429, 429, 429, 429])
    for (const { headers, body } of limited) {
      expect(headers.get('retry-after')).toBe('50')
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(body).toEqual({
        statusCode: 429,
        message: 'Too many changes within one minute. Try again later',
        error: 'Too Many Requests',
        code: 'rate_limited',
      })
    }
    expect((await app.call('POST', '/cart', { key: 'pk_test_made_up', body: {} })).status).toBe(401)
    expect((await app.call('GET', `/cart/${cart.id}`, { key })).status).toBe(200)
    expect((await app.call('POST', '/cart', { key, body: {}, from: '203.0.113.9' })).status).toBe(201)
    app.clock.advance(50 * second)
    expect((await app.call('POST', '/cart', { key, body: {} })).status).toBe(201)
  })

  test('writes with a publishable key from an IPv6 /64 count together', async () => {
    await using app = await testApp(lowLimit)
    const { publishableKey: key } = await app.merchant()
    const answers = []
    for (let nth = 0; nth < 6; nth++) answers.push(await app.call('POST', '/cart', { key, body: {}, from: `2001:db8::${nth}` }))
    expect(statuses(answers)).toEqual([201, 201, 201, 201, 201, 429])
    expect((await app.call('POST', '/cart', { key, body: {}, from: '2001:db8:0:1::1' })).status).toBe(201)
  })

  test('writes with a publishable key from an IPv6 /48 count together, with sixteen times the limit', async () => {
    await using app = await testApp(lowLimit)
    const { publishableKey: key } = await app.merchant()
    const from = (nth: number) => app.call('POST', '/cart', { key, body: {}, from: `2001:db8:7:${nth.toString(16)}::1` })
    for (let nth = 0; nth < 80; nth++) expect((await from(nth)).status).toBe(201)
    expect((await from(80)).status).toBe(429)
    expect((await app.call('POST', '/cart', { key, body: {}, from: '2001:db8:8::1' })).status).toBe(201)
  })

  test('writes with a secret key or by a merchant are not limited, and do not use up the limit of a storefront at the same address', async () => {
    await using app = await testApp(lowLimit)
    const { publishableKey, secretKey, token } = await app.merchant()
    for (let nth = 0; nth < 8; nth++) {
      expect((await app.call('POST', '/cart', { key: secretKey, body: {} })).status).toBe(201)
      expect((await app.call('PATCH', '/shops/v2', { token, body: { title: `Title ${nth}` } })).status).toBe(200)
      expect((await app.call('POST', '/affiliates/clicks', { token, body: { code: 'nobody' } })).status).not.toBe(429)
    }
    expect((await app.call('POST', '/cart', { key: publishableKey, body: {} })).status).toBe(201)
  })

  test('writes of a customer count for that customer alone, from any address', async () => {
    await using app = await testApp(lowLimit)
    const { publishableKey: key, shop } = await app.merchant()
    const [one, other] = [await customerIn(app, shop), await customerIn(app, shop)]
    const writeAsOne = (nth: number) => app.call('POST', '/cart', { key, token: one.token, body: {}, from: `203.0.113.${nth}` })
    const answers = []
    for (let nth = 0; nth < 6; nth++) answers.push(await writeAsOne(nth))
    expect(statuses(answers)).toEqual([201, 201, 201, 201, 201, 429])
    expect((await other.post('/cart', {})).status).toBe(201)
    expect((await app.call('POST', '/cart', { key, body: {}, from: '203.0.113.1' })).status).toBe(201)
  })

  test('writes of customers from one address are limited to ten times the setting, however many accounts they use', async () => {
    await using app = await testApp({ STOREFRONT_WRITES_PER_MINUTE: '1' })
    const { publishableKey: key, shop } = await app.merchant()
    const customers = []
    for (let nth = 0; nth < 12; nth++) {
      customers.push(await customerIn(app, shop))
      app.clock.advance(60 * second)
    }
    const write = ({ token }: { token: string }, from: string) => app.call('POST', '/cart', { key, token, body: {}, from })
    const answers = []
    for (const customer of customers) answers.push(await write(customer, '203.0.113.9'))
    expect(statuses(answers)).toEqual([...Array(10).fill(201), 429, 429])
    expect((await write(customers[11] as (typeof customers)[number], '203.0.113.10')).status).toBe(201)
    expect((await app.call('POST', '/cart', { key, body: {}, from: '203.0.113.9' })).status).toBe(201)
  })

  test('writes of a customer to their own sessions are limited too; merchants and super admins are not', async () => {
    await using app = await testApp(lowLimit)
    const { token, shop } = await app.merchant()
    const customer = await customerIn(app, shop)
    const admin = await app.superAdmin()
    const end = (by: string) => app.call('DELETE', '/auth/sessions', { token: by })
    const answers: Record<'customer' | 'merchant' | 'admin', number[]> = { customer: [], merchant: [], admin: [] }
    for (let nth = 0; nth < 6; nth++) {
      answers.customer.push((await end(customer.token)).status)
      answers.merchant.push((await end(token)).status)
      answers.admin.push((await end(admin.token)).status)
    }
    expect(answers).toEqual({ customer: [204, 204, 204, 204, 204, 429], merchant: Array(6).fill(204), admin: Array(6).fill(204) })
  })

  test('writes without authentication are limited too, except logins, which have their own limits', async () => {
    await using app = await testApp(lowLimit)
    const { email, password } = await app.merchant()
    const logout = () => app.call('POST', '/auth/logout', { body: { refreshToken: 'made up' } })
    const answers = []
    for (let nth = 0; nth < 6; nth++) answers.push(await logout())
    expect(statuses(answers)).toEqual([204, 204, 204, 204, 204, 429])
    for (let nth = 0; nth < 8; nth++) expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
  })
})
