/** Tests the console's session: its refresh token is only in a cookie, for pages that souk serves. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog, refreshTokens } from '../../../../db/schema/people.ts'
import { system } from '../../../../src/core/command-context.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { type Answer, type CallOptions, type TestApp, testApp } from '../../../support/app.ts'
import {
  cookieHeaderOf,
  cookieOf,
  endSession,
  postSession,
  removesCookie,
  resumeSession,
  sameOrigin,
  sessionPath,
} from '../../../support/console.ts'
import { streamIn } from '../../../support/events.ts'
import { sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { codeAt, enableTotp } from '../../../support/totp.ts'
import { provider } from '../../../support/trust.ts'

setDefaultTimeout(longTestMs)

const statusOfMe = async (app: TestApp, token: string) => (await app.call('GET', '/merchant/me', { token })).status
const auditActionsOf = async (app: TestApp, subject: string) =>
  (await app.deps.db.read.select({ action: auditLog.action }).from(auditLog).where(eq(auditLog.subject, subject))).map(
    ({ action }) => action,
  )

async function startLoggedIn(settings: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const app = await testApp(settings)
  await app.superAdmin()
  const { id, email, password, shop, token: apiToken } = await app.merchant()
  const answer = await postSession(app, { email, password }, headers)
  return {
    app,
    id,
    email,
    password,
    shop,
    apiToken,
    answer,
    cookie: cookieHeaderOf(answer),
    token: String(answer.body.accessToken),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  }
}

describe('a login', () => {
  test("a merchant's login returns their shops, and the refresh token is only in the cookie", async () => {
    await using s = await startLoggedIn()
    expect([s.answer.status, s.answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(Object.keys(s.answer.body).sort()).toEqual([
      ...['accessToken', 'affiliateShops', 'canCreateShops', 'expiresIn', 'features', 'roles', 'shops'],
    ])
    expect(s.answer.body).toMatchObject({
      expiresIn: 3600,
      roles: ['MERCHANT'],
      shops: [{ id: s.shop.id, name: s.shop.name, role: 'OWNER' }],
    })
    expect(s.answer.body.shops).toEqual((await s.app.call('GET', '/merchant/me', { token: s.token })).body.shops)
    const { name, value, rest } = cookieOf(s.answer)
    expect({ name, rest }).toEqual({ name: 'souk_console_80', rest: `Path=${sessionPath}; Max-Age=7200; HttpOnly; SameSite=Strict` })
    expect(value).toMatch(/^[\w-]{43,}$/)
    expect(s.answer.text).not.toContain(value)
    expect(await statusOfMe(s.app, s.token)).toBe(200)
  })

  test('the login says which optional parts are on or used, and whether the account may open shops', async () => {
    await using app = await testApp()
    const [merchant, admin] = [await app.merchant(), await app.superAdmin()]
    const readFeatures = async (account: { email: string; password: string }) => {
      const { features, canCreateShops, affiliateShops } = (await postSession(app, { email: account.email, password: account.password }))
        .body
      return { features, canCreateShops, affiliateShops }
    }
    expect(await readFeatures(merchant)).toEqual({ features: [], canCreateShops: false, affiliateShops: [] })
    expect(await readFeatures(admin)).toEqual({ features: [], canCreateShops: true, affiliateShops: [] })
    await app.merchant()
    const affiliate = { name: 'Partner', code: 'partner', rateBps: 500 }
    expect((await app.call('POST', '/affiliates', { token: merchant.token, body: affiliate })).status).toBe(201)
    await app.call('POST', '/admin/lenders', { token: admin.token, body: { displayName: 'Harbour Bank' } })
    await app.call('POST', '/admin/service-providers', { token: admin.token, body: provider })
    expect(await readFeatures(admin)).toEqual({ features: ['LENDING', 'TRUST', 'RANKINGS'], canCreateShops: true, affiliateShops: [] })
    expect((await readFeatures(merchant)).affiliateShops).toEqual([merchant.shop.id])
    await using other = await testApp({ LENDING_PLATFORM_ENABLED: 'true', SIGNUP_ENABLED: 'true' })
    const { email, password } = await other.merchant()
    expect((await postSession(other, { email, password })).body).toMatchObject({ features: ['LENDING'], canCreateShops: true })
  })

  test('the login returns an event id, from which a later stream gets all events', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { email, password } = shop
    await shop.placeOrder()
    const login = await postSession(app, { email, password })
    await shop.placeOrder()
    const renewed = await resumeSession(app, cookieHeaderOf(login))
    await shop.placeOrder()
    await app.deps.liveNotes.idle()
    for (const [answer, numbers] of [
      [login, [2, 3]],
      [renewed, [3]],
    ] as const) {
      const lastEventId = answer.headers.get('last-event-id') ?? ''
      const stream = await streamIn(app, '/v2/events', { token: shop.token, lastEventId })
      await stream.until(() => stream.events.some(({ event, data }) => event === 'order.confirmed' && data['number'] === 3))
      await stream.close()
      expect(stream.events.filter(({ event }) => event === 'order.placed').map(({ data }) => Number(data['number']))).toEqual([...numbers])
      expect(stream.events.map(({ event }) => event)).not.toContain('resync')
    }
  })

  test('a super admin has no shops', async () => {
    await using app = await testApp()
    const { email, password } = await app.superAdmin()
    const { status, body } = await postSession(app, { email, password })
    expect({ status, roles: body.roles, shops: body.shops }).toEqual({ status: 200, roles: ['SUPER_ADMIN'], shops: [] })
    expect((await app.call('GET', '/admin/audit', { token: body.accessToken })).status).toBe(200)
  })

  test('a wrong password, an unknown account and a customer get the same 401 as at POST /merchant/login, and no cookie', async () => {
    await using s = await startLoggedIn()
    const customer = { shopName: s.shop.name, email: 'ann@example.com', password: 'password-of-ann' }
    expect((await s.app.call('POST', '/customer/signup', { body: customer })).status).toBe(201)
    const bodies = [
      { email: s.email, password: 'wrong-password' },
      { email: 'nobody@example.com', password: 'wrong-password' },
      { email: customer.email, password: customer.password },
    ]
    for (const body of bodies) {
      const answer = await postSession(s.app, body, { cookie: s.cookie })
      expect([answer.status, answer.body, answer.headers.has('set-cookie')]).toEqual([
        401,
        (await s.app.call('POST', '/merchant/login', { body })).body,
        false,
      ])
    }
    expect((await resumeSession(s.app, s.cookie)).status).toBe(200)
  })

  test('a login shares the limits of POST /merchant/login', async () => {
    await using s = await startLoggedIn()
    const wrongLogin = { email: s.email, password: 'wrong-password' }
    for (let nth = 0; nth < 5; nth++) {
      expect((await postSession(s.app, wrongLogin)).status).toBe(401)
      expect((await s.app.call('POST', '/merchant/login', { body: wrongLogin })).status).toBe(401)
    }
    const refused = await postSession(s.app, { email: s.email, password: s.password })
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await resumeSession(s.app, s.cookie)).status).toBe(200)
  })

  test('a login with a second factor requires its code', async () => {
    await using s = await startLoggedIn()
    const { secret } = await enableTotp(s.app, s)
    const { email, password } = s
    const codeRequired = await postSession(s.app, { email, password })
    expect([codeRequired.status, codeRequired.body.error, codeRequired.headers.has('set-cookie')]).toEqual([401, 'TOTP_REQUIRED', false])
    s.app.clock.advance(60_000)
    const passed = await postSession(s.app, { email, password, code: codeAt(secret, s.app.clock.now()) })
    expect([passed.status, passed.body.roles]).toEqual([200, ['MERCHANT']])
    expect((await resumeSession(s.app, cookieHeaderOf(passed))).status).toBe(200)
  })

  test('a login with the cookie of another session ends that session', async () => {
    await using s = await startLoggedIn()
    const other = await s.app.merchant()
    const next = await postSession(s.app, { email: other.email, password: other.password }, { cookie: s.cookie })
    expect([next.status, next.body.shops[0].id]).toEqual([200, other.shop.id])
    expect([await statusOfMe(s.app, s.token), await statusOfMe(s.app, s.apiToken)]).toEqual([401, 200])
    expect((await resumeSession(s.app, s.cookie)).status).toBe(401)
  })

  test.each([
    [{ email: 'a@example.com' }],
    [{ password: 'password-of-1' }],
    [{ code: '123456' }],
    [{ email: 'a@example.com', code: '123456' }],
  ])('a body of %j is refused, because it is neither a login nor empty', async (body) => {
    await using s = await startLoggedIn()
    const answer = await postSession(s.app, body, { cookie: s.cookie })
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('send email and password')])
    expect((await resumeSession(s.app, s.cookie)).status).toBe(200)
  })
})

describe('the cookie alone', () => {
  test('an empty body or object renews the session with a new cookie, and earlier access tokens stay valid', async () => {
    await using s = await startLoggedIn()
    s.app.clock.advance(60_000)
    const second = await resumeSession(s.app, s.cookie)
    const third = await postSession(s.app, {}, { cookie: cookieHeaderOf(second) })
    expect([second.status, third.status, new Set([s.cookie, cookieHeaderOf(second), cookieHeaderOf(third)]).size]).toEqual([200, 200, 3])
    expect(second.body).toMatchObject({ expiresIn: 3600, roles: ['MERCHANT'], shops: [{ id: s.shop.id }] })
    expect(cookieOf(third).rest).toBe(`Path=${sessionPath}; Max-Age=7200; HttpOnly; SameSite=Strict`)
    for (const token of [s.token, second.body.accessToken, third.body.accessToken]) expect(await statusOfMe(s.app, token)).toBe(200)
  })

  test('a session ends after two idle hours, but continues for up to thirty days while it is used', async () => {
    await using s = await startLoggedIn()
    let { cookie } = s
    for (let nth = 0; nth < 30; nth++) {
      s.app.clock.advance(7_199_000)
      const answer = await resumeSession(s.app, cookie)
      expect(answer.status).toBe(200)
      cookie = cookieHeaderOf(answer)
    }
    s.app.clock.advance(7_200_000)
    const over = await resumeSession(s.app, cookie)
    expect([over.status, removesCookie(over), over.body.error]).toEqual([401, true, 'Unauthorized'])
    expect(await auditActionsOf(s.app, s.id)).not.toContain('session.revoked')
  })

  test('the cookie never outlives the session', async () => {
    await using s = await startLoggedIn({ REFRESH_TOKEN_SECONDS: '9000' })
    s.app.clock.advance(7_000_000)
    const answer = await resumeSession(s.app, s.cookie)
    expect(cookieOf(answer).rest).toContain('Max-Age=2000;')
    s.app.clock.advance(2_000_000)
    expect((await resumeSession(s.app, cookieHeaderOf(answer))).status).toBe(401)
    await using shortSession = await startLoggedIn({ REFRESH_TOKEN_SECONDS: '600' })
    expect(cookieOf(shortSession.answer).rest).toContain('Max-Age=600;')
  })

  test('two pages that renew at once get the same cookie, and the session continues', async () => {
    await using s = await startLoggedIn()
    const answers = await Promise.all(Array.from({ length: 6 }, () => resumeSession(s.app, s.cookie)))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(new Set(answers.map(cookieHeaderOf)).size).toBe(1)
    for (const { body } of answers) expect(await statusOfMe(s.app, body.accessToken)).toBe(200)
    expect((await resumeSession(s.app, cookieHeaderOf(answers[0] as Answer))).status).toBe(200)
    const { value } = cookieOf(answers[0] as Answer)
    const rows = await s.app.deps.db.read.select().from(refreshTokens)
    expect([rows.length, JSON.stringify(rows).includes(value)]).toEqual([5, false])
  })

  test('a lost response can be repeated for ten seconds, and later the old cookie ends the session', async () => {
    await using s = await startLoggedIn()
    const lost = await resumeSession(s.app, s.cookie)
    s.app.clock.advance(9_999)
    const repeated = await resumeSession(s.app, s.cookie)
    expect([repeated.status, cookieHeaderOf(repeated)]).toEqual([200, cookieHeaderOf(lost)])
    s.app.clock.advance(1)
    const reused = await resumeSession(s.app, s.cookie)
    expect([reused.status, removesCookie(reused)]).toEqual([401, true])
    expect((await resumeSession(s.app, cookieHeaderOf(repeated))).status).toBe(401)
    for (const token of [s.token, repeated.body.accessToken]) expect(await statusOfMe(s.app, token)).toBe(401)
    expect(await auditActionsOf(s.app, s.id)).toContain('session.revoked')
  })

  test('a clock that is set back does not extend the ten seconds', async () => {
    await using s = await startLoggedIn()
    await resumeSession(s.app, s.cookie)
    s.app.clock.advance(-9_999)
    expect((await resumeSession(s.app, s.cookie)).status).toBe(200)
    s.app.clock.advance(-1)
    expect((await resumeSession(s.app, s.cookie)).status).toBe(401)
  })

  test('a late request with the old cookie, after the new one was used, gets an access token and no cookie', async () => {
    await using s = await startLoggedIn()
    const second = await resumeSession(s.app, s.cookie)
    const third = await resumeSession(s.app, cookieHeaderOf(second))
    const lateResponse = await resumeSession(s.app, s.cookie)
    expect([lateResponse.status, lateResponse.headers.has('set-cookie'), await statusOfMe(s.app, lateResponse.body.accessToken)]).toEqual([
      200,
      false,
      200,
    ])
    expect((await resumeSession(s.app, cookieHeaderOf(third))).status).toBe(200)
  })

  test('a stolen cookie ends the session when thief and owner both renew after the grace', async () => {
    await using s = await startLoggedIn()
    const owner = cookieHeaderOf(await resumeSession(s.app, s.cookie))
    const thief = cookieHeaderOf(await resumeSession(s.app, s.cookie))
    s.app.clock.advance(600_000)
    expect((await resumeSession(s.app, thief)).status).toBe(200)
    s.app.clock.advance(600_000)
    expect((await resumeSession(s.app, owner)).status).toBe(401)
    expect(await auditActionsOf(s.app, s.id)).toContain('session.revoked')
  })

  test('POST /auth/refresh gives the same token as the cookie does within the grace, and ends the session after it', async () => {
    await using s = await startLoggedIn()
    const refresh = () => s.app.call('POST', '/auth/refresh', { body: { refreshToken: cookieOf(s.answer).value } })
    const next = await resumeSession(s.app, s.cookie)
    const { status, body } = await refresh()
    expect([status, body.data.refreshToken]).toEqual([200, cookieOf(next).value])
    expect([body.data.accessToken, next.body.accessToken]).toEqual([
      next.body.accessToken,
      (await resumeSession(s.app, s.cookie)).body.accessToken,
    ])
    s.app.clock.advance(10_000)
    expect((await refresh()).status).toBe(401)
    expect((await resumeSession(s.app, cookieHeaderOf(next))).status).toBe(401)
  })

  test('a console token that POST /auth/refresh renews is valid for two hours', async () => {
    await using s = await startLoggedIn()
    const refresh = (refreshToken: string) => s.app.call('POST', '/auth/refresh', { body: { refreshToken } })
    const { data } = (await refresh(cookieOf(s.answer).value)).body
    s.app.clock.advance(7_200_000)
    expect((await refresh(data.refreshToken)).status).toBe(401)
  })

  test('a forged, truncated, empty, misnamed or repeated cookie gets 401 and is removed', async () => {
    await using s = await startLoggedIn()
    const { name, value } = cookieOf(s.answer)
    for (const forged of ['x', value.slice(0, -1), 'a'.repeat(64)]) {
      const answer = await resumeSession(s.app, `${name}=${forged}`)
      expect([answer.status, removesCookie(answer), answer.headers.get('cache-control')]).toEqual([401, true, 'no-store'])
    }
    const unusable = [`${name}=`, `other=${value}`, `__Secure-souk_console=${value}`, `${name}="${value}"`]
    for (const cookie of unusable) {
      const answer = await resumeSession(s.app, cookie)
      expect([cookie, answer.status, answer.headers.has('set-cookie')]).toEqual([cookie, 401, false])
    }
    expect((await postSession(s.app)).status).toBe(401)
    expect((await resumeSession(s.app, `a=b; ${s.cookie};c=d`)).status).toBe(200)
  })

  test('a repeated cookie counts as none, and all of its name are removed for every path and domain', async () => {
    await using s = await startLoggedIn()
    const { name, value } = cookieOf(s.answer)
    const repeatedCookie = `${name}=${value}; ${name}=x`
    const refused = await resumeSession(s.app, repeatedCookie)
    const paths = ['/', '/console', '/console/', '/console/session']
    const expected = paths.map((one) => `${name}=; Path=${one}; Max-Age=0; HttpOnly; SameSite=Strict`)
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, expected])
    // The session still works. A login removes the other cookies, sets its own last, and ends the session that it replaces.
    const { email, password } = s
    const relogin = await postSession(s.app, { email, password }, { cookie: repeatedCookie })
    expect([relogin.status, relogin.headers.getSetCookie().slice(0, -1)]).toEqual([200, expected])
    expect(relogin.headers.getSetCookie().at(-1)).toStartWith(`${name}=`)
    expect(relogin.headers.getSetCookie().at(-1)).toContain('Max-Age=7200')
    expect((await resumeSession(s.app, s.cookie)).status).toBe(401)
    expect((await resumeSession(s.app, String(relogin.headers.getSetCookie().at(-1)?.split(';')[0]))).status).toBe(200)
  })

  test('a login removes a cookie of the same name that another page has set', async () => {
    await using s = await startLoggedIn()
    const { name } = cookieOf(s.answer)
    const relogin = await postSession(s.app, { email: s.email, password: s.password }, { cookie: `${name}=x` })
    expect(relogin.headers.getSetCookie().map((one) => one.split(';')[1])).toEqual(
      ['/', '/console', '/console/', sessionPath, sessionPath].map((one) => ` Path=${one}`),
    )
  })

  test('a logout with a repeated cookie ends the session and removes all of them', async () => {
    await using s = await startLoggedIn()
    const { name, value } = cookieOf(s.answer)
    const ended = await endSession(s.app, `${name}=x; ${name}=${value}`)
    expect([ended.status, ended.headers.getSetCookie().length]).toEqual([204, 5])
    expect((await resumeSession(s.app, s.cookie)).status).toBe(401)
  })

  test('over TLS, a cookie that another site set for the whole domain is removed, too', async () => {
    await using s = await startLoggedIn()
    const headers = { origin: 'https://souk.shop.example', host: 'souk.shop.example' }
    const refused = await resumeSession(s.app, '__Secure-souk_console=a; __Secure-souk_console=b', headers)
    const ofRoot = (domain: string) => `__Secure-souk_console=; Path=/;${domain} Max-Age=0; HttpOnly; SameSite=Strict; Secure`
    expect(refused.status).toBe(401)
    expect(refused.headers.getSetCookie()).toHaveLength(12)
    expect(refused.headers.getSetCookie().slice(0, 3)).toEqual(['', ' Domain=souk.shop.example;', ' Domain=shop.example;'].map(ofRoot))
  })

  test("an access token or a customer's refresh token is refused as cookie, and the customer's session stays", async () => {
    await using s = await startLoggedIn()
    const { name } = cookieOf(s.answer)
    const { data } = await startSession(s.app.deps, { id: 'cus_x', role: 'CUSTOMER', shopId: s.shop.id }, system)
    const refused = await resumeSession(s.app, `${name}=${data.refreshToken}`)
    expect([refused.status, removesCookie(refused)]).toEqual([401, true])
    expect((await endSession(s.app, `${name}=${data.refreshToken}`)).status).toBe(204)
    expect((await s.app.call('POST', '/auth/refresh', { body: { refreshToken: data.refreshToken } })).status).toBe(200)
    expect((await resumeSession(s.app, `${name}=${s.token}`)).status).toBe(401)
  })

  test('a session ended by a new password or DELETE /auth/sessions gets 401 at the next request, and the cookie is removed', async () => {
    await using s = await startLoggedIn()
    expect((await s.app.call('DELETE', '/auth/sessions', { token: s.apiToken })).status).toBe(204)
    const over = await resumeSession(s.app, s.cookie)
    expect([over.status, removesCookie(over)]).toEqual([401, true])

    await using other = await startLoggedIn()
    const changed = { current: other.password, password: 'quite-another-password' }
    const answer = await other.app.call('POST', '/auth/password', { token: other.apiToken, body: changed })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await resumeSession(other.app, other.cookie)).status).toBe(401)
  })

  test('a renewal returns the current roles, after a change of role or the loss of a shop', async () => {
    await using s = await startLoggedIn()
    const member = await s.app.merchant()
    const { db, memberStore } = s.app.deps
    const blank = {
      name: null,
      invitedAt: null,
      invitedByMail: false,
      acceptedBy: null,
      joinedAt: 1,
      createdAt: 1,
      updatedAt: 1,
      email: null,
      version: 1,
    } as const
    const row = { ...blank, id: s.app.deps.newId('staff'), shopId: s.shop.id, userId: member.id, role: 'READ_ONLY' as const }
    await db.write((tx) => memberStore.insert(tx, row))
    const { email, password } = member
    const first = await postSession(s.app, { email, password })
    const rolesOf = ({ body }: Answer) => Object.fromEntries(body.shops.map(({ id, role }: { id: string; role: string }) => [id, role]))
    expect(rolesOf(first)).toEqual({ [member.shop.id]: 'OWNER', [s.shop.id]: 'READ_ONLY' })
    expect((await s.app.call('PATCH', `/shops/v2/staff/${row.id}`, { token: s.token, body: { role: 'MANAGER' } })).status).toBe(200)
    const second = await resumeSession(s.app, cookieHeaderOf(first))
    expect(rolesOf(second)).toEqual({ [member.shop.id]: 'OWNER', [s.shop.id]: 'MANAGER' })
    expect((await s.app.call('DELETE', `/shops/v2/staff/${row.id}`, { token: s.token })).status).toBe(204)
    expect(rolesOf(await resumeSession(s.app, cookieHeaderOf(second)))).toEqual({ [member.shop.id]: 'OWNER' })
  })

  test('a renewal shows that a shop is suspended', async () => {
    await using s = await startLoggedIn()
    const { token } = await s.app.superAdmin()
    const suspended = await s.app.call('PATCH', `/admin/shops/${s.shop.id}`, { token, body: { status: 'SUSPENDED' } })
    expect(suspended.status).toBe(200)
    expect((await resumeSession(s.app, s.cookie)).body.shops).toMatchObject([{ id: s.shop.id, status: 'SUSPENDED' }])
  })

  test('the session is in the list of own sessions, with the address of its last renewal', async () => {
    await using s = await startLoggedIn()
    const answer = await postSession(s.app, undefined, { cookie: s.cookie, 'user-agent': 'Console/1' }, { from: '203.0.113.9' })
    const { data } = (await s.app.call('GET', '/auth/sessions', { token: answer.body.accessToken })).body
    expect(data.find(({ current }: { current: boolean }) => current)).toMatchObject({ address: '203.0.113.9', agent: 'Console/1' })
  })
})

describe('logging out', () => {
  test('a logout ends the session and its access tokens, removes the cookie, and works without one', async () => {
    await using s = await startLoggedIn()
    for (let nth = 0; nth < 2; nth++) {
      const ended = await endSession(s.app, s.cookie)
      expect([ended.status, ended.text, removesCookie(ended)]).toEqual([204, '', true])
    }
    expect((await s.app.call('DELETE', sessionPath, { headers: sameOrigin })).status).toBe(204)
    expect([await statusOfMe(s.app, s.token), await statusOfMe(s.app, s.apiToken)]).toEqual([401, 200])
    expect((await resumeSession(s.app, s.cookie)).status).toBe(401)
    expect((await auditActionsOf(s.app, s.id)).filter((action) => action === 'session.ended')).toHaveLength(1)
  })
})

describe('with the console switched off', () => {
  test('every console path is 404', async () => {
    await using app = await testApp({ CONSOLE_ENABLED: 'false' })
    const { email, password } = await app.merchant()
    const nothing = { statusCode: 404, message: 'Unknown path', error: 'Not Found', code: 'not_found' }
    for (const [method, at] of [
      ['POST', sessionPath],
      ['DELETE', sessionPath],
      ['GET', sessionPath],
      ['POST', '/console/setup'],
      ['OPTIONS', sessionPath],
    ] as const) {
      for (const options of [
        {},
        { body: { email, password }, headers: sameOrigin },
        { raw: 'x', headers: { 'content-type': 'text/plain' } },
      ]) {
        if (method === 'GET' && 'raw' in options) continue
        const { body: _, raw: __, ...bare } = options as CallOptions
        expect((await app.call(method, at, method === 'GET' ? bare : options)).body).toEqual(nothing)
      }
    }
  })
})
