/** Fulfilment of orders in parts, and notes of the shop's staff. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../../../db/migrations/index.ts'
import { outbox } from '../../../../db/schema/outbox.ts'
import { linesToFulfil } from '../../../../src/modules/selling/order/fulfilment/fulfilments.ts'
import { type Units, unitsOf } from '../../../../src/modules/selling/order/fulfilment/units.ts'
import { orderFindings } from '../../../../src/modules/selling/order/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, connectionLost } from '../../../support/sandbox.ts'
import { customerOf, fulfilledOrderOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const day = 24 * 60 * 60 * 1000
type FulfilmentRequest = { lines?: { lineId: string; quantity: number }[]; trackingNumber?: string | null; carrier?: string | null }

const ship = (shop: Selling, id: string, body: FulfilmentRequest = {}, key: string = randomUUID()) =>
  shop.post(`/v2/orders/${id}/fulfilments`, body, { 'idempotency-key': key })

/** Places an order of three mugs and two bowls, and returns the ids of its lines. */
async function placeMixedOrder(shop: Selling) {
  const { currency } = shop.shop
  const bowl = await shop.add({ title: 'Bowl', variants: [{ price: { amount: 500, currency }, onHand: 100 }] })
  const cartId = await shop.cart({ quantity: 3 })
  const item = { variantId: bowl.variants[0]?.id, quantity: 2 }
  ok(await shop.app.call('POST', `/cart/${cartId}/items`, { key: shop.publishableKey, body: item }))
  const { order } = ok(await shop.checkout(cartId), 201).body
  const [mugs, bowls] = order.lines.map(({ id }: { id: string }) => id) as [string, string]
  return { id: order.id as string, mugs, bowls }
}

/** Returns the webhook messages in the outbox about fulfilments of an order, in order. */
async function webhooksOf(app: TestApp, orderId: string) {
  const rows = await app.deps.db.read.select().from(outbox).orderBy(outbox.id)
  return rows
    .map(({ event, body }) => ({ event, data: JSON.parse(body).data }))
    .filter(({ event, data }) => data.orderId === orderId && /fulfil/.test(event))
}

