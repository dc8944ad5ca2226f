/** Tests refresh tokens and access tokens: their use, their lifetime, and what revokes them. */
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

const statusWith = async (app: TestApp, token: string) => (await app.call('GET', '/merchant/me', { token })).status
const sessionActionsOf = async (app: TestApp, subject: string) => {
  const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, subject))
  return rows.map(({ action }) => action).filter((action) => action.startsWith('session.'))
}
const refresh = (app: TestApp, refreshToken: string) => app.call('POST', '/auth/refresh', { body: { refreshToken } })

describe('a refresh token', () => {
  test('a refresh token returns new tokens, and the previous access token stays valid', async () => {
    await using app = await testApp()
    const { token, refreshToken } = await app.merchant()
    app.clock.advance(1_000)
    const { status, body, headers } = await refresh(app, refreshToken)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(Object.keys(body.data).sort()).toEqual(['accessToken', 'expiresIn', 'refreshToken', 'tokenType'])
    expect(body.data.refreshToken).not.toBe(refreshToken)
    expect([await statusWith(app, token), await statusWith(app, body.data.accessToken)]).toEqual([200, 200])
    expect((await refresh(app, body.data.refreshToken)).status).toBe(200)
  })

  test('reusing a refresh token after the grace ends the session with all its refresh and access tokens', async () => {
    await using app = await testApp()
    const { id, token, refreshToken } = await app.merchant()
    const second = (await refresh(app, refreshToken)).body.data
    app.clock.advance(refreshGraceMs)
    const reused = await refresh(app, refreshToken)
    expect([reused.status, reused.body.message]).toEqual([401, 'The refresh token is not valid: log in again'])
    expect((await refresh(app, second.refreshToken)).status).toBe(401)
    expect([await statusWith(app, token), await statusWith(app, second.accessToken)]).toEqual([401, 401])
    const [row] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'session.revoked'))
    expect(row).toMatchObject({ actor: id, subject: id })
  })

  test('reusing a refresh token does not affect other sessions of the same person', async () => {
    await using app = await testApp()
    const { email, password, refreshToken } = await app.merchant()
    const other = (await app.call('POST', '/merchant/login', { body: { email, password } })).body.data
    await refresh(app, refreshToken)
    app.clock.advance(refreshGraceMs)
    expect((await refresh(app, refreshToken)).status).toBe(401)
    expect(await statusWith(app, other.accessToken)).toBe(200)
    expect((await refresh(app, other.refreshToken)).status).toBe(200)
  })

  test('returns the same tokens for 10 seconds, and ends the session when it is reused later', async () => {
    await using app = await testApp()
    const { id, refreshToken } = await app.merchant()
    const first = (await refresh(app, refreshToken)).body.data
    const [used] = await app.deps.db.read.select().from(sessions)
    app.clock.advance(refreshGraceMs - 1)
    expect((await refresh(app, refreshToken)).body.data).toEqual(first)
    // A repeated request changes neither the session nor the audit log.
    expect(await app.deps.db.read.select().from(sessions)).toEqual(used ? [used] : [])
    expect(await sessionActionsOf(app, id)).toEqual(['session.started'])
    app.clock.advance(1)
    expect((await refresh(app, refreshToken)).status).toBe(401)
    expect([await statusWith(app, first.accessToken), (await refresh(app, first.refreshToken)).status]).toEqual([401, 401])
  })

  test('returns the same tokens even after the new token was used, and the session continues', async () => {
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

  test('returns the same tokens within the grace for customers, too', async () => {
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

  test('is refused within the grace after its session was ended', async () => {
    await using app = await testApp()
    const { refreshToken } = await app.merchant()
    const first = (await refresh(app, refreshToken)).body.data
    await app.call('POST', '/auth/logout', { body: { refreshToken: first.refreshToken } })
    expect((await refresh(app, refreshToken)).status).toBe(401)
  })

  test('is refused within the grace after a change or reset of the password, or after its session or all others were ended', async () => {
    const password = 'another long phrase'
    const endings: Record<
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
    for (const [label, end] of Object.entries(endings)) {
      await using app = await testApp()
      const one = await app.merchant()
      const first = (await refresh(app, one.refreshToken)).body.data
      expect([label, (await end(app, one, first.accessToken)).status]).toEqual([label, 204])
      expect([label, (await refresh(app, one.refreshToken)).status]).toEqual([label, 401])
    }
  })

  test('is refused within the grace after its customer was erased', async () => {
    await using app = await testApp()
    const { shop, secretKey } = await app.merchant()
    const account = { shopName: shop.name, email: 'ann@example.com', password: 'a long enough phrase' }
    const { id } = (await app.call('POST', '/customer/signup', { body: account })).body
    const { refreshToken } = (await app.call('POST', '/customer/login', { body: account })).body.data
    expect((await refresh(app, refreshToken)).status).toBe(200)
    expect((await app.call('POST', `/customer/${id}/erase`, { key: secretKey })).status).toBeLessThan(300)
    expect((await refresh(app, refreshToken)).status).toBe(401)
  })

  test('returns the same tokens to concurrent requests', async () => {
    await using app = await testApp()
    await refreshAtOnce(app, app)
  })

  test.skipIf(engine === 'sqlite')('returns the same tokens in two processes', async () => {
    await using app = await testApp()
    await using other = await testApp({}, { database: app.database })
    for (let round = 0; round < 5; round++) await refreshAtOnce(app, other)
  })

  async function refreshAtOnce(app: TestApp, other: TestApp): Promise<void> {
    const { refreshToken } = await app.merchant()
    const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => refresh(nth % 2 ? other : app, refreshToken)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await statusWith(other, answers[0]?.body.data.accessToken)).toBe(200)
  }

  test('a refresh token that is unknown, truncated or empty, or an access token, is refused', async () => {
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

  test('a refresh token expires with the session, however often it is renewed', async () => {
    await using app = await testApp({ REFRESH_TOKEN_SECONDS: '7200' })
    const { refreshToken } = await app.merchant()
    app.clock.advance(7_100_000)
    const renewed = (await refresh(app, refreshToken)).body.data
    expect(await statusWith(app, renewed.accessToken)).toBe(200)
    app.clock.advance(100_000)
    expect((await refresh(app, renewed.refreshToken)).status).toBe(401)
    // The access token has not expired, but the session has.
    expect(await statusWith(app, renewed.accessToken)).toBe(401)
    await removeExpired(app.deps)
    expect(await app.deps.db.read.select().from(sessions)).toEqual([])
  })
})

describe('logging out', () => {
  test('logging out revokes the tokens of the session, and writes one audit row', async () => {
    await using app = await testApp()
    const { id, token, refreshToken } = await app.merchant()
    for (let nth = 0; nth < 2; nth++) {
      const answer = await app.call('POST', '/auth/logout', { body: { refreshToken } })
      expect([answer.status, answer.text]).toEqual([204, ''])
    }
    expect(await statusWith(app, token)).toBe(401)
    expect((await refresh(app, refreshToken)).status).toBe(401)
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'session.ended'))
    expect(rows.map(({ actor, subject }) => [actor, subject])).toEqual([[id, id]])
  })

  test('logging out with an unknown token returns 204, and without a token 400', async () => {
    await using app = await testApp()
    expect((await app.call('POST', '/auth/logout', { body: { refreshToken: 'unknown' } })).status).toBe(204)
    expect((await app.call('POST', '/auth/logout', { body: {} })).body.message).toMatch(/^refreshToken: /)
  })
})

describe('an access token', () => {
  const secret = 'test-only-jwt-secret-0123456789abcdef'
  const encodePart = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const decode = (token: string, at: number): Record<string, unknown> =>
    JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString())
  /** Signs a token as souk does, with a key that is derived from the secret. */
  const sign = (header: object, claims: object, { from = secret, hash = 'sha256' }: { from?: string; hash?: string } = {}) => {
    const body = `${encodePart(header)}.${encodePart(claims)}`
    const signature = createHmac(hash, masterKey(from, 'jwt').bytes.toString('base64')).update(body).digest('base64url')
    return `${body}.${signature}`
  }

  test('an access token contains the documented claims, and no personal data', async () => {
    await using app = await testApp()
    const { token, id } = await app.merchant()
    expect(decode(token, 0)).toMatchObject({ alg: 'HS256', kid: masterKey(secret, 'jwt').version })
    const claims = decode(token, 1)
    expect(Object.keys(claims).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'role', 'sid', 'sub'])
    const iat = Math.floor(app.clock.now() / 1000)
    expect(claims).toMatchObject({ sub: id, role: 'MERCHANT', exp: iat + 3600, iat })
  })

  test('an access token with any change is refused, however it is signed', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const header = decode(token, 0)
    const claims = decode(token, 1)
    expect(await statusWith(app, sign(header, claims))).toBe(200)

    const signature = token.split('.')[2] ?? ''
    const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name))
    const forged: Record<string, string> = {
      'no signature': `${encodePart({ ...header, alg: 'none' })}.${encodePart(claims)}.`,
      'alg none with the old signature': `${encodePart({ ...header, alg: 'none' })}.${encodePart(claims)}.${signature}`,
      HS512: sign({ ...header, alg: 'HS512' }, claims, { hash: 'sha512' }),
      HS384: sign({ ...header, alg: 'HS384' }, claims, { hash: 'sha384' }),
      'another key': sign(header, claims, { from: 'another-jwt-secret-of-32-characters!' }),
      'another kid': sign({ ...header, kid: '00000000' }, claims),
      'no kid': sign({ alg: 'HS256' }, claims),
      'a kid that is not a string': sign({ ...header, kid: { toString: 'x' } }, claims),
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
      'a claim changed after signing': `${token.split('.')[0]}.${encodePart({ ...claims, role: 'SUPER_ADMIN' })}.${signature}`,
      'a truncated signature': token.slice(0, -1),
      'a missing signature': `${token.split('.')[0]}.${token.split('.')[1]}.`,
      'not yet valid': sign(header, { ...claims, nbf: Math.floor(app.clock.now() / 1000) + 60 }),
      'claims that are not an object': sign(header, [1]),
    }
    for (const [label, text] of Object.entries(forged)) expect([label, await statusWith(app, text)]).toEqual([label, 401])
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

  test('an access token expires exactly after its lifetime', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    app.clock.advance(3_599_000)
    expect(await statusWith(app, token)).toBe(200)
    app.clock.advance(1_000)
    expect(await statusWith(app, token)).toBe(401)
  })

  test('an access token of a customer contains the shop, and is refused on routes of merchants', async () => {
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

  test('an access token signed with an old secret is valid while the setting lists the secret, and new tokens use the first one', async () => {
    const oldSecret = 'the-old-jwt-secret-of-32-characters!'
    await using app = await testApp({ JWT_SECRET: `${secret},${oldSecret}` })
    const { token } = await app.merchant()
    expect(decode(token, 0)['kid']).toBe(masterKey(secret, 'jwt').version)
    const old = sign({ alg: 'HS256', typ: 'JWT', kid: masterKey(oldSecret, 'jwt').version }, decode(token, 1), { from: oldSecret })
    expect(await statusWith(app, old)).toBe(200)
    const retired = 'a-retired-jwt-secret-of-32-character'
    expect(await statusWith(app, sign({ alg: 'HS256', kid: masterKey(retired, 'jwt').version }, decode(token, 1), { from: retired }))).toBe(
      401,
    )
  })
})
