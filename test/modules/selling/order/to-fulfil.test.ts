/** Units left to send, and the lists, overviews and checks that depend on them. */
import { describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { asc, eq, type SQL, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../../../db/migrations/index.ts'
import { outbox } from '../../../../db/schema/outbox.ts'
import { orderEvents, orders } from '../../../../db/schema/selling.ts'
import { isToFulfil } from '../../../../db/units-to-send.ts'
import type { RefundAnswer } from '../../../../src/clients/processors/processor.ts'
import { orderFindings } from '../../../../src/modules/selling/order/index.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, connectionLost } from '../../../support/sandbox.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { paymentAnswer, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60 * 1000

async function expectNoProblems(app: TestApp): Promise<void> {
  expect(violationsAtRest(await booksOf(app))).toEqual([])
  for await (const { subject, problems } of orderFindings(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
}

const listNumbers = async (shop: Selling, query: string): Promise<number[]> => {
  const { data, total } = ok(await shop.get(`/v2/orders?${query}`)).body
  expect(total).toBe(data.length)
  return data.map(({ number }: Json) => number)
}
const countToSend = async (shop: Selling): Promise<number> => ok(await shop.get('/shops/v2/overview')).body.waiting.ordersToSend.total

/** Expects that the list, the overview, the order's lines and `/fulfil` agree on whether units are left to send. */
async function expectLeft(shop: Selling, id: string, isLeft: boolean): Promise<void> {
  const { number, lines } = await shop.order(id)
  expect(await listNumbers(shop, `toFulfil=true&number=${number}`)).toEqual(isLeft ? [number] : [])
  expect(await countToSend(shop)).toBe((await listNumbers(shop, 'toFulfil=true')).length)
  expect(lines.some(({ unfulfilledQuantity }: Json) => unfulfilledQuantity > 0)).toBe(isLeft)
  if (!isLeft) expect((await shop.post(`/v2/orders/${id}/fulfil`, {})).status).toBe(409)
}

const messagesOf = async (app: TestApp, orderId: string) =>
  (await app.deps.db.read.select().from(outbox).orderBy(asc(outbox.id)))
    .filter(({ key }) => key === `order.fulfilled:${orderId}`)
    .map(({ body }) => JSON.parse(body).data.fulfilment)

/** Places an order of two mugs and one download for 25.00. */
async function bought(shop: Selling): Promise<{ id: string; mugs: string; file: string }> {
  const download = await shop.add({ title: 'File', variants: [{ price: shop.money(500), requiresShipping: false }] })
  const cartId = await shop.cart({ quantity: 2 })
  const item = { variantId: download.variants[0]?.id, quantity: 1 }
  ok(await shop.app.call('POST', `/cart/${cartId}/items`, { key: shop.publishableKey, body: item }))
  const { order } = ok(await shop.checkout(cartId), 201).body
  const [mugs, file] = order.lines.map(({ id }: Json) => id)
  return { id: order.id, mugs, file }
}

describe('refunds that leave nothing to fulfil', () => {
  for (const [title, bodies] of [
    [
      'fulfils an order by refunds of its lines',
      (of: { mugs: string; file: string }) => [
        { lines: [{ lineId: of.mugs, quantity: 2 }] },
        { lines: [{ lineId: of.file, quantity: 1 }] },
      ],
    ],
    [
      'fulfils an order by one refund of its lines to the shelf',
      (of: { mugs: string; file: string }) => [
        {
          lines: [
            { lineId: of.mugs, quantity: 2, restock: true },
            { lineId: of.file, quantity: 1 },
          ],
        },
      ],
    ],
    ['fulfils an order by a full refund', () => [{ all: true }]],
    [
      'fulfils an order by refunds of an amount and of the rest',
      (_: unknown, shop: Selling) => [{ amount: shop.money(1) }, { amount: shop.money(2_499) }],
    ],
    [
      'fulfils an order by refunds of a line and of the rest',
      (of: { mugs: string }) => [{ lines: [{ lineId: of.mugs, quantity: 1 }] }, { all: true }],
    ],
  ] as const)
    test(title, async () => {
      await using app = await testApp()
      const shop = await sellingIn(app)
      const other = await bought(shop)
      const order = await bought(shop)
      const all = bodies(order, shop)
      for (const [nth, body] of all.entries()) {
        await expectLeft(shop, order.id, true)
        expect((await shop.order(order.id)).status).toBe('CONFIRMED')
        ok(await shop.refund(order.id, body), 201)
        if (nth < all.length - 1) expect(await messagesOf(app, order.id)).toEqual([])
      }
      await expectLeft(shop, order.id, false)
      await expectLeft(shop, other.id, true)
      const fulfilled = await shop.order(order.id)
      expect(fulfilled).toMatchObject({
        status: 'FULFILLED',
        fulfilmentStatus: 'FULFILLED',
        fulfilments: [],
        refundableTotal: shop.money(0),
      })
      expect(fulfilled.events.at(-1)).toMatchObject({ type: 'FULFILLED', detail: {} })
      expect(await messagesOf(app, order.id)).toEqual([null])
      expect((await shop.stock()).onHand).toBe(title.includes('shelf') ? 8 : 6)
      const refused = await shop.post(`/v2/orders/${order.id}/cancel`, {})
      expect([refused.status, refused.body.message]).toEqual([409, 'An order that is FULFILLED cannot be cancelled'])
      await expectNoProblems(app)
      app.clock.advance(15 * dayMs)
      await app.jobs.closeOrders()
      expect((await shop.order(order.id)).status).toBe('COMPLETED')
    })

  test('fulfils a partially fulfilled order by a refund of the rest, by lines or as a whole', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    for (const refund of [
      (of: { file: string; mugs: string }) => ({
        lines: [
          { lineId: of.mugs, quantity: 1 },
          { lineId: of.file, quantity: 1 },
        ],
      }),
      () => ({ all: true }),
    ]) {
      const order = await bought(shop)
      ok(await shop.post(`/v2/orders/${order.id}/fulfilments`, { lines: [{ lineId: order.mugs, quantity: 1 }] }), 201)
      expect(await listNumbers(shop, 'fulfilmentStatus=PARTIALLY_FULFILLED')).toHaveLength(1)
      await expectLeft(shop, order.id, true)
      ok(await shop.refund(order.id, refund(order)), 201)
      await expectLeft(shop, order.id, false)
      expect(await shop.order(order.id)).toMatchObject({ status: 'FULFILLED', fulfilmentStatus: 'FULFILLED' })
    }
    await expectNoProblems(app)
  })

  test("fulfils an order by a full refund on the processor's own page", async () => {
    await using app = await testApp()
    const captured = { authorized: 1_000, captured: 1_000 }
    let refunded = 0
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('CAPTURED', captured),
      retrieve: async () => paymentAnswer('CAPTURED', { ...captured, refunded }),
      readMessage: async () => ({ payment: { reference: 'ref' } }) as never,
    })
    const { order } = ok(await shop.buy()).body
    const { syncRefunds } = await import('../../../../src/modules/selling/order/refunds/external-refunds.ts')
    const { paymentsOf } = await import('../../../../src/modules/payments/payment/index.ts')
    const reportRefunded = async (sum: number) => {
      refunded = sum
      const [payment] = await paymentsOf(app.deps, order.id)
      if (payment) await syncRefunds(app.deps, payment, { refunded: sum })
    }
    await reportRefunded(999)
    await expectLeft(shop, order.id, true)
    await reportRefunded(1_000)
    await expectLeft(shop, order.id, false)
    expect(await shop.order(order.id)).toMatchObject({ status: 'FULFILLED', paymentStatus: 'REFUNDED' })
    await expectNoProblems(app)
  })

  test('fulfils an order that gift cards paid by a full refund, but not by a partial one', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { code } = await shop.giftCard(1_500)
    const cartId = await shop.cart({ quantity: 2 })
    ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
    const { order } = ok(await shop.checkout(cartId)).body
    ok(await shop.refund(order.id, { amount: shop.money(500) }), 201)
    expect(await shop.order(order.id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'PARTIALLY_REFUNDED' })
    await expectLeft(shop, order.id, true)
    ok(await shop.refund(order.id), 201)
    expect(await shop.order(order.id)).toMatchObject({ status: 'FULFILLED', paymentStatus: 'REFUNDED' })
    await expectNoProblems(app)
  })

  test('keeps a free line to be sent when the others are refunded, and fulfils the order by its refund', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const gift = await shop.add({ title: 'Gift', variants: [{ price: shop.money(0) }] })
    const { id, lines } = await shop.placeOrder({ variants: [shop.variantId, gift.variants[0]?.id ?? ''] })
    ok(await shop.refund(id, { lines: [{ lineId: lines[0].id, quantity: 1 }] }), 201)
    expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'REFUNDED' })
    await expectLeft(shop, id, true)
    ok(await shop.refund(id, { lines: [{ lineId: lines[1].id, quantity: 1 }] }), 201)
    expect((await shop.order(id)).status).toBe('FULFILLED')
    await expectNoProblems(app)
  })
})