async function expectNoProblems(app: TestApp): Promise<void> {
  expect(violationsAtRest(await booksOf(app))).toEqual([])
  for await (const { subject, problems } of orderFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
}

describe('fulfilment in parts', () => {
  test('keeps an order CONFIRMED until its last fulfilment makes it FULFILLED, with one webhook for each', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs, bowls } = await placeMixedOrder(shop)
    const first = ok(await ship(shop, id, { lines: [{ lineId: mugs, quantity: 2 }], trackingNumber: 'T1', carrier: 'Post' }), 201)
    expect(first.headers.get('etag')).toBe('"v1"')
    expect(first.body).toEqual({
      id: expect.stringMatching(/^ful_/),
      lines: [{ lineId: mugs, quantity: 2 }],
      trackingNumber: 'T1',
      carrier: 'Post',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const partialOrder = await shop.order(id)
    expect(partialOrder).toMatchObject({
      status: 'CONFIRMED',
      fulfilmentStatus: 'PARTIALLY_FULFILLED',
      tracking: { number: 'T1', carrier: 'Post' },
      fulfilments: [first.body],
      lines: [
        { fulfilledQuantity: 2, unfulfilledQuantity: 1 },
        { fulfilledQuantity: 0, unfulfilledQuantity: 2 },
      ],
    })
    // The refund window has not started, because nothing is sent yet.
    app.clock.advance(20 * day)
    await app.jobs.closeOrders()
    expect((await shop.order(id)).status).toBe('CONFIRMED')
    // A fulfilment without tracking does not change the tracking of the order.
    const last = ok(
      await ship(shop, id, {
        lines: [
          { lineId: bowls, quantity: 2 },
          { lineId: mugs, quantity: 1 },
        ],
      }),
      201,
    ).body
    const fulfilledOrder = await shop.order(id)
    expect(fulfilledOrder).toMatchObject({
      status: 'FULFILLED',
      fulfilmentStatus: 'FULFILLED',
      tracking: { number: 'T1', carrier: 'Post' },
      lines: [
        { fulfilledQuantity: 3, unfulfilledQuantity: 0 },
        { fulfilledQuantity: 2, unfulfilledQuantity: 0 },
      ],
    })
    expect(fulfilledOrder.fulfilments.map((one: { id: string }) => one.id)).toEqual([first.body.id, last.id])
    expect(fulfilledOrder.events.slice(-2).map(({ type, detail }: { type: string; detail: object }) => [type, detail])).toEqual([
      ['PARTIALLY_FULFILLED', { fulfilment: first.body.id, trackingNumber: 'T1', carrier: 'Post' }],
      ['FULFILLED', { fulfilment: last.id }],
    ])
    const { createdAt: _, updatedAt: __, ...parcel } = first.body
    expect(await webhooksOf(app, id)).toEqual([
      { event: 'order.partially_fulfilled', data: { orderId: id, number: 1, fulfilment: parcel } },
      {
        event: 'order.fulfilled',
        data: {
          ...{ orderId: id, number: 1, trackingNumber: null, carrier: null },
          fulfilment: { id: last.id, lines: last.lines, trackingNumber: null, carrier: null },
        },
      },
    ])
    await expectNoProblems(app)
    app.clock.advance(14 * day - 1)
    await app.jobs.closeOrders()
    expect((await shop.order(id)).status).toBe('FULFILLED')
    app.clock.advance(1)
    await app.jobs.closeOrders()
    expect((await shop.order(id)).status).toBe('COMPLETED')
    await expectNoProblems(app)
  })

  test('fulfils all remaining units by /fulfil and by a fulfilment without lines', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    for (const rest of ['fulfil', 'fulfilments']) {
      const { id, mugs, bowls } = await placeMixedOrder(shop)
      ok(await ship(shop, id, { lines: [{ lineId: mugs, quantity: 1 }] }))
      ok(await shop.post(`/v2/orders/${id}/${rest}`, { carrier: 'Post' }))
      const { status, fulfilments } = await shop.order(id)
      expect([status, fulfilments[1].lines]).toEqual([
        'FULFILLED',
        [
          { lineId: mugs, quantity: 2 },
          { lineId: bowls, quantity: 2 },
        ],
      ])
      for (const path of ['fulfil', 'fulfilments']) expect((await shop.post(`/v2/orders/${id}/${path}`, {})).status).toBe(409)
    }
    await expectNoProblems(app)
  })

  test('rejects unknown lines, repeated lines and too many units in a fulfilment, and changes nothing', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const { id, mugs, bowls } = await placeMixedOrder(shop)
    const before = await shop.order(id)
    const line = (lineId: string, quantity: unknown = 1) => ({ lineId, quantity })
    const cases: [number, unknown][] = [
      [400, { lines: [] }],
      [400, { lines: [line('line_none')] }],
      [400, { lines: [line(mugs), line(mugs)] }],
      [400, { lines: [line(mugs, 0)] }],
      [400, { lines: [line(mugs, 1.5)] }],
      [400, { lines: [line(mugs, -1)] }],
      [400, { lines: [line(mugs, 10_000)] }],
      [400, { lines: [{ ...line(mugs), restock: true }] }],
      [400, { trackingNumber: 'T'.repeat(101) }],
      [409, { lines: [line(mugs, 4)] }],
      [409, { lines: [line(bowls, 1), line(mugs, 4)] }],
    ]
    for (const [status, body] of cases) expect([body, (await ship(shop, id, body as FulfilmentRequest)).status]).toEqual([body, status])
    expect((await ship(other, id)).status).toBe(404)
    expect((await ship(shop, 'order_00000000000000000000000000')).status).toBe(404)
    expect(await shop.order(id)).toEqual(before)
    const unpaid = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' })).body.order
    expect((await ship(shop, unpaid.id)).status).toBe(409)
    ok(await shop.post(`/v2/orders/${id}/cancel`, {}))
    expect((await ship(shop, id)).status).toBe(409)
    expect((await shop.order(id)).lines[0]).toMatchObject({ fulfilledQuantity: 0, unfulfilledQuantity: 0 })
    await expectNoProblems(app)
  })

  test('rejects cancelling a partially fulfilled order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs } = await placeMixedOrder(shop)
    ok(await ship(shop, id, { lines: [{ lineId: mugs, quantity: 1 }] }))
    const refused = await shop.post(`/v2/orders/${id}/cancel`, {})
    expect([refused.status, refused.body.message]).toEqual([409, 'An order with fulfilments cannot be cancelled. Refund the rest instead'])
    expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED', refunds: [] })
    await expectNoProblems(app)
  })

  test('allows at most a hundred fulfilments per order, and the last one must contain all remaining units', async () => {
    const units: Units[] = [{ lineId: 'a', quantity: 101, sent: 99, refunded: 0, left: 2, open: 2 }]
    const oneUnit = [{ lineId: 'a', quantity: 1 }]
    expect(linesToFulfil(units, oneUnit, 98)).toEqual(oneUnit)
    expect(() => linesToFulfil(units, oneUnit, 99)).toThrow(
      'An order can have at most 100 fulfilments: the last one must contain all remaining units',
    )
    expect(linesToFulfil(units, [{ lineId: 'a', quantity: 2 }], 99)).toEqual([{ lineId: 'a', quantity: 2 }])
    expect(linesToFulfil(units, undefined, 99)).toEqual([{ lineId: 'a', quantity: 2 }])
  })

  test('creates a fulfilment once per idempotency key, and rejects another body with 422', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs } = await placeMixedOrder(shop)
    const lines = [{ lineId: mugs, quantity: 1 }]
    const answers = [await ship(shop, id, { lines }, 'k'), await ship(shop, id, { lines }, 'k')]
    expect(answers.map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([
      [201, null],
      [201, 'true'],
    ])
    expect(answers[1]?.text).toBe(answers[0]?.text ?? '')
    expect((await ship(shop, id, {}, 'k')).status).toBe(422)
    expect((await shop.order(id)).fulfilments).toHaveLength(1)
  })
})

