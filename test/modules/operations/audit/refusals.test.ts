/** Tests the audit rows of failed logins and hit limits: bounded, and without personal data. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { inArray } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { anonymousActionNames } from '../../../../src/modules/operations/audit/domain.ts'
import { createAuditTrail } from '../../../../src/modules/operations/audit/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { customerIn } from '../../../support/customers.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const refusalRowsOf = ({ deps }: TestApp) =>
  deps.db.read
    .select()
    .from(auditLog)
    .where(inArray(auditLog.action, [...anonymousActionNames]))
    .orderBy(auditLog.id)
const summariesOf = async (app: TestApp) =>
  (await refusalRowsOf(app)).map(({ actor, action, subject, address, after }) => [actor, action, subject, address, after])
const from = '203.0.113.7'
const logIn = (app: TestApp, email: string, password = 'not the password', address = from) =>
  app.call('POST', '/merchant/login', { body: { email, password }, from: address })

test('failed logins of merchants, operators and customers are audited under the account with address, request and count', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const admin = await app.superAdmin()
  const customer = await customerOf(app, shop.shop.name)
  const { headers } = await logIn(app, shop.email)
  for (let nth = 2; nth <= 10; nth++) await logIn(app, shop.email)
  await logIn(app, admin.email)
  await app.call('POST', '/customer/login', {
    body: { shopName: shop.shop.name, email: 'shopper@example.com', password: 'wrong one' },
    from,
  })
  const failed = (id: string, failures: number) => [id, 'login.failed', id, from, { failures }]
  expect(await summariesOf(app)).toEqual([
    ...[1, 2, 4, 8, 10].map((failures) => failed(shop.id, failures)),
    failed(admin.id, 1),
    failed(customer.id, 1),
  ])
  const rows = await refusalRowsOf(app)
  expect(rows[0]?.requestId).toBe(headers.get('x-request-id') ?? '')
  expect(rows.map(({ shopId }) => shopId)).toEqual([...Array(6).fill(null), shop.shop.id])
})

test('a wrong current password at a password change is audited like a failed login', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const customer = await customerOf(app, shop.shop.name)
  for (const { token } of [shop, customer])
    expect(
      (await app.call('POST', '/auth/password', { token, body: { current: 'not the one', password: 'planted password' }, from })).status,
    ).toBe(401)
  expect(await summariesOf(app)).toEqual([shop, customer].map(({ id }) => [id, 'login.failed', id, from, { failures: 1 }]))
  expect((await refusalRowsOf(app)).map(({ shopId }) => shopId)).toEqual([null, shop.shop.id])
})

test('failed logins of unknown accounts are audited equally, without names or input', async () => {
  await using app = await testApp()
  for (let nth = 1; nth <= 10; nth++) await logIn(app, 'planted@example.com', 'planted password')
  await app.call('POST', '/customer/login', {
    body: { shopName: 'no-such-shop', email: 'planted@example.com', password: 'planted one' },
    from,
  })
  const failed = (failures: number) => ['anonymous', 'login.failed', 'anonymous', from, { failures }]
  expect(await summariesOf(app)).toEqual([...[1, 2, 4, 8, 10].map(failed), failed(1)])
  expect(JSON.stringify(await refusalRowsOf(app))).not.toContain('planted')
})

test('a successful login adds no refusal row', async () => {
  await using app = await testApp()
  const { email, password } = await app.merchant()
  ok(await logIn(app, email, password))
  expect(await summariesOf(app)).toEqual([])
})

test('a rate-limited login is audited once an hour, however often it is sent', async () => {
  await using app = await testApp()
  const { email } = await app.merchant()
  for (let nth = 1; nth <= 10; nth++) await logIn(app, email)
  const limitedRows = async () => (await summariesOf(app)).filter(([, action]) => action === 'login.limited')
  const row = ['anonymous', 'login.limited', 'POST /merchant/login', from, null]
  for (let nth = 1; nth <= 20; nth++) expect((await logIn(app, email)).status).toBe(429)
  expect(await limitedRows()).toEqual([row])
  await Promise.all(Array.from({ length: 20 }, () => logIn(app, email)))
  expect(await limitedRows()).toEqual([row])
})

test('every limit is audited with principal and declared route', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  const tryCode = () =>
    app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: '0000-0000-0000-0000', cartId }, from })
  for (let nth = 1; nth <= 12; nth++) await tryCode()
  for (let nth = 1; nth <= 12; nth++) await app.call('GET', '/shops/v2/private-key', { token: shop.token, from })
  const rows = await refusalRowsOf(app)
  expect(rows.map(({ actor, action, subject, shopId, address }) => [actor.split('_')[0], action, subject, shopId, address])).toEqual([
    ['key', 'limit.hit', 'PATCH /giftcard/apply', shop.shop.id, from],
    ['mer', 'limit.hit', 'GET /shops/v2/private-key', shop.shop.id, from],
  ])
  expect(JSON.stringify(rows)).not.toContain(cartId)
})

test('the write limit is audited with principal and shop: a publishable key, a customer or an anonymous client', async () => {
  await using app = await testApp({ STOREFRONT_WRITES_PER_MINUTE: '1' })
  const { publishableKey: key, shop } = await app.merchant()
  const customer = await customerIn(app, shop)
  for (let nth = 1; nth <= 3; nth++) {
    await app.call('POST', '/cart', { key, body: {}, from })
    await app.call('POST', '/cart', { key, token: customer.token, body: {}, from })
    await app.call('POST', '/auth/logout', { body: { refreshToken: 'made up' }, from })
  }
  const rows = (await refusalRowsOf(app)).map(({ actor, action, subject, shopId }) => [actor.split('_')[0], action, subject, shopId])
  expect(rows).toEqual([
    ['anonymous', 'limit.hit', 'POST /auth/logout', null],
    ['key', 'limit.hit', 'POST /cart', shop.id],
    ['cus', 'limit.hit', 'POST /cart', shop.id],
  ])
})

test('anonymous rows are limited per address, and a single row reports the excess', async () => {
  await using app = await testApp()
  for (let nth = 1; nth <= 45; nth++) await logIn(app, `nobody${nth}@example.com`)
  const rows = await summariesOf(app)
  expect(rows.filter(([, action]) => action === 'login.failed')).toHaveLength(30)
  expect(rows.slice(30)).toEqual([['anonymous', 'audit.suppressed', 'address', from, { rowsPerHour: 30 }]])
  await logIn(app, 'another@example.com', 'wrong', '203.0.113.8')
  expect(await summariesOf(app)).toHaveLength(32)
  app.clock.advance(3_600_000)
  await logIn(app, 'yet-another@example.com')
  expect(await summariesOf(app)).toHaveLength(33)
})

test('anonymous rows are limited per IPv6 /64 and network, so that one client cannot hide others', async () => {
  await using app = await testApp()
  for (let nth = 1; nth <= 40; nth++) await logIn(app, `nobody${nth}@example.com`, 'wrong', `2001:db8:77:1::${nth.toString(16)}`)
  const rows = await summariesOf(app)
  expect(rows.map(([, action, subject]) => [action, subject])).toEqual([
    ...Array(30).fill(['login.failed', 'anonymous']),
    ['audit.suppressed', 'address'],
  ])
  for (let nth = 2; nth <= 150; nth++) await logIn(app, `nobody${nth}@example.com`, 'wrong', `2001:db8:77:${nth.toString(16)}::1`)
  expect((await summariesOf(app)).slice(31).map(([, action, subject]) => [action, subject])).toEqual([
    ...Array(69).fill(['login.failed', 'anonymous']),
    ['audit.suppressed', 'network'],
  ])
  const merchant = await app.merchant()
  await logIn(app, merchant.email, 'wrong', '198.51.100.77')
  expect((await summariesOf(app)).slice(101)).toEqual([[merchant.id, 'login.failed', merchant.id, '198.51.100.77', { failures: 1 }]])
})

test('excess anonymous rows are logged with actor, action and address', async () => {
  await using app = await testApp()
  for (let nth = 1; nth <= 30; nth++) await logIn(app, `nobody${nth}@example.com`)
  const { id, email } = await app.merchant()
  const suppressedEvents = () =>
    app.logged.filter(({ event }) => event === 'audit.suppressed').map(({ level, fields }) => ({ level, ...fields }))
  expect(suppressedEvents()).toEqual([])
  for (let nth = 1; nth <= 2; nth++) await logIn(app, email)
  expect(suppressedEvents()).toEqual(Array(2).fill({ level: 'warn', actor: id, action: 'login.failed', subject: id, address: from }))
  expect(JSON.stringify(app.logged)).not.toContain(email)
})

test('a limit that is hit repeatedly is looked up once a minute, without database access in between', async () => {
  await using app = await testApp()
  let reads = 0
  const read = new Proxy(app.deps.db.read, {
    get(target, name) {
      reads++
      return Reflect.get(target, name)
    },
  })
  const trail = createAuditTrail({ ...app.deps, db: { ...app.deps.db, read } })
  const hitLimit = (address: string) => trail.limitHit({ actor: { id: 'anonymous', address }, route: 'POST /cart' })
  await hitLimit('2001:db8::1')
  const first = reads
  expect(first).toBeGreaterThan(0)
  for (let nth = 2; nth < 50; nth++) await hitLimit(`2001:db8::${nth}`)
  expect(reads).toBe(first)
  await hitLimit('203.0.113.1')
  expect(reads).toBe(2 * first)
  app.clock.advance(60_000)
  await hitLimit('2001:db8::1')
  expect(reads).toBeGreaterThan(2 * first)
  expect(await summariesOf(app)).toHaveLength(2)
})

test('anonymous rows are limited per instance, whatever the number of addresses', async () => {
  await using app = await testApp()
  for (let nth = 1; nth <= 320; nth++) await logIn(app, `nobody${nth}@example.com`, 'wrong', `198.${nth >> 8}.${nth & 255}.7`)
  const rows = await summariesOf(app)
  expect(rows.filter(([, action]) => action === 'login.failed')).toHaveLength(300)
  expect(rows.slice(300).map(([actor, action, subject]) => [actor, action, subject])).toEqual([
    ['anonymous', 'audit.suppressed', 'instance'],
  ])
  // Refusals of an account are recorded despite the limit.
  const { token } = await app.merchant()
  ok(await app.call('PATCH', '/shops/v2', { token, body: { title: 'Another' } }))
  const all = await app.deps.db.read.select().from(auditLog)
  expect(all.some(({ action }) => action === 'shop.changed')).toBe(true)
})

test('a refusal that cannot be recorded is logged as audit.refusal_not_noted, and the response is the same', async () => {
  await using app = await testApp()
  const refused = () => app.call('GET', '/admin/dashboard/gmv')
  const expected = await refused()
  app.clock.advance(2 * 3_600_000)
  const { db } = app.deps
  const { write } = db
  db.write = async () => {
    throw new Error('no connection')
  }
  const answer = await refused()
  db.write = write
  const body = ({ body: { requestId: _, ...rest } }: typeof answer) => rest
  expect([answer.status, body(answer)]).toEqual([expected.status, body(expected)])
  const logged = app.logged.filter(({ event }) => event === 'audit.refusal_not_noted')
  expect(logged).toMatchObject([{ level: 'warn', fields: { action: 'operator.refused' } }])
})
