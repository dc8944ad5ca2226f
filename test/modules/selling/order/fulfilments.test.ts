/** Fulfilment of orders in parts, and notes of the shop's staff. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../../../db/migrations/index.ts'
import { outbox } from '../../../../db/schema/outbox.ts'
import { packed } from '../../../../src/modules/selling/order/fulfilment/fulfilments.ts'
import { type Units, unitsOf } from '../../../../src/modules/selling/order/fulfilment/units.ts'
import { orderFindings } from '../../../../src/modules/selling/order/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, lost } from '../../../support/sandbox.ts'
import { customerOf, ok, type Selling, sellingIn, sentOf } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const day = 24 * 60 * 60 * 1000
type Asked = { lines?: { lineId: string; quantity: number }[]; trackingNumber?: string | null; carrier?: string | null }

const ship = (shop: Selling, id: string, body: Asked = {}, key: string = randomUUID()) =>
  shop.post(`/v2/orders/${id}/fulfilments`, body, { 'idempotency-key': key })

/** An order of three mugs and two bowls, and its lines. */
async function mixedOrder(shop: Selling) {
  const { currency } = shop.shop
  const bowl = await shop.add({ title: 'Bowl', variants: [{ price: { amount: 500, currency }, onHand: 100 }] })
  const cartId = await shop.cart({ quantity: 3 })
  const item = { variantId: bowl.variants[0]?.id, quantity: 2 }
  ok(await shop.app.call('POST', `/cart/${cartId}/items`, { key: shop.publishableKey, body: item }))
  const { order } = ok(await shop.checkout(cartId), 201).body
  const [mugs, bowls] = order.lines.map(({ id }: { id: string }) => id) as [string, string]
  return { id: order.id as string, mugs, bowls }
}

/** What the outbox has of an order's parcels, in order. */
async function toldOf(app: TestApp, orderId: string) {
  const rows = await app.deps.db.read.select().from(outbox).orderBy(outbox.id)
  return rows
    .map(({ event, body }) => ({ event, data: JSON.parse(body).data }))
    .filter(({ event, data }) => data.orderId === orderId && /fulfil/.test(event))
}