describe('refunds of a partially fulfilled order', () => {
  test('refunds unsent units first, and the refund of the last unsent unit fulfils the order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs, bowls } = await placeMixedOrder(shop)
    ok(await ship(shop, id, { lines: [{ lineId: mugs, quantity: 1 }], trackingNumber: 'T1' }))
    ok(await shop.refund(id, { lines: [{ lineId: mugs, quantity: 1, restock: true }] }))
    expect(await shop.order(id)).toMatchObject({
      status: 'CONFIRMED',
      lines: [
        { fulfilledQuantity: 1, unfulfilledQuantity: 1 },
        { fulfilledQuantity: 0, unfulfilledQuantity: 2 },
      ],
    })
    expect((await ship(shop, id, { lines: [{ lineId: mugs, quantity: 2 }] })).status).toBe(409)
    const rest = {
      lines: [
        { lineId: mugs, quantity: 1, restock: true },
        { lineId: bowls, quantity: 2 },
      ],
    }
    ok(await shop.refund(id, rest))
    const ended = await shop.order(id)
    expect(ended).toMatchObject({ status: 'FULFILLED', fulfilmentStatus: 'FULFILLED', paymentStatus: 'PARTIALLY_REFUNDED' })
    expect(ended.events.slice(-2).map(({ type }: { type: string }) => type)).toEqual(['REFUNDED', 'FULFILLED'])
    expect((await webhooksOf(app, id)).at(-1)).toEqual({
      event: 'order.fulfilled',
      data: { orderId: id, number: 1, trackingNumber: 'T1', carrier: null, fulfilment: null },
    })
    // Of three mugs, one was sent and two were restocked.
    expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
    // A sent unit can be refunded and restocked, too.
    ok(await shop.refund(id, { lines: [{ lineId: mugs, quantity: 1, restock: true }] }))
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    await expectNoProblems(app)
    app.clock.advance(14 * day)
    await app.jobs.closeOrders()
    expect((await shop.order(id)).status).toBe('COMPLETED')
  })

  for (const succeeds of [true, false])
    test(`holds back units of a pending refund, and fulfils the order once it ${succeeds ? 'succeeds' : 'fails and they are sent'}`, async () => {
      await using app = await testApp()
      const shop = await sellingIn(app)
      const { id, mugs, bowls } = await placeMixedOrder(shop)
      ok(await ship(shop, id, { lines: [{ lineId: bowls, quantity: 2 }] }))
      let mode: 'no' | 'yes' | 'refused' = 'no'
      changeProcessor(app, ({ refund }) => ({
        refund: (...args) => {
          if (mode === 'no') return Promise.reject(connectionLost())
          return mode === 'yes' ? refund(...args) : Promise.resolve({ reference: 'r', state: 'FAILED', failureCode: 'no' })
        },
      }))
      expect(ok(await shop.refund(id, { lines: [{ lineId: mugs, quantity: 2 }] })).body.status).toBe('PENDING')
      expect((await ship(shop, id, { lines: [{ lineId: mugs, quantity: 2 }] })).status).toBe(409)
      expect(ok(await shop.post(`/v2/orders/${id}/fulfil`, {})).body).toMatchObject({
        status: 'CONFIRMED',
        fulfilmentStatus: 'PARTIALLY_FULFILLED',
        lines: [{ fulfilledQuantity: 1, unfulfilledQuantity: 0 }, {}],
      })
      mode = succeeds ? 'yes' : 'refused'
      for (let round = 0; round < 3; round++) {
        app.clock.advance(31 * 60_000)
        await app.jobs.resume()
      }
      if (!succeeds) {
        expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', lines: [{ unfulfilledQuantity: 2 }, {}] })
        ok(await shop.post(`/v2/orders/${id}/fulfil`, {}))
      }
      expect(await shop.order(id)).toMatchObject({ status: 'FULFILLED', refunds: [{ status: succeeds ? 'SUCCEEDED' : 'FAILED' }] })
      await expectNoProblems(app)
    })
})

