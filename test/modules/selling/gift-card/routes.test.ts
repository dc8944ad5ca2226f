import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog, idempotencyKeys } from '../../../../db/schema/people.ts'
import { giftCards, giftCardTransactions } from '../../../../db/schema/selling.ts'
import { signUpCustomer } from '../../../../src/modules/customers/customer/service.ts'
import { findUsableCard, holdGiftCards } from '../../../../src/modules/selling/gift-card/service.ts'
import { testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const now = '2026-01-06T12:00:00.000Z'

describe('issuing a gift card', () => {
  test('returns the code of a new gift card, which neither the list nor the database contains', async () => {
    await using app = await testApp()
    const { shop, post, get } = await shopIn(app)
    const customer = await signUpCustomer(
      app.deps,
      { shopId: shop.id, email: 'a@example.com', password: 'a long password', name: '' },
      { limitKey: 'x', requestId: undefined },
    )
    const created = await post('/giftcard', {
      amount: usd(5_000),
      expiresAt: '2027-01-01T00:00:00+02:00',
      customerId: customer.id,
      note: 'For the fair',
    })
    expect(created.status).toBe(201)
    expect(created.headers.get('cache-control')).toBe('no-store')
    const { id, code, last4, ...rest } = created.body
    expect(id).toMatch(/^gift_[0-9a-z]{26}$/)
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/)
    expect(last4).toBe(code.slice(-4))
    expect(rest).toEqual({
      shopId: shop.id,
      currency: 'USD',
      initialAmount: usd(5_000),
      balance: usd(5_000),
      expiresAt: '2026-12-31T22:00:00.000Z',
      status: 'ACTIVE',
      expired: false,
      usedUp: false,
      customerId: customer.id,
      note: 'For the fair',
      orderId: null,
      createdAt: now,
      updatedAt: now,
    })
    const listed = await get('/giftcard')
    expect(listed.body).toEqual({ data: [{ id, last4, ...rest }], page: 1, limit: 20, total: 1, pages: 1 })
    const [row] = await app.deps.db.read.select().from(giftCards)
    expect(JSON.stringify(row)).not.toContain(code)
    expect(listed.text).not.toContain(row?.codeHash ?? 'no row')
    expect(created.text).not.toContain(row?.codeHash ?? 'no row')
    const trail = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, id))
    expect(trail.map(({ action, shopId }) => [action, shopId])).toEqual([['gift_card.issued', shop.id]])
    expect(JSON.stringify([trail, app.logged])).not.toContain(code)
  })

  test('issues a gift card from an amount alone, without expiry and for any customer', async () => {
    await using app = await testApp()
    const { shop, token } = await shopIn(app, { currency: 'KWD', country: 'KW' })
    const amount = { amount: 1, currency: 'KWD' }
    const created = await app.call('POST', '/giftcard', { token, body: { amount } })
    expect(created.body).toMatchObject({ initialAmount: amount, expiresAt: null, customerId: null, note: null, expired: false })
    const found = await findUsableCard(app.deps, { shopId: shop.id, code: created.body.code, currency: 'KWD', customerId: undefined })
    expect(found?.id).toBe(created.body.id)
  })

  test('gives every new gift card a different code', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const codes = new Set<string>()
    for (let nth = 0; nth < 20; nth++) codes.add((await post('/giftcard', { amount: usd(1) })).body.code)
    expect(codes.size).toBe(20)
  })

  test('issues a gift card once per idempotency key, and replays the code although no row stores it', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const key = { 'idempotency-key': 'k' }
    const first = await post('/giftcard', { amount: usd(100) }, key)
    app.clock.advance(5_000)
    const replayed = await post('/giftcard', { amount: usd(100) }, key)
    expect(replayed).toMatchObject({ status: 201, text: first.text })
    expect(replayed.headers.get('idempotent-replayed')).toBe('true')
    expect((await post('/giftcard', { amount: usd(200) }, key)).status).toBe(422)
    expect(await app.deps.db.read.select().from(giftCards)).toHaveLength(1)
    expect(await app.deps.db.read.select().from(giftCardTransactions)).toHaveLength(1)
    expect(JSON.stringify(await app.deps.db.read.select().from(idempotencyKeys))).not.toContain(first.body.code)
  })

  test('rejects a second gift card with the same code hash in a shop, and binds a code hash to its shop', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const { code } = (await post('/giftcard', { amount: usd(100) })).body
    const [row] = await app.deps.db.read.select().from(giftCards)
    if (!row) throw new Error('no card was issued')
    const twin = { ...row, id: 'gift_twin' }
    await expect(app.deps.db.write((tx) => app.deps.giftCardStore.insert(tx, twin))).rejects.toThrow()
    expect(await app.deps.db.read.select().from(giftCards)).toHaveLength(1)
    const otherMerchant = await app.merchant()
    await app.deps.db.write((tx) => app.deps.giftCardStore.insert(tx, { ...twin, shopId: otherMerchant.shop.id }))
    // The hash is bound to its shop, so a copy in another shop finds no card.
    expect(await findUsableCard(app.deps, { shopId: otherMerchant.shop.id, code, currency: 'USD', customerId: undefined })).toBeUndefined()
  })

  test('rejects an invalid gift card field with 400, naming the field but not its value, and creates no card', async () => {
    await using app = await testApp()
    const { post, secretKey } = await shopIn(app)
    const cases: [field: string, body: object][] = [
      ['amount', { amount: undefined }],
      ['amount', { amount: 500 }],
      ['amount.amount', { amount: usd(0) }],
      ['amount.amount', { amount: usd(-5) }],
      ['amount.amount', { amount: usd(0.5) }],
      ['amount.amount', { amount: { amount: '100', currency: 'USD' } }],
      ['amount.amount', { amount: usd(100_000_000_000_001) }],
      ['amount.currency', { amount: { amount: 100 } }],
      ['amount.currency', { amount: { amount: 100, currency: 'zq9' } }],
      ['amount.currency', { amount: { amount: 100, currency: 'EUR' } }],
      ['amount.currency', { amount: { amount: 100, currency: 'XYZ' } }],
      ['expiresAt', { expiresAt: 'zq9' }],
      ['expiresAt', { expiresAt: '2026-01-06' }],
      ['expiresAt', { expiresAt: '2027-02-30T00:00:00Z' }],
      ['expiresAt', { expiresAt: now }],
      ['expiresAt', { expiresAt: '2025-12-31T00:00:00Z' }],
      ['customerId', { customerId: 5 }],
      ['customerId', { customerId: 'zq9'.repeat(30) }],
      ['note', { note: 'zq9'.repeat(200) }],
      ['note', { note: { zq9: 1 } }],
    ]
    for (const [field, body] of cases) {
      const answer = await post('/giftcard', { amount: usd(100), ...body })
      expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(`${field}:`)])
      expect(answer.text).not.toMatch(/zq9|EUR|XYZ/)
    }
    expect(await app.deps.db.read.select().from(giftCards)).toEqual([])
    expect((await app.call('POST', '/giftcard', { headers: { 'content-type': 'text/plain' }, key: secretKey, raw: 'x' })).status).toBe(415)
  })

  test('calls an expiry that no calendar has invalid, and not past', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    for (const expiresAt of ['2027-02-30T00:00:00Z', '2027-01-01T24:00:00Z'])
      expect((await post('/giftcard', { amount: usd(100), expiresAt })).body.message).toBe('expiresAt: must be a valid time')
  })

  test('accepts the largest gift card amount and an expiry one millisecond ahead', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const body = { amount: usd(100_000_000_000_000), expiresAt: '2026-01-06T12:00:00.001Z' }
    expect((await post('/giftcard', body)).body).toMatchObject({ balance: body.amount, expiresAt: body.expiresAt })
  })

  test("answers 404 alike for a gift card for an unknown customer and for another shop's customer", async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const other = await app.merchant()
    const theirs = await signUpCustomer(
      app.deps,
      { shopId: other.shop.id, email: 'a@example.com', password: 'a long password', name: '' },
      { limitKey: 'x', requestId: undefined },
    )
    for (const customerId of [theirs.id, 'cus_none', '']) {
      expect(await post('/giftcard', { amount: usd(100), customerId })).toMatchObject({
        status: 404,
        body: { statusCode: 404, message: 'No such customer', error: 'Not Found', code: 'not_found' },
      })
    }
    expect(await app.deps.db.read.select().from(giftCards)).toEqual([])
    expect(await app.deps.db.read.select().from(giftCardTransactions)).toEqual([])
  })

  test('rejects unknown gift card fields, such as a balance, code or status from the caller', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const unknownFields = {
      balance: usd(999),
      initialAmount: usd(999),
      code: 'AAAA',
      last4: 'AAAA',
      id: 'gift_x',
      shopId: 'shop_x',
      status: 'DISABLED',
    }
    for (const [unknownField, value] of Object.entries(unknownFields)) {
      const { status, body } = await post('/giftcard', { amount: usd(100), [unknownField]: value })
      expect([status, body.message]).toEqual([400, `unknown field: ${unknownField}`])
    }
    expect(await app.deps.db.read.select().from(giftCards)).toEqual([])
  })
})

