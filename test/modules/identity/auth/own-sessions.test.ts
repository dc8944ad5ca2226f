/** Tests the list of the caller's sessions, ending them, and changing the password. */
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
const statusWith = async (app: TestApp, token: string) => (await app.call('GET', '/auth/sessions', { token })).status
const logInAs = async (app: TestApp, { email, password }: { email: string; password: string }, agent: string, from = '127.0.0.1') =>
  (await app.call('POST', '/merchant/login', { body: { email, password }, from, headers: { 'user-agent': agent } })).body.data
const auditRowsOf = async (app: TestApp, action: string) => app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, action))
/** Waits for writes that a request makes after its response. */
const waitForWrites = async (app: TestApp) => {
  for (let nth = 0; nth < 3; nth++) await app.deps.db.write(async () => undefined)
}

describe('the sessions of the caller', () => {
  test('list start, last use, address and agent, newest first, and mark the current session', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const agent = `Browser/${'x'.repeat(300)}`
    app.clock.advance(minute)
    const { accessToken: token } = await logInAs(app, merchant, agent, '2001:db8::1')
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

  test('update their last use once a minute, and at a renewal also their address and agent', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const first = await logInAs(app, merchant, 'one')
    const readFirstSession = async (token: string) => (await app.call('GET', '/auth/sessions', { token })).body.data[0]
    app.clock.advance(minute - 1)
    await statusWith(app, first.accessToken)
    await waitForWrites(app)
    expect((await readFirstSession(first.accessToken)).lastUsedAt).toBe('2026-01-06T12:00:00.000Z')
    app.clock.advance(1)
    await statusWith(app, first.accessToken)
    await waitForWrites(app)
    expect((await readFirstSession(first.accessToken)).lastUsedAt).toBe('2026-01-06T12:01:00.000Z')
    app.clock.advance(500)
    const renewal = { body: { refreshToken: first.refreshToken }, from: '203.0.113.9', headers: { 'user-agent': 'two' } }
    const second = (await app.call('POST', '/auth/refresh', renewal)).body.data
    expect(await readFirstSession(second.accessToken)).toMatchObject({
      createdAt: '2026-01-06T12:00:00.000Z',
      lastUsedAt: '2026-01-06T12:01:00.500Z',
      address: '203.0.113.9',
      agent: 'two',
    })
  })

  test('write an audit row when other sessions are ended, and none when there are no others', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    await logInAs(app, merchant, 'phone')
    const end = () => app.call('DELETE', '/auth/sessions', { token: merchant.token })
    for (let nth = 0; nth < 3; nth++) expect((await end()).status).toBe(204)
    const rows = await auditRowsOf(app, 'session.others_ended')
    expect(rows.map(({ actor, after }) => [actor, after])).toEqual([[merchant.id, { kept: expect.stringMatching(/^ses_/), ended: 1 }]])
  })

  test('are ended one by one: only the tokens of that session are revoked, and only by its owner', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const other = await app.merchant()
    const phone = await logInAs(app, merchant, 'phone')
    const listed = (await app.call('GET', '/auth/sessions', { token: merchant.token })).body.data
    const phoneId = listed.find(({ agent }: { agent: string }) => agent === 'phone').id
    const end = (id: string, token: string) => app.call('DELETE', `/auth/sessions/${id}`, { token })
    for (const id of [phoneId, 'ses_none']) {
      const refused = await end(id, other.token)
      expect([refused.status, refused.body.message]).toEqual([404, 'No such session'])
    }
    expect([(await end(phoneId, merchant.token)).status, (await end(phoneId, merchant.token)).status]).toEqual([204, 404])
    expect([await statusWith(app, phone.accessToken), await statusWith(app, merchant.token), await statusWith(app, other.token)]).toEqual([
      401, 200, 200,
    ])
    expect((await app.call('POST', '/auth/refresh', { body: { refreshToken: phone.refreshToken } })).status).toBe(401)
    const currentId = listed.find(({ current }: { current: boolean }) => current).id
    expect((await end(currentId, merchant.token)).status).toBe(204)
    expect(await statusWith(app, merchant.token)).toBe(401)
    expect((await auditRowsOf(app, 'session.ended')).map(({ actor, subject }) => [actor, subject])).toEqual([
      [merchant.id, merchant.id],
      [merchant.id, merchant.id],
    ])
  })

  test('are all ended at once, except the current one', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const [one, two] = [await logInAs(app, merchant, 'one'), await logInAs(app, merchant, 'two')]
    const other = await app.merchant()
    expect((await app.call('DELETE', '/auth/sessions', { token: one.accessToken })).status).toBe(204)
    expect(await Promise.all([one, two, { accessToken: merchant.token }].map(({ accessToken }) => statusWith(app, accessToken)))).toEqual([
      200, 401, 401,
    ])
    expect(await statusWith(app, other.token)).toBe(200)
    expect((await app.call('GET', '/auth/sessions', { token: one.accessToken })).body.total).toBe(1)
  })

  test('can be listed and ended by customers and operators, too, without those of others or expired ones', async () => {
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
  const newPassword = 'another long password'
  const change = (app: TestApp, token: string, body: unknown, from = '127.0.0.1') =>
    app.call('POST', '/auth/password', { token, body, from })

  test('changing the password needs the current one, ends the other sessions and keeps the current session', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const phone = await logInAs(app, merchant, 'phone')
    const refused = await change(app, merchant.token, { current: 'not the password', password: newPassword })
    expect([refused.status, await statusWith(app, phone.accessToken)]).toEqual([401, 200])
    const changed = await change(app, merchant.token, { current: merchant.password, password: newPassword })
    expect([changed.status, changed.text]).toEqual([204, ''])
    expect([await statusWith(app, merchant.token), await statusWith(app, phone.accessToken)]).toEqual([200, 401])
    expect((await app.call('POST', '/auth/refresh', { body: { refreshToken: phone.refreshToken } })).status).toBe(401)
    expect((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password: merchant.password } })).status).toBe(401)
    expect((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password: newPassword } })).status).toBe(200)
    expect((await auditRowsOf(app, 'password.changed')).map(({ actor, subject }) => [actor, subject])).toEqual([[merchant.id, merchant.id]])
  })

  test('changing the password works the same for a customer and an operator', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const customer = await customerIn(app, shop)
    const operator = await app.superAdmin()
    expect((await change(app, customer.token, { current: customer.password, password: newPassword })).status).toBe(204)
    expect((await change(app, operator.token, { current: operator.password, password: newPassword })).status).toBe(204)
    const asCustomer = { shopName: shop.name, email: customer.email }
    expect((await app.call('POST', '/customer/login', { body: { ...asCustomer, password: customer.password } })).status).toBe(401)
    expect((await app.call('POST', '/customer/login', { body: { ...asCustomer, password: newPassword } })).status).toBe(200)
    expect((await app.call('POST', '/merchant/login', { body: { email: operator.email, password: newPassword } })).status).toBe(200)
  })

  test('changing the password refuses a password that is too short, too long or too common, names the field and changes nothing', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    for (const password of ['short', 'x'.repeat(201), 'Password123', 'qwertyuiop']) {
      const answer = await change(app, merchant.token, { current: merchant.password, password })
      expect([password, answer.status]).toEqual([password, 400])
      expect(answer.body.message).toStartWith('password: ')
      expect(answer.text).not.toContain(password)
    }
    expect((await change(app, merchant.token, { password: newPassword })).body.message).toStartWith('current: ')
    expect(await logInAs(app, merchant, 'still')).toBeDefined()
  })

  test('a wrong current password counts as a failed login, so that a stolen token cannot be used to guess it', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    for (let nth = 0; nth < 10; nth++)
      expect((await change(app, merchant.token, { current: `guess number ${nth}`, password: newPassword })).status).toBe(401)
    const limited = await change(app, merchant.token, { current: merchant.password, password: newPassword })
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '900'])
    expect((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password: merchant.password } })).status).toBe(429)
    expect((await change(app, merchant.token, { current: merchant.password, password: newPassword }, '203.0.113.9')).status).toBe(204)
    expect(await app.deps.db.read.select().from(attempts)).toHaveLength(30)
  })

  test('of two concurrent password changes, exactly one succeeds', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const candidates = ['the first new password', 'the second new password']
    const answers = await Promise.all(candidates.map((password) => change(app, merchant.token, { current: merchant.password, password })))
    expect(answers.map(({ status }) => status).sort()).toBeOneOf([
      [204, 401],
      [204, 409],
    ])
    const logins = []
    for (const password of candidates)
      logins.push((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password } })).status)
    expect(logins).toEqual(answers.map(({ status }) => (status === 204 ? 200 : 401)))
  })

  test('a login in flight with the old password gets no session after the password changed', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { passwords } = app.deps
    // The password changes after the login has checked it and before the session starts.
    const deps = {
      ...app.deps,
      passwords: {
        ...passwords,
        verify: async (...args: Parameters<typeof passwords.verify>) => {
          const matches = await passwords.verify(...args)
          expect((await change(app, merchant.token, { current: merchant.password, password: newPassword })).status).toBe(204)
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