describe('parallel fulfilments', () => {
  test('accepts parallel fulfilments only up to the number of units', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs, bowls } = await placeMixedOrder(shop)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ship(shop, id, { lines: [{ lineId: mugs, quantity: 1 }], carrier: 'Post' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
    expect((await shop.order(id)).lines[0]).toMatchObject({ fulfilledQuantity: 3, unfulfilledQuantity: 0 })
    const rest = await Promise.all([ship(shop, id), ship(shop, id), shop.post(`/v2/orders/${id}/fulfil`, {})])
    expect(rest.filter(({ status }) => status < 300)).toHaveLength(1)
    expect((await shop.order(id)).fulfilments.at(-1).lines).toEqual([{ lineId: bowls, quantity: 2 }])
    await expectNoProblems(app)
  })

  test('never fulfils refunded units when fulfilments, a refund and a cancellation run in parallel', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    for (let round = 0; round < 4; round++) {
      const { id, mugs, bowls } = await placeMixedOrder(shop)
      const actions = [
        () => ship(shop, id, { lines: [{ lineId: mugs, quantity: 2 }] }),
        () =>
          shop.refund(id, {
            lines: [
              { lineId: mugs, quantity: 2 },
              { lineId: bowls, quantity: 1 },
            ],
          }),
        () => shop.post(`/v2/orders/${id}/cancel`, {}),
        () => ship(shop, id, { lines: [{ lineId: bowls, quantity: 2 }] }),
      ]
      await Promise.all([...actions.slice(round), ...actions.slice(0, round)].map((action) => action()))
      const { status, fulfilments } = await shop.order(id)
      if (status === 'CANCELLED') expect(fulfilments).toEqual([])
    }
    await expectNoProblems(app)
  })
})

