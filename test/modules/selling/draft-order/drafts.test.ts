/** Draft orders: fields that the shop fixes, and fields that the payer may change. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { draftOrders } from '../../../../db/schema/drafts.ts'
import { carts } from '../../../../db/schema/selling.ts'
import { removeExpired } from '../../../../jobs/remove-expired.ts'
import { newCartId } from '../../../../src/lib/ids.ts'
import { expireCarts } from '../../../../src/modules/selling/cart/index.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { draftsOf } from '../../../support/drafts.ts'
import { address, customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60_000

describe('draft orders', () => {
  test('keeps the prices that the shop set for a draft, or those of the products at its creation', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const lamp = await shop.add({ title: 'Lamp', variants: [{ price: shop.money(3_000) }] })
    const lines = [
      { variantId: shop.variantId, quantity: 2, unitPrice: shop.money(700) },
      { variantId: lamp.variants[0]?.id ?? '', quantity: 1 },
    ]
    const created = ok(await drafts.create({ lines, email: 'ann@example.com', note: 'Ann, who rang' }), 201)
    expect(created.headers.get('etag')).toBe('"v1"')
    expect(created.body).toMatchObject({
      status: 'OPEN',
      orderId: null,
      email: 'ann@example.com',
      note: 'Ann, who rang',
      settled: ['email'],
    })
    expect(created.body.totals).toMatchObject({ subtotal: shop.money(4_400), total: shop.money(4_400), amountDue: shop.money(4_400) })
    expect(created.body.payUrl).toMatch(/\/pages\/pay\/[\w-]{43}$/)
    ok(await shop.patch(`/product-v2/${lamp.id}`, { variants: [{ id: lamp.variants[0]?.id, price: shop.money(9_900) }] }))
    expect((await drafts.read(created.body.id)).totals.total).toEqual(shop.money(4_400))
    // A variant that is sent again without a price keeps its price. A new variant gets the price of its product.
    const fewer = ok(await drafts.change(created.body.id, { lines: [{ variantId: lamp.variants[0]?.id ?? '', quantity: 3 }] }))
    expect(fewer.body.totals.total).toEqual(shop.money(9_000))
    expect(fewer.headers.get('etag')).toBe('"v2"')
    const bought = ok(await shop.checkout(created.body.cartId)).body.order
    expect(bought).toMatchObject({ status: 'CONFIRMED', email: 'ann@example.com', total: shop.money(9_000) })
    expect(await drafts.read(created.body.id)).toMatchObject({ status: 'COMPLETED', orderId: bought.id, email: 'ann@example.com' })
  })

  test('lets the payer of a draft set only the fields that the shop left open', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const { body: draft } = ok(await drafts.create({ shippingAddress: address }), 201)
    const path = `/cart/${draft.cartId}`
    const cart = ok(await app.call('GET', path, { key: shop.publishableKey })).body
    expect(cart.draftId).toBe(draft.id)
    const lineId = cart.lines[0].id
    for (const key of [shop.publishableKey, shop.secretKey]) {
      const credentials = { key }
      for (const [method, at, body] of [
        ['POST', '/items', { variantId: shop.variantId, quantity: 1 }],
        ['PATCH', `/items/${lineId}`, { quantity: 2 }],
        ['DELETE', `/items/${lineId}`, undefined],
        ['PATCH', '/discount', { code: 'ANY' }],
        ['PATCH', '/discount', { code: null }],
        ['PATCH', '', { shippingAddress: null }],
        ['PATCH', '', { email: 'ann@example.com', shippingAddress: { ...address, city: 'Elsewhere' } }],
      ] as const) {
        const { status } = await app.call(method, `${path}${at}`, { ...credentials, ...(body === undefined ? {} : { body }) })
        expect([method, at, body, status]).toEqual([method, at, body, 409])
      }
    }
    expect((await shop.checkout(draft.cartId)).status).toBe(409)
    ok(await app.call('PATCH', path, { key: shop.publishableKey, body: { email: 'a@example.com' } }))
    // Payers may correct their own input.
    ok(await app.call('PATCH', path, { key: shop.publishableKey, body: { email: 'ann@example.com', billingAddress: address } }))
    const draftView = await drafts.read(draft.id)
    expect(draftView).toMatchObject({ email: 'ann@example.com', settled: ['shippingAddress'], lines: [{ quantity: 1 }] })
    expect(ok(await shop.checkout(draft.cartId)).body.order.status).toBe('CONFIRMED')
    for (const change of [await drafts.change(draft.id, { note: 'late' }), await drafts.remove(draft.id)])
      expect(change.body).toMatchObject({ statusCode: 409, code: 'draft_closed', message: 'The draft order was already paid' })
  })

  test('allows changes and deletion of a draft only by its shop, its version and in its open state', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const drafts = draftsOf(shop)
    const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
    expect((await draftsOf(other).change(draft.id, { note: 'theirs' })).status).toBe(404)
    expect((await draftsOf(other).remove(draft.id)).status).toBe(404)
    expect((await other.get(`/v2/orders/drafts/${draft.id}`)).status).toBe(404)
    expect((await other.get('/v2/orders/drafts')).body.total).toBe(0)
    ok(await drafts.change(draft.id, { note: 'one' }, { 'if-match': '"v1"' }))
    expect((await drafts.change(draft.id, { note: 'two' }, { 'if-match': '"v1"' })).status).toBe(412)
    expect((await drafts.remove(draft.id, { 'if-match': '"v1"' })).status).toBe(412)
    const unpaid = ok(await shop.checkout(draft.cartId, { paymentToken: 'tok_decline' })).body.order
    expect(await drafts.read(draft.id)).toMatchObject({ status: 'PENDING_PAYMENT', orderId: unpaid.id, email: 'ann@example.com' })
    expect((await drafts.change(draft.id, { note: 'three' })).body).toMatchObject({ statusCode: 409, code: 'payment_in_progress' })
    expect((await drafts.remove(draft.id)).status).toBe(409)
    ok(await shop.post(`/v2/orders/${unpaid.id}/cancel`, {}))
    expect(await drafts.read(draft.id)).toMatchObject({ status: 'OPEN', email: 'ann@example.com' })
    const changed = ok(await drafts.change(draft.id, { note: 'four', lines: [{ variantId: shop.variantId, quantity: 2 }] }))
    expect(changed.body).toMatchObject({ status: 'OPEN', note: 'four', email: 'ann@example.com', totals: { total: shop.money(2_000) } })
    expect((await drafts.remove(draft.id, { 'if-match': '"v3"' })).status).toBe(204)
    expect((await shop.get(`/v2/orders/drafts/${draft.id}`)).status).toBe(404)
    expect((await app.call('GET', `/cart/${draft.cartId}`, { key: shop.publishableKey })).status).toBe(404)
    expect((await shop.get(`/v2/orders/${unpaid.id}`)).status).toBe(200)
  })

  test("keeps a draft for 90 days regardless of the payer's changes, then expires and later removes it", async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const { body: draft } = ok(await drafts.create({}), 201)
    const { expiresAt } = draft
    expect(Date.parse(expiresAt) - Date.parse(draft.createdAt)).toBe(90 * dayMs)
    app.clock.advance(60 * dayMs)
    await expireCarts(app.deps)
    ok(await app.call('PATCH', `/cart/${draft.cartId}`, { key: shop.publishableKey, body: { email: 'ann@example.com' } }))
    // A cancelled checkout leaves the draft unchanged, too.
    ok(await shop.checkout(draft.cartId, { paymentToken: 'tok_decline' }))
    ok(await app.call('DELETE', `/cart/${draft.cartId}/checkout`, { key: shop.publishableKey }))
    expect(await drafts.read(draft.id)).toMatchObject({ status: 'OPEN', email: 'ann@example.com', expiresAt })
    const openDrafts = ok(await shop.get('/v2/orders/drafts?status=OPEN')).body
    expect(openDrafts.total).toBe(1)
    app.clock.advance(31 * dayMs)
    expect((await drafts.read(draft.id)).status).toBe('EXPIRED')
    expect(ok(await shop.get('/v2/orders/drafts?status=EXPIRED')).body.total).toBe(1)
    expect((await shop.checkout(draft.cartId)).status).toBe(409)
    await expireCarts(app.deps)
    expect(await drafts.read(draft.id)).toMatchObject({ status: 'EXPIRED', email: null })
    app.clock.advance(91 * dayMs)
    await removeExpired(app.deps)
    expect((await shop.get('/v2/orders/drafts')).body.total).toBe(0)
  })

  test('skips a draft that is deleted while the list or its CSV export is read', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const ids: string[] = []
    for (let nth = 0; nth < 5; nth++) ids.unshift(ok(await drafts.create({ email: 'ann@example.com', note: '=x' }), 201).body.id)
    const { list } = app.deps.draftStore
    let idToDelete: string | undefined
    app.deps.draftStore.list = async (...args) => {
      const found = await list(...args)
      if (idToDelete !== undefined) expect((await drafts.remove(idToDelete)).status).toBe(204)
      idToDelete = undefined
      return found
    }
    idToDelete = ids.splice(1, 1)[0]
    expect(ok(await shop.get('/v2/orders/drafts')).body.data.map(({ id }: Json) => id)).toEqual(ids)
    idToDelete = ids.splice(2, 1)[0]
    const file = await app.call('GET', '/v2/orders/drafts', { token: shop.token, headers: { accept: 'text/csv' } })
    const rows = parse(file.text, { columns: true }) as Record<string, string>[]
    expect(rows.map(({ id, email, note }) => [id, email, note])).toEqual(ids.map((id) => [id, 'ann@example.com', "'=x"]))
  })

  test('rejects an invalid draft, naming the field', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const drafts = draftsOf(shop)
    const line = { variantId: shop.variantId, quantity: 1 }
    for (const [body, message] of [
      [{ lines: [] }, 'lines:'],
      [{ lines: [line, line] }, 'lines.1.variantId: must not be repeated'],
      [{ lines: [{ ...line, variantId: other.variantId }] }, 'lines.0.variantId:'],
      [{ lines: [{ ...line, quantity: 0 }] }, 'lines.0.quantity:'],
      [{ lines: [{ ...line, unitPrice: shop.money(-1) }] }, 'lines.0.unitPrice.amount:'],
      [{ lines: [{ ...line, unitPrice: { amount: 1, currency: 'EUR' } }] }, 'lines.0.unitPrice.currency:'],
      [{ email: 'a\r\nBcc: b@example.com' }, 'email:'],
      [{ discountCode: 'NONE' }, 'discountCode:'],
      [{ shippingMethod: 'post' }, 'shippingMethod:'],
      [{ shippingAddress: { ...address, countryCode: 'ZZ' } }, 'shippingAddress.countryCode'],
    ] as const) {
      const { status, body: answer } = await drafts.create(body as never)
      expect([body, status, answer.message.slice(0, message.length)]).toEqual([body, 400, message])
    }
    expect((await drafts.create({ customerId: 'cus_01h455vb4pex5vsknk084sn02q' })).status).toBe(404)
    const huge = { lines: [{ ...line, quantity: 9_999, unitPrice: shop.money(100_000_000_000_000) }] }
    expect((await drafts.create(huge)).status).toBe(409)
    expect((await shop.get('/v2/orders/drafts')).body.total).toBe(0)
  })

  test('rejects a draft with more than 100 gift cards across its lines, at creation and at a change', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const cards = await Promise.all(
      [500, 2_500].map((amount) => shop.add({ title: `Card ${amount}`, kind: 'GIFT_CARD', variants: [{ price: shop.money(amount) }] })),
    )
    const linesOf = (...quantities: number[]) => ({
      lines: quantities.map((quantity, at) => ({ variantId: cards[at]?.variants[0]?.id, quantity })),
    })
    for (const [body, field] of [
      [linesOf(101), 'lines.0.quantity'],
      [linesOf(60, 41), 'lines.1.quantity'],
    ] as const) {
      const refused = await drafts.create(body)
      expect([refused.status, refused.body.field]).toEqual([400, field])
    }
    const { body: draft } = ok(await drafts.create(linesOf(60, 40)), 201)
    const changed = await drafts.change(draft.id, linesOf(61, 40))
    expect([changed.status, changed.body.field]).toEqual([400, 'lines.1.quantity'])
  })

  test('applies a discount code to a draft but no automatic discount, and rejects payment while the code is off', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    ok(await shop.post('/discounts', { title: 'All', kind: 'PERCENT', valueBps: 5_000 }), 201)
    const coded = ok(
      await shop.post('/discounts', { title: 'Ten', code: 'TEN', kind: 'PERCENT', valueBps: 1_000, usageLimit: 1 }),
      201,
    ).body
    const { body: plain } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
    expect(plain.totals.total).toEqual(shop.money(1_000))
    const { body: draft } = ok(await drafts.create({ email: 'ann@example.com', discountCode: 'ten' }), 201)
    expect(draft).toMatchObject({ discountCode: 'TEN', totals: { discount: shop.money(100), total: shop.money(900) } })
    await app.call('PATCH', `/discounts/${coded.id}`, { token: shop.token, body: { status: 'DISABLED' } })
    for (let tries = 0; tries < 3; tries++) expect((await shop.checkout(draft.cartId)).status).toBe(409)
    expect((await drafts.read(draft.id)).discountCode).toBe('TEN')
    await app.call('PATCH', `/discounts/${coded.id}`, { token: shop.token, body: { status: 'ACTIVE' } })
    ok(await app.call('GET', `/cart/${draft.cartId}`, { key: shop.publishableKey }))
    expect(ok(await shop.checkout(draft.cartId)).body.order).toMatchObject({ status: 'CONFIRMED', total: shop.money(900) })
    expect(ok(await shop.checkout(plain.cartId)).body.order).toMatchObject({ total: shop.money(1_000), discountTotal: shop.money(0) })
  })

  test('accepts unpublished products in a draft and drafts for a customer', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const hidden = await shop.add({ title: 'Made for Ann', status: 'DRAFT', variants: [{ price: shop.money(50_000), onHand: 1 }] })
    const ann = await customerOf(app, shop.shop.name)
    const lines = [{ variantId: hidden.variants[0]?.id ?? '', quantity: 1, unitPrice: shop.money(0) }]
    const { body: draft } = ok(await drafts.create({ lines, customerId: ann.id }), 201)
    expect(draft).toMatchObject({ customerId: ann.id, email: 'shopper@example.com', lines: [{ available: true }] })
    expect((await app.call('GET', `/cart/${draft.cartId}`, { key: shop.publishableKey })).status).toBe(404)
    const order = ok(await shop.checkout(draft.cartId, {}, undefined, ann.token)).body.order
    expect(order).toMatchObject({ status: 'CONFIRMED', customerId: ann.id, total: shop.money(0) })
  })

  test('limits a shop to 10,000 drafts, and deleting one allows another', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const { body: draft } = ok(await drafts.create(), 201)
    const [row] = await app.deps.db.read.select().from(draftOrders)
    const [cart] = await app.deps.db.read.select().from(carts)
    if (!row || !cart) throw new Error('the draft was not stored')
    const others = Array.from({ length: 9_998 }, () => ({ id: app.deps.newId('draft'), cartId: newCartId(app.deps.randomBytes) }))
    await app.deps.db.write(async (tx) => {
      for (let from = 0; from < others.length; from += 250) {
        const chunk = others.slice(from, from + 250)
        await tx.insert(carts).values(chunk.map(({ cartId }) => ({ ...cart, id: cartId })))
        await tx.insert(draftOrders).values(chunk.map((ids) => ({ ...row, ...ids })))
      }
    })
    ok(await drafts.create(), 201)
    const refused = await drafts.create()
    expect([refused.status, refused.body.message]).toEqual([409, 'A shop has at most 10000 draft orders. Delete some first'])
    ok(await drafts.remove(draft.id), 204)
    ok(await drafts.create(), 201)
  })

  test('accepts a note of up to 2,000 characters', async () => {
    await using app = await testApp()
    const drafts = draftsOf(await sellingIn(app))
    expect(ok(await drafts.create({ note: 'x'.repeat(2_000) }), 201).body.note).toHaveLength(2_000)
    const refused = await drafts.create({ note: 'x'.repeat(2_001) })
    expect([refused.status, refused.body.field]).toEqual([400, 'note'])
  })
})