async function nothingIsWrong(app: TestApp): Promise<void> {
  expect(violationsAtRest(await booksOf(app))).toEqual([])
  for await (const { subject, problems } of orderFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
}

describe('fulfilment in parts', () => {
  test('keeps an order CONFIRMED until its last parcel makes it FULFILLED, with one webhook per parcel', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs, bowls } = await mixedOrder(shop)
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
    const half = await shop.order(id)
    expect(half).toMatchObject({
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
    // Without its own tracking, the order keeps showing the last one.
    const last = ok(
      await ship(shop, id, {
        lines: [
          { lineId: bowls, quantity: 2 },
          { lineId: mugs, quantity: 1 },
        ],
      }),
      201,
    ).body
    const whole = await shop.order(id)
    expect(whole).toMatchObject({
      status: 'FULFILLED',
      fulfilmentStatus: 'FULFILLED',
      tracking: { number: 'T1', carrier: 'Post' },
      lines: [
        { fulfilledQuantity: 3, unfulfilledQuantity: 0 },
        { fulfilledQuantity: 2, unfulfilledQuantity: 0 },
      ],
    })
    expect(whole.fulfilments.map((one: { id: string }) => one.id)).toEqual([first.body.id, last.id])
    expect(whole.events.slice(-2).map(({ type, detail }: { type: string; detail: object }) => [type, detail])).toEqual([
      ['PARTIALLY_FULFILLED', { fulfilment: first.body.id, trackingNumber: 'T1', carrier: 'Post' }],
      ['FULFILLED', { fulfilment: last.id }],
    ])
    const { createdAt: _, updatedAt: __, ...parcel } = first.body
    expect(await toldOf(app, id)).toEqual([
      { event: 'order.partially_fulfilled', data: { orderId: id, number: 1, fulfilment: parcel } },
      {
        event: 'order.fulfilled',
        data: {
          ...{ orderId: id, number: 1, trackingNumber: null, carrier: null },
          fulfilment: { id: last.id, lines: last.lines, trackingNumber: null, carrier: null },
        },
      },
    ])
    await nothingIsWrong(app)
    app.clock.advance(14 * day - 1)
    await app.jobs.closeOrders()
    expect((await shop.order(id)).status).toBe('FULFILLED')
    app.clock.advance(1)
    await app.jobs.closeOrders()
    expect((await shop.order(id)).status).toBe('COMPLETED')
    await nothingIsWrong(app)
  })

  test('sends all remaining units by /fulfil and by a parcel without lines', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    for (const rest of ['fulfil', 'fulfilments']) {
      const { id, mugs, bowls } = await mixedOrder(shop)
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
      for (const again of ['fulfil', 'fulfilments']) expect((await shop.post(`/v2/orders/${id}/${again}`, {})).status).toBe(409)
    }
    await nothingIsWrong(app)
  })

  test('rejects unknown lines, repeated lines and too many units in a parcel, and changes nothing', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const { id, mugs, bowls } = await mixedOrder(shop)
    const before = await shop.order(id)
    const line = (lineId: string, quantity: unknown = 1) => ({ lineId, quantity })
    const tries: [number, unknown][] = [
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
    for (const [status, body] of tries) expect([body, (await ship(shop, id, body as Asked)).status]).toEqual([body, status])
    expect((await ship(other, id)).status).toBe(404)
    expect((await ship(shop, 'order_00000000000000000000000000')).status).toBe(404)
    expect(await shop.order(id)).toEqual(before)
    const unpaid = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' })).body.order
    expect((await ship(shop, unpaid.id)).status).toBe(409)
    ok(await shop.post(`/v2/orders/${id}/cancel`, {}))
    expect((await ship(shop, id)).status).toBe(409)
    expect((await shop.order(id)).lines[0]).toMatchObject({ fulfilledQuantity: 0, unfulfilledQuantity: 0 })
    await nothingIsWrong(app)
  })

  test('rejects cancelling an order of which a part was sent', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs } = await mixedOrder(shop)
    ok(await ship(shop, id, { lines: [{ lineId: mugs, quantity: 1 }] }))
    const refused = await shop.post(`/v2/orders/${id}/cancel`, {})
    expect([refused.status, refused.body.message]).toEqual([409, 'An order with fulfilments cannot be cancelled. Refund the rest instead'])
    expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED', refunds: [] })
    await nothingIsWrong(app)
  })

  test('allows at most a hundred parcels per order, and the last one must contain the rest', async () => {
    const units: Units[] = [{ lineId: 'a', quantity: 101, sent: 99, refunded: 0, left: 2, open: 2 }]
    const one = [{ lineId: 'a', quantity: 1 }]
    expect(packed(units, one, 98)).toEqual(one)
    expect(() => packed(units, one, 99)).toThrow('An order can have at most 100 fulfilments: the last one must contain all remaining units')
    expect(packed(units, [{ lineId: 'a', quantity: 2 }], 99)).toEqual([{ lineId: 'a', quantity: 2 }])
    expect(packed(units, undefined, 99)).toEqual([{ lineId: 'a', quantity: 2 }])
  })

  test('sends a parcel once per idempotency key, and rejects another body with 422', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs } = await mixedOrder(shop)
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