describe('changing a gift card', () => {
  test('disables and enables a gift card, keeps omitted fields, clears null fields, and never changes amounts', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const { code, ...created } = (await post('/giftcard', { amount: usd(100), note: 'One', expiresAt: '2026-02-01T00:00:00Z' })).body
    app.clock.advance(1_000)
    const updatedAt = '2026-01-06T12:00:01.000Z'
    const disabled = await patch(`/giftcard/${created.id}`, { status: 'DISABLED' })
    expect(disabled).toMatchObject({ status: 200, body: { ...created, status: 'DISABLED', updatedAt } })
    expect(Object.keys(disabled.body).sort()).toEqual(Object.keys(created).sort())
    expect(disabled.text).not.toContain(code)
    const changed = await patch(`/giftcard/${created.id}`, {
      status: 'ACTIVE',
      note: 'Two',
      expiresAt: '2026-03-01T00:00:00Z',
    })
    for (const unknownField of ['balance', 'initialAmount', 'amount', 'customerId', 'currency'])
      expect((await patch(`/giftcard/${created.id}`, { note: 'Three', [unknownField]: 'x' })).body.message).toBe(
        `unknown field: ${unknownField}`,
      )
    expect(changed.body).toEqual({ ...created, note: 'Two', expiresAt: '2026-03-01T00:00:00.000Z', updatedAt })
    const cleared = await patch(`/giftcard/${created.id}`, { note: null, expiresAt: null })
    expect(cleared.body).toEqual({ ...created, note: null, expiresAt: null, updatedAt })
    expect((await patch(`/giftcard/${created.id}`, {})).body).toEqual(cleared.body)
    expect((await get('/giftcard')).body.data).toEqual([cleared.body])
    const trail = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, created.id))
    expect(trail.map(({ action }) => action).sort()).toEqual([...Array(3).fill('gift_card.changed'), 'gift_card.issued'])
  })

  test('keeps amounts spent during a change of a gift card, and shows when a card is used up or expired', async () => {
    await using app = await testApp()
    const { post, patch } = await shopIn(app)
    const { body: created } = await post('/giftcard', { amount: usd(100), expiresAt: '2026-01-06T12:00:05Z' })
    const hold = (amount: number) =>
      app.deps.db.write((tx) =>
        holdGiftCards(tx, app.deps, { orderId: 'order_1', draws: [{ giftCardId: created.id, last4: created.last4, amount }] }),
      )
    const [changed] = await Promise.all([patch(`/giftcard/${created.id}`, { note: 'x' }), hold(40)])
    expect(changed.status).toBe(200)
    expect((await patch(`/giftcard/${created.id}`, {})).body).toMatchObject({ balance: usd(60), note: 'x', usedUp: false })
    await hold(60)
    expect((await patch(`/giftcard/${created.id}`, {})).body).toMatchObject({ balance: usd(0), initialAmount: usd(100), usedUp: true })
    app.clock.advance(4_999)
    expect((await patch(`/giftcard/${created.id}`, {})).body).toMatchObject({ status: 'ACTIVE', expired: false })
    app.clock.advance(1)
    expect((await patch(`/giftcard/${created.id}`, {})).body).toMatchObject({ status: 'ACTIVE', expired: true })
    expect((await patch(`/giftcard/${created.id}`, { expiresAt: '2026-01-07T00:00:00Z' })).body.expired).toBe(false)
  })

  test('rejects an invalid field in a gift card change, naming the field, and keeps the card unchanged', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const { code: _, ...created } = (await post('/giftcard', { amount: usd(100) })).body
    app.clock.advance(1_000)
    for (const [field, body] of [
      ['status', { status: 'EXPIRED' }],
      ['status', { status: null }],
      ['note', { note: 'zq9'.repeat(200) }],
      ['expiresAt', { expiresAt: 'zq9' }],
      ['expiresAt', { expiresAt: '2026-01-06T12:00:01Z' }],
      ['body', []],
    ] as const) {
      const answer = await patch(`/giftcard/${created.id}`, body)
      expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(field)])
      expect(answer.text).not.toContain('zq9')
    }
    expect((await get('/giftcard')).body.data).toEqual([created])
  })

  test('changes a gift card once per idempotency key', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const { id } = (await post('/giftcard', { amount: usd(100) })).body
    const key = { 'idempotency-key': 'k' }
    const disabled = await patch(`/giftcard/${id}`, { status: 'DISABLED' }, key)
    await patch(`/giftcard/${id}`, { status: 'ACTIVE' })
    expect(await patch(`/giftcard/${id}`, { status: 'DISABLED' }, key)).toMatchObject({ status: 200, text: disabled.text })
    expect((await get('/giftcard')).body.data).toMatchObject([{ status: 'ACTIVE' }])
  })
})

