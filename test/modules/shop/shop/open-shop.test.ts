/** Tests `POST /shops/v2`, and super admins who work in shops. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { staff } from '../../../../db/schema/staff.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness, business } from '../../../support/kyb.ts'
import { ok } from '../../../support/selling.ts'
import { staffOf } from '../../../support/staff.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { codeAt, enableTotp } from '../../../support/totp.ts'

setDefaultTimeout(longTestMs)

const shopInput = { shopName: 'second-shop', title: 'Second Shop', country: 'AE', currency: 'AED' }
const postShop = (app: TestApp, token: string, change: object = {}, headers: Record<string, string> = {}) =>
  app.call('POST', '/shops/v2', { token, body: { ...shopInput, ...change }, headers })

describe('opening another shop', () => {
  test('a super admin opens a shop and owns it', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const { body } = ok(await postShop(app, token), 201)
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

  test('a merchant opens a shop if SIGNUP_ENABLED is set, and otherwise gets 403 before the body is validated', async () => {
    await using closed = await testApp()
    const merchant = await closed.merchant()
    expect((await postShop(closed, merchant.token, { unknown: 1 })).status).toBe(403)
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const { token, shop } = await app.merchant()
    expect((await postShop(app, token, { unknown: 1 })).status).toBe(400)
    const { body } = ok(await postShop(app, token), 201)
    const shopIn = (id?: string) => app.call('GET', '/shops/v2', { token, headers: id === undefined ? {} : { 'x-shop-id': id } })
    expect([(await shopIn()).body.id, (await shopIn(body.id)).body.id]).toEqual([shop.id, body.id])
  })

  test('a person who works in no shop opens their first one', async () => {
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const person = await staffOf(app, await app.merchant(), 'READ_ONLY')
    await app.deps.db.write((tx) => tx.delete(staff).where(eq(staff.userId, person.id)))
    ok(await postShop(app, person.token), 201)
  })

  test('an owner of a suspended shop cannot open another until it is restored, but other staff and a super admin can', async () => {
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const [merchant, admin] = [await app.merchant(), await app.superAdmin()]
    const [owner, manager] = [await staffOf(app, merchant, 'OWNER'), await staffOf(app, merchant, 'MANAGER')]
    const setStatus = async (id: string, status: string) =>
      ok(await app.call('PATCH', `/admin/shops/${id}`, { token: admin.token, body: { status } }))
    await setStatus(merchant.shop.id, 'SUSPENDED')
    for (const { token } of [merchant, owner]) {
      const { status, body } = await postShop(app, token)
      expect([status, body.code, body.message]).toEqual([
        409,
        'shop_suspended',
        'You own a suspended shop. Ask the administrator of this instance to restore it first',
      ])
    }
    ok(await postShop(app, manager.token, { shopName: 'of-manager' }), 201)
    const { body: adminShop } = ok(await postShop(app, admin.token, { shopName: 'of-admin' }), 201)
    await setStatus(adminShop.id, 'SUSPENDED')
    ok(await postShop(app, admin.token, { shopName: 'of-admin-too' }), 201)
    await setStatus(merchant.shop.id, 'ACTIVE')
    ok(await postShop(app, merchant.token), 201)
  })

  test('a taken or reserved name and an unknown country or currency are refused with the field', async () => {
    await using app = await testApp()
    const [{ shop }, { token }] = [await app.merchant(), await app.superAdmin()]
    for (const [change, status, field] of [
      [{ shopName: shop.name }, 409, 'shopName'],
      [{ shopName: 'admin' }, 400, 'shopName'],
      [{ country: 'XX' }, 400, 'country'],
      [{ currency: 'XXX' }, 400, 'currency'],
    ] as const) {
      const answer = await postShop(app, token, change)
      const code = status === 409 ? 'already_exists' : 'invalid_field'
      expect([answer.status, answer.body.field, answer.body.code]).toEqual([status, field, code])
    }
  })

  test('repeated requests under one Idempotency-Key open one shop', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const [first, again] = [
      await postShop(app, token, {}, { 'idempotency-key': 'k' }),
      await postShop(app, token, {}, { 'idempotency-key': 'k' }),
    ]
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id])
  })

  test('one of several parallel requests for the same name succeeds', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const answers = await Promise.all([postShop(app, token), postShop(app, token), postShop(app, token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })
})

describe('a super admin with shops', () => {
  test('a super admin with a shop has no merchant access to other shops, or to a shop that removed them', async () => {
    await using app = await testApp()
    const [merchant, { token, id }] = [await app.merchant(), await app.superAdmin()]
    const headers = { 'x-shop-id': merchant.shop.id }
    expect((await app.call('GET', '/shops/v2', { token, headers })).status).toBe(403)
    ok(await postShop(app, token), 201)
    expect((await app.call('GET', '/shops/v2', { token, headers })).status).toBe(404)
    expect((await app.call('PATCH', '/shops/v2', { token, headers, body: { title: 'Mine' } })).status).toBe(404)
    const other = await staffOf(app, { token }, 'OWNER')
    const { data } = (await app.call('GET', '/shops/v2/staff', { token })).body
    const ownRow = data.find(({ userId }: { userId: string }) => userId === id)
    expect((await app.call('DELETE', `/shops/v2/staff/${ownRow.id}`, { token: other.token })).status).toBe(204)
    expect((await app.call('GET', '/shops/v2', { token })).status).toBe(403)
    expect((await app.call('GET', '/admin/shops', { token })).status).toBe(200)
  })

  test('a super admin can use their shop from any address, and operator routes only from allowed addresses', async () => {
    await using app = await testApp({ OPERATOR_IP_ALLOWLIST: '203.0.113.0/24' })
    const { token } = await app.superAdmin()
    const from = '198.51.100.1'
    ok(await app.call('POST', '/shops/v2', { token, from, body: shopInput }), 201)
    expect((await app.call('GET', '/shops/v2', { token, from })).status).toBe(200)
    expect((await app.call('GET', '/v2/events', { token, from })).status).toBe(200)
    expect((await app.call('GET', '/admin/operations/jobs', { token, from })).status).toBe(403)
    expect((await app.call('GET', '/admin/operations/jobs', { token, from: '203.0.113.1' })).status).toBe(200)
  })

  test('a super admin files a KYB record and approves it with one token, and both events name this account', async () => {
    await using app = await testApp()
    const { token, id } = await app.superAdmin()
    const { body: shop } = ok(await postShop(app, token), 201)
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

  test('a super admin creates loan applications for their own shop, and as an operator for other merchants', async () => {
    await using app = await testApp({ LENDING_PLATFORM_ENABLED: 'true' })
    const [merchant, admin] = [await app.merchant(), await app.superAdmin()]
    await approveBusiness(app, merchant, admin)
    const { body: shop } = ok(await postShop(app, admin.token), 201)
    await approveBusiness(app, admin, admin)
    const draft = (body: object, headers: Record<string, string> = {}) =>
      app.call('POST', '/lending-application', { token: admin.token, body, headers })
    const { cohort } = business
    expect(ok(await draft({ merchantId: merchant.id, cohort }), 201).body.merchantId).toBe(merchant.id)
    expect(ok(await draft({}, { 'x-shop-id': shop.id }), 201).body.merchantId).toBe(admin.id)
    expect(ok(await draft({ merchantId: admin.id, cohort }), 201).body.merchantId).toBe(admin.id)
  })

  test('a super admin with a shop needs the second factor of the account at login', async () => {
    await using app = await testApp()
    const admin = await app.superAdmin()
    ok(await postShop(app, admin.token), 201)
    const { secret } = await enableTotp(app, admin)
    const { email, password } = admin
    const login = (code?: string) => app.call('POST', '/merchant/login', { body: { email, password, ...(code ? { code } : {}) } })
    expect((await login()).body.error).toBe('TOTP_REQUIRED')
    const { token = '' } = { token: ok(await login(codeAt(secret, app.clock.now(), 1))).body.data.accessToken }
    expect((await app.call('GET', '/merchant/me', { token })).body.merchant.secondFactor).toBe(true)
  })
})