describe('refunds of a partially sent order', () => {
  test('refunds unsent units first, and the refund of the last unsent unit fulfils the order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs, bowls } = await mixedOrder(shop)
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
    expect((await toldOf(app, id)).at(-1)).toEqual({
      event: 'order.fulfilled',
      data: { orderId: id, number: 1, trackingNumber: 'T1', carrier: null, fulfilment: null },
    })
    // Of three mugs one was sent, two went back to the shelf.
    expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
    // What was sent may come back, too.
    ok(await shop.refund(id, { lines: [{ lineId: mugs, quantity: 1, restock: true }] }))
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    await nothingIsWrong(app)
    app.clock.advance(14 * day)
    await app.jobs.closeOrders()
    expect((await shop.order(id)).status).toBe('COMPLETED')
  })

  for (const settles of [true, false])
    test(`holds back units of a pending refund, and fulfils the order once it ${settles ? 'succeeds' : 'fails and they are sent'}`, async () => {
      await using app = await testApp()
      const shop = await sellingIn(app)
      const { id, mugs, bowls } = await mixedOrder(shop)
      ok(await ship(shop, id, { lines: [{ lineId: bowls, quantity: 2 }] }))
      let answers: 'no' | 'yes' | 'refused' = 'no'
      changeProcessor(app, ({ refund }) => ({
        refund: (...asked) => {
          if (answers === 'no') return Promise.reject(lost())
          return answers === 'yes' ? refund(...asked) : Promise.resolve({ reference: 'r', state: 'FAILED', failureCode: 'no' })
        },
      }))
      expect(ok(await shop.refund(id, { lines: [{ lineId: mugs, quantity: 2 }] })).body.status).toBe('PENDING')
      expect((await ship(shop, id, { lines: [{ lineId: mugs, quantity: 2 }] })).status).toBe(409)
      expect(ok(await shop.post(`/v2/orders/${id}/fulfil`, {})).body).toMatchObject({
        status: 'CONFIRMED',
        fulfilmentStatus: 'PARTIALLY_FULFILLED',
        lines: [{ fulfilledQuantity: 1, unfulfilledQuantity: 0 }, {}],
      })
      answers = settles ? 'yes' : 'refused'
      for (let round = 0; round < 3; round++) {
        app.clock.advance(31 * 60_000)
        await app.jobs.resume()
      }
      if (!settles) {
        expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', lines: [{ unfulfilledQuantity: 2 }, {}] })
        ok(await shop.post(`/v2/orders/${id}/fulfil`, {}))
      }
      expect(await shop.order(id)).toMatchObject({ status: 'FULFILLED', refunds: [{ status: settles ? 'SUCCEEDED' : 'FAILED' }] })
      await nothingIsWrong(app)
    })
})

describe('parallel fulfilments', () => {
  test('sends units in parallel parcels only as far as there are units', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs, bowls } = await mixedOrder(shop)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ship(shop, id, { lines: [{ lineId: mugs, quantity: 1 }], carrier: 'Post' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
    expect((await shop.order(id)).lines[0]).toMatchObject({ fulfilledQuantity: 3, unfulfilledQuantity: 0 })
    const rest = await Promise.all([ship(shop, id), ship(shop, id), shop.post(`/v2/orders/${id}/fulfil`, {})])
    expect(rest.filter(({ status }) => status < 300)).toHaveLength(1)
    expect((await shop.order(id)).fulfilments.at(-1).lines).toEqual([{ lineId: bowls, quantity: 2 }])
    await nothingIsWrong(app)
  })

  test('never sends refunded units when parcels, a refund and a cancellation run in parallel', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    for (let round = 0; round < 4; round++) {
      const { id, mugs, bowls } = await mixedOrder(shop)
      const acts = [
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
      await Promise.all([...acts.slice(round), ...acts.slice(0, round)].map((act) => act()))
      const { status, fulfilments } = await shop.order(id)
      if (status === 'CANCELLED') expect(fulfilments).toEqual([])
    }
    await nothingIsWrong(app)
  })
})