describe('gift card lists', () => {
  test('filters the gift card list by customer, also as CSV, and returns none for an unknown customer', async () => {
    await using app = await testApp()
    const { shop, secretKey, post, get } = await shopIn(app)
    const signUp = (email: string) =>
      signUpCustomer(app.deps, { shopId: shop.id, email, password: 'a long password', name: '' }, { limitKey: 'x', requestId: undefined })
    const [customer, other] = [await signUp('a@example.com'), await signUp('b@example.com')]
    const ids: string[] = []
    for (const customerId of [customer.id, null, other.id, customer.id])
      ids.push((await post('/giftcard', { amount: usd(1_000), customerId })).body.id)
    const theirs = await get(`/giftcard?customerId=${customer.id}`)
    expect([theirs.body.total, theirs.body.data.map(({ id }: { id: string }) => id)]).toEqual([2, [ids[3], ids[0]]])
    const csv = await app.call('GET', `/giftcard?customerId=${customer.id}`, { key: secretKey, headers: { accept: 'text/csv' } })
    expect(csv.headers.get('content-type')).toStartWith('text/csv')
    expect(ids.map((id) => csv.text.includes(id))).toEqual([true, false, false, true])
    expect((await get('/giftcard?customerId=cus_none')).body.total).toBe(0)
    expect((await get('/giftcard?customerId=')).body.total).toBe((await get('/giftcard')).body.total)
  })

  test('lists gift cards newest first in clamped pages, and rejects invalid parameters by name', async () => {
    await using app = await testApp()
    const { post, get } = await shopIn(app)
    expect((await get('/giftcard')).body).toEqual({ data: [], page: 1, limit: 20, total: 0, pages: 0 })
    for (const amount of [1, 2, 3]) {
      app.clock.advance(1)
      await post('/giftcard', { amount: usd(amount) })
    }
    const amounts = async (query: string) =>
      (await get(`/giftcard${query}`)).body.data.map(({ balance }: { balance: { amount: number } }) => balance.amount)
    expect(await amounts('')).toEqual([3, 2, 1])
    expect(await amounts('?limit=2&page=2')).toEqual([1])
    expect((await get('/giftcard?limit=2&page=2')).body).toMatchObject({ page: 2, limit: 2, total: 3, pages: 2 })
    expect((await get('/giftcard?page=7')).body).toEqual({ data: [], page: 7, limit: 20, total: 3, pages: 1 })
    expect((await get('/giftcard?limit=1000')).body.limit).toBe(100)
    expect((await get('/giftcard?limit=0')).body.limit).toBe(1)
    for (const [field, query] of [
      ['page', 'page=zq9'],
      ['page', 'page=0'],
      ['limit', 'limit=zq9'],
    ] as const) {
      const answer = await get(`/giftcard?${query}`)
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(`${field}:`)])
      expect(answer.text).not.toContain('zq9')
    }
  })
})

