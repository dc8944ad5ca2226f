/** Tokens: what they open, for how long, and what ends them. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { auditLog, sessions } from '../../../../db/schema/people.ts'
import { removeExpired } from '../../../../jobs/remove-expired.ts'
import { system } from '../../../../src/core/command-context.ts'
import { masterKey } from '../../../../src/lib/seal.ts'
import { refreshGraceMs } from '../../../../src/modules/identity/auth/domain.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { endSessionsOf } from '../../../../src/modules/identity/auth/session-list.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const opens = async (app: TestApp, token: string) => (await app.call('GET', '/merchant/me', { token })).status
const sessionActionsOf = async (app: TestApp, subject: string) => {
  const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, subject))
  return rows.map(({ action }) => action).filter((action) => action.startsWith('session.'))
}
const refresh = (app: TestApp, refreshToken: string) => app.call('POST', '/auth/refresh', { body: { refreshToken } })

describe('a refresh token', () => {
  test('a refresh token is traded for new tokens once, and the old access token lives on', async () => {
    await using app = await testApp()
    const { token, refreshToken } = await app.merchant()
    app.clock.advance(1_000)
    const { status, body, headers } = await refresh(app, refreshToken)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(Object.keys(body.data).sort()).toEqual(['accessToken', 'expiresIn', 'refreshToken', 'tokenType'])
    expect(body.data.refreshToken).not.toBe(refreshToken)
    expect([await opens(app, token), await opens(app, body.data.accessToken)]).toEqual([200, 200])
    expect((await refresh(app, body.data.refreshToken)).status).toBe(200)
  })

  test('a refresh token used twice ends the whole family: every refresh token and every access token', async () => {
    await using app = await testApp()
    const { id, token, refreshToken } = await app.merchant()
    const second = (await refresh(app, refreshToken)).body.data
    app.clock.advance(refreshGraceMs)
    const reused = await refresh(app, refreshToken)
    expect([reused.status, reused.body.message]).toEqual([401, 'The refresh token is not valid: log in again'])
    expect((await refresh(app, second.refreshToken)).status).toBe(401)
    expect([await opens(app, token), await opens(app, second.accessToken)]).toEqual([401, 401])
    const [row] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'session.revoked'))
    expect(row).toMatchObject({ actor: id, subject: id })
  })

  test('a refresh token of one session does not touch another session of the same person', async () => {
    await using app = await testApp()
    const { email, password, refreshToken } = await app.merchant()
    const other = (await app.call('POST', '/merchant/login', { body: { email, password } })).body.data
    await refresh(app, refreshToken)
    app.clock.advance(refreshGraceMs)
    expect((await refresh(app, refreshToken)).status).toBe(401)
    expect(await opens(app, other.accessToken)).toBe(200)
    expect((await refresh(app, other.refreshToken)).status).toBe(200)
  })

  test('answers the same pair again for 10 seconds, and ends the session when it is used later', async () => {
    await using app = await testApp()
    const { id, refreshToken } = await app.merchant()
    const first = (await refresh(app, refreshToken)).body.data
    const [used] = await app.deps.db.read.select().from(sessions)
    app.clock.advance(refreshGraceMs - 1)
    expect((await refresh(app, refreshToken)).body.data).toEqual(first)
    // A repeat is not a use: it changes neither the session nor the audit trail.
    expect(await app.deps.db.read.select().from(sessions)).toEqual(used ? [used] : [])
    expect(await sessionActionsOf(app, id)).toEqual(['session.started'])
    app.clock.advance(1)
    expect((await refresh(app, refreshToken)).status).toBe(401)
    expect([await opens(app, first.accessToken), (await refresh(app, first.refreshToken)).status]).toEqual([401, 401])
  })

  test('answers the same pair after the new token was used, and the chain goes on', async () => {
    await using app = await testApp()
    const { refreshToken } = await app.merchant()
    const first = (await refresh(app, refreshToken)).body.data
    const second = (await refresh(app, first.refreshToken)).body.data
    expect((await refresh(app, refreshToken)).body.data).toEqual(first)
    expect((await refresh(app, first.refreshToken)).body.data).toEqual(second)
    app.clock.advance(refreshGraceMs)
    expect((await refresh(app, second.refreshToken)).status).toBe(200)
    expect(new Set([first.accessToken, second.accessToken, first.refreshToken, second.refreshToken, refreshToken]).size).toBe(5)
  })

  test('does the same for customers', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const account = { shopName: shop.name, email: 'ann@example.com', password: 'a long enough phrase' }
    await app.call('POST', '/customer/signup', { body: account })
    const { refreshToken } = (await app.call('POST', '/customer/login', { body: account })).body.data
    const first = (await refresh(app, refreshToken)).body.data
    expect((await refresh(app, refreshToken)).body.data).toEqual(first)
    expect((await app.call('GET', '/customer/me', { token: first.accessToken })).status).toBe(200)
    app.clock.advance(refreshGraceMs)
    expect((await refresh(app, refreshToken)).status).toBe(401)
    expect((await app.call('GET', '/customer/me', { token: first.accessToken })).status).toBe(401)
  })

  test('is refused within the grace once the session was ended', async () => {
    await using app = await testApp()
    const { refreshToken } = await app.merchant()
    const first = (await refresh(app, refreshToken)).body.data
    await app.call('POST', '/auth/logout', { body: { refreshToken: first.refreshToken } })
    expect((await refresh(app, refreshToken)).status).toBe(401)
  })

  test('is refused within the grace once a password was changed or reset, or its session or all others were ended', async () => {
    const password = 'another long phrase'
    const ends: Record<
      string,
      (app: TestApp, one: Awaited<ReturnType<TestApp['merchant']>>, token: string) => Promise<{ status: number }>
    > = {
      'the password, in this session': (app, one, token) =>
        app.call('POST', '/auth/password', { token, body: { current: one.password, password } }),
      'the password, in another session': async (app, one) => {
        const { email, password: current } = one
        const { accessToken } = (await app.call('POST', '/merchant/login', { body: { email, password: current } })).body.data
        return app.call('POST', '/auth/password', { token: accessToken, body: { current, password } })
      },
      'all other sessions': (app, _, token) => app.call('DELETE', '/auth/sessions', { token }),
      'its own session': async (app, _, token) => {
        const { data } = (await app.call('GET', '/auth/sessions', { token })).body
        return app.call('DELETE', `/auth/sessions/${data[0].id}`, { token })
      },
      'every session, by a reset of the password': async (app, one) => {
        await app.deps.db.write((tx) => endSessionsOf(tx, app.deps, one.id))
        return { status: 204 }
      },
    }
    for (const [what, end] of Object.entries(ends)) {
      await using app = await testApp()
      const one = await app.merchant()
      const first = (await refresh(app, one.refreshToken)).body.data
      expect([what, (await end(app, one, first.accessToken)).status]).toEqual([what, 204])
      expect([what, (await refresh(app, one.refreshToken)).status]).toEqual([what, 401])
    }
  })

  test('is refused within the grace once its customer was erased', async () => {
    await using app = await testApp()
    const { shop, secretKey } = await app.merchant()
    const account = { shopName: shop.name, email: 'ann@example.com', password: 'a long enough phrase' }
    const { id } = (await app.call('POST', '/customer/signup', { body: account })).body
    const { refreshToken } = (await app.call('POST', '/customer/login', { body: account })).body.data
    expect((await refresh(app, refreshToken)).status).toBe(200)
    expect((await app.call('POST', `/customer/${id}/erase`, { key: secretKey })).status).toBeLessThan(300)
    expect((await refresh(app, refreshToken)).status).toBe(401)
  })

  test('gives every one of many requests at once the same pair', async () => {
    await using app = await testApp()
    await refreshAtOnce(app, app)
  })

  test.skipIf(engine === 'sqlite')('gives the same pair in two processes', async () => {
    await using app = await testApp()
    await using other = await testApp({}, { database: app.database })
    for (let round = 0; round < 5; round++) await refreshAtOnce(app, other)
  })

  async function refreshAtOnce(app: TestApp, other: TestApp): Promise<void> {
    const { refreshToken } = await app.merchant()
    const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => refresh(nth % 2 ? other : app, refreshToken)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await opens(other, answers[0]?.body.data.accessToken)).toBe(200)
  }

  test('a refresh token that is unknown, cut, an access token or nothing is refused alike', async () => {
    await using app = await testApp()
    const { token, refreshToken } = await app.merchant()
    const texts = [
      'x',
      refreshToken.slice(0, -1),
      `${refreshToken}=`,
      refreshToken.toLowerCase() === refreshToken ? 'y' : refreshToken.toLowerCase(),
    ]
    for (const text of texts) expect((await refresh(app, text)).status).toBe(401)
    expect((await refresh(app, token)).status).toBe(400)
    expect((await refresh(app, '')).status).toBe(400)
    expect((await refresh(app, refreshToken)).status).toBe(200)
  })

  test('a refresh token ends with the session, however often it was traded', async () => {
    await using app = await testApp({ REFRESH_TOKEN_SECONDS: '7200' })
    const { refreshToken } = await app.merchant()
    app.clock.advance(7_100_000)
    const later = (await refresh(app, refreshToken)).body.data
    expect(await opens(app, later.accessToken)).toBe(200)
    app.clock.advance(100_000)
    expect((await refresh(app, later.refreshToken)).status).toBe(401)
    // The access token would live on; the session does not.
    expect(await opens(app, later.accessToken)).toBe(401)
    await removeExpired(app.deps)
    expect(await app.deps.db.read.select().from(sessions)).toEqual([])
  })
})

describe('logging out', () => {
  test('logging out ends the tokens of the session, once, and leaves a trace', async () => {
    await using app = await testApp()
    const { id, token, refreshToken } = await app.merchant()
    for (let nth = 0; nth < 2; nth++) {
      const answer = await app.call('POST', '/auth/logout', { body: { refreshToken } })
      expect([answer.status, answer.text]).toEqual([204, ''])
    }
    expect(await opens(app, token)).toBe(401)
    expect((await refresh(app, refreshToken)).status).toBe(401)
    const trail = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'session.ended'))
    expect(trail.map(({ actor, subject }) => [actor, subject])).toEqual([[id, id]])
  })

  test('logging out with an unknown token is no error and tells nothing; without one it is a bad request', async () => {
    await using app = await testApp()
    expect((await app.call('POST', '/auth/logout', { body: { refreshToken: 'unknown' } })).status).toBe(204)
    expect((await app.call('POST', '/auth/logout', { body: {} })).body.message).toMatch(/^refreshToken: /)
  })
})

describe('an access token', () => {
  const secret = 'test-only-jwt-secret-0123456789abcdef'
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const decode = (token: string, at: number): Record<string, unknown> =>
    JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString())
  /** Signs as the program does: its key is derived from the secret. */
  const sign = (header: object, claims: object, { from = secret, hash = 'sha256' }: { from?: string; hash?: string } = {}) => {
    const body = `${part(header)}.${part(claims)}`
    const signature = createHmac(hash, masterKey(from, 'jwt').bytes.toString('base64')).update(body).digest('base64url')
    return `${body}.${signature}`
  }

  test('an access token carries the claims of the contract, and nothing personal', async () => {
    await using app = await testApp()
    const { token, id } = await app.merchant()
    expect(decode(token, 0)).toMatchObject({ alg: 'HS256', kid: masterKey(secret, 'jwt').version })
    const claims = decode(token, 1)
    expect(Object.keys(claims).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'role', 'sid', 'sub'])
    const iat = Math.floor(app.clock.now() / 1000)
    expect(claims).toMatchObject({ sub: id, role: 'MERCHANT', exp: iat + 3600, iat })
  })

  test('an access token with anything changed, however it is signed, opens nothing', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const header = decode(token, 0)
    const claims = decode(token, 1)
    expect(await opens(app, sign(header, claims))).toBe(200)

    const signature = token.split('.')[2] ?? ''
    const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name))
    const forged: Record<string, string> = {
      'no signature': `${part({ ...header, alg: 'none' })}.${part(claims)}.`,
      'alg none with the old signature': `${part({ ...header, alg: 'none' })}.${part(claims)}.${signature}`,
      HS512: sign({ ...header, alg: 'HS512' }, claims, { hash: 'sha512' }),
      HS384: sign({ ...header, alg: 'HS384' }, claims, { hash: 'sha384' }),
      'another key': sign(header, claims, { from: 'another-jwt-secret-of-32-characters!' }),
      'another kid': sign({ ...header, kid: '00000000' }, claims),
      'no kid': sign({ alg: 'HS256' }, claims),
      'a kid that is no text': sign({ ...header, kid: { toString: 'x' } }, claims),
      'another issuer': sign(header, { ...claims, iss: 'evil' }),
      'no issuer': sign(header, without('iss')),
      'another audience': sign(header, { ...claims, aud: 'evil' }),
      'no audience': sign(header, without('aud')),
      'no exp': sign(header, without('exp')),
      'no sub': sign(header, without('sub')),
      'no jti': sign(header, without('jti')),
      'no sid': sign(header, without('sid')),
      'no role': sign(header, without('role')),
      'another role': sign(header, { ...claims, role: 'SUPER_ADMIN' }),
      'an unknown role': sign(header, { ...claims, role: 'ROOT' }),
      'another subject': sign(header, { ...claims, sub: 'mer_someone' }),
      'another session': sign(header, { ...claims, sid: 'ses_someone' }),
      'a claim changed after signing': `${token.split('.')[0]}.${part({ ...claims, role: 'SUPER_ADMIN' })}.${signature}`,
      'the signature cut': token.slice(0, -1),
      'the signature gone': `${token.split('.')[0]}.${token.split('.')[1]}.`,
      'not yet valid': sign(header, { ...claims, nbf: Math.floor(app.clock.now() / 1000) + 60 }),
      'claims that are no object': sign(header, [1]),
    }
    for (const [what, text] of Object.entries(forged)) expect([what, await opens(app, text)]).toEqual([what, 401])
    for (const authorization of [
      token,
      `Basic ${token}`,
      `Bearer  ${token}`,
      `Bearer ${token} x`,
      `Bearer ${token}, Bearer ${token}`,
      'Bearer',
    ]) {
      expect([(await app.call('GET', '/merchant/me', { headers: { authorization } })).status, authorization]).toEqual([401, authorization])
    }
    expect((await app.call('GET', '/merchant/me', { headers: { authorization: `bearer ${token}` } })).status).toBe(200)
  })

  test('an access token expires to the second', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    app.clock.advance(3_599_000)
    expect(await opens(app, token)).toBe(200)
    app.clock.advance(1_000)
    expect(await opens(app, token)).toBe(401)
  })

  test("an access token of a customer names the shop, and opens nothing that is a merchant's", async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const { data } = await startSession(app.deps, { id: 'cus_x', role: 'CUSTOMER', shopId: shop.id }, system)
    expect(decode(data.accessToken, 1)).toMatchObject({ role: 'CUSTOMER', shop: shop.id })
    for (const [method, path] of [
      ['GET', '/shops/v2'],
      ['GET', '/merchant/me'],
      ['GET', '/shops/v2/private-key'],
      ['GET', '/shops/v2/tax-rates'],
    ] as const) {
      expect([path, (await app.call(method, path, { token: data.accessToken })).status]).toEqual([path, 403])
    }
  })

  test('an access token signed under the old secret lives on while the list names it, and new ones are signed under the new', async () => {
    const oldSecret = 'the-old-jwt-secret-of-32-characters!'
    await using app = await testApp({ JWT_SECRET: `${secret},${oldSecret}` })
    const { token } = await app.merchant()
    expect(decode(token, 0)['kid']).toBe(masterKey(secret, 'jwt').version)
    const old = sign({ alg: 'HS256', typ: 'JWT', kid: masterKey(oldSecret, 'jwt').version }, decode(token, 1), { from: oldSecret })
    expect(await opens(app, old)).toBe(200)
    const retired = 'a-retired-jwt-secret-of-32-character'
    expect(await opens(app, sign({ alg: 'HS256', kid: masterKey(retired, 'jwt').version }, decode(token, 1), { from: retired }))).toBe(401)
  })
})
