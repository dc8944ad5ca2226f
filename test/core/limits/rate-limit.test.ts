/** What shoppers and strangers may change within a minute. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createRateLimit } from '../../../src/core/limits/rate-limit.ts'
import { type Answer, testApp } from '../../support/app.ts'
import { customerIn } from '../../support/customers.ts'
import { sellingIn } from '../../support/selling.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const second = 1_000

function limitOf(most: number, keysMax?: number) {
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
  test('a sliding window lets so many through within any minute, and says to the second when the next one may come', () => {
    const { take, advance } = limitOf(3)
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

  test('a sliding window does not count what it refused', () => {
    const { take, advance } = limitOf(2)
    take()
    take()
    for (let nth = 0; nth < 59; nth++) {
      expect(take()).toBe(60 - nth)
      advance(second)
    }
    advance(second)
    expect([take(), take(), take()]).toEqual([undefined, undefined, 60])
  })

  test('a sliding window never holds more than it may, whatever the times between', () => {
    const { take, advance } = limitOf(5)
    const through: number[] = []
    let at = 0
    for (let nth = 0; nth < 2_000; nth++) {
      const step = (nth * 7_919) % 4_001
      advance(step)
      at += step
      if (take() === undefined) through.push(at)
    }
    expect(through.length).toBeGreaterThan(100)
    for (const [nth, time] of through.entries()) expect(time - (through[nth - 5] ?? -60_000)).toBeGreaterThan(59_000)
  })

  test('a sliding window counts each caller alone, and begins anew where the clock was set back', () => {
    const { take, advance } = limitOf(1)
    expect([take('a'), take('a'), take('b')]).toEqual([undefined, 60, undefined])
    advance(-3_600 * second)
    expect([take('a'), take('a')]).toEqual([undefined, 60])
  })

  test('a sliding window keeps a bounded number of callers, and forgets who was quiet the longest', () => {
    const { take, advance } = limitOf(1, 3)
    for (const key of ['a', 'b', 'c', 'a', 'd']) {
      take(key)
      advance(second)
    }
    expect(take('a')).toBe(55)
    expect(take('b')).toBeUndefined()
  })
})

/** The same by a list of all that came, for the comparison. */
function plainLimitOf(most: number) {
  const came = new Map<string, number[]>()
  return (now: number, key: string, wider: readonly { key: string; times: number }[]): number | undefined => {
    const second = Math.floor(now / 1_000)
    const levels = [
      { name: `one ${key}`, most },
      ...wider.map((level) => ({ name: `${level.times} ${level.key}`, most: level.times * most })),
    ]
    for (const { name } of levels) came.set(name, came.get(name)?.filter((then) => then > second - 60) ?? [])
    const waits = levels.flatMap(({ name, most }) => {
      const within = came.get(name) as number[]
      return within.length >= most ? [(within[0] as number) + 60 - now / 1_000] : []
    })
    if (waits.length > 0) return Math.max(...waits)
    for (const { name } of levels) came.get(name)?.push(second)
    return undefined
  }
}