describe('the tracking of a fulfilment', () => {
  test('corrects the tracking, also of a completed order, and sends a webhook for real changes only', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, fulfilmentId, path } = await fulfilledOrderOf(shop)
    const first = ok(await shop.patch(path, { trackingNumber: 'T1', carrier: 'Post' }), 200)
    expect([first.body, first.headers.get('etag')]).toMatchObject([{ id: fulfilmentId, trackingNumber: 'T1', carrier: 'Post' }, '"v2"'])
    app.clock.advance(14 * day)
    await app.jobs.closeOrders()
    ok(await shop.patch(path, { trackingNumber: 'T2' }))
    const same = ok(await shop.patch(path, { trackingNumber: 'T2', carrier: 'Post' }))
    expect(same.headers.get('etag')).toBe('"v3"')
    expect(ok(await shop.patch(path, {})).headers.get('etag')).toBe('"v3"')
    expect(await shop.order(orderId)).toMatchObject({ status: 'COMPLETED', tracking: { number: 'T2', carrier: 'Post' } })
    ok(await shop.patch(path, { trackingNumber: null, carrier: null }))
    const order = await shop.order(orderId)
    expect(order).toMatchObject({ tracking: null, fulfilments: [{ trackingNumber: null, carrier: null, lines: [{ quantity: 1 }] }] })
    expect(order.events.filter(({ type }: { type: string }) => type === 'FULFILMENT_UPDATED')).toHaveLength(3)
    const webhooks = await webhooksOf(app, orderId)
    expect(webhooks.map(({ event, data }) => [event, data.fulfilment.trackingNumber])).toEqual([
      ['order.fulfilled', null],
      ['order.fulfilment_updated', 'T1'],
      ['order.fulfilment_updated', 'T2'],
      ['order.fulfilment_updated', null],
    ])
    await expectNoProblems(app)
  })

  test('shows the tracking of the latest fulfilment that has one', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs } = await placeMixedOrder(shop)
    const first = ok(await ship(shop, id, { lines: [{ lineId: mugs, quantity: 1 }], trackingNumber: 'T1' })).body
    const second = ok(await ship(shop, id, { trackingNumber: 'T2' })).body
    ok(await shop.patch(`/v2/orders/${id}/fulfilments/${first.id}`, { trackingNumber: 'T1b' }))
    expect((await shop.order(id)).tracking).toEqual({ number: 'T2', carrier: null })
    ok(await shop.patch(`/v2/orders/${id}/fulfilments/${second.id}`, { trackingNumber: null }))
    expect((await shop.order(id)).tracking).toEqual({ number: 'T1b', carrier: null })
    await expectNoProblems(app)
  })

  test('returns a fulfilment with its version to its own shop only, and rejects a stale correction', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const { orderId, fulfilmentId, path } = await fulfilledOrderOf(shop)
    const another = await fulfilledOrderOf(shop)
    const first = ok(await shop.get(path))
    expect(first.body).toEqual((await shop.order(orderId)).fulfilments[0])
    const etag = first.headers.get('etag') ?? ''
    const corrected = ok(await shop.patch(path, { carrier: 'Post' }, { 'if-match': etag }))
    expect((await shop.patch(path, { carrier: 'Ship' }, { 'if-match': etag })).status).toBe(412)
    const second = ok(await shop.get(path))
    expect([second.text, second.headers.get('etag')]).toEqual([corrected.text, corrected.headers.get('etag')])
    expect((await shop.get(`/v2/orders/${another.orderId}/fulfilments/${fulfilmentId}`)).status).toBe(404)
    expect((await other.get(path)).status).toBe(404)
  })

  test('corrects a fulfilment only under its own order and shop, and at most a hundred times', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const { orderId, fulfilmentId, path } = await fulfilledOrderOf(shop)
    const another = await fulfilledOrderOf(shop)
    expect((await shop.patch(`/v2/orders/${another.orderId}/fulfilments/${fulfilmentId}`, { carrier: 'x' })).status).toBe(404)
    expect((await other.patch(path, { carrier: 'x' })).status).toBe(404)
    await app.deps.db.write(async (tx) => void (await tx.rows(sql`update fulfilments set version = 101 where id = ${fulfilmentId}`)))
    expect((await shop.patch(path, { carrier: 'x' })).status).toBe(409)
    expect((await shop.order(orderId)).tracking).toBeNull()
    ok(await shop.patch(another.path, { carrier: 'x' }))
  })
})

describe('notes on orders', () => {
  test('shows notes to the shop only, and in no response to shoppers, event, audit entry or webhook', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { token } = await customerOf(app, shop.shop.name)
    const cartId = await shop.cart({ token })
    const declined = ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }, undefined, token)).body.order
    const path = `/v2/orders/${declined.id}/notes`
    const text = 'PLANTED: call before it is sent'
    const note = ok(await app.call('POST', path, { token: shop.token, body: { text } }), 201).body
    app.clock.advance(1_000)
    ok(await app.call('POST', path, { key: shop.secretKey, body: { text: 'by key' } }), 201)
    expect(note).toEqual({ id: expect.stringMatching(/^note_/), text, actor: expect.stringMatching(/^mer_/), at: expect.any(String) })
    // The response to a second payment contains the order.
    const paid = ok(await shop.checkout(cartId, {}, undefined, token), 201)
    const customerView = ok(await app.call('GET', `/v2/orders/${declined.id}`, { token }))
    for (const { text: answer } of [paid, customerView]) expect(answer).not.toContain('PLANTED')
    expect(customerView.body.notes).toEqual([])
    const { notes, events } = await shop.order(declined.id)
    expect(notes.map((one: { text: string; actor: string }) => [one.text, one.actor.split('_')[0]])).toEqual([
      [text, 'mer'],
      ['by key', 'key'],
    ])
    expect(notes[0]).toEqual(note)
    expect(JSON.stringify(events)).not.toContain('PLANTED')
    const rows = await app.deps.db.read.rows<{ after: string }>(sql`select * from audit_log where action = 'order.noted'`)
    expect(rows).toHaveLength(2)
    expect(JSON.stringify(rows)).not.toContain('PLANTED')
    const webhooks = await app.deps.db.read.select().from(outbox)
    expect(JSON.stringify(webhooks)).not.toContain('PLANTED')
  })

  test("limits the length and number of notes, and rejects notes on another shop's order", async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const { id } = await shop.placeOrder()
    const path = `/v2/orders/${id}/notes`
    for (const text of ['', 'x'.repeat(1_001), 'a\u0000b', 1, null])
      expect([text, (await shop.post(path, { text })).status]).toEqual([text, 400])
    expect((await other.post(path, { text: 'x' })).status).toBe(404)
    expect((await app.call('POST', path, { key: shop.publishableKey, body: { text: 'x' } })).status).toBe(403)
    for (let nth = 0; nth < 99; nth++) ok(await shop.post(path, { text: `${nth}` }))
    const last = await Promise.all([1, 2, 3].map(() => shop.post(path, { text: 'x' })))
    expect(last.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    expect((await shop.order(id)).notes).toHaveLength(100)
  })
})

