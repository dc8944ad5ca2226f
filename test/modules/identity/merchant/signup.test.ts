import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { attempts, auditLog, users } from '../../../../db/schema/people.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const signup = { email: 'New@Example.com', password: 'long enough', shopName: 'new-shop', country: 'AE', currency: 'AED' }
const signupOn = { SIGNUP_ENABLED: 'true' }

describe('signing up as a merchant', () => {
  test('signing up as a merchant is an unknown path while it is switched off, for any body', async () => {
    await using app = await testApp()
    const { text: unknownPath } = await app.call('POST', '/nowhere', { body: {} })
    for (const body of [signup, {}, { email: 5 }, { ...signup, password: 'short' }]) {
      const answer = await app.call('POST', '/merchant/signup', { body })
      expect([answer.status, answer.text]).toEqual([404, unknownPath])
    }
    expect(await app.deps.db.read.select().from(users)).toEqual([])
  })

  test('signing up as a merchant creates and returns a merchant and a shop in mode TEST, with two keys', async () => {
    await using app = await testApp(signupOn)
    for (const rogue of ['role', 'id', 'mode'])
      expect((await app.call('POST', '/merchant/signup', { body: { ...signup, [rogue]: 'SUPER_ADMIN' } })).body.message).toBe(
        `unknown field: ${rogue}`,
      )
    const answer = await app.call('POST', '/merchant/signup', { body: signup })
    expect(answer.status).toBe(201)
    expect(answer.body.merchant).toEqual({ id: answer.body.merchant.id, email: 'new@example.com', createdAt: '2026-01-06T12:00:00.000Z' })
    expect(answer.body.merchant.id).toMatch(/^mer_[0-9a-z]{26}$/)
    expect(answer.body.shop).toMatchObject({
      name: 'new-shop',
      title: 'new-shop',
      mode: 'TEST',
      status: 'ACTIVE',
      country: 'AE',
      currency: 'AED',
      storefrontOrigins: [],
    })
    for (const hidden of ['password', 'hash', 'sk_', 'merchantId', 'sealed']) expect(answer.text).not.toContain(hidden)
    const { body } = await app.call('POST', '/merchant/login', { body: { email: signup.email, password: signup.password } })
    const token = body.data.accessToken
    expect((await app.call('GET', '/shops/v2', { token })).body.id).toBe(answer.body.shop.id)
    expect((await app.call('GET', '/shops/v2/private-key', { token })).body.privateKey).toMatch(/^sk_test_/)
    expect((await app.call('GET', '/merchant/me', { token })).body).toEqual({
      merchant: { ...answer.body.merchant, secondFactor: false },
      shops: [{ ...answer.body.shop, role: 'OWNER' }],
      kyb: null,
    })
    const [row] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'merchant.created'))
    expect(row).toMatchObject({ actor: answer.body.merchant.id, shopId: answer.body.shop.id })
  })

  test('signing up as a merchant writes an audit row with the request id', async () => {
    await using app = await testApp(signupOn)
    const { body } = await app.call('POST', '/merchant/signup', { body: signup, headers: { 'x-request-id': 'signup-1' } })
    const [row] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, body.merchant.id))
    expect(row).toMatchObject({ action: 'merchant.created', actor: body.merchant.id, requestId: 'signup-1' })
  })

  test('signing up as a merchant with a file instead of JSON is 415', async () => {
    await using app = await testApp(signupOn)
    const answer = await app.call('POST', '/merchant/signup', { raw: 'a,b', headers: { 'content-type': 'text/csv' } })
    expect(answer.status).toBe(415)
  })

  test('signing up as a merchant with a taken e-mail address or shop name is 409, and creates nothing', async () => {
    await using app = await testApp(signupOn)
    await app.call('POST', '/merchant/signup', { body: signup })
    const takenEmail = { field: 'email', message: 'email: another account has this email address' }
    const takenName = { field: 'shopName', message: 'shopName: another shop has this name, choose another' }
    for (const [body, refusal] of [
      [{ ...signup, shopName: 'other-shop' }, takenEmail],
      [{ ...signup, email: ' new@example.COM'.trim(), shopName: 'third-shop' }, takenEmail],
      [{ ...signup, email: 'other@example.com' }, takenName],
    ] as const) {
      const answer = await app.call('POST', '/merchant/signup', { body })
      expect(answer.body).toMatchObject({ statusCode: 409, code: 'already_exists', ...refusal })
    }
    expect(await app.deps.db.read.select({ name: shops.name }).from(shops)).toEqual([{ name: 'new-shop' }])
    expect(await app.deps.db.read.select({ email: users.email }).from(users)).toEqual([{ email: 'new@example.com' }])
  })

  test('signing up as a merchant with a taken e-mail address hashes a password too, and counts toward the limit of 30 per address', async () => {
    let hashed = 0
    const passwords = { hash: async () => `hash ${++hashed}`, verify: async () => false }
    await using app = await testApp(signupOn, { passwords })
    await app.call('POST', '/merchant/signup', { body: signup })
    for (let nth = 1; nth < 30; nth++)
      expect((await app.call('POST', '/merchant/signup', { body: { ...signup, shopName: `other-${nth}` } })).status).toBe(409)
    expect(hashed).toBe(30)
    expect((await app.call('POST', '/merchant/signup', { body: { ...signup, shopName: 'late-shop' } })).status).toBe(429)
    expect(hashed).toBe(30)
  })

  test('signing up as a merchant with one of the most common passwords is 400, and is not counted', async () => {
    await using app = await testApp(signupOn)
    for (const password of ['password123', 'PASSWORD123', '1234567890', 'qwertyuiop']) {
      const { status, body } = await app.call('POST', '/merchant/signup', { body: { ...signup, password } })
      expect([status, body.message]).toEqual([400, 'password: too common: choose another password'])
    }
    expect(await app.deps.db.read.select().from(attempts)).toEqual([])
  })

  test('signing up as a merchant with a reserved shop name is 400', async () => {
    await using app = await testApp(signupOn)
    for (const shopName of ['admin', 'api', 'www', 'docs', 'health', 'metrics', 'console', 'v17', 'product-v2', 'souk']) {
      const { status, body } = await app.call('POST', '/merchant/signup', { body: { ...signup, shopName } })
      expect([shopName, status, body.message]).toEqual([shopName, 400, 'shopName: is reserved: choose another name'])
    }
    expect((await app.call('POST', '/merchant/signup', { body: { ...signup, shopName: 'admins-of-souk' } })).status).toBe(201)
  })

  test('of concurrent signups as a merchant with one shop name, one succeeds', async () => {
    await using app = await testApp(signupOn)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, nth) => app.call('POST', '/merchant/signup', { body: { ...signup, email: `m${nth}@example.com` } })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7)
    expect(await app.deps.db.read.select({ id: users.id }).from(users)).toHaveLength(1)
  })

  test('signing up as a merchant with an invalid field is 400, and names the field but not the value', async () => {
    await using app = await testApp(signupOn)
    const invalidFields: [field: string, value: unknown][] = [
      ['email', 'not-an-address'],
      ['email', `${'a'.repeat(250)}@example.com`],
      ['password', 'too short'],
      ['password', 'x'.repeat(201)],
      ['password', 12_345_678_901],
      ['shopName', 'Upper-Case'],
      ['shopName', 'with.dot'],
      ['shopName', 'ab'],
      ['shopName', '-leading'],
      ['shopName', 'a'.repeat(64)],
      ['shopName', 'with space'],
      ['shopName', 'new-line\n'],
      ['country', 'United Arab Emirates'],
      ['country', 'ae'],
      ['country', 'QQ'],
      ['country', 'XK'],
      ['currency', 'usd'],
      ['currency', 'XXX'],
      ['currency', 'DEM'],
    ]
    for (const [field, value] of invalidFields) {
      const answer = await app.call('POST', '/merchant/signup', {
        body: { ...signup, [field]: value },
        from: `203.0.113.${invalidFields.findIndex(([, one]) => one === value)}`,
      })
      expect([field, value, answer.status]).toEqual([field, value, 400])
      expect(answer.body.message).toStartWith(`${field}: `)
      if (String(value).length > 5) expect(answer.body.message).not.toContain(String(value))
    }
    for (const field of Object.keys(signup)) {
      const { [field as keyof typeof signup]: _, ...rest } = signup
      expect((await app.call('POST', '/merchant/signup', { body: rest })).body.message).toStartWith(`${field}: `)
    }
    expect(await app.deps.db.read.select().from(users)).toEqual([])
  })

  test('signing up as a merchant is limited to 30 times an hour per address', async () => {
    await using app = await testApp(signupOn)
    for (let nth = 0; nth < 30; nth++) {
      const answer = await app.call('POST', '/merchant/signup', {
        body: { ...signup, email: `m${nth}@example.com`, shopName: `shop-${nth}` },
      })
      expect(answer.status).toBe(201)
    }
    const body = { ...signup, email: 'late@example.com', shopName: 'late-shop' }
    const limited = await app.call('POST', '/merchant/signup', { body })
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3600'])
    expect(
      (await app.call('POST', '/merchant/signup', { body: { ...body, email: 'x@example.com', shopName: 'x-shop' }, from: '203.0.113.9' }))
        .status,
    ).toBe(201)
    app.clock.advance(3_600_000)
    expect((await app.call('POST', '/merchant/signup', { body })).status).toBe(201)
  })
})
