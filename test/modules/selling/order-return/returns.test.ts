/** Returns: requested, approved or rejected, received, restocked and refunded. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { mailRows } from '../../../support/mails.ts'
import { requestedReturnOf, returnableOf } from '../../../support/returns.ts'
import { changeProcessor, connectionLost } from '../../../support/sandbox.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const dayMs = 86_400_000
const restockAndRefund = { restock: true, refund: true }
const returnOf = (lineId: string, quantity: number, reason = 'Too small') => ({ lines: [{ lineId, quantity, reason }] })
const returnableUnits = async (shop: Selling, orderId: string): Promise<number[]> =>
  ok(await shop.get(`/v2/orders/${orderId}/returns`)).body.returnable.map(({ quantity }: { quantity: number }) => quantity)
const messages = async (app: TestApp) =>
  (await app.deps.db.read.rows<{ body: string }>(sql`select body from outbox where event = 'order.return_updated' order by id`)).map(
    ({ body }) => JSON.parse(body).data,
  )

describe('a return', () => {
  test('a return is requested, approved and received, and its units are restocked and refunded', async () => {
    await using app = await testApp({ SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example' })
    const shop = await sellingIn(app)
    const { orderId, lineId, path, id, returnRecord: created, listPath } = await requestedReturnOf(shop, { quantity: 3 })
    expect(created).toMatchObject({
      ...{ orderId, status: 'REQUESTED', requestedBy: 'SHOP', restocked: false, refund: null, rejectionReason: null },
      lines: [{ lineId, quantity: 1, reason: 'Too small' }],
    })
    expect(await returnableUnits(shop, orderId)).toEqual([2])
    expect(ok(await shop.post(`${path}/approve`, {})).body).toMatchObject({ id, status: 'APPROVED' })
    const before = await shop.stock()
    const received = ok(await shop.post(`${path}/receive`, restockAndRefund)).body
    expect(received).toMatchObject({ id, status: 'RECEIVED', restocked: true, refund: { status: 'SUCCEEDED' } })
    expect((await shop.stock()).onHand).toBe(before.onHand + 1)
    const order = await shop.order(orderId)
    expect(order).toMatchObject({
      ...{ status: 'FULFILLED', paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: shop.money(1_000) },
      refunds: [{ id: received.refund.id, lines: [{ lineId, quantity: 1, amount: shop.money(1_000), restock: true }] }],
    })
    expect(order.events.map(({ type }: { type: string }) => type).filter((type: string) => type.startsWith('RETURN'))).toEqual([
      'RETURN_REQUESTED',
      'RETURN_APPROVED',
      'RETURN_RECEIVED',
    ])
    expect(ok(await shop.get(listPath)).body).toMatchObject({ data: [received], returnable: [{ lineId, quantity: 2 }] })
    expect((await messages(app)).map(({ return: { status, refundId } }) => [status, refundId])).toEqual([
      ['REQUESTED', null],
      ['APPROVED', null],
      ['RECEIVED', received.refund.id],
    ])
    const mails = (await mailRows(app)).filter(({ template }) => template === 'return-updated')
    expect(mails.map(({ key }) => key).sort()).toEqual(
      ['APPROVED', 'RECEIVED', 'REQUESTED'].map((status) => `return-updated:${id}:${status}`),
    )
    const actions = (await app.deps.db.read.select().from(auditLog))
      .map(({ action }) => action)
      .filter((action) => action.includes('return'))
    expect(actions.sort()).toEqual(['order.return_approved', 'order.return_received', 'order.return_requested'])
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('a rejected return frees its units, and only a requested return can be approved or rejected', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, path, listPath, body } = await requestedReturnOf(shop)
    expect((await shop.post(listPath, body)).body).toMatchObject({ statusCode: 409, field: 'lines.0.quantity' })
    expect((await shop.post(`${path}/receive`, restockAndRefund)).body).toMatchObject({ statusCode: 409, code: 'invalid_transition' })
    expect(ok(await shop.post(`${path}/reject`, { reason: '<b>Worn</b>' })).body).toMatchObject({
      status: 'REJECTED',
      rejectionReason: '<b>Worn</b>',
    })
    for (const step of ['approve', 'reject', 'receive'])
      expect((await shop.post(`${path}/${step}`, step === 'receive' ? restockAndRefund : {})).status, step).toBe(409)
    expect(await returnableUnits(shop, orderId)).toEqual([1])
    ok(await shop.post(listPath, body), 201)
  })

  test('a return can be received without restocking and refunding', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, lineId, path } = await requestedReturnOf(shop)
    ok(await shop.post(`${path}/approve`, {}))
    const before = await shop.stock()
    expect(ok(await shop.post(`${path}/receive`, { restock: false, refund: false })).body).toMatchObject({
      status: 'RECEIVED',
      refund: null,
    })
    expect(await shop.stock()).toEqual(before)
    // A later refund of the line covers the returned unit.
    ok(await shop.refund(orderId, { lines: [{ lineId, quantity: 1 }] }))
    expect(await shop.order(orderId)).toMatchObject({ paymentStatus: 'REFUNDED' })
    expect(await returnableUnits(shop, orderId)).toEqual([0])
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('a return refunds the returned units, and the unsent units stay to be sent', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder({ quantity: 2 })
    const [{ id: lineId }] = order.lines
    ok(await shop.post(`/v2/orders/${order.id}/fulfilments`, { lines: [{ lineId, quantity: 1 }] }))
    const list = `/v2/orders/${order.id}/returns`
    expect((await shop.post(list, returnOf(lineId, 2))).status).toBe(409)
    const { id } = ok(await shop.post(list, returnOf(lineId, 1)), 201).body
    ok(await shop.post(`${list}/${id}/approve`, {}))
    ok(await shop.post(`${list}/${id}/receive`, restockAndRefund))
    expect(await shop.order(order.id)).toMatchObject({
      status: 'CONFIRMED',
      lines: [{ fulfilledQuantity: 1, unfulfilledQuantity: 1 }],
    })
    expect(ok(await shop.get('/v2/orders?toFulfil=true')).body.total).toBe(1)
    ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))
    expect(await shop.order(order.id)).toMatchObject({ status: 'FULFILLED' })
    expect(await returnableUnits(shop, order.id)).toEqual([1])
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('a return cannot include units that were refunded without a return, or of an order that was fully refunded or not sent', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, lineId, path } = await returnableOf(shop, { quantity: 3 })
    ok(await shop.refund(orderId, { lines: [{ lineId, quantity: 1 }] }))
    expect(await returnableUnits(shop, orderId)).toEqual([2])
    ok(await shop.refund(orderId, { all: true }))
    expect(await returnableUnits(shop, orderId)).toEqual([0])
    expect((await shop.post(path, returnOf(lineId, 1))).status).toBe(409)
    // This order was not sent.
    const { id, lines } = await shop.placeOrder()
    expect((await shop.post(`/v2/orders/${id}/returns`, returnOf(lines[0].id, 1))).status).toBe(409)
    ok(await shop.post(`/v2/orders/${id}/cancel`, {}))
    expect(await returnableUnits(shop, id)).toEqual([0])
  })

  test('a return can be received only without a refund if its lines were refunded meanwhile', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, lineId, path } = await requestedReturnOf(shop)
    ok(await shop.post(`${path}/approve`, {}))
    ok(await shop.refund(orderId, { lines: [{ lineId, quantity: 1 }] }))
    const before = await shop.stock()
    expect((await shop.post(`${path}/receive`, restockAndRefund)).body).toMatchObject({ statusCode: 409, code: 'refund_too_large' })
    expect(await shop.stock()).toEqual(before)
    ok(await shop.post(`${path}/receive`, { restock: true, refund: false }))
    expect((await shop.stock()).onHand).toBe(before.onHand + 1)
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('a return is received once per idempotency key, also when the processor does not answer', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, path, id } = await requestedReturnOf(shop)
    ok(await shop.post(`${path}/approve`, {}))
    const before = await shop.stock()
    changeProcessor(app, () => ({ refund: () => Promise.reject(connectionLost()) }))
    const key = { 'idempotency-key': randomUUID() }
    const first = ok(await shop.post(`${path}/receive`, restockAndRefund, key)).body
    expect(first).toMatchObject({ id, status: 'RECEIVED', refund: { status: 'PENDING' } })
    expect(ok(await shop.post(`${path}/receive`, restockAndRefund, key)).body).toEqual(first)
    expect((await shop.post(`${path}/receive`, restockAndRefund)).status).toBe(409)
    expect((await shop.stock()).onHand).toBe(before.onHand + 1)
    expect((await shop.order(orderId)).refunds).toHaveLength(1)
  })

  test('parallel decisions decide a return once, and parallel requests never return more than was sent', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, lineId, path } = await returnableOf(shop, { quantity: 3 })
    const requests = await Promise.all([1, 2, 3, 4].map(() => shop.post(path, returnOf(lineId, 2))))
    expect(requests.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    const id = requests.find(({ status }) => status === 201)?.body.id
    const decided = await Promise.all(['approve', 'reject', 'approve'].map((step) => shop.post(`${path}/${id}/${step}`, {})))
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(await returnableUnits(shop, orderId)).toEqual([decided[1]?.status === 200 ? 3 : 1])
  })

  test('rejects invalid lines, quantities, reasons and unknown fields, naming the field', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { lineId, path, body } = await returnableOf(shop, { quantity: 2 })
    const [one] = body.lines
    for (const [sent, field] of [
      [{}, 'lines'],
      [{ lines: [] }, 'lines'],
      [{ lines: [{ ...one, quantity: 0 }] }, 'lines.0.quantity'],
      [{ lines: [{ ...one, quantity: 1.5 }] }, 'lines.0.quantity'],
      [{ lines: [{ ...one, quantity: 10_000 }] }, 'lines.0.quantity'],
      [{ lines: [{ ...one, reason: '' }] }, 'lines.0.reason'],
      [{ lines: [{ ...one, reason: ' \n' }] }, 'lines.0.reason'],
      [{ lines: [{ ...one, reason: 'x'.repeat(501) }] }, 'lines.0.reason'],
      [{ lines: [{ lineId, quantity: 1 }] }, 'lines.0.reason'],
      [{ lines: [{ ...one, lineId: 'line_none' }] }, 'lines.0.lineId'],
      [{ lines: [one, one] }, 'lines.1.lineId'],
      [{ ...body, resaon: 'x' }, 'resaon'],
    ] as const)
      expect((await shop.post(path, sent)).body, JSON.stringify(sent).slice(0, 80)).toMatchObject({ statusCode: 400, field })
    for (const sent of [{}, { restock: true }, { refund: true }, { restock: 'yes', refund: true }, { ...restockAndRefund, more: 1 }])
      expect((await shop.post(`${path}/ret_none/receive`, sent)).status).toBe(400)
    expect((await shop.post(`${path}/ret_none/receive`, restockAndRefund)).status).toBe(404)
  })

  test('a return is not found through another shop or order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { path, id, listPath, body } = await requestedReturnOf(shop)
    const other = await sellingIn(app)
    const { path: otherList } = await returnableOf(other)
    const otherReturnable = await returnableOf(shop)
    expect((await other.get(listPath)).status).toBe(404)
    expect((await other.post(listPath, body)).status).toBe(404)
    for (const [returnPath, caller] of [
      [path, other],
      [`${otherList}/${id}`, other],
      [`${otherReturnable.path}/${id}`, shop],
    ] as const)
      for (const step of ['approve', 'reject', 'receive'])
        expect((await caller.post(`${returnPath}/${step}`, step === 'receive' ? restockAndRefund : {})).status).toBe(404)
  })

  test('the list of all returns of a shop is sorted newest first and can be filtered by status', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    await requestedReturnOf(await sellingIn(app))
    const listed = async (query = '') => ok(await shop.get(`/v2/returns${query}`)).body
    expect(await listed()).toEqual({ data: [], page: 1, limit: 20, total: 0, pages: 0 })
    const found = [await requestedReturnOf(shop), await requestedReturnOf(shop), await requestedReturnOf(shop)]
    const [requested, approved, received] = found
    for (const one of [approved, received]) ok(await shop.post(`${one?.path}/approve`, {}))
    const { refund } = ok(await shop.post(`${received?.path}/receive`, restockAndRefund)).body
    const all = await listed()
    expect(all.data).toMatchObject([
      { id: received?.id, orderNumber: received?.order.number, status: 'RECEIVED', refund },
      { id: approved?.id, orderNumber: approved?.order.number, status: 'APPROVED', refund: null },
      { ...requested?.returnRecord, orderNumber: requested?.order.number },
    ])
    expect([all.total, (await listed('?limit=2')).data, (await listed('?limit=2&page=2')).data]).toEqual([
      3,
      all.data.slice(0, 2),
      all.data.slice(2),
    ])
    expect(await listed('?status=REQUESTED')).toMatchObject({ data: [{ id: requested?.id }], total: 1 })
    expect(await listed('?status=REJECTED')).toMatchObject({ data: [], total: 0 })
    expect((await shop.get('/v2/returns?status=OPEN')).status).toBe(400)
    const file = await app.call('GET', '/v2/returns?status=APPROVED', { key: shop.secretKey, headers: { accept: 'text/csv' } })
    const [header = '', ...rows] = file.text.trimEnd().split('\r\n')
    expect(rows.map((row) => row.split(',')[header.split(',').indexOf('id')])).toEqual([approved?.id ?? ''])
  })

  test('at most a hundred returns can be requested for an order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { path, body } = await returnableOf(shop)
    for (let nth = 0; nth < 100; nth++) {
      const { id } = ok(await shop.post(path, body), 201).body
      ok(await shop.post(`${path}/${id}/reject`, {}))
    }
    expect((await shop.post(path, body)).body).toMatchObject({ statusCode: 409, code: 'limit_reached' })
  })
})

describe('a return of a customer', () => {
  const asCustomer = (shop: Selling, token: string, path: string, body: object) => shop.app.call('POST', path, { token, body })

  test('a customer requests returns of their own order within the return days after each fulfilment, and the shop decides', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { token } = await customerOf(app, shop.shop.name)
    const stranger = await customerOf(app, shop.shop.name, 'stranger@example.com')
    const order = await shop.placeOrder({ token, quantity: 3 })
    const [{ id: lineId }] = order.lines
    const path = `/v2/orders/${order.id}/returns`
    ok(await shop.post(`/v2/orders/${order.id}/fulfilments`, { lines: [{ lineId, quantity: 1 }] }))
    expect((await asCustomer(shop, stranger.token, path, returnOf(lineId, 1))).status).toBe(404)
    const created = ok(await asCustomer(shop, token, path, returnOf(lineId, 1)), 201).body
    expect(created).toMatchObject({ status: 'REQUESTED', requestedBy: 'SHOPPER' })
    for (const step of ['approve', 'reject']) expect((await asCustomer(shop, token, `${path}/${created.id}/${step}`, {})).status).toBe(403)
    expect((await app.call('GET', path, { token })).status).toBe(403)
    ok(await shop.post(`${path}/${created.id}/reject`, {}))
    app.clock.advance(20 * dayMs)
    const parcel = { key: shop.secretKey, body: { lines: [{ lineId, quantity: 1 }] } }
    ok(await app.call('POST', `/v2/orders/${order.id}/fulfilments`, parcel))
    app.clock.advance(11 * dayMs)
    // The first unit was sent 31 days ago, the second 11.
    const login = { shopName: shop.shop.name, email: 'shopper@example.com', password: 'a password of theirs' }
    const { accessToken } = ok(await app.call('POST', '/customer/login', { body: login })).body.data
    const refused = await asCustomer(shop, accessToken, path, returnOf(lineId, 2))
    expect(refused.body).toMatchObject({ statusCode: 409, field: 'lines.0.quantity' })
    ok(await asCustomer(shop, accessToken, path, returnOf(lineId, 1)), 201)
    app.clock.advance(60 * dayMs)
    // The shop can create a return at any time.
    ok(await shop.app.call('POST', path, { key: shop.secretKey, body: returnOf(lineId, 1) }), 201)
  })

  test('a return of a customer is refused if the shop allows 0 return days', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { token } = await customerOf(app, shop.shop.name)
    const { path, body } = await returnableOf(shop, { token })
    for (const returnDays of [-1, 366, 1.5, '30'])
      expect((await app.call('PATCH', '/shops/v2', { token: shop.token, body: { returnDays } })).body.field).toBe('returnDays')
    ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { returnDays: 0 } }))
    expect((await asCustomer(shop, token, path, body)).status).toBe(409)
    ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { returnDays: 1 } }))
    ok(await asCustomer(shop, token, path, body), 201)
  })
})