test('migrates orders that an older version fulfilled to one fulfilment with all of their lines', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 50 })
  const { db } = app.deps
  const tracked = await placeMixedOrder(shop)
  ok(await shop.refund(tracked.id, { lines: [{ lineId: tracked.mugs, quantity: 1 }] }))
  ok(await shop.post(`/v2/orders/${tracked.id}/fulfil`, { trackingNumber: 'T1', carrier: 'Post' }))
  const { orderId: plain } = await fulfilledOrderOf(shop)
  const { id: open } = await shop.placeOrder()
  const trees = { sqlite: sqliteMigrations, postgres: postgresMigrations }
  const statements = trees[engine].flatMap(({ statements }) => statements.split('--> statement-breakpoint'))
  const [backfill = '', ...others] = statements.filter((statement) => /INSERT INTO .fulfilments/.test(statement))
  expect(others).toEqual([])
  await db.write(async (tx) => {
    await tx.rows(sql`delete from fulfilments`)
    await tx.rows(sql.raw(backfill))
    for (const id of [tracked.id, plain, open]) app.deps.orderChanged(tx, id)
  })
  const migrated = await shop.order(tracked.id)
  expect(migrated).toMatchObject({
    status: 'FULFILLED',
    tracking: { number: 'T1', carrier: 'Post' },
    fulfilments: [
      {
        id: tracked.id.replace('order_', 'ful_'),
        trackingNumber: 'T1',
        carrier: 'Post',
        lines: [
          { lineId: tracked.mugs, quantity: 3 },
          { lineId: tracked.bowls, quantity: 2 },
        ],
      },
    ],
  })
  expect((await shop.order(plain)).fulfilments).toMatchObject([{ trackingNumber: null, lines: [{ quantity: 1 }] }])
  expect(await shop.order(open)).toMatchObject({ fulfilments: [], lines: [{ unfulfilledQuantity: 1 }] })
  ok(await shop.patch(`/v2/orders/${tracked.id}/fulfilments/${migrated.fulfilments[0].id}`, { trackingNumber: 'T2' }))
  await expectNoProblems(app)
})

test('reports orders whose state differs from their fulfilments', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 50 })
  const { db } = app.deps
  const found = async () => {
    const findings: string[][] = []
    for await (const { problems } of orderFindings(db)) findings.push(problems)
    return findings
  }
  const broken: [description: string, position: 0 | 1, statement: (orderId: string) => ReturnType<typeof sql>][] = [
    ['its fulfilment is missing', 0, (id) => sql`delete from fulfilments where order_id = ${id}`],
    ['more units were sent than ordered', 0, (id) => sql`update fulfilments set lines = replace(lines, ':1', ':2') where order_id = ${id}`],
    [
      'its fulfilment has a line of another order',
      0,
      (id) => sql`update fulfilments set lines = replace(lines, 'line_', 'none_') where order_id = ${id}`,
    ],
    ['its fulfilment is empty', 0, (id) => sql`update fulfilments set lines = '[]' where order_id = ${id}`],
    ['its fulfilment status is UNFULFILLED', 0, (id) => sql`update orders set fulfilment_status = 'UNFULFILLED' where id = ${id}`],
    [
      'its fulfilment status is PARTIALLY_FULFILLED',
      0,
      (id) => sql`update orders set fulfilment_status = 'PARTIALLY_FULFILLED' where id = ${id}`,
    ],
    ['its status is CONFIRMED', 0, (id) => sql`update orders set status = 'CONFIRMED' where id = ${id}`],
    ['its tracking differs', 1, (id) => sql`update orders set carrier = 'x' where id = ${id}`],
  ]
  // The third list has problems of the search index, which stays correct.
  const expected: string[][] = [[], [], []]
  for (const [description, position, statement] of broken) {
    const { orderId } = await fulfilledOrderOf(shop)
    await db.write(async (tx) => void (await tx.rows(statement(orderId))))
    expected[position]?.push(orderId)
    const findings = await found()
    expect([description, findings.map((problems) => problems.map((one) => /order_\w+/.exec(one)?.[0]))]).toEqual([description, expected])
  }
})

