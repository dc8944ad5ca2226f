/** Fulfilment of several orders in one request. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { fulfilments } from '../../../../db/schema/fulfilments.ts'
import { outbox } from '../../../../db/schema/outbox.ts'
import { orderFindings } from '../../../../src/modules/selling/order/index.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { type CrashScenario, crash, runUninterrupted } from '../../../support/crash.ts'
import { testDatabase } from '../../../support/database.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const path = '/v2/orders/fulfilments'
const send = (shop: Selling, orders: Json[], key: string = randomUUID()) => shop.post(path, { orders }, { 'idempotency-key': key })

const webhooksOf = async (app: TestApp) =>
  (await app.deps.db.read.select().from(outbox).orderBy(outbox.id)).filter(({ event }) => /fulfilled/.test(event)).map(({ event }) => event)

async function expectNoProblems(app: TestApp): Promise<void> {
  expect(violationsAtRest(await booksOf(app))).toEqual([])
  for await (const { subject, problems } of orderFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
}

describe('bulk fulfilment', () => {
  test('fulfils each order independently, and returns the results in the order of the request', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 100 })
    const stranger = await sellingIn(app)
    const [fullOrder, partialOrder, refunded, foreign] = [
      await shop.placeOrder(),
      await shop.placeOrder({ quantity: 3 }),
      await shop.placeOrder(),
      await stranger.placeOrder(),
    ]
    ok(await shop.refund(refunded.id))
    const lineId = partialOrder.lines[0].id
    const { status, body } = await send(shop, [
      { orderId: foreign.id },
      { orderId: fullOrder.id, trackingNumber: 'T1', carrier: 'Post' },
      { orderId: partialOrder.id, lines: [{ lineId, quantity: 1 }], trackingNumber: null },
      { orderId: refunded.id },
      { orderId: 'order_none' },
    ])
    expect([status, body]).toEqual([
      200,
      {
        data: [
          { orderId: foreign.id, status: 'FAILED', message: 'No such order' },
          { orderId: fullOrder.id, status: 'FULFILLED' },
          { orderId: partialOrder.id, status: 'PARTIALLY_FULFILLED' },
          { orderId: refunded.id, status: 'FAILED', message: 'Only a CONFIRMED order can be fulfilled' },
          { orderId: 'order_none', status: 'FAILED', message: 'No such order' },
        ],
      },
    ])
    expect(await shop.order(fullOrder.id)).toMatchObject({ status: 'FULFILLED', tracking: { number: 'T1', carrier: 'Post' } })
    expect(await shop.order(partialOrder.id)).toMatchObject({
      status: 'CONFIRMED',
      lines: [{ fulfilledQuantity: 1, unfulfilledQuantity: 2 }],
    })
    expect((await stranger.order(foreign.id)).fulfilments).toEqual([])
    const refused = await send(shop, [
      { orderId: partialOrder.id, lines: [{ lineId, quantity: 3 }] },
      { orderId: fullOrder.id, lines: [{ lineId: 'line_none', quantity: 1 }] },
    ])
    expect(refused.body.data).toEqual([
      {
        orderId: partialOrder.id,
        status: 'FAILED',
        message: 'lines.0.quantity: must be at most 2, the units of this line that are left to fulfil',
      },
      { orderId: fullOrder.id, status: 'FAILED', message: 'Only a CONFIRMED order can be fulfilled' },
    ])
    expect(ok(await shop.get('/v2/orders?toFulfil=true')).body.data.map(({ id }: Json) => id)).toEqual([partialOrder.id])
    await expectNoProblems(app)
  })

  test('rejects a repeated order, an unknown field and too many or no orders, naming the field, and fulfils nothing', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id: orderId } = await shop.placeOrder()
    for (const [body, field, message] of [
      [{ orders: [{ orderId }, { orderId: 'order_other' }, { orderId }] }, 'orders.2.orderId', 'must not be repeated'],
      [{ orders: [{ orderId, tracking: 'T1' }] }, undefined, 'unknown field: orders.0.tracking'],
      [{ orders: [] }, 'orders', ''],
      [{ orders: Array.from({ length: 101 }, (_, n) => ({ orderId: `order_${n}` })) }, 'orders', ''],
      [{ orders: [{ orderId, lines: [{ lineId: 'line_1', quantity: 10_000 }] }] }, 'orders.0.lines.0.quantity', ''],
      [{ orders: [{ orderId, trackingNumber: 'T'.repeat(101) }] }, 'orders.0.trackingNumber', ''],
    ] as const) {
      const refused = await shop.post(path, body)
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(message)])
      if (field !== undefined) expect(refused.body.field).toBe(field)
    }
    expect(await shop.order(orderId)).toMatchObject({ status: 'CONFIRMED', fulfilments: [] })
  })

  test('replays the response under the same idempotency key, and rejects another body', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id: orderId, lines } = await shop.placeOrder({ quantity: 3 })
    const entry = { orderId, lines: [{ lineId: lines[0].id, quantity: 1 }] }
    const first = await send(shop, [entry], 'one')
    const replayed = await send(shop, [entry], 'one')
    expect([replayed.status, replayed.text, replayed.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true'])
    expect((await send(shop, [{ orderId }], 'one')).status).toBe(422)
    expect((await shop.order(orderId)).fulfilments.length).toBe(1)
    expect(await webhooksOf(app)).toEqual(['order.partially_fulfilled'])
  })

  test('fulfils each unit once when two requests fulfil the same orders in parallel', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 100 })
    const ids: string[] = []
    for (let n = 0; n < 8; n++) ids.push((await shop.placeOrder()).id)
    const entries = ids.map((orderId) => ({ orderId }))
    const answers = await Promise.all([send(shop, entries), send(shop, entries.toReversed())])
    const results = answers.flatMap(({ body }) => body.data as Json[])
    for (const id of ids)
      expect(
        results
          .filter(({ orderId }) => orderId === id)
          .map(({ status }) => status)
          .sort(),
      ).toEqual(['FAILED', 'FULFILLED'])
    expect((await webhooksOf(app)).length).toBe(8)
    await expectNoProblems(app)
  })
})

test('fulfils no unit twice when the process stops at any point and the request is repeated', async () => {
  const database = await testDatabase()
  const startAt = Date.UTC(2026, 0, 6, 12)
  const app = await testApp({}, { database, startAt })
  const shop = await sellingIn(app, { onHand: 100 })
  const entries: Json[] = []
  for (let n = 0; n < 3; n++) {
    const { id: orderId, lines } = await shop.placeOrder({ quantity: 3 })
    entries.push({ orderId, lines: [{ lineId: lines[0].id, quantity: 1 }] })
  }
  const { token } = shop
  await app.close()
  const extraRows = async ({ deps: { db } }: TestApp) => {
    const sentParcels = await db.read.select().from(fulfilments).orderBy(fulfilments.id)
    const messages = await db.read.select().from(outbox).where(eq(outbox.event, 'order.partially_fulfilled')).orderBy(outbox.id)
    return { orders: sentParcels.map(({ orderId }) => orderId).sort(), messages: messages.length }
  }
  const options = { token, body: { orders: entries }, headers: { 'idempotency-key': 'the-one' } }
  const stage: CrashScenario = { database, startAt: startAt + 1_000, operation: { method: 'POST', path, options }, extraRows }
  const { count, status } = await runUninterrupted(stage, 'here')
  expect([status, count >= 3]).toEqual([200, true])
  for (let stopAfter = 1; stopAfter <= count; stopAfter++) {
    const [end] = await crash(stage, 'here', stopAfter, [['sendAgain', 'sendAgain', 'untilQuiet']])
    expect([stopAfter, end?.answers, end?.extraRows, end?.problems]).toEqual([
      stopAfter,
      [200, 200],
      { orders: entries.map(({ orderId }) => orderId).sort(), messages: 3 },
      [],
    ])
  }
  await database.drop()
})