describe('the tracking of a parcel', () => {
  test('corrects the tracking of a parcel, also of a completed order, and sends a webhook for real changes only', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, fulfilmentId, path } = await sentOf(shop)
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
    const told = await toldOf(app, orderId)
    expect(told.map(({ event, data }) => [event, data.fulfilment.trackingNumber])).toEqual([
      ['order.fulfilled', null],
      ['order.fulfilment_updated', 'T1'],
      ['order.fulfilment_updated', 'T2'],
      ['order.fulfilment_updated', null],
    ])
    await nothingIsWrong(app)
  })

  test('shows the tracking of the latest parcel that has one', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id, mugs } = await mixedOrder(shop)
    const first = ok(await ship(shop, id, { lines: [{ lineId: mugs, quantity: 1 }], trackingNumber: 'T1' })).body
    const second = ok(await ship(shop, id, { trackingNumber: 'T2' })).body
    ok(await shop.patch(`/v2/orders/${id}/fulfilments/${first.id}`, { trackingNumber: 'T1b' }))
    expect((await shop.order(id)).tracking).toEqual({ number: 'T2', carrier: null })
    ok(await shop.patch(`/v2/orders/${id}/fulfilments/${second.id}`, { trackingNumber: null }))
    expect((await shop.order(id)).tracking).toEqual({ number: 'T1b', carrier: null })
    await nothingIsWrong(app)
  })

  test('returns a parcel with its version to its own shop only, and rejects a stale correction', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const { orderId, fulfilmentId, path } = await sentOf(shop)
    const another = await sentOf(shop)
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

  test('corrects a parcel only under its own order and shop, and at most a hundred times', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const { orderId, fulfilmentId, path } = await sentOf(shop)
    const another = await sentOf(shop)
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
    // A payment with another card returns the order.
    const paid = ok(await shop.checkout(cartId, {}, undefined, token), 201)
    const own = ok(await app.call('GET', `/v2/orders/${declined.id}`, { token }))
    for (const { text: answer } of [paid, own]) expect(answer).not.toContain('PLANTED')
    expect(own.body.notes).toEqual([])
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
    const told = await app.deps.db.read.select().from(outbox)
    expect(JSON.stringify(told)).not.toContain('PLANTED')
  })

  test("limits the length and number of notes, and rejects notes on another shop's order", async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const other = await sellingIn(app)
    const { id } = await shop.bought()
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

test('migrates orders that an older version sent to one parcel with all of their lines', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 50 })
  const { db } = app.deps
  const tracked = await mixedOrder(shop)
  ok(await shop.refund(tracked.id, { lines: [{ lineId: tracked.mugs, quantity: 1 }] }))
  ok(await shop.post(`/v2/orders/${tracked.id}/fulfil`, { trackingNumber: 'T1', carrier: 'Post' }))
  const { orderId: plain } = await sentOf(shop)
  const { id: open } = await shop.bought()
  const trees = { sqlite: sqliteMigrations, postgres: postgresMigrations }
  const statements = trees[engine].flatMap(({ statements }) => statements.split('--> statement-breakpoint'))
  const [backfill = '', ...others] = statements.filter((statement) => /INSERT INTO .fulfilments/.test(statement))
  expect(others).toEqual([])
  await db.write(async (tx) => {
    await tx.rows(sql`delete from fulfilments`)
    await tx.rows(sql.raw(backfill))
    for (const id of [tracked.id, plain, open]) app.deps.orderChanged(tx, id)
  })
  const seen = await shop.order(tracked.id)
  expect(seen).toMatchObject({
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
  ok(await shop.patch(`/v2/orders/${tracked.id}/fulfilments/${seen.fulfilments[0].id}`, { trackingNumber: 'T2' }))
  await nothingIsWrong(app)
})

test('reports orders whose state differs from their parcels', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 50 })
  const { db } = app.deps
  const found = async () => {
    const said: string[][] = []
    for await (const { problems } of orderFindings(db)) said.push(problems)
    return said
  }
  const broken: [what: string, where: 0 | 1, statement: (orderId: string) => ReturnType<typeof sql>][] = [
    ['a parcel is lost', 0, (id) => sql`delete from fulfilments where order_id = ${id}`],
    ['more was sent than bought', 0, (id) => sql`update fulfilments set lines = replace(lines, ':1', ':2') where order_id = ${id}`],
    ['of a line of another order', 0, (id) => sql`update fulfilments set lines = replace(lines, 'line_', 'none_') where order_id = ${id}`],
    ['nothing was in it', 0, (id) => sql`update fulfilments set lines = '[]' where order_id = ${id}`],
    ['it says that it was not sent', 0, (id) => sql`update orders set fulfilment_status = 'UNFULFILLED' where id = ${id}`],
    ['or only in part', 0, (id) => sql`update orders set fulfilment_status = 'PARTIALLY_FULFILLED' where id = ${id}`],
    ['or that it is', 0, (id) => sql`update orders set status = 'CONFIRMED' where id = ${id}`],
    ['another tracking', 1, (id) => sql`update orders set carrier = 'x' where id = ${id}`],
  ]
  // The last is of the search, which stays whole.
  const expected: string[][] = [[], [], []]
  for (const [what, where, statement] of broken) {
    const { orderId } = await sentOf(shop)
    await db.write(async (tx) => void (await tx.rows(statement(orderId))))
    expected[where]?.push(orderId)
    const said = await found()
    expect([what, said.map((problems) => problems.map((one) => /order_\w+/.exec(one)?.[0]))]).toEqual([what, expected])
  }
})