test('never fulfils a refunded unit and never loses one, in any order of fulfilments and refunds', () => {
  const smallQuantity = fc.integer({ min: 0, max: 4 })
  const step = fc.oneof(
    fc.record({ do: fc.constant('send' as const), line: fc.nat({ max: 2 }), quantity: smallQuantity }),
    fc.record({
      do: fc.constant('refund' as const),
      line: fc.nat({ max: 2 }),
      quantity: smallQuantity,
      status: fc.constantFrom('PENDING' as const, 'SUCCEEDED' as const, 'FAILED' as const, 'MANUAL' as const, 'CLAIMABLE' as const),
    }),
  )
  const lines = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(lines, fc.array(step, { maxLength: 20 }), (quantities, steps) => {
      const ordered = quantities.map((quantity, nth) => ({ id: `line_${nth}`, quantity }))
      const fulfilments: { lines: { lineId: string; quantity: number }[] }[] = []
      const refunds: Record<string, unknown>[] = []
      // The model has each unit: unsent, sent or refunded. Refunds take unsent units first.
      const units = ordered.map(({ quantity }) => Array.from({ length: quantity }, () => ({ sent: false, refundState: 'no' as string })))
      const refundStateOf = (status: string) => (status === 'PENDING' ? 'maybe' : status === 'FAILED' ? 'no' : 'yes')
      for (const action of steps) {
        const lineId = `line_${action.line}`
        const lineUnits = units[action.line] ?? []
        if (action.do === 'send') {
          const free = lineUnits.filter(({ sent, refundState: is }) => !sent && is === 'no')
          const before = unitsOf({ capturedTotal: 1_000, giftCardTotal: 0 }, ordered, fulfilments, refunds as never)
          const requested = [{ lineId, quantity: action.quantity }]
          const isLeft = action.quantity >= 1 && action.quantity <= free.length
          expect(before[action.line]?.left).toBe(free.length)
          if (!isLeft) {
            if (action.quantity >= 1) expect(() => linesToFulfil(before, requested, 0)).toThrow()
            continue
          }
          fulfilments.push({ lines: linesToFulfil(before, requested, 0) })
          for (const unit of free.slice(0, action.quantity)) unit.sent = true
        } else {
          const free = lineUnits.filter(({ refundState: is }) => is === 'no').sort((a, b) => Number(a.sent) - Number(b.sent))
          if (action.quantity < 1 || action.quantity > free.length) continue
          refunds.push({ status: action.status, amount: 0, giftCardAmount: 0, lines: [{ lineId, quantity: action.quantity }] })
          for (const unit of free.slice(0, action.quantity)) unit.refundState = refundStateOf(action.status)
        }
      }
      expect(unitsOf({ capturedTotal: 1_000, giftCardTotal: 0 }, ordered, fulfilments, refunds as never)).toEqual(
        units.map((lineUnits, nth) => ({
          lineId: `line_${nth}`,
          quantity: lineUnits.length,
          sent: lineUnits.filter(({ sent }) => sent).length,
          refunded: lineUnits.filter(({ refundState: is }) => is !== 'no').length,
          left: lineUnits.filter(({ sent, refundState: is }) => !sent && is === 'no').length,
          open: expect.any(Number),
        })),
      )
      for (const [nth, { open, left, sent }] of unitsOf(
        { capturedTotal: 1_000, giftCardTotal: 0 },
        ordered,
        fulfilments,
        refunds as never,
      ).entries()) {
        expect(open).toBeGreaterThanOrEqual(left)
        expect(sent + open).toBeLessThanOrEqual(quantities[nth] ?? 0)
      }
    }),
  )
})