for (const outcome of ['stands', 'fails'] as const)
  test(`excludes units of a pending refund from fulfilment, and ${outcome === 'stands' ? 'fulfils the order when it succeeds' : 'includes them when it fails'}`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    let answer: 'lost' | 'yes' | 'no' = 'lost'
    changeProcessor(app, ({ refund, retrieveRefund }) => ({
      refund: async (...asked): Promise<RefundAnswer> => {
        if (answer === 'lost') throw connectionLost()
        return answer === 'yes' ? refund(...asked) : { reference: undefined, state: 'FAILED', failureCode: 'refused' }
      },
      retrieveRefund: (...asked) => (answer === 'lost' ? Promise.reject(connectionLost()) : retrieveRefund(...asked)),
    }))
    const { id } = await shop.placeOrder({ quantity: 2 })
    expect(ok(await shop.refund(id), 201).body.status).toBe('PENDING')
    expect((await shop.order(id)).status).toBe('CONFIRMED')
    await expectLeft(shop, id, false)
    answer = outcome === 'stands' ? 'yes' : 'no'
    for (let nth = 0; nth < 5; nth++) {
      app.clock.advance(60 * 60_000)
      await app.jobs.resume()
    }
    expect((await shop.order(id)).status).toBe(outcome === 'stands' ? 'FULFILLED' : 'CONFIRMED')
    await expectLeft(shop, id, outcome === 'fails')
    await expectNoProblems(app)
  })

