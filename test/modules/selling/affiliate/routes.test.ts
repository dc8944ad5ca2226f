import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { affiliateClicks, affiliates, commissions } from '../../../../db/schema/ledger.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { carts } from '../../../../db/schema/selling.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { moneyOf } from '../../../../src/lib/money.ts'
import { attributeOrder, reverseCommission } from '../../../../src/modules/selling/affiliate/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { customerIn } from '../../../support/customers.ts'
import { insertOrder } from '../../../support/order-rows.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const affiliate = { name: 'Ann’s blog', code: 'Ann-1', rateBps: 750 }
const now = '2026-01-06T12:00:00.000Z'
const notFound = { status: 404, body: { statusCode: 404, message: 'No such affiliate', error: 'Not Found', code: 'not_found' } }

/** The earnings of an affiliate in one currency, as the API shows them. */
const earned = (currency: string, amounts: Record<'pending' | 'approved' | 'reversed', number>) => ({
  currency,
  ...moneyOf({ ...amounts, currency }, 'pending', 'approved', 'reversed'),
})

describe('creating an affiliate', () => {
  test('creates an active affiliate with a lower-case code, no earnings and an audit row', async () => {
    await using app = await testApp()
    const { shop, post, get } = await shopIn(app)
    for (const [unknownField, value] of Object.entries({ active: false, clicks: 9, shopId: 'shop_other', rogue: 'zq9' }))
      expect((await post('/affiliates', { ...affiliate, [unknownField]: value })).body.message).toBe(`unknown field: ${unknownField}`)
    const created = await post('/affiliates', affiliate)
    expect(created.status).toBe(201)
    const { id, ...rest } = created.body
    expect(id).toMatch(/^aff_[0-9a-z]{26}$/)
    expect(rest).toEqual({
      shopId: shop.id,
      name: 'Ann’s blog',
      code: 'ann-1',
      rateBps: 750,
      active: true,
      clicks: 0,
      earnings: [],
      createdAt: now,
      updatedAt: now,
    })
    expect((await get(`/affiliates/${id}`)).body).toEqual(created.body)
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, id))
    expect(rows.map(({ action, shopId }) => [action, shopId])).toEqual([['affiliate.created', shop.id]])
  })

  test('rejects a code that another affiliate of the shop has with 409, in any letter case', async () => {
    await using app = await testApp()
    const mine = await shopIn(app)
    const theirs = await shopIn(app)
    await mine.post('/affiliates', affiliate)
    expect(await mine.post('/affiliates', { ...affiliate, code: 'aNN-1' })).toMatchObject({
      status: 409,
      body: { message: 'code: another affiliate has this code' },
    })
    expect((await theirs.post('/affiliates', affiliate)).status).toBe(201)
    expect((await mine.get('/affiliates')).body.total).toBe(1)
  })

  test('rejects an invalid affiliate field with 400, naming the field but not its value', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const cases: [field: string, body: object][] = [
      ['name', { name: undefined }],
      ['name', { name: ' ' }],
      ['name', { name: 'zq9'.repeat(100) }],
      ['code', { code: undefined }],
      ['code', { code: '' }],
      ['code', { code: 'zq9 x' }],
      ['code', { code: 'zq9/é' }],
      ['code', { code: 'zq9'.repeat(22) }],
      ['rateBps', { rateBps: undefined }],
      ['rateBps', { rateBps: -1 }],
      ['rateBps', { rateBps: 10_001 }],
      ['rateBps', { rateBps: 7.5 }],
      ['rateBps', { rateBps: '750' }],
    ]
    for (const [field, body] of cases) {
      const answer = await post('/affiliates', { ...affiliate, ...body })
      expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(`${field}:`)])
      expect(answer.text).not.toContain('zq9')
    }
    expect(await app.deps.db.read.select().from(affiliates)).toEqual([])
  })

  test('creates or changes an affiliate once per idempotency key, and rejects another body with 422', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const key = { 'idempotency-key': 'k' }
    const first = await post('/affiliates', affiliate, key)
    app.clock.advance(5_000)
    expect(await post('/affiliates', affiliate, key)).toMatchObject({ status: 201, text: first.text })
    expect((await get('/affiliates')).body.total).toBe(1)
    expect((await post('/affiliates', { ...affiliate, rateBps: 1 }, key)).status).toBe(422)
    const changed = await patch(`/affiliates/${first.body.id}`, { rateBps: 2 }, key)
    app.clock.advance(5_000)
    expect(await patch(`/affiliates/${first.body.id}`, { rateBps: 2 }, key)).toMatchObject({ status: 200, text: changed.text })
  })
})