test('never sends a refunded unit and never loses one, in any order of parcels and refunds', () => {
  const few = fc.integer({ min: 0, max: 4 })
  const step = fc.oneof(
    fc.record({ do: fc.constant('send' as const), line: fc.nat({ max: 2 }), quantity: few }),
    fc.record({
      do: fc.constant('refund' as const),
      line: fc.nat({ max: 2 }),
      quantity: few,
      status: fc.constantFrom('PENDING' as const, 'SUCCEEDED' as const, 'FAILED' as const, 'MANUAL' as const, 'CLAIMABLE' as const),
    }),
  )
  const lines = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(lines, fc.array(step, { maxLength: 20 }), (quantities, steps) => {
      const ordered = quantities.map((quantity, nth) => ({ id: `line_${nth}`, quantity }))
      const parcels: { lines: { lineId: string; quantity: number }[] }[] = []
      const back: Record<string, unknown>[] = []
      // Beside it, unit by unit: each is on its shelf, sent, or given back; given back are those first that were not sent.
      const units = ordered.map(({ quantity }) => Array.from({ length: quantity }, () => ({ sent: false, back: 'no' as string })))
      const backAs = (status: string) => (status === 'PENDING' ? 'maybe' : status === 'FAILED' ? 'no' : 'yes')
      for (const act of steps) {
        const lineId = `line_${act.line}`
        const own = units[act.line] ?? []
        if (act.do === 'send') {
          const free = own.filter(({ sent, back: is }) => !sent && is === 'no')
          const before = unitsOf({ capturedTotal: 1_000, giftCardTotal: 0 }, ordered, parcels, back as never)
          const asked = [{ lineId, quantity: act.quantity }]
          const isLeft = act.quantity >= 1 && act.quantity <= free.length
          expect(before[act.line]?.left).toBe(free.length)
          if (!isLeft) {
            if (act.quantity >= 1) expect(() => packed(before, asked, 0)).toThrow()
            continue
          }
          parcels.push({ lines: packed(before, asked, 0) })
          for (const unit of free.slice(0, act.quantity)) unit.sent = true
        } else {
          const free = own.filter(({ back: is }) => is === 'no').sort((a, b) => Number(a.sent) - Number(b.sent))
          if (act.quantity < 1 || act.quantity > free.length) continue
          back.push({ status: act.status, amount: 0, giftCardAmount: 0, lines: [{ lineId, quantity: act.quantity }] })
          for (const unit of free.slice(0, act.quantity)) unit.back = backAs(act.status)
        }
      }
      expect(unitsOf({ capturedTotal: 1_000, giftCardTotal: 0 }, ordered, parcels, back as never)).toEqual(
        units.map((own, nth) => ({
          lineId: `line_${nth}`,
          quantity: own.length,
          sent: own.filter(({ sent }) => sent).length,
          refunded: own.filter(({ back: is }) => is !== 'no').length,
          left: own.filter(({ sent, back: is }) => !sent && is === 'no').length,
          open: expect.any(Number),
        })),
      )
      for (const [nth, { open, left, sent }] of unitsOf(
        { capturedTotal: 1_000, giftCardTotal: 0 },
        ordered,
        parcels,
        back as never,
      ).entries()) {
        expect(open).toBeGreaterThanOrEqual(left)
        expect(sent + open).toBeLessThanOrEqual(quantities[nth] ?? 0)
      }
    }),
  )
})