test('filters orders by fulfilment status and by units left to send, alone and combined', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const placed = [
    await shop.placeOrder(),
    await shop.placeOrder({ quantity: 2 }),
    await shop.placeOrder(),
    await shop.placeOrder(),
    await shop.placeOrder({ email: 'ada@example.com' }),
  ]
  const [sent, partly, refunded, cancelled] = placed.map(({ id }) => id as string)
  ok(await shop.post(`/v2/orders/${sent}/fulfil`, {}))
  ok(await shop.post(`/v2/orders/${partly}/fulfilments`, { lines: [{ lineId: placed[1]?.['lines'][0].id, quantity: 1 }] }), 201)
  ok(await shop.refund(refunded ?? ''), 201)
  ok(await shop.post(`/v2/orders/${cancelled}/cancel`, {}))
  for (const [query, expected] of [
    ['toFulfil=true', [5, 2]],
    ['toFulfil=false', [5, 4, 3, 2, 1]],
    ['fulfilmentStatus=UNFULFILLED', [5, 4]],
    ['fulfilmentStatus=PARTIALLY_FULFILLED', [2]],
    ['fulfilmentStatus=FULFILLED', [3, 1]],
    ['toFulfil=true&fulfilmentStatus=UNFULFILLED', [5]],
    ['toFulfil=true&fulfilmentStatus=PARTIALLY_FULFILLED', [2]],
    ['toFulfil=true&fulfilmentStatus=FULFILLED', []],
    ['toFulfil=true&status=CANCELLED', []],
    ['fulfilmentStatus=PARTIALLY_FULFILLED&status=FULFILLED', []],
    ['fulfilmentStatus=FULFILLED&paymentStatus=REFUNDED', [3]],
    ['toFulfil=true&email=ada@example.com', [5]],
    ['toFulfil=true&q=ada', [5]],
    ['toFulfil=true&q=mug', [5, 2]],
    ['toFulfil=true&number=1', []],
    [`toFulfil=true&from=2026-01-06&to=2026-01-06`, [5, 2]],
  ] as const)
    expect([query, await listNumbers(shop, query)]).toEqual([query, [...expected]])
  const csv = await app.call('GET', '/v2/orders?toFulfil=true', { key: shop.secretKey, headers: { accept: 'text/csv' } })
  expect(csv.text.trim().split('\n')).toHaveLength(3)
  for (const query of ['toFulfil=yes', 'fulfilmentStatus=SENT']) expect((await shop.get(`/v2/orders?${query}`)).status).toBe(400)
})

