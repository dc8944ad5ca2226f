import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog, customers } from '../../../../db/schema/people.ts'
import { testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

describe('customer signup', () => {
  test('signs up a customer of one shop, who can log in to that shop only', async () => {
    await using app = await testApp()
    const one = await app.merchant()
    const other = await app.merchant()
    const body = { shopName: one.shop.name, email: 'Buyer@Example.com', password: 'long enough', name: 'A Buyer' }
    for (const rogue of ['id', 'passwordHash'])
      expect((await app.call('POST', '/customer/signup', { body: { ...body, [rogue]: 'x' } })).body.message).toBe(`unknown field: ${rogue}`)
    const created = await app.call('POST', '/customer/signup', { body })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      id: created.body.id,
      shopId: one.shop.id,
      email: 'buyer@example.com',
      emailVerified: false,
      erasedAt: null,
      name: 'A Buyer',
      phone: null,
      acceptsMarketing: false,
      addressIds: [],
      ordersCount: 0,
      totalSpent: { amount: 0, currency: 'USD' },
      createdAt: '2026-01-06T12:00:00.000Z',
      updatedAt: '2026-01-06T12:00:00.000Z',
    })
    expect(created.body.id).toMatch(/^cus_/)
    expect(created.headers.get('cache-control')).toBe('no-store')
    const { name: _, ...login } = body
    for (const path of ['/customer/login', '/api/v3/customer/login'])
      expect((await app.call('POST', path, { body: login })).status).toBe(200)
    expect((await app.call('POST', '/customer/login', { body: { ...login, shopName: other.shop.name } })).status).toBe(401)
    const { email, password } = body
    expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(401)
    // The same person may be a customer of another shop too.
    expect((await app.call('POST', '/customer/signup', { body: { ...body, shopName: other.shop.name } })).status).toBe(201)
  })

  test('records a customer signup in the audit log with its request id', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const body = { shopName: shop.name, email: 'buyer@example.com', password: 'long enough' }
    const created = await app.call('POST', '/customer/signup', { body, headers: { 'x-request-id': 'signup-2' } })
    const [row] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, created.body.id))
    expect(row).toMatchObject({ action: 'customer.created', actor: created.body.id, shopId: shop.id, requestId: 'signup-2' })
  })

  test('rejects a signup with an email address that the shop already has, in any letter case, with 409', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const body = { shopName: shop.name, email: 'buyer@example.com', password: 'long enough' }
    await app.call('POST', '/customer/signup', { body })
    expect((await app.call('POST', '/customer/signup', { body: { ...body, email: 'BUYER@example.com' } })).status).toBe(409)
    expect(await app.deps.db.read.select().from(customers)).toHaveLength(1)
  })

  test('rejects a signup with an unknown shop with 404, and one with an invalid field with 400', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const body = { shopName: shop.name, email: 'buyer@example.com', password: 'long enough' }
    expect((await app.call('POST', '/customer/signup', { body: { ...body, shopName: 'nobody' } })).status).toBe(404)
    for (const [field, value] of [
      ['email', 'x'],
      ['password', 'short'],
      ['name', 'n'.repeat(201)],
      ['shopName', ''],
    ] as const) {
      const answer = await app.call('POST', '/customer/signup', { body: { ...body, [field]: value } })
      expect([answer.status, answer.body.field]).toEqual([400, field])
    }
  })

  test('hashes a password and counts the attempt for a signup with a known email address', async () => {
    let hashed = 0
    const passwords = { hash: async () => `hash ${++hashed}`, verify: async () => false }
    await using app = await testApp({}, { passwords })
    const { shop } = await app.merchant()
    hashed = 0
    const body = { shopName: shop.name, email: 'buyer@example.com', password: 'long enough' }
    const answers = []
    for (let nth = 0; nth < 31; nth++) answers.push((await app.call('POST', '/customer/signup', { body })).status)
    expect(answers).toEqual([201, ...Array(29).fill(409), 429])
    expect(hashed).toBe(30)
  })

  test('rejects a signup with one of the most common passwords with 400', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const body = { shopName: shop.name, email: 'buyer@example.com', password: 'Password123' }
    const answer = await app.call('POST', '/customer/signup', { body })
    expect([answer.status, answer.body.message]).toEqual([400, 'password: too common: choose another password'])
  })

  test('limits signups to 30 an hour per network address', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    for (let nth = 0; nth < 30; nth++)
      expect(
        (
          await app.call('POST', '/customer/signup', {
            body: { shopName: shop.name, email: `c${nth}@example.com`, password: 'long enough' },
          })
        ).status,
      ).toBe(201)
    expect(
      (await app.call('POST', '/customer/signup', { body: { shopName: shop.name, email: 'late@example.com', password: 'long enough' } }))
        .status,
    ).toBe(429)
  })
})