describe('changing an affiliate', () => {
  test('changes any field of an affiliate, keeps omitted ones, and writes an audit row', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const { body: created } = await post('/affiliates', affiliate)
    app.clock.advance(1_000)
    const changed = { name: 'Bob', code: 'BOB_2', rateBps: 0, active: false }
    const answer = await patch(`/affiliates/${created.id}`, changed)
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({ ...created, ...changed, code: 'bob_2', updatedAt: '2026-01-06T12:00:01.000Z' })
    expect((await patch(`/affiliates/${created.id}`, { active: true })).body).toEqual({ ...answer.body, active: true })
    expect((await get(`/affiliates/${created.id}`)).body).toMatchObject({ name: 'Bob', active: true })
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, created.id))
    expect(rows.map(({ action }) => action).sort()).toEqual(['affiliate.changed', 'affiliate.changed', 'affiliate.created'])
  })

  test('rejects a taken affiliate code with 409 and an invalid field with 400, without any change', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    await post('/affiliates', affiliate)
    const { body: other } = await post('/affiliates', { ...affiliate, code: 'other' })
    expect((await patch(`/affiliates/${other.id}`, { code: 'ANN-1', name: 'Lost' })).status).toBe(409)
    for (const [field, body] of [
      ['code', { code: 'zq9 x' }],
      ['name', { name: '' }],
      ['rateBps', { rateBps: 10_001 }],
      ['active', { active: 'zq9' }],
      ['active', { active: null }],
    ] as const) {
      const answer = await patch(`/affiliates/${other.id}`, body)
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(`${field}:`)])
      expect(answer.text).not.toContain('zq9')
    }
    expect((await get(`/affiliates/${other.id}`)).body).toEqual(other)
  })
})

describe('access to affiliates', () => {
  test('rejects affiliate requests without a credential with 401, and allows a publishable key only to record clicks', async () => {
    await using app = await testApp()
    const { shop, publishableKey, token, post } = await shopIn(app)
    await post('/affiliates', affiliate)
    const customer = await customerIn(app, shop)
    for (const [method, path, withKey] of [
      ['POST', '/affiliates', 403],
      ['GET', '/affiliates', 403],
      ['GET', '/affiliates/x', 403],
      ['PATCH', '/affiliates/x', 403],
      ['POST', '/affiliates/clicks', 201],
    ] as const) {
      const body = method === 'GET' ? {} : { body: { code: 'ann-1' } }
      expect([method, path, (await app.call(method, path, body)).status]).toEqual([method, path, 401])
      expect([method, path, (await app.call(method, path, { ...body, key: 'pk_nonsense' })).status]).toEqual([method, path, 401])
      expect([method, path, (await app.call(method, path, { ...body, token: customer.token })).status]).toEqual([method, path, 403])
      expect([method, path, (await app.call(method, path, { ...body, key: publishableKey })).status]).toEqual([method, path, withKey])
    }
    expect((await app.call('POST', '/affiliates', { token, body: { ...affiliate, code: 'by-hand' } })).status).toBe(201)
    expect((await app.call('GET', '/affiliates', { token })).body.total).toBe(2)
  })

  test("answers for another shop's affiliate exactly as for an unknown one", async () => {
    await using app = await testApp()
    const owner = await shopIn(app)
    const otherShop = await shopIn(app)
    const { body: created } = await owner.post('/affiliates', affiliate)
    for (const id of [created.id, 'aff_none'])
      for (const answer of [await otherShop.get(`/affiliates/${id}`), await otherShop.patch(`/affiliates/${id}`, { name: 'Stolen' })])
        expect(answer).toMatchObject(notFound)
    expect((await otherShop.get('/affiliates')).body).toEqual({ data: [], page: 1, limit: 20, total: 0, pages: 0 })
    expect(await otherShop.post('/affiliates/clicks', { code: 'ann-1' })).toMatchObject(notFound)
    expect((await owner.get(`/affiliates/${created.id}`)).body).toEqual(created)
  })
})