test('migrates exactly the orders whose refunds left nothing to send to FULFILLED', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const { db } = app.deps
  const [lines, all, partly, open, part, sent] = [
    await bought(shop),
    await bought(shop),
    await bought(shop),
    await bought(shop),
    await bought(shop),
    await bought(shop),
  ]
  ok(
    await shop.refund(lines.id, {
      lines: [
        { lineId: lines.mugs, quantity: 2 },
        { lineId: lines.file, quantity: 1 },
      ],
    }),
    201,
  )
  ok(await shop.refund(all.id), 201)
  ok(await shop.post(`/v2/orders/${partly.id}/fulfilments`, { lines: [{ lineId: partly.mugs, quantity: 2 }] }), 201)
  ok(await shop.refund(partly.id, { lines: [{ lineId: partly.file, quantity: 1 }] }), 201)
  ok(await shop.refund(part.id, { amount: shop.money(100) }), 201)
  ok(await shop.post(`/v2/orders/${sent.id}/fulfil`, {}))
  const stuck = [lines.id, all.id, partly.id]
  // Puts the orders in the state in which an older version left them.
  await db.write(async (tx) => {
    for (const id of stuck) {
      const fulfilmentStatus = id === partly.id ? 'PARTIALLY_FULFILLED' : 'UNFULFILLED'
      await tx.update(orders).set({ status: 'CONFIRMED', fulfilmentStatus, fulfilledAt: null }).where(eq(orders.id, id))
      await tx.rows(sql`delete from order_events where order_id = ${id} and type = 'FULFILLED'`)
      app.deps.orderChanged(tx, id)
    }
  })
  const problemsFound: string[] = []
  for await (const { problems } of orderFindings(db)) problemsFound.push(...problems)
  expect(problemsFound.length).toBe(3)
  for (const id of stuck) await expectLeft(shop, id, false)
  const trees = { sqlite: sqliteMigrations, postgres: postgresMigrations }
  const repair =
    trees[engine]
      .find(({ tag }) => tag.endsWith('_units'))
      ?.statements.split('--> statement-breakpoint')
      .slice(2) ?? []
  expect(repair).toHaveLength(2)
  await db.write(async (tx) => {
    for (const statement of repair) await tx.rows(sql.raw(statement))
    for (const { id } of await tx.select({ id: orders.id }).from(orders)) app.deps.orderChanged(tx, id)
  })
  for (const id of stuck) {
    const fulfilled = await shop.order(id)
    expect(fulfilled).toMatchObject({ status: 'FULFILLED', fulfilmentStatus: 'FULFILLED' })
    expect(fulfilled.events.at(-1)).toMatchObject({ type: 'FULFILLED', detail: {} })
  }
  expect(await listNumbers(shop, 'toFulfil=true')).toEqual([5, 4])
  expect((await db.read.select().from(orderEvents)).filter(({ type }) => type === 'FULFILLED')).toHaveLength(4)
  expect((await shop.order(open.id)).status).toBe('CONFIRMED')
  await expectNoProblems(app)
  app.clock.advance(15 * dayMs)
  await app.jobs.closeOrders()
  expect((await shop.order(all.id)).status).toBe('COMPLETED')
})

