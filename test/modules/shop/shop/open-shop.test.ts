/** Tests `POST /shops/v2`, and super admins who work in shops. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { staff } from '../../../../db/schema/staff.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { approved, business } from '../../../support/kyb.ts'
import { ok } from '../../../support/selling.ts'
import { staffOf } from '../../../support/staff.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { codeAt, confirmedTotp } from '../../../support/totp.ts'

setDefaultTimeout(longTestMs)

const newShop = { shopName: 'second-shop', title: 'Second Shop', country: 'AE', currency: 'AED' }
const open = (app: TestApp, token: string, change: object = {}, headers: Record<string, string> = {}) =>
  app.call('POST', '/shops/v2', { token, body: { ...newShop, ...change }, headers })

describe('opening another shop', () => {
  test('a super admin opens one and owns it', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const { body } = ok(await open(app, token), 201)
    expect(body).toMatchObject({
      name: 'second-shop',
      title: 'Second Shop',
      country: 'AE',
      currency: 'AED',
      mode: 'TEST',
      status: 'ACTIVE',
    })
    expect((await app.call('GET', '/shops/v2', { token })).body.id).toBe(body.id)
    expect((await app.call('GET', '/shops/v2/private-key', { token })).body.privateKey).toMatch(/^sk_test_/)
    expect((await app.call('GET', '/merchant/me', { token })).body.shops).toMatchObject([{ id: body.id, role: 'OWNER' }])
    expect((await app.call('GET', `/admin/shops?q=${(await app.superAdmin()).id}`, { token })).body.data).toMatchObject([{ id: body.id }])
  })

  test('a merchant opens one where SIGNUP_ENABLED; elsewhere it is 403 before the body is validated', async () => {
    await using closed = await testApp()
    const merchant = await closed.merchant()
    expect((await open(closed, merchant.token, { unknown: 1 })).status).toBe(403)
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const { token, shop } = await app.merchant()
    expect((await open(app, token, { unknown: 1 })).status).toBe(400)
    const { body } = ok(await open(app, token), 201)
    const shopIn = (id?: string) => app.call('GET', '/shops/v2', { token, headers: id === undefined ? {} : { 'x-shop-id': id } })
    expect([(await shopIn()).body.id, (await shopIn(body.id)).body.id]).toEqual([shop.id, body.id])
  })

  test('a person who works in no shop opens their first one', async () => {
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const person = await staffOf(app, await app.merchant(), 'READ_ONLY')
    await app.deps.db.write((tx) => tx.delete(staff).where(eq(staff.userId, person.id)))
    ok(await open(app, person.token), 201)
  })

  test('an owner of a suspended shop opens none until it is restored, but its other staff and a super admin do', async () => {
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const [merchant, admin] = [await app.merchant(), await app.superAdmin()]
    const [owner, manager] = [await staffOf(app, merchant, 'OWNER'), await staffOf(app, merchant, 'MANAGER')]
    const setStatus = async (id: string, status: string) =>
      ok(await app.call('PATCH', `/admin/shops/${id}`, { token: admin.token, body: { status } }))
    await setStatus(merchant.shop.id, 'SUSPENDED')
    for (const { token } of [merchant, owner]) {
      const { status, body } = await open(app, token)
      expect([status, body.code, body.message]).toEqual([
        409,
        'shop_suspended',
        'You own a suspended shop. Ask the administrator of this instance to restore it first',
      ])
    }
    ok(await open(app, manager.token, { shopName: 'of-manager' }), 201)
    const { body: own } = ok(await open(app, admin.token, { shopName: 'of-admin' }), 201)
    await setStatus(own.id, 'SUSPENDED')
    ok(await open(app, admin.token, { shopName: 'of-admin-too' }), 201)
    await setStatus(merchant.shop.id, 'ACTIVE')
    ok(await open(app, merchant.token), 201)
  })

  test('a taken or reserved name, and an unknown country or currency, name the field', async () => {
    await using app = await testApp()
    const [{ shop }, { token }] = [await app.merchant(), await app.superAdmin()]
    for (const [change, status, field] of [
      [{ shopName: shop.name }, 409, 'shopName'],
      [{ shopName: 'admin' }, 400, 'shopName'],
      [{ country: 'XX' }, 400, 'country'],
      [{ currency: 'XXX' }, 400, 'currency'],
    ] as const) {
      const answer = await open(app, token, change)
      const code = status === 409 ? 'already_exists' : 'invalid_field'
      expect([answer.status, answer.body.field, answer.body.code]).toEqual([status, field, code])
    }
  })

  test('an Idempotency-Key opens one shop however often it is sent', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const [first, again] = [await open(app, token, {}, { 'idempotency-key': 'k' }), await open(app, token, {}, { 'idempotency-key': 'k' })]
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id])
  })

  test('of two requests at once for one name, one succeeds', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const answers = await Promise.all([open(app, token), open(app, token), open(app, token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })
})

describe('a super admin with shops', () => {
  test('is not a merchant in other shops, and not where they were removed', async () => {
    await using app = await testApp()
    const [merchant, { token, id }] = [await app.merchant(), await app.superAdmin()]
    const headers = { 'x-shop-id': merchant.shop.id }
    expect((await app.call('GET', '/shops/v2', { token, headers })).status).toBe(403)
    ok(await open(app, token), 201)
    expect((await app.call('GET', '/shops/v2', { token, headers })).status).toBe(404)
    expect((await app.call('PATCH', '/shops/v2', { token, headers, body: { title: 'Mine' } })).status).toBe(404)
    const other = await staffOf(app, { token }, 'OWNER')
    const { data } = (await app.call('GET', '/shops/v2/staff', { token })).body
    const own = data.find(({ userId }: { userId: string }) => userId === id)
    expect((await app.call('DELETE', `/shops/v2/staff/${own.id}`, { token: other.token })).status).toBe(204)
    expect((await app.call('GET', '/shops/v2', { token })).status).toBe(403)
    expect((await app.call('GET', '/admin/shops', { token })).status).toBe(200)
  })

  test('reaches their shop from anywhere, and operator routes from allowed addresses only', async () => {
    await using app = await testApp({ OPERATOR_IP_ALLOWLIST: '203.0.113.0/24' })
    const { token } = await app.superAdmin()
    const from = '198.51.100.1'
    ok(await app.call('POST', '/shops/v2', { token, from, body: newShop }), 201)
    expect((await app.call('GET', '/shops/v2', { token, from })).status).toBe(200)
    expect((await app.call('GET', '/v2/events', { token, from })).status).toBe(200)
    expect((await app.call('GET', '/admin/operations/jobs', { token, from })).status).toBe(403)
    expect((await app.call('GET', '/admin/operations/jobs', { token, from: '203.0.113.1' })).status).toBe(200)
  })

  test('files the business details and approves them with one token; both are audited as of this account', async () => {
    await using app = await testApp()
    const { token, id } = await app.superAdmin()
    const { body: shop } = ok(await open(app, token), 201)
    const { body: record } = ok(await app.call('POST', '/kyb', { token, body: business }), 201)
    const decision = await app.call('POST', `/admin/kyb/${record.id}/decision`, { token, body: { decision: 'APPROVED' } })
    expect(ok(decision).body.events).toMatchObject([
      { type: 'FILED', actor: id },
      { type: 'APPROVED', actor: id },
    ])
    expect(ok(await app.call('POST', '/shops/v2/go-live', { token })).body.shop).toMatchObject({
      id: shop.id,
      mode: 'LIVE',
      status: 'KYB_VERIFIED',
    })
  })

  test('borrows as a merchant for their own shop, and drafts as an operator for other merchants', async () => {
    await using app = await testApp({ LENDING_PLATFORM_ENABLED: 'true' })
    const [merchant, admin] = [await app.merchant(), await app.superAdmin()]
    await approved(app, merchant, admin)
    const { body: shop } = ok(await open(app, admin.token), 201)
    await approved(app, admin, admin)
    const draft = (body: object, headers: Record<string, string> = {}) =>
      app.call('POST', '/lending-application', { token: admin.token, body, headers })
    const { cohort } = business
    expect(ok(await draft({ merchantId: merchant.id, cohort }), 201).body.merchantId).toBe(merchant.id)
    expect(ok(await draft({}, { 'x-shop-id': shop.id }), 201).body.merchantId).toBe(admin.id)
    expect(ok(await draft({ merchantId: admin.id, cohort }), 201).body.merchantId).toBe(admin.id)
  })

  test('has a second factor for all that the account may do', async () => {
    await using app = await testApp()
    const admin = await app.superAdmin()
    ok(await open(app, admin.token), 201)
    const { secret } = await confirmedTotp(app, admin)
    const { email, password } = admin
    const login = (code?: string) => app.call('POST', '/merchant/login', { body: { email, password, ...(code ? { code } : {}) } })
    expect((await login()).body.error).toBe('TOTP_REQUIRED')
    const { token = '' } = { token: ok(await login(codeAt(secret, app.clock.now(), 1))).body.data.accessToken }
    expect((await app.call('GET', '/merchant/me', { token })).body.merchant.secondFactor).toBe(true)
  })
})