describe('affiliate lists', () => {
  test('lists affiliates newest first in pages, clamps the limit, and names an invalid parameter', async () => {
    await using app = await testApp()
    const { post, get } = await shopIn(app)
    for (const code of ['a', 'b', 'c']) {
      app.clock.advance(1)
      await post('/affiliates', { ...affiliate, code })
    }
    const codes = ({ body }: { body: { data: { code: string }[] } }) => body.data.map(({ code }) => code)
    expect(codes(await get('/affiliates'))).toEqual(['c', 'b', 'a'])
    const second = await get('/affiliates?limit=2&page=2')
    expect([codes(second), second.body]).toEqual([['a'], { data: [expect.anything()], page: 2, limit: 2, total: 3, pages: 2 }])
    expect((await get('/affiliates?page=7')).body).toEqual({ data: [], page: 7, limit: 20, total: 3, pages: 1 })
    expect((await get('/affiliates?limit=1000')).body.limit).toBe(100)
    const invalid = await get('/affiliates?page=zq9')
    expect([invalid.status, invalid.body.message]).toEqual([400, expect.stringContaining('page:')])
    expect(invalid.text).not.toContain('zq9')
  })

  test('shows each affiliate with its clicks of thirty days and its earnings by currency', async () => {
    await using app = await testApp()
    const { shop, post, get } = await shopIn(app)
    const { body: ann } = await post('/affiliates', affiliate)
    app.clock.advance(1)
    const { body: bob } = await post('/affiliates', { ...affiliate, code: 'bob' })
    const click = (affiliateId: string, at: number) => ({ id: app.deps.newId('click'), affiliateId, at })
    const commission = async (
      affiliateId: string,
      currency: string,
      amount: number,
      reversed: number,
      status: 'PENDING' | 'APPROVED' | 'REVERSED',
    ) => {
      const { id: orderId } = await insertOrder(app, shop.id, { currency })
      return { orderId, affiliateId, shopId: shop.id, currency, amount, reversed, status, approvesAt: 0, createdAt: 0, updatedAt: 0 }
    }
    const at = app.clock.now()
    const rows = [
      await commission(ann.id, 'USD', 100, 30, 'PENDING'),
      await commission(ann.id, 'USD', 1_000, 0, 'PENDING'),
      await commission(ann.id, 'USD', 500, 200, 'APPROVED'),
      await commission(ann.id, 'USD', 7, 7, 'REVERSED'),
      await commission(ann.id, 'KWD', 90_000_000_000_000, 0, 'APPROVED'),
      await commission(ann.id, 'KWD', 9, 0, 'APPROVED'),
      await commission(bob.id, 'EUR', 0, 0, 'PENDING'),
    ]
    await app.deps.db.write(async (tx) => {
      await tx
        .insert(affiliateClicks)
        .values([click(ann.id, at), click(ann.id, at - 30 * dayMs), click(ann.id, at - 30 * dayMs - 1), click(bob.id, at)])
      await tx.insert(commissions).values(rows)
    })
    const figures = {
      clicks: 2,
      earnings: [
        earned('KWD', { pending: 0, approved: 90_000_000_000_009, reversed: 0 }),
        earned('USD', { pending: 1_070, approved: 300, reversed: 237 }),
      ],
    }
    expect((await get(`/affiliates/${ann.id}`)).body).toEqual({ ...ann, ...figures })
    const { body: list } = await get('/affiliates')
    expect(list.data).toEqual([
      { ...bob, clicks: 1, earnings: [earned('EUR', { pending: 0, approved: 0, reversed: 0 })] },
      { ...ann, ...figures },
    ])
  })
})

