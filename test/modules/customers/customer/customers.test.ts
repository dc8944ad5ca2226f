import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog, customers } from '../../../../db/schema/people.ts'
import { addSpending, countOrder } from '../../../../src/modules/customers/customer/service.ts'
import { testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { customerIn } from '../../../support/customers.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const buyer = { email: 'Buyer@Example.com', name: 'A Buyer', phone: '+1 555 0100', acceptsMarketing: true }
const address = { name: 'A Buyer', line1: '1 High St', city: 'Springfield', countryCode: 'US' }

describe('creating a customer', () => {
  test('stores a customer that the shop creates, with an audit row that names the key', async () => {
    await using app = await testApp()
    const { shop, secretKey, post, get } = await shopIn(app, { currency: 'KWD' })
    const created = await post('/customer', buyer, { 'x-request-id': 'made-1' })
    expect(created.status).toBe(201)
    const { id, ...rest } = created.body
    expect(id).toMatch(/^cus_[0-9a-z]{26}$/)
    expect(rest).toEqual({
      ...buyer,
      shopId: shop.id,
      email: 'buyer@example.com',
      emailVerified: false,
      erasedAt: null,
      note: null,
      tags: [],
      addressIds: [],
      ordersCount: 0,
      totalSpent: { amount: 0, currency: 'KWD' },
      createdAt: '2026-01-06T12:00:00.000Z',
      updatedAt: '2026-01-06T12:00:00.000Z',
    })
    expect(await get(`/customer/${id}`)).toMatchObject({ status: 200, text: created.text })
    expect(created.headers.get('cache-control')).toBe('no-store')
    const key = await app.deps.identity.ofKey(secretKey)
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, id))
    expect(rows).toMatchObject([{ action: 'customer.created', actor: key?.id, shopId: shop.id, requestId: 'made-1' }])
  })

  test('creates a customer from an email address alone, and rejects unknown fields', async () => {
    await using app = await testApp()
    const { shop, post } = await shopIn(app)
    for (const [rogue, value] of Object.entries({ id: 'cus_mine', shopId: 'shop_other', passwordHash: 'zq9', ordersCount: 9 }))
      expect((await post('/customer', { email: 'a@example.com', [rogue]: value })).body.message).toBe(`unknown field: ${rogue}`)
    const created = await post('/customer', { email: 'a@example.com' })
    expect(created.body).toMatchObject({ shopId: shop.id, name: '', phone: null, acceptsMarketing: false, ordersCount: 0 })
    const [row] = await app.deps.db.read.select().from(customers)
    expect(row).toMatchObject({ id: created.body.id, shopId: shop.id, passwordHash: null })
  })

  test('rejects a customer with an email address that the shop already has, in any letter case, with 409', async () => {
    await using app = await testApp()
    const mine = await shopIn(app)
    const theirs = await shopIn(app)
    expect((await mine.post('/customer', buyer)).status).toBe(201)
    const duplicate = await mine.post('/customer', { email: 'BUYER@example.COM' })
    expect([duplicate.status, duplicate.body.message]).toEqual([409, 'email: another customer has this email address'])
    const login = { shopName: mine.shop.name, email: 'buyer@example.com', password: 'long enough' }
    expect((await app.call('POST', '/customer/signup', { body: login })).status).toBe(409)
    const { email } = await customerIn(app, mine.shop)
    expect((await mine.post('/customer', { email })).status).toBe(409)
    expect((await theirs.post('/customer', buyer)).status).toBe(201)
  })

  test('finds customers by the international domain of their addresses, in the list and its CSV', async () => {
    await using app = await testApp()
    const { post, get, secretKey } = await shopIn(app)
    const { id } = (await post('/customer', { email: 'ann@exämple.de', name: 'Ann' })).body
    const named = (await post('/customer', { email: 'bo@example.com', name: 'J. Müller' })).body
    // Has the same words as the international domain without its diacritics.
    const similar = (await post('/customer', { email: 'cy@example.de', name: 'Cy' })).body
    for (const [q, found] of [
      ['ann@exämple.de', [id]],
      ['exämple.de', [id]],
      ['EXÄMPLE.de', [id]],
      ['exämple.d', [id]],
      ['exämple.net', []],
      ['example.de', [similar.id]],
      ['j.müller', [named.id]],
    ] as const) {
      const query = `/customer?q=${encodeURIComponent(q)}`
      expect(
        (await get(query)).body.data.map((one: { id: string }) => one.id),
        q,
      ).toEqual([...found])
      const { text } = await app.call('GET', query, { key: secretKey, headers: { accept: 'text/csv' } })
      expect(text.trim().split('\r\n').length - 1, q).toBe(found.length)
    }
  })

  test('creates one customer from several simultaneous requests with the same email address', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const answers = await Promise.all(Array.from({ length: 6 }, () => post('/customer', buyer)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
  })

  test('gives a customer that the shop created no password to log in with', async () => {
    await using app = await testApp()
    const { shop, post } = await shopIn(app)
    await post('/customer', buyer)
    for (const password of ['null', 'undefined', 'long enough']) {
      const body = { shopName: shop.name, email: 'buyer@example.com', password }
      expect((await app.call('POST', '/customer/login', { body })).status).toBe(401)
    }
  })

  test('rejects an invalid customer field with 400, naming the field but not its value', async () => {
    await using app = await testApp()
    const { post, secretKey } = await shopIn(app)
    for (const [field, body] of [
      ['email', { email: undefined }],
      ['email', { email: 'zq9' }],
      ['email', { email: `${'zq9'.repeat(90)}@example.com` }],
      ['name', { name: 'zq9'.repeat(67) }],
      ['name', { name: null }],
      ['phone', { phone: 'zq9'.repeat(14) }],
      ['acceptsMarketing', { acceptsMarketing: 'zq9' }],
    ] as const) {
      const answer = await post('/customer', { ...buyer, ...body })
      expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(`${field}:`)])
      expect(answer.text).not.toContain('zq9')
    }
    expect((await app.call('POST', '/customer', { key: secretKey, raw: 'x', headers: { 'content-type': 'text/plain' } })).status).toBe(415)
    expect(await app.deps.db.read.select().from(customers)).toEqual([])
  })

  test('creates a customer once per idempotency key, replays the response, and rejects another body with 422', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const key = { 'idempotency-key': 'k' }
    const first = await post('/customer', buyer, key)
    app.clock.advance(5_000)
    expect(await post('/customer', buyer, key)).toMatchObject({ status: 201, text: first.text })
    expect((await post('/customer', { ...buyer, name: 'Other' }, key)).status).toBe(422)
    expect(await app.deps.db.read.select().from(customers)).toHaveLength(1)
  })
})

