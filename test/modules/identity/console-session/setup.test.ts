/** Tests the first run: the token that the server prints creates the first super admin. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { oneTimeTokens } from '../../../../db/schema/mail.ts'
import { auditLog, users } from '../../../../db/schema/people.ts'
import { issueSetupToken } from '../../../../src/modules/identity/console-session/index.ts'
import { createSuperAdmin } from '../../../../src/modules/identity/merchant/index.ts'
import { type CallOptions, type TestApp, testApp } from '../../../support/app.ts'
import { cookieHeaderOf, cookieOf, postSession, resumeSession, sameOrigin } from '../../../support/console.ts'
import { testDatabase } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const root = { email: 'root@example.com', password: 'password-of-root' }
const setUp = (app: TestApp, body: unknown, more: CallOptions = {}) =>
  app.call('POST', '/console/setup', { body, headers: sameOrigin, ...more })
async function issueToken(app: TestApp): Promise<string> {
  const token = await issueSetupToken(app.deps)
  if (token === undefined) throw new Error('no token was issued')
  return token
}
const readAdmins = (app: TestApp) => app.deps.db.read.select().from(users).where(eq(users.role, 'SUPER_ADMIN'))

describe('the first run', () => {
  test('returns SETUP_REQUIRED, creates the super admin by the token and logs in', async () => {
    await using app = await testApp()
    const before = await postSession(app)
    expect([before.status, before.body.error]).toEqual([401, 'SETUP_REQUIRED'])
    const token = await issueToken(app)
    const created = await setUp(
      app,
      { token, ...root, email: 'Root@Example.com' },
      { headers: { ...sameOrigin, 'x-request-id': 'first-run' } },
    )
    expect([created.status, created.headers.get('cache-control')]).toEqual([201, 'no-store'])
    expect(created.body).toEqual({
      ...{ accessToken: expect.any(String), expiresIn: 3600, roles: ['SUPER_ADMIN'], shops: [] },
      ...{ canCreateShops: true, features: [], affiliateShops: [] },
    })
    expect(cookieOf(created).rest).toBe('Path=/console/session; Max-Age=7200; HttpOnly; SameSite=Strict')
    expect((await app.call('GET', '/admin/audit', { token: created.body.accessToken })).status).toBe(200)
    expect((await resumeSession(app, cookieHeaderOf(created))).body.roles).toEqual(['SUPER_ADMIN'])
    expect((await postSession(app, root)).status).toBe(200)
    expect((await postSession(app)).body.error).toBe('Unauthorized')
    const [user] = await readAdmins(app)
    expect(user).toMatchObject({ email: root.email })
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'super_admin.created'))
    expect(rows).toMatchObject([{ actor: user?.id, subject: user?.id, requestId: 'first-run' }])
    expect(JSON.stringify(rows)).not.toContain(token)
  })

  test('with a shop, the same account owns it: one login and one token for the shop and for administration', async () => {
    await using app = await testApp()
    const shop = { shopName: 'first-shop', title: 'First Shop', country: 'AE', currency: 'AED' }
    const created = await setUp(app, { token: await issueToken(app), ...root, shop })
    expect(created.status).toBe(201)
    expect([created.body.roles, created.body.shops]).toEqual([
      ['SUPER_ADMIN'],
      [expect.objectContaining({ name: 'first-shop', title: 'First Shop', country: 'AE', currency: 'AED', mode: 'TEST', role: 'OWNER' })],
    ])
    const token = created.body.accessToken
    expect(JSON.parse(atob(token.split('.')[1])).role).toBe('SUPER_ADMIN')
    expect((await app.call('GET', '/shops/v2', { token })).body.name).toBe('first-shop')
    expect((await app.call('PATCH', '/shops/v2', { token, body: { title: 'Renamed' } })).status).toBe(200)
    expect((await app.call('GET', '/admin/shops', { token })).body.data).toMatchObject([{ name: 'first-shop' }])
    for (const session of [await resumeSession(app, cookieHeaderOf(created)), await postSession(app, root)])
      expect([session.body.roles, session.body.shops]).toMatchObject([['SUPER_ADMIN'], [{ name: 'first-shop', role: 'OWNER' }]])
    const [user] = await readAdmins(app)
    const rows = await app.deps.db.read
      .select()
      .from(auditLog)
      .where(eq(auditLog.actor, user?.id ?? ''))
    expect(rows.map(({ action }) => action)).toEqual(expect.arrayContaining(['super_admin.created', 'shop.created', 'shop.changed']))
    expect(rows.find(({ action }) => action === 'shop.created')).toMatchObject({
      subject: created.body.shops[0].id,
      shopId: created.body.shops[0].id,
    })
  })

  test('a shop that cannot be created leaves no account, and the token stays valid', async () => {
    await using app = await testApp()
    const { shop: existing } = await app.merchant()
    const token = await issueToken(app)
    const shop = { shopName: 'first-shop', title: 'First Shop', country: 'AE', currency: 'AED' }
    for (const [invalid, status, field] of [
      [{ shopName: existing.name }, 409, 'shop.shopName'],
      [{ shopName: 'No Handle' }, 400, 'shop.shopName'],
      [{ shopName: 'admin' }, 400, 'shop.shopName'],
      [{ country: 'XX' }, 400, 'shop.country'],
      [{ currency: 'XXX' }, 400, 'shop.currency'],
      [{ title: ' ' }, 400, 'shop.title'],
    ] as const) {
      const answer = await setUp(app, { token, ...root, shop: { ...shop, ...invalid } })
      expect([answer.status, answer.body.field]).toEqual([status, field])
    }
    expect(await readAdmins(app)).toEqual([])
    expect((await setUp(app, { token, ...root, shop })).status).toBe(201)
  })

  test('an existing merchant can log in before the first run, and a request without a valid session gets SETUP_REQUIRED', async () => {
    await using app = await testApp()
    const { email, password } = await app.merchant()
    const answer = await postSession(app, { email, password })
    expect([answer.status, (await resumeSession(app, cookieHeaderOf(answer))).status]).toEqual([200, 200])
    expect((await resumeSession(app, 'souk_console_80=x')).body.error).toBe('SETUP_REQUIRED')
    expect((await postSession(app, { email, password: 'wrong-password' })).body.error).toBe('Unauthorized')
  })

  test('only the hash of the token is stored', async () => {
    await using app = await testApp()
    const token = await issueToken(app)
    const rows = await app.deps.db.read.select().from(oneTimeTokens)
    expect([rows.length, JSON.stringify(rows).includes(token), token.length]).toEqual([1, false, 43])
  })

  test('a token works once, and all tokens are refused as soon as a super admin exists', async () => {
    await using app = await testApp()
    const [first, second] = [await issueToken(app), await issueToken(app)]
    expect((await setUp(app, { token: second, ...root })).status).toBe(201)
    for (const token of [first, second, 'a'.repeat(43)]) {
      const refused = await setUp(app, { token, ...root, email: 'other@example.com' })
      expect([refused.status, refused.headers.has('set-cookie')]).toEqual([409, false])
    }
    expect(await readAdmins(app)).toHaveLength(1)
    expect(await issueSetupToken(app.deps)).toBeUndefined()
  })

  test('a super admin that `souk setup` creates also ends the first run', async () => {
    await using app = await testApp()
    const token = await issueToken(app)
    await createSuperAdmin(app.deps, root)
    expect((await setUp(app, { token, ...root, email: 'other@example.com' })).status).toBe(409)
    expect(await readAdmins(app)).toHaveLength(1)
  })

  test('a token that is wrong or older than a day is 401, and after fifty attempts an address gets 429', async () => {
    await using app = await testApp()
    const token = await issueToken(app)
    const setUpWith = (text: string, from: string) => setUp(app, { token: text, ...root }, { from })
    expect((await setUpWith(`${token.slice(0, -1)}${token.endsWith('A') ? 'Q' : 'A'}`, '203.0.113.1')).status).toBe(401)
    expect((await setUpWith('b'.repeat(43), '203.0.113.1')).body.code).toBe('invalid_link')
    expect((await setUpWith(token.slice(1), '203.0.113.1')).status).toBe(400)
    for (let nth = 0; nth < 50; nth++) expect((await setUpWith('a'.repeat(43), '203.0.113.9')).status).toBe(401)
    const limited = await setUpWith(token, '203.0.113.9')
    expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true])
    app.clock.advance(24 * 60 * 60 * 1000)
    expect((await setUpWith(token, '203.0.113.1')).status).toBe(401)
    expect(await readAdmins(app)).toEqual([])
    expect((await setUpWith(await issueToken(app), '203.0.113.1')).status).toBe(201)
  })

  test('the token stays valid after an error of another field, such as a common password or a taken e-mail address', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const token = await issueToken(app)
    expect((await setUp(app, { token, ...root, password: 'password123' })).status).toBe(400)
    expect((await setUp(app, { token, ...root, password: 'short' })).status).toBe(400)
    expect((await setUp(app, { token, ...root, email: 'nobody' })).status).toBe(400)
    expect((await setUp(app, { token, ...root, email: merchant.email })).status).toBe(409)
    expect(await readAdmins(app)).toEqual([])
    expect((await setUp(app, { token, ...root })).status).toBe(201)
  })

  test('concurrent requests with several tokens create one super admin', async () => {
    await using app = await testApp()
    const tokens = [await issueToken(app), await issueToken(app), await issueToken(app)]
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, nth) => setUp(app, { token: tokens[nth % 3], ...root, email: `root${nth}@example.com` })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status } of answers) expect([201, 401, 409]).toContain(status)
    expect(await readAdmins(app)).toHaveLength(1)
  })

  test('a token is valid in another process and after a restart, beside the token that is printed then', async () => {
    const database = await testDatabase()
    let token: string
    {
      await using first = await testApp({}, { database })
      token = await issueToken(first)
    }
    {
      await using second = await testApp({}, { database })
      await issueToken(second)
      expect((await setUp(second, { token, ...root })).status).toBe(201)
    }
    await database.drop()
  })
})