test('reports the same units left to send in lists, checks and lines after any fulfilments and refunds', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('send' as const), line: fc.nat({ max: 1 }), quantity: fc.integer({ min: 1, max: 2 }) }),
    fc.record({ do: fc.constant('refund' as const), line: fc.nat({ max: 1 }), quantity: fc.integer({ min: 1, max: 2 }) }),
    fc.record({ do: fc.constant('amount' as const), amount: fc.integer({ min: 1, max: 2_500 }) }),
    fc.record({ do: fc.constantFrom('all' as const, 'fulfil' as const, 'cancel' as const) }),
  )
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 10_000 })
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
    const order = await bought(shop)
    const lineId = (nth: number) => (nth === 0 ? order.mugs : order.file)
    for (const action of steps) {
      const path = `/v2/orders/${order.id}`
      if (action.do === 'send')
        await shop.post(`${path}/fulfilments`, { lines: [{ lineId: lineId(action.line), quantity: action.quantity }] })
      else if (action.do === 'refund') await shop.refund(order.id, { lines: [{ lineId: lineId(action.line), quantity: action.quantity }] })
      else if (action.do === 'amount') await shop.refund(order.id, { amount: shop.money(action.amount) })
      else if (action.do === 'all') await shop.refund(order.id)
      else await shop.post(`${path}/${action.do}`, {})
      const { status, lines } = await shop.order(order.id)
      const isLeft = lines.some(({ unfulfilledQuantity }: Json) => unfulfilledQuantity > 0)
      expect(isLeft).toBe(status === 'CONFIRMED')
      const rows = await app.deps.db.read.rows<{ id: string }>(
        sql`select o.id as id from orders o where o.id = ${order.id} and ${isToFulfil('o')}`,
      )
      expect(rows.length === 1).toBe(isLeft)
    }
  })
  await fc.assert(property, { numRuns: 25 })
  await expectNoProblems(app)
})

test('reads lists of orders to fulfil from an index', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { db } = app.deps
  // Statistics of a table of two rows would let PostgreSQL prefer any index.
  if (engine === 'postgres') await db.write((tx) => tx.rows(sql`alter table orders set (autovacuum_enabled = off)`))
  const { id } = await shop.placeOrder({ quantity: 2 })
  ok(await shop.refund(id, { amount: shop.money(1) }), 201)
  const planOf = (query: SQL): Promise<string[]> =>
    db.write(async (tx) => {
      // A table of two rows is read as a whole, unless that is forbidden.
      if (engine === 'postgres') await tx.rows(sql`set local enable_seqscan = off`)
      const rows = await tx.rows<Record<string, unknown>>(sql`${sql.raw(engine === 'sqlite' ? 'explain query plan' : 'explain')} ${query}`)
      return rows.map((row) => String(row['detail'] ?? row['QUERY PLAN']).trim())
    })
  // For a table of two orders PostgreSQL may choose another index.
  const byState = engine === 'sqlite' ? 'orders_state_number' : 'on orders'
  const byFulfilment = engine === 'sqlite' ? 'orders_fulfilment' : 'on orders'
  const toSend = engine === 'sqlite' ? 'orders_to_send' : 'on orders'
  for (const [query, index] of [
    ['toFulfil=true', toSend],
    ['status=CONFIRMED', toSend],
    ['toFulfil=true&paymentStatus=CAPTURED', byState],
    ['fulfilmentStatus=UNFULFILLED', byFulfilment],
    ['fulfilmentStatus=FULFILLED', byFulfilment],
    ['agent=true', 'orders_agent'],
    ['agent=true&status=CONFIRMED', 'orders_agent'],
    ['fulfilmentStatus=PARTIALLY_FULFILLED', byFulfilment],
    ['fulfilmentStatus=PARTIALLY_FULFILLED&toFulfil=true&status=CONFIRMED', byFulfilment],
  ] as const) {
    using asked = spyOn(db.read, 'rows')
    ok(await shop.get(`/v2/orders?${query}`))
    const queries = asked.mock.calls.map(([one]) => one as SQL)
    asked.mockRestore()
    expect(queries.length).toBeGreaterThan(0)
    const plans = (await Promise.all(queries.map(planOf))).flat()
    expect(plans.join('\n').toLowerCase(), query).toContain(index)
    // A scan of rows that another part of the statement returns may have the table's name, too.
    const scans =
      /^SCAN (o|r|l|f|refunds|order_lines|fulfilments)\b|^SCAN orders USING|Seq Scan on (orders|refunds|order_lines|fulfilments)/
    expect(
      plans.filter((detail) => scans.test(detail)),
      query,
    ).toEqual([])
  }
})