describe('access to customers', () => {
  test("opens customer routes to the shop's merchant and secret key only: others get 401, 403 or 404", async () => {
    await using app = await testApp()
    const { shop, token, publishableKey, post, get } = await shopIn(app)
    const { body: created } = await post('/customer', buyer)
    const stranger = await app.merchant()
    const customer = await customerIn(app, shop)
    for (const [method, path] of [
      ['POST', '/customer'],
      ['GET', `/customer/${created.id}`],
      ['GET', `/customer/${customer.id}`],
      ['GET', `/customer/${created.id}/order-ids`],
      ['POST', `/customer/${created.id}/addresses`],
      ['POST', `/customer/${created.id}/addresses/add`],
    ] as const) {
      for (const [credential, status] of [
        [{}, 401],
        [{ token: customer.token }, 403],
        [{ key: publishableKey }, 403],
      ] as const) {
        const answer = await app.call(method, path, { ...credential, ...(method === 'POST' ? { body: {} } : {}) })
        expect([method, path, answer.status]).toEqual([method, path, status])
        expect(answer.text.toLowerCase()).not.toContain('buyer')
      }
    }
    const path = `/customer/${created.id}`
    expect((await app.call('GET', path, { token })).text).toBe((await get(path)).text)
    expect((await app.call('GET', path, { token: stranger.token })).status).toBe(404)
    const address = { name: 'A', line1: '1', city: 'B', countryCode: 'US' }
    expect((await app.call('POST', `${path}/addresses`, { token, body: address })).status).toBe(201)
    expect((await app.call('POST', '/customer', { token, body: { email: 'second@example.com' } })).status).toBe(201)
  })

  test("answers for another shop's customer exactly as for an unknown customer", async () => {
    await using app = await testApp()
    const owner = await shopIn(app)
    const thief = await shopIn(app)
    const { body: created } = await owner.post('/customer', buyer)
    const { body: theirs } = await thief.post('/addresses', address)
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/order-ids', undefined],
      ['POST', '/addresses', address],
      ['POST', '/addresses/add', { addressId: theirs.id }],
    ] as const) {
      const [foreign, absent] = await Promise.all(
        [created.id, 'cus_00000000000000000000000000'].map((id) =>
          app.call(method, `/customer/${id}${path}`, { key: thief.secretKey, ...(body ? { body } : {}) }),
        ),
      )
      expect([path, foreign?.status, foreign?.text]).toEqual([path, 404, absent?.text])
      expect(absent?.body).toEqual({ statusCode: 404, message: 'No such customer', error: 'Not Found', code: 'not_found' })
    }
    expect((await thief.get(`/addresses/${theirs.id}`)).body.customerId).toBeNull()
  })

  test("never returns a customer's password hash", async () => {
    await using app = await testApp()
    const { shop, post, get } = await shopIn(app)
    const body = { shopName: shop.name, email: 'a@example.com', password: 'long enough' }
    const signup = await app.call('POST', '/customer/signup', { body })
    const { id } = signup.body
    const [row] = await app.deps.db.read.select().from(customers).where(eq(customers.id, id))
    const hash = String(row?.passwordHash)
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    const { body: entered } = await post('/addresses', address)
    const answers = [
      signup,
      await get(`/customer/${id}`),
      await get(`/customer/${id}/order-ids`),
      await post(`/customer/${id}/addresses`, address),
      await post(`/customer/${id}/addresses/add`, { addressId: entered.id }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 201, 200])
    for (const { text } of answers) {
      expect(text).not.toContain(hash)
      expect(text.toLowerCase()).not.toContain('password')
    }
  })
})