describe('whoever is counted', () => {
  const key = fc.constantFrom('203.0.113.9', '203.0.113.10', '0.0.0.0', '255.255.255.255', '2001:db8:1:2::/64', 'cus_1', 'unknown', '-1')
  const wider = fc.constantFrom(
    [],
    [{ key: 'site', times: 2 }],
    [
      { key: '203.0.113.9', times: 2 },
      { key: 'site', times: 3 },
    ],
  )
  const ask = fc.record({ key, wider, later: fc.oneof(fc.constant(0), fc.nat(999), fc.nat(70_000)) })

  test('whoever is counted may ask as often, and has to wait as long, as a list of all that came says', () => {
    fc.assert(
      fc.property(fc.array(ask, { minLength: 20, maxLength: 120 }), fc.integer({ min: 1, max: 4 }), (asked, most) => {
        let now = 1_000_000_000
        const limit = createRateLimit({ name: 'test', most, now: () => now })
        const plain = plainLimitOf(most)
        for (const { key, wider, later } of asked) {
          now += later
          expect(limit.take(key, wider)).toEqual(plain(now, key, wider))
        }
      }),
    )
  })

  test('whoever is counted is never counted as another who takes their place', () => {
    const { take, takeOf, advance } = limitOf(2, 2)
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
  test('a wider count takes ten times as many of all who share it, and what either refuses is counted by neither', () => {
    const { takeOf, advance } = limitOf(2)
    for (let nth = 0; nth < 10; nth++) for (let time = 0; time < 2; time++) expect(takeOf(`c${nth}`, 'office')).toBeUndefined()
    expect(takeOf('another', 'office')).toBe(60)
    expect([takeOf('another', 'home'), takeOf('another', 'home'), takeOf('another', 'home')]).toEqual([undefined, undefined, 60])
    advance(60 * second)
    // Refused requests of the customer do not count against the office.
    for (let nth = 0; nth < 50; nth++) takeOf('eager', 'office')
    for (let nth = 0; nth < 18; nth++) expect(takeOf(`d${nth}`, 'office')).toBeUndefined()
    expect(takeOf('one more', 'office')).toBe(60)
  })

  test('a wider count is its own: a caller who is counted by its name alone does not use it up', () => {
    const { take, takeOf } = limitOf(1)
    expect([take('office'), take('office')]).toEqual([undefined, 60])
    expect(takeOf('customer', 'office')).toBeUndefined()
  })
})

const few = { STOREFRONT_WRITES_PER_MINUTE: '5' }
const statuses = (answers: Answer[]) => answers.map(({ status }) => status)

describe('writes under a publishable key', () => {
  test('writes under a publishable key are limited by address, together, while reads go on; 429 says when to come back', async () => {
    await using app = await testApp(few)
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

  test('writes under a publishable key from anywhere in an IPv6 /64 count together', async () => {
    await using app = await testApp(few)
    const { publishableKey: key } = await app.merchant()
    const answers = []
    for (let nth = 0; nth < 6; nth++) answers.push(await app.call('POST', '/cart', { key, body: {}, from: `2001:db8::${nth}` }))
    expect(statuses(answers)).toEqual([201, 201, 201, 201, 201, 429])
    expect((await app.call('POST', '/cart', { key, body: {}, from: '2001:db8:0:1::1' })).status).toBe(201)
  })

  test('writes under a publishable key from many /64 of an IPv6 /48 count together too, sixteen times as many', async () => {
    await using app = await testApp(few)
    const { publishableKey: key } = await app.merchant()
    const from = (nth: number) => app.call('POST', '/cart', { key, body: {}, from: `2001:db8:7:${nth.toString(16)}::1` })
    for (let nth = 0; nth < 80; nth++) expect((await from(nth)).status).toBe(201)
    expect((await from(80)).status).toBe(429)
    expect((await app.call('POST', '/cart', { key, body: {}, from: '2001:db8:8::1' })).status).toBe(201)
  })

  test('writes under a secret key or by a merchant are not limited, and leave a storefront at the same address its own', async () => {
    await using app = await testApp(few)
    const { publishableKey, secretKey, token } = await app.merchant()
    for (let nth = 0; nth < 8; nth++) {
      expect((await app.call('POST', '/cart', { key: secretKey, body: {} })).status).toBe(201)
      expect((await app.call('PATCH', '/shops/v2', { token, body: { title: `Title ${nth}` } })).status).toBe(200)
      expect((await app.call('POST', '/affiliates/clicks', { token, body: { code: 'nobody' } })).status).not.toBe(429)
    }
    expect((await app.call('POST', '/cart', { key: publishableKey, body: {} })).status).toBe(201)
  })

  test('writes of a customer count for that customer alone, wherever they come from', async () => {
    await using app = await testApp(few)
    const { publishableKey: key, shop } = await app.merchant()
    const [one, other] = [await customerIn(app, shop), await customerIn(app, shop)]
    const asOne = (nth: number) => app.call('POST', '/cart', { key, token: one.token, body: {}, from: `203.0.113.${nth}` })
    const answers = []
    for (let nth = 0; nth < 6; nth++) answers.push(await asOne(nth))
    expect(statuses(answers)).toEqual([201, 201, 201, 201, 201, 429])
    expect((await other.post('/cart', {})).status).toBe(201)
    expect((await app.call('POST', '/cart', { key, body: {}, from: '203.0.113.1' })).status).toBe(201)
  })

  test('writes of customers from one address are ten times the setting together, whatever the number of accounts', async () => {
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
    await using app = await testApp(few)
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

  test('writes of nobody are limited likewise, but for logins, which have limits of their own', async () => {
    await using app = await testApp(few)
    const { email, password } = await app.merchant()
    const logout = () => app.call('POST', '/auth/logout', { body: { refreshToken: 'made up' } })
    const answers = []
    for (let nth = 0; nth < 6; nth++) answers.push(await logout())
    expect(statuses(answers)).toEqual([204, 204, 204, 204, 204, 429])
    for (let nth = 0; nth < 8; nth++) expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
  })
})
