/** Tests logins: the tokens, the refusals and the limits of failed attempts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { attempts, auditLog, refreshTokens, users } from '../../../../db/schema/people.ts'
import type { Passwords } from '../../../../src/core/deps.ts'
import { testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const wrongPassword = { email: 'merchant1@example.com', password: 'not the password' }
const unknownAccount = { email: 'nobody@example.com', password: 'not the password' }

function createCountingPasswords() {
  const verified: (string | undefined)[] = []
  const passwords: Passwords = {
    hash: async (password) => `hash of ${password}`,
    verify: async (password, hash) => {
      verified.push(hash)
      return hash === `hash of ${password}`
    },
  }
  return { passwords, verified }
}

describe('a login', () => {
  test('a login with the right password returns tokens in the documented envelope', async () => {
    await using app = await testApp()
    const { email, password, id } = await app.merchant()
    for (const path of ['/merchant/login', '/api/v3/merchant/login']) {
      const answer = await app.call('POST', path, { body: { email: ` ${email.toUpperCase()} `, password } })
      expect(answer.status).toBe(200)
      expect(Object.keys(answer.body)).toEqual(['data'])
      expect(Object.keys(answer.body.data).sort()).toEqual(['accessToken', 'expiresIn', 'refreshToken', 'tokenType'])
      expect([answer.body.data.tokenType, answer.body.data.expiresIn]).toEqual(['Bearer', 3600])
      expect(answer.headers.get('cache-control')).toBe('no-store')
      const me = await app.call('GET', '/merchant/me', { token: answer.body.data.accessToken })
      expect(me.body.merchant).toMatchObject({ id, email })
      expect(me.text).not.toContain('assword')
    }
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'session.started'))
    expect(rows.filter(({ actor, subject, requestId }) => actor === id && subject === id && requestId !== null)).toHaveLength(2)
  })

  test('a login works with real argon2id, whose hash contains its parameters and not the password', async () => {
    await using app = await testApp({}, { realPasswords: true })
    const { email, password, id } = await app.merchant()
    const [user] = await app.deps.db.read.select().from(users).where(eq(users.id, id)).limit(1)
    expect(user?.passwordHash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(user?.passwordHash).not.toContain(password)
    expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
    expect((await app.call('POST', '/merchant/login', { body: { email, password: `${password}x` } })).status).toBe(401)
    expect((await app.call('POST', '/merchant/login', { body: unknownAccount })).status).toBe(401)
  })

  test('an unknown account and a wrong password get the same response, after the same work', async () => {
    const { passwords, verified } = createCountingPasswords()
    await using app = await testApp({}, { passwords })
    const { password } = await app.merchant()
    verified.length = 0
    const [knownResponse, unknownResponse] = [
      await app.call('POST', '/merchant/login', { body: wrongPassword }),
      await app.call('POST', '/merchant/login', { body: unknownAccount }),
    ]
    expect(knownResponse.status).toBe(401)
    expect(unknownResponse.status).toBe(401)
    expect(unknownResponse.text).toBe(knownResponse.text)
    const comparable = (headers: Headers) => [...headers].filter(([name]) => name !== 'x-request-id')
    expect(comparable(unknownResponse.headers)).toEqual(comparable(knownResponse.headers))
    expect(verified).toEqual([`hash of ${password}`, undefined])
    expect(knownResponse.text).not.toContain(wrongPassword.email)
  })

  test('a customer login gets the same response for an unknown shop, an unknown customer and a wrong password', async () => {
    const { passwords, verified } = createCountingPasswords()
    await using app = await testApp({}, { passwords })
    const { shop } = await app.merchant()
    await app.call('POST', '/customer/signup', { body: { shopName: shop.name, email: 'c@example.com', password: 'right password' } })
    const attemptsToLogIn = [
      { shopName: shop.name, email: 'c@example.com', password: 'wrong password' },
      { shopName: shop.name, email: 'nobody@example.com', password: 'wrong password' },
      { shopName: 'no-such-shop', email: 'c@example.com', password: 'right password' },
    ]
    const answers = []
    for (const body of attemptsToLogIn) answers.push(await app.call('POST', '/customer/login', { body }))
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(verified).toHaveLength(3)
    const valid = await app.call('POST', '/customer/login', { body: { ...attemptsToLogIn[0], password: 'right password' } })
    expect(valid.status).toBe(200)
  })

  test('a super admin logs in on the same route, and is refused on routes of merchants', async () => {
    await using app = await testApp()
    const { email, password } = await app.superAdmin()
    const { body } = await app.call('POST', '/merchant/login', { body: { email, password } })
    expect((await app.call('GET', '/shops/v2', { token: body.data.accessToken })).status).toBe(403)
  })

  test('a login stores only the hash of the refresh token', async () => {
    await using app = await testApp()
    const { refreshToken } = await app.merchant()
    const rows = await app.deps.db.read.select().from(refreshTokens)
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(refreshToken)
    expect(rows[0]?.hash).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('failed logins', () => {
  test('after ten failed logins of an account from one address in 15 minutes, even the right password gets 429 with retry-after', async () => {
    await using app = await testApp()
    const { email, password } = await app.merchant()
    for (let nth = 0; nth < 10; nth++) {
      expect((await app.call('POST', '/merchant/login', { body: wrongPassword })).status).toBe(401)
      app.clock.advance(1_000)
    }
    const limited = await app.call('POST', '/merchant/login', { body: { email, password } })
    expect(limited.status).toBe(429)
    expect(limited.body).toEqual({
      statusCode: 429,
      message: 'Too many attempts: try again later',
      error: 'Too Many Requests',
      code: 'rate_limited',
    })
    expect(Number(limited.headers.get('retry-after'))).toBe(15 * 60 - 10)
    // Other addresses and other accounts are not affected.
    expect((await app.call('POST', '/merchant/login', { body: { email, password }, from: '203.0.113.9' })).status).toBe(200)
    expect((await app.call('POST', '/merchant/login', { body: unknownAccount })).status).toBe(401)
    // The window slides: one attempt is allowed once the oldest failure has left it.
    app.clock.advance(15 * minute - 10_000)
    expect((await app.call('POST', '/merchant/login', { body: wrongPassword })).status).toBe(401)
    expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(429)
    app.clock.advance(15 * minute)
    expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
  })

  test('failed logins of unknown accounts are counted the same', async () => {
    await using app = await testApp()
    for (let nth = 0; nth < 10; nth++) expect((await app.call('POST', '/merchant/login', { body: unknownAccount })).status).toBe(401)
    expect((await app.call('POST', '/merchant/login', { body: unknownAccount })).status).toBe(429)
    // Letter case and white space do not count as another account.
    expect((await app.call('POST', '/merchant/login', { body: { ...unknownAccount, email: ' NOBODY@example.com ' } })).status).toBe(429)
  })

  test('fifty failed logins from one address block it for all accounts', async () => {
    await using app = await testApp()
    const { email, password } = await app.merchant()
    for (let nth = 0; nth < 50; nth++) {
      expect((await app.call('POST', '/merchant/login', { body: { email: `user${nth}@example.com`, password: 'wrong' } })).status).toBe(401)
    }
    const limited = await app.call('POST', '/merchant/login', { body: { email, password } })
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('retry-after'))).toBe(15 * 60)
    expect((await app.call('POST', '/merchant/login', { body: { email, password }, from: '203.0.113.9' })).status).toBe(200)
    // An IPv6 /64 counts as one address.
    for (let nth = 0; nth < 50; nth++)
      await app.call('POST', '/merchant/login', {
        body: { email: `user${nth}@example.com`, password: 'wrong' },
        from: `2001:db8::${nth.toString(16)}`,
      })
    expect((await app.call('POST', '/merchant/login', { body: { email, password }, from: '2001:db8::ffff' })).status).toBe(429)
    expect((await app.call('POST', '/merchant/login', { body: { email, password }, from: '2001:db8:0:1::1' })).status).toBe(200)
  })

  test('successful logins are not counted as failed', async () => {
    await using app = await testApp()
    const { email, password } = await app.merchant()
    for (let nth = 0; nth < 60; nth++) expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
    expect(await app.deps.db.read.select().from(attempts)).toEqual([])
    for (let nth = 0; nth < 9; nth++) await app.call('POST', '/merchant/login', { body: wrongPassword })
    expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
    expect((await app.call('POST', '/merchant/login', { body: wrongPassword })).status).toBe(401)
    expect((await app.call('POST', '/merchant/login', { body: wrongPassword })).status).toBe(429)
  })

  test('of 64 concurrent failed logins, at most ten reach the password check', async () => {
    const { passwords, verified } = createCountingPasswords()
    await using app = await testApp({}, { passwords })
    await app.merchant()
    verified.length = 0
    const answers = await Promise.all(Array.from({ length: 64 }, () => app.call('POST', '/merchant/login', { body: wrongPassword })))
    const counts = Object.groupBy(answers, ({ status }) => status)
    // A busy machine answers some with 503, without a check of their password.
    const { 401: failed = [], 429: limited = [], 503: overloaded = [] } = counts
    expect(failed.length + limited.length + overloaded.length).toBe(64)
    expect(failed.length).toBeLessThanOrEqual(10)
    if (overloaded.length === 0) expect([failed.length, verified.length]).toEqual([10, 10])
  })

  test('failed logins from many addresses slow an account down, but never lock it', async () => {
    await using app = await testApp()
    const { email, password } = await app.merchant()
    for (let nth = 0; nth < 10; nth++) await app.call('POST', '/merchant/login', { body: wrongPassword, from: `198.51.100.${nth}` })
    expect(app.slept).toEqual([])
    expect((await app.call('POST', '/merchant/login', { body: { email, password }, from: '203.0.113.9' })).status).toBe(200)
    expect(app.slept).toEqual([1_000])
    app.clock.advance(15 * minute)
    expect((await app.call('POST', '/merchant/login', { body: { email, password }, from: '203.0.113.9' })).status).toBe(200)
    expect(app.slept).toEqual([1_000])
  })

  test('failed logins from many /64 of one IPv6 /48 are limited together after 160, and other networks are not', async () => {
    await using app = await testApp()
    const { email, password } = await app.merchant()
    const from = (nth: number) =>
      app.call('POST', '/merchant/login', { body: { email, password: 'wrong password' }, from: `2001:db8:7:${nth.toString(16)}::1` })
    for (let nth = 0; nth < 160; nth++) expect((await from(nth)).status).toBe(401)
    expect((await from(160)).status).toBe(429)
    expect((await app.call('POST', '/merchant/login', { body: { email, password }, from: '2001:db8:8::1' })).status).toBe(200)
  })

  test('forged forwarding headers do not avoid the limit of failed logins', async () => {
    await using app = await testApp()
    for (let nth = 0; nth < 10; nth++)
      await app.call('POST', '/merchant/login', { body: wrongPassword, headers: { 'x-forwarded-for': `198.51.100.${nth}` } })
    expect(
      (await app.call('POST', '/merchant/login', { body: wrongPassword, headers: { 'x-forwarded-for': '198.51.100.99' } })).status,
    ).toBe(429)
  })

  test('behind a trusted proxy, failed logins are counted by the forwarded address', async () => {
    await using app = await testApp({ TRUSTED_PROXIES: '10.0.0.1' })
    const tryFrom = (address: string) =>
      app.call('POST', '/merchant/login', { body: wrongPassword, from: '10.0.0.1', headers: { 'x-forwarded-for': address } })
    for (let nth = 0; nth < 10; nth++) expect((await tryFrom('198.51.100.1')).status).toBe(401)
    expect((await tryFrom('198.51.100.1')).status).toBe(429)
    expect((await tryFrom('198.51.100.2')).status).toBe(401)
  })

  test('the job deletes failed logins only after their window has passed', async () => {
    await using app = await testApp()
    const { removeExpired } = await import('../../../../jobs/remove-expired.ts')
    for (let nth = 0; nth < 10; nth++) await app.call('POST', '/merchant/login', { body: wrongPassword })
    await removeExpired(app.deps)
    expect((await app.call('POST', '/merchant/login', { body: wrongPassword })).status).toBe(429)
    app.clock.advance(61 * minute)
    await removeExpired(app.deps)
    expect(await app.deps.db.read.select().from(attempts)).toEqual([])
  })
})
