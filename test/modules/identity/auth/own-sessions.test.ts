/** One's own sessions and password: what one sees of them, and what ends them. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { attempts, auditLog, sessions } from '../../../../db/schema/people.ts'
import { system } from '../../../../src/core/command-context.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { login } from '../../../../src/modules/identity/merchant/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { customerIn } from '../../../support/customers.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const opens = async (app: TestApp, token: string) => (await app.call('GET', '/auth/sessions', { token })).status
const loggedIn = async (app: TestApp, { email, password }: { email: string; password: string }, agent: string, from = '127.0.0.1') =>
  (await app.call('POST', '/merchant/login', { body: { email, password }, from, headers: { 'user-agent': agent } })).body.data
const actions = async (app: TestApp, action: string) => app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, action))
/** Waits for what a request left to be noted after its answer. */
const settled = async (app: TestApp) => {
  for (let nth = 0; nth < 3; nth++) await app.deps.db.write(async () => undefined)
}

describe("one's own sessions", () => {
  test("one's own sessions say when they were begun and last used, from where and by what, newest first, and which one asks", async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const agent = `Browser/${'x'.repeat(300)}`
    app.clock.advance(minute)
    const { accessToken: token } = await loggedIn(app, merchant, agent, '2001:db8::1')
    const { status, body, headers } = await app.call('GET', '/auth/sessions', { token })
    expect([status, headers.get('cache-control'), body.total]).toEqual([200, 'no-store', 2])
    expect(body.data[0]).toEqual({
      id: expect.stringMatching(/^ses_/),
      createdAt: '2026-01-06T12:01:00.000Z',
      lastUsedAt: '2026-01-06T12:01:00.000Z',
      expiresAt: '2026-02-05T12:01:00.000Z',
      address: '2001:db8::1',
      agent: agent.slice(0, 200),
      current: true,
    })
    expect(body.data[1]).toMatchObject({ createdAt: '2026-01-06T12:00:00.000Z', address: null, agent: null, current: false })
    const page = (await app.call('GET', '/auth/sessions?page=2&limit=1', { token })).body
    expect(page).toEqual({ data: [body.data[1]], page: 2, limit: 1, total: 2, pages: 2 })
  })

  test("one's own sessions are noted as used to the minute, and as renewed from another address when they are", async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const first = await loggedIn(app, merchant, 'one')
    const mine = async (token: string) => (await app.call('GET', '/auth/sessions', { token })).body.data[0]
    app.clock.advance(minute - 1)
    await opens(app, first.accessToken)
    await settled(app)
    expect((await mine(first.accessToken)).lastUsedAt).toBe('2026-01-06T12:00:00.000Z')
    app.clock.advance(1)
    await opens(app, first.accessToken)
    await settled(app)
    expect((await mine(first.accessToken)).lastUsedAt).toBe('2026-01-06T12:01:00.000Z')
    app.clock.advance(500)
    const renewal = { body: { refreshToken: first.refreshToken }, from: '203.0.113.9', headers: { 'user-agent': 'two' } }
    const second = (await app.call('POST', '/auth/refresh', renewal)).body.data
    expect(await mine(second.accessToken)).toMatchObject({
      createdAt: '2026-01-06T12:00:00.000Z',
      lastUsedAt: '2026-01-06T12:01:00.500Z',
      address: '203.0.113.9',
      agent: 'two',
    })
  })

  test("one's own sessions leave a row when others were ended, and none when there was nothing to end", async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    await loggedIn(app, merchant, 'phone')
    const end = () => app.call('DELETE', '/auth/sessions', { token: merchant.token })
    for (let nth = 0; nth < 3; nth++) expect((await end()).status).toBe(204)
    const rows = await actions(app, 'session.others_ended')
    expect(rows.map(({ actor, after }) => [actor, after])).toEqual([[merchant.id, { kept: expect.stringMatching(/^ses_/), ended: 1 }]])
  })

  test("one's own sessions are ended one by one: each tokens of it alone, and nobody else's", async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const other = await app.merchant()
    const phone = await loggedIn(app, merchant, 'phone')
    const listed = (await app.call('GET', '/auth/sessions', { token: merchant.token })).body.data
    const phoneId = listed.find(({ agent }: { agent: string }) => agent === 'phone').id
    const end = (id: string, token: string) => app.call('DELETE', `/auth/sessions/${id}`, { token })
    for (const id of [phoneId, 'ses_none']) {
      const refused = await end(id, other.token)
      expect([refused.status, refused.body.message]).toEqual([404, 'No such session'])
    }
    expect([(await end(phoneId, merchant.token)).status, (await end(phoneId, merchant.token)).status]).toEqual([204, 404])
    expect([await opens(app, phone.accessToken), await opens(app, merchant.token), await opens(app, other.token)]).toEqual([401, 200, 200])
    expect((await app.call('POST', '/auth/refresh', { body: { refreshToken: phone.refreshToken } })).status).toBe(401)
    const own = listed.find(({ current }: { current: boolean }) => current).id
    expect((await end(own, merchant.token)).status).toBe(204)
    expect(await opens(app, merchant.token)).toBe(401)
    expect((await actions(app, 'session.ended')).map(({ actor, subject }) => [actor, subject])).toEqual([
      [merchant.id, merchant.id],
      [merchant.id, merchant.id],
    ])
  })

  test("one's own sessions are ended all at once, but for the one that asks", async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const [one, two] = [await loggedIn(app, merchant, 'one'), await loggedIn(app, merchant, 'two')]
    const other = await app.merchant()
    expect((await app.call('DELETE', '/auth/sessions', { token: one.accessToken })).status).toBe(204)
    expect(await Promise.all([one, two, { accessToken: merchant.token }].map(({ accessToken }) => opens(app, accessToken)))).toEqual([
      200, 401, 401,
    ])
    expect(await opens(app, other.token)).toBe(200)
    expect((await app.call('GET', '/auth/sessions', { token: one.accessToken })).body.total).toBe(1)
  })

  test("one's own sessions are there for customers and operators too, and hold nothing of others", async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const customer = await customerIn(app, merchant.shop)
    const operator = await app.superAdmin()
    for (const { token } of [customer, operator]) {
      expect((await app.call('GET', '/auth/sessions', { token })).body).toMatchObject({ total: 1, data: [{ current: true }] })
      expect((await app.call('DELETE', '/auth/sessions', { token })).status).toBe(204)
    }
    app.clock.advance(app.deps.config.refreshTokenSeconds * 1000)
    const { data } = await startSession(app.deps, { id: merchant.id, role: 'MERCHANT' }, system)
    expect((await app.call('GET', '/auth/sessions', { token: data.accessToken })).body.total).toBe(1)
  })
})