describe('recording a click', () => {
  test('counts a click on a code in any letter case, and returns until when it counts', async () => {
    await using app = await testApp()
    const { post, get, publishableKey } = await shopIn(app)
    const { body: created } = await post('/affiliates', affiliate)
    const answer = await app.call('POST', '/affiliates/clicks', { key: publishableKey, body: { code: 'ANN-1' } })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ affiliateId: created.id, code: 'ann-1', attributedUntil: '2026-02-05T12:00:00.000Z' })
    expect(answer.text).not.toContain('750')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect((await get(`/affiliates/${created.id}`)).body.clicks).toBe(1)
    app.clock.advance(30 * dayMs + 1)
    expect((await get(`/affiliates/${created.id}`)).body.clicks).toBe(0)
  })

  test('answers 404 for a click on an unknown code or inactive affiliate, and stores nothing', async () => {
    await using app = await testApp()
    const { post, patch } = await shopIn(app)
    const { body: created } = await post('/affiliates', affiliate)
    await patch(`/affiliates/${created.id}`, { active: false })
    const { body: cart } = await post('/cart', {})
    for (const code of ['ann-1', 'nobody', ' ', 'a b', '%'])
      expect(await post('/affiliates/clicks', { code, cartId: cart.id })).toMatchObject(notFound)
    expect(await app.deps.db.read.select().from(affiliateClicks)).toEqual([])
    const [row] = await app.deps.db.read.select().from(carts)
    expect(row).toMatchObject({ affiliateCode: null, affiliateAt: null })
  })

  test('rejects an invalid click field with 400, naming the field but not its value', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    for (const [field, body] of [
      ['code', {}],
      ['code', { code: '' }],
      ['code', { code: 'zq9'.repeat(30) }],
      ['code', { code: 7 }],
      ['cartId', { code: 'a', cartId: 'zq9'.repeat(30) }],
      ['cartId', { code: 'a', cartId: null }],
    ] as const) {
      const answer = await post('/affiliates/clicks', body)
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(`${field}:`)])
      expect(answer.text).not.toContain('zq9')
    }
  })

  test('stores the code of the last click on the cart', async () => {
    await using app = await testApp()
    const { post, publishableKey } = await shopIn(app)
    await post('/affiliates', affiliate)
    await post('/affiliates', { ...affiliate, code: 'bob' })
    const { body: cart } = await app.call('POST', '/cart', { key: publishableKey, body: {} })
    const storedClick = async () => {
      const [row] = await app.deps.db.read.select().from(carts).where(eq(carts.id, cart.id))
      return [row?.affiliateCode, row?.affiliateAt]
    }
    const click = (code: string) => app.call('POST', '/affiliates/clicks', { key: publishableKey, body: { code, cartId: cart.id } })
    expect((await click('ANN-1')).status).toBe(201)
    expect(await storedClick()).toEqual(['ann-1', app.clock.now()])
    app.clock.advance(1_000)
    expect((await click('bob')).status).toBe(201)
    expect(await storedClick()).toEqual(['bob', app.clock.now()])
    const { body: after } = await app.call('GET', `/cart/${cart.id}`, { key: publishableKey })
    expect(after).toMatchObject({ affiliateCode: 'bob', expiresAt: '2026-02-05T12:00:01.000Z' })
  })

  test('rejects a click for a missing or foreign cart with 404 and for a closed cart with 409, without counting it', async () => {
    await using app = await testApp()
    const { shop, post, publishableKey, secretKey } = await shopIn(app)
    const other = await shopIn(app)
    await post('/affiliates', affiliate)
    const theirs = await other.post('/cart', {})
    const customer = await customerIn(app, shop)
    const { body: customerCart } = await customer.post('/cart', {})
    const { body: convertedCart } = await post('/cart', {})
    const click = (cartId: string, key = publishableKey) => app.call('POST', '/affiliates/clicks', { key, body: { code: 'ann-1', cartId } })
    for (const cartId of ['cart_none', theirs.body.id, customerCart.id])
      expect(await click(cartId)).toMatchObject({ status: 404, body: { message: 'No such cart' } })
    await app.deps.db.write(async (tx) => void (await tx.update(carts).set({ status: 'CONVERTED' }).where(eq(carts.id, convertedCart.id))))
    expect((await click(convertedCart.id)).status).toBe(409)
    expect(await app.deps.db.read.select().from(affiliateClicks)).toEqual([])
    expect((await app.deps.db.read.select().from(carts)).map(({ affiliateCode }) => affiliateCode)).toEqual([null, null, null])
    expect((await click(customerCart.id, secretKey)).status).toBe(201)
  })
})

/** Inserts an order of 100.00 that the affiliate's code referred, and attributes it. */
async function attribute(app: TestApp, shopId: string, fields: Parameters<typeof insertOrder>[2] = {}) {
  const order = await insertOrder(app, shopId, {
    subtotal: 10_000,
    total: 10_000,
    affiliateCode: 'ann-1',
    affiliateAt: app.clock.now(),
    ...fields,
  })
  return { order, affiliateId: await app.deps.db.write((tx) => attributeOrder(tx, app.deps, order)) }
}

describe('earnings of an affiliate', () => {
  test('moves the share of a refund from pending to reversed earnings', async () => {
    await using app = await testApp()
    const { shop, post, get } = await shopIn(app)
    const { body: created } = await post('/affiliates', affiliate)
    const { order, affiliateId } = await attribute(app, shop.id, { currency: 'EUR' })
    expect(affiliateId).toBe(created.id)
    const earnings = async () => (await get(`/affiliates/${created.id}`)).body.earnings
    expect(await earnings()).toEqual([earned('EUR', { pending: 750, approved: 0, reversed: 0 })])
    await app.deps.db.write((tx) => reverseCommission(tx, app.deps, { orderId: order.id, refunded: 5_000, of: 10_000 }))
    expect(await earnings()).toEqual([earned('EUR', { pending: 375, approved: 0, reversed: 375 })])
  })
})