describe('access to gift cards', () => {
  test('allows only merchants and secret keys to manage gift cards: others get 401 or 403 before validation', async () => {
    await using app = await testApp()
    const { shop, secretKey, publishableKey, token, post } = await shopIn(app)
    const { id, last4 } = (await post('/giftcard', { amount: usd(100) })).body
    await app.call('POST', '/customer/signup', { body: { shopName: shop.name, email: 'c@example.com', password: 'a long password' } })
    const login = await app.call('POST', '/customer/login', {
      body: { shopName: shop.name, email: 'c@example.com', password: 'a long password' },
    })
    const customer = login.body.data.accessToken
    for (const [method, path, validBody, status] of [
      ['GET', '/giftcard', undefined, 200],
      ['POST', '/giftcard', { amount: usd(1) }, 201],
      ['PATCH', `/giftcard/${id}`, {}, 200],
    ] as const) {
      const invalid = method === 'GET' ? {} : { body: { amount: 'zq9', status: 5 } }
      const outcomes = [
        await app.call(method, path, invalid),
        await app.call(method, path, { ...invalid, key: 'sk_nonsense' }),
        await app.call(method, path, { ...invalid, token: 'a.b.c' }),
        await app.call(method, path, { ...invalid, key: publishableKey }),
        await app.call(method, path, { ...invalid, token: customer }),
      ]
      expect([method, ...outcomes.map((answer) => answer.status)]).toEqual([method, 401, 401, 401, 403, 403])
      for (const { text, headers } of outcomes) {
        expect(text).not.toMatch(new RegExp(`${last4}|zq9|gift_`))
        expect(headers.get('access-control-allow-origin')).toBeNull()
      }
      const body = validBody ? { body: validBody } : {}
      expect((await app.call(method, path, { ...body, key: secretKey })).status).toBe(status)
      expect((await app.call(method, path, { ...body, token })).status).toBe(status)
    }
  })

  test("answers for another shop's gift card exactly as for an unknown one, and does not list it", async () => {
    await using app = await testApp()
    const owner = await shopIn(app)
    const otherShop = await shopIn(app)
    const { code: _, ...created } = (await owner.post('/giftcard', { amount: usd(100), note: 'zq9' })).body
    for (const id of [created.id, 'gift_none']) {
      const answer = await otherShop.patch(`/giftcard/${id}`, { status: 'DISABLED' })
      expect(answer).toMatchObject({
        status: 404,
        body: { statusCode: 404, message: 'No such gift card', error: 'Not Found', code: 'not_found' },
      })
      expect(answer.text).not.toContain('zq9')
    }
    expect((await otherShop.get('/giftcard')).body).toMatchObject({ data: [], total: 0 })
    expect((await owner.get('/giftcard')).body.data).toEqual([created])
  })
})