describe('changing the password', () => {
  const next = 'another long password'
  const change = (app: TestApp, token: string, body: unknown, from = '127.0.0.1') =>
    app.call('POST', '/auth/password', { token, body, from })

  test('changing the password needs the one before, ends the other sessions and keeps the one that asks', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const phone = await loggedIn(app, merchant, 'phone')
    const refused = await change(app, merchant.token, { current: 'not the password', password: next })
    expect([refused.status, await opens(app, phone.accessToken)]).toEqual([401, 200])
    const changed = await change(app, merchant.token, { current: merchant.password, password: next })
    expect([changed.status, changed.text]).toEqual([204, ''])
    expect([await opens(app, merchant.token), await opens(app, phone.accessToken)]).toEqual([200, 401])
    expect((await app.call('POST', '/auth/refresh', { body: { refreshToken: phone.refreshToken } })).status).toBe(401)
    expect((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password: merchant.password } })).status).toBe(401)
    expect((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password: next } })).status).toBe(200)
    expect((await actions(app, 'password.changed')).map(({ actor, subject }) => [actor, subject])).toEqual([[merchant.id, merchant.id]])
  })

  test('changing the password works alike for a customer and an operator', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const customer = await customerIn(app, shop)
    const operator = await app.superAdmin()
    expect((await change(app, customer.token, { current: customer.password, password: next })).status).toBe(204)
    expect((await change(app, operator.token, { current: operator.password, password: next })).status).toBe(204)
    const asCustomer = { shopName: shop.name, email: customer.email }
    expect((await app.call('POST', '/customer/login', { body: { ...asCustomer, password: customer.password } })).status).toBe(401)
    expect((await app.call('POST', '/customer/login', { body: { ...asCustomer, password: next } })).status).toBe(200)
    expect((await app.call('POST', '/merchant/login', { body: { email: operator.email, password: next } })).status).toBe(200)
  })

  test('changing the password refuses one that is too short or among the most common, names the field and changes nothing', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    for (const password of ['short', 'x'.repeat(201), 'Password123', 'qwertyuiop']) {
      const answer = await change(app, merchant.token, { current: merchant.password, password })
      expect([password, answer.status]).toEqual([password, 400])
      expect(answer.body.message).toStartWith('password: ')
      expect(answer.text).not.toContain(password)
    }
    expect((await change(app, merchant.token, { password: next })).body.message).toStartWith('current: ')
    expect(await loggedIn(app, merchant, 'still')).toBeDefined()
  })

  test('changing the password with a wrong one counts like a failed login, so that a stolen token does not guess', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    for (let nth = 0; nth < 10; nth++)
      expect((await change(app, merchant.token, { current: `guess number ${nth}`, password: next })).status).toBe(401)
    const limited = await change(app, merchant.token, { current: merchant.password, password: next })
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '900'])
    expect((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password: merchant.password } })).status).toBe(429)
    expect((await change(app, merchant.token, { current: merchant.password, password: next }, '203.0.113.9')).status).toBe(204)
    expect(await app.deps.db.read.select().from(attempts)).toHaveLength(30)
  })

  test('changing the password twice at once has one outcome', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const wanted = ['the first new password', 'the second new password']
    const answers = await Promise.all(wanted.map((password) => change(app, merchant.token, { current: merchant.password, password })))
    expect(answers.map(({ status }) => status).sort()).toBeOneOf([
      [204, 401],
      [204, 409],
    ])
    const logins = []
    for (const password of wanted)
      logins.push((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password } })).status)
    expect(logins).toEqual(answers.map(({ status }) => (status === 204 ? 200 : 401)))
  })

  test('changing the password leaves no session to a login that was under way with the one before', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { passwords } = app.deps
    // The login has checked the password, and the change comes before its session is begun.
    const deps = {
      ...app.deps,
      passwords: {
        ...passwords,
        verify: async (...args: Parameters<typeof passwords.verify>) => {
          const matches = await passwords.verify(...args)
          expect((await change(app, merchant.token, { current: merchant.password, password: next })).status).toBe(204)
          return matches
        },
      },
    }
    const caller = { limitKey: '203.0.113.9', address: undefined, agent: undefined, requestId: undefined }
    expect(await login(deps, merchant, caller).catch((error: Error) => error.message)).toBe('The email address or the password is wrong')
    const live = await app.deps.db.read.select().from(sessions).where(eq(sessions.subjectId, merchant.id))
    expect(live.filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1)
  })
})