test("counts a customer's orders of all currencies, and shows spending in the shop's currency and mode", async () => {
  await using app = await testApp()
  const { post, get } = await shopIn(app)
  const { id: customerId } = (await post('/customer', buyer)).body
  const { id: other } = (await post('/customer', { email: 'other@example.com' })).body
  const mode = 'TEST'
  await app.deps.db.write(async (tx) => {
    await countOrder(tx, { customerId, currency: 'USD', mode })
    await countOrder(tx, { customerId, currency: 'KWD', mode })
    await countOrder(tx, { customerId, currency: 'USD', mode })
    await addSpending(tx, { customerId, currency: 'USD', mode, amount: 5_000 })
    await addSpending(tx, { customerId, currency: 'KWD', mode, amount: 7 })
    await addSpending(tx, { customerId, currency: 'USD', mode, amount: -1_500 })
    await addSpending(tx, { customerId: other, currency: 'USD', mode, amount: -1 })
    // Orders of the other mode are not counted.
    await countOrder(tx, { customerId, currency: 'USD', mode: 'LIVE' })
    await addSpending(tx, { customerId, currency: 'USD', mode: 'LIVE', amount: 900 })
  })
  expect((await get(`/customer/${customerId}`)).body).toMatchObject({ ordersCount: 3, totalSpent: { amount: 3_500, currency: 'USD' } })
  expect((await get(`/customer/${other}`)).body).toMatchObject({ ordersCount: 0, totalSpent: { amount: -1, currency: 'USD' } })
  // The list contains orders of both modes.
  expect((await get(`/customer/${customerId}/order-ids`)).body.total).toBe(4)
})
