/** Money of orders whose processor refuses, captures partially or does not answer. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { unifiedTransactions } from '../../../../db/schema/ledger.ts'
import {
  type PaymentName,
  ProcessorRefused,
  ProcessorUnavailable,
  type RefundAnswer,
} from '../../../../src/clients/processors/processor.ts'
import { bookFindings } from '../../../../src/modules/payments/ledger/check-store.ts'
import { runSaga } from '../../../../src/modules/selling/order/index.ts'
import { settleRefund } from '../../../../src/modules/selling/order/refunds/refunds.ts'
import { testApp } from '../../../support/app.ts'
import { booksOf } from '../../../support/books.ts'
import { forceOrder } from '../../../support/order-rows.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { capabilities, paymentAnswer, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000

test('keeps a payment whose query the processor rejects with a rate limit', async () => {
  await using app = await testApp()
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('REQUIRES_ACTION', { clientParameters: { secret: 's' } }),
    retrieve: async () => {
      throw new ProcessorRefused('rate_limited')
    },
  })
  const cartId = await shop.cart()
  const { order, payment } = ok(await shop.checkout(cartId, { processor: 'scripted' })).body
  expect(payment).toMatchObject({ status: 'REQUIRES_ACTION', clientParameters: { secret: 's' } })
  ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey }))
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'PENDING', payments: [{ status: 'REQUIRES_ACTION' }] })
})

test('confirms an order when the processor refuses its capture as already captured', async () => {
  await using app = await testApp()
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    capture: async () => {
      throw new ProcessorRefused('already_captured')
    },
    retrieve: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
  })
  expect(ok(await shop.buy()).body.order).toMatchObject({ status: 'CONFIRMED', capturedTotal: shop.usd(1_000) })
})

test('confirms an order when the shopper succeeds after a decline, by return or by webhook', async () => {
  for (const trigger of ['return', 'message']) {
    await using app = await testApp()
    let answer = paymentAnswer('FAILED', { failureCode: 'card_declined' })
    const shop = await sellingWithProcessor(app, {
      create: async () => answer,
      retrieve: async () => answer,
      readMessage: async () => ({ id: 'message', payment: messagePayment }),
    })
    let messagePayment: PaymentName | undefined
    const cartId = await shop.cart()
    const { order } = ok(await shop.checkout(cartId, { processor: 'scripted' })).body
    expect(order).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'FAILED' })
    messagePayment = { paymentId: order.payments[0].id, reference: undefined }
    answer = paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 })
    if (trigger === 'return') ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey }))
    else ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
    await app.jobs.messages()
    expect(await shop.order(order.id)).toMatchObject({
      status: 'CONFIRMED',
      capturedTotal: shop.usd(1_000),
      refunds: [],
      payments: [{ status: 'CAPTURED' }],
    })
  }
})

test('refunds only the excess of an overpaid order, also when it grows after the sale, and books all of it', async () => {
  await using app = await testApp()
  let captured = 1_300
  let messagePayment: PaymentName | undefined
  const refunds: number[] = []
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    capture: async () => paymentAnswer('CAPTURED', { authorized: captured, captured }),
    retrieve: async () => paymentAnswer('CAPTURED', { authorized: captured, captured }),
    readMessage: async () => ({ id: 'message', payment: messagePayment }),
    async refund({ amount, refundId }) {
      refunds.push(amount)
      return { reference: refundId, state: 'SUCCEEDED' }
    },
  })
  const { order } = ok(await shop.buy()).body
  messagePayment = { paymentId: order.payments[0].id, reference: undefined }
  captured = 1_500
  ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
  await app.jobs.messages()
  expect(refunds).toEqual([300, 200])
  expect(await shop.order(order.id)).toMatchObject({
    status: 'CONFIRMED',
    paymentStatus: 'CAPTURED',
    capturedTotal: shop.usd(1_000),
    refundedTotal: shop.usd(0),
    payments: [{ captured: shop.usd(1_500), refunded: shop.usd(500) }],
  })
  const { movements } = await booksOf(app)
  const sumOf = (kind: string) => movements.filter((row) => row.kind === kind).reduce((sum, { amount }) => sum + amount, 0)
  expect([sumOf('CAPTURE'), sumOf('REFUND')]).toEqual([1_500, 500])
  for await (const { problems } of bookFindings(app.deps.db)) expect(problems).toEqual([])
})

test('reports a payment and a refund that differ from their bookings', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  ok(await shop.refund(id, { amount: shop.usd(300) }))
  const { payments: paymentRows, refunds: refundRows } = await booksOf(app)
  await app.deps.db.write(async (tx) => {
    await tx.update(unifiedTransactions).set({ amount: 1 }).where(eq(unifiedTransactions.orderId, id))
  })
  const found: Record<string, string[]> = {}
  for await (const { subject, problems } of bookFindings(app.deps.db)) found[subject] = problems
  expect(found['payments']?.[0]).toContain(`Payment ${paymentRows[0]?.id} has 1000 captured and 300 refunded`)
  expect(found['refunds']).toEqual([`Refund ${refundRows[0]?.id} of 300 is 1 in the books`])
})

test('keeps order events in sequence when the clock steps back', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  app.clock.advance(-hour)
  ok(await shop.refund(id, { amount: shop.usd(300) }))
  const { events } = await shop.order(id)
  expect(events.map(({ type }: { type: string }) => type)).toEqual([
    'PLACED',
    'PAYMENT_AUTHORIZED',
    'PAYMENT_CAPTURED',
    'CONFIRMED',
    'REFUND_REQUESTED',
    'REFUNDED',
  ])
})

test("voids an authorization instead of capturing it after the order's time is over", async () => {
  await using app = await testApp()
  const captures: number[] = []
  let voids = 0
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    capture: async ({ amount }) => {
      captures.push(amount)
      throw new ProcessorUnavailable('away')
    },
    retrieve: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    void: async () => {
      voids++
      return paymentAnswer('VOIDED')
    },
  })
  const { order } = ok(await shop.buy()).body
  expect(order).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'AUTHORIZED' })
  const capturesBefore = captures.length
  app.clock.advance(5 * hour)
  await app.jobs.resume()
  await app.jobs.closeOrders()
  expect(captures.length).toBe(capturesBefore)
  expect(voids).toBe(1)
  expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', paymentStatus: 'VOIDED', capturedTotal: shop.usd(0) })
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
})

test('waits for the rest of a partial capture, and refunds all of it when the order expires', async () => {
  await using app = await testApp()
  let captured = 400
  let messagePayment: PaymentName | undefined
  const refunds: number[] = []
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    capture: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000, captured }),
    retrieve: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000, captured }),
    void: async () => paymentAnswer('VOIDED', { captured }),
    readMessage: async () => ({ id: 'message', payment: messagePayment }),
    refund: async ({ amount, refundId }) => {
      refunds.push(amount)
      return { reference: refundId, state: 'SUCCEEDED' }
    },
  })
  const { order } = ok(await shop.buy()).body
  expect(order).toMatchObject({ status: 'PENDING_PAYMENT', capturedTotal: shop.usd(400), payments: [{ captured: shop.usd(400) }] })
  app.clock.advance(hour)
  await app.jobs.closeOrders()
  expect(await shop.order(order.id)).toMatchObject({
    status: 'EXPIRED',
    paymentStatus: 'REFUNDED',
    capturedTotal: shop.usd(400),
    refundedTotal: shop.usd(400),
  })
  // The rest is captured later.
  captured = 1_000
  messagePayment = { paymentId: order.payments[0].id, reference: undefined }
  ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
  await app.jobs.messages()
  expect(await shop.order(order.id)).toMatchObject({ capturedTotal: shop.usd(1_000), refundedTotal: shop.usd(1_000) })
  expect(refunds).toEqual([400, 600])
})

test('retries a due refund until it succeeds, and ends the order only then', async () => {
  await using app = await testApp()
  let isRefusing = true
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    capture: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    retrieve: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    refund: async ({ refundId }) => {
      if (isRefusing) throw new ProcessorRefused('account_locked')
      return { reference: refundId, state: 'SUCCEEDED' }
    },
  })
  const { order } = ok(await shop.buy()).body
  // Puts the order in the state of an interrupted saga.
  expect((await shop.order(order.id)).status).toBe('CONFIRMED')
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  const stuck = await shop.order(order.id)
  expect(stuck).toMatchObject({ status: 'COMPENSATING', paymentStatus: 'CAPTURED', refunds: [{ status: 'PENDING' }] })
  expect(app.logged.some(({ event }) => event === 'refund.failed')).toBe(true)
  isRefusing = false
  for (let runs = 0; runs < 4; runs++) {
    app.clock.advance(hour)
    await app.jobs.resume()
  }
  expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
})

test('makes another due refund a day after one failed at the processor, until one succeeds', async () => {
  await using app = await testApp()
  const sent: string[] = []
  let fails = 2
  const stateNow = (): RefundAnswer['state'] => (fails-- > 0 ? 'FAILED' : 'SUCCEEDED')
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    capture: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    retrieve: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    refund: async ({ refundId }) => {
      sent.push(refundId)
      return { reference: `re_${sent.length}`, state: 'PENDING' }
    },
    retrieveRefund: async ({ refundReference }) =>
      refundReference === undefined ? undefined : { reference: refundReference, state: stateNow(), failureCode: 'closed_account' },
  })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  const advanceHalfHours = async (times: number) => {
    for (let nth = 0; nth < times; nth++) {
      app.clock.advance(hour / 2)
      await app.jobs.resume()
    }
  }
  await advanceHalfHours(24)
  expect(sent).toHaveLength(1)
  expect(await shop.order(order.id)).toMatchObject({
    status: 'COMPENSATING',
    refunds: [
      { status: 'FAILED', failureCode: 'closed_account', processorReference: 're_1' },
      { status: 'PENDING', amount: shop.usd(1_000) },
    ],
  })
  await advanceHalfHours(72 * 2)
  expect(sent).toHaveLength(3)
  expect(new Set(sent).size).toBe(3)
  expect(await shop.order(order.id)).toMatchObject({
    status: 'CANCELLED',
    paymentStatus: 'REFUNDED',
    refundedTotal: shop.usd(1_000),
    refunds: [{ status: 'FAILED' }, { status: 'FAILED' }, { status: 'SUCCEEDED' }],
  })
})

test('delays retries of a payment that fails unexpectedly, and still expires its order', async () => {
  await using app = await testApp()
  let calls = 0
  const shop = await sellingWithProcessor(app, {
    create: async () => {
      calls++
      throw new TypeError('a fault in the client')
    },
  })
  expect((await shop.buy()).status).toBe(500)
  const [order] = (await shop.get('/v2/orders')).body.data
  app.clock.advance(61_000)
  for (let runs = 0; runs < 5; runs++) {
    app.clock.advance(5_000)
    await app.jobs.resume()
  }
  expect(calls).toBe(2)
  app.clock.advance(hour)
  await app.jobs.closeOrders()
  expect((await shop.order(order.id)).status).toBe('EXPIRED')
})

test('allows at most ten payments per order', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  for (let attempts = 0; attempts < 10; attempts++) ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }), 201)
  const refused = await shop.checkout(cartId)
  expect([refused.status, refused.body.message]).toEqual([409, 'The order had 10 payments, which is the maximum. Create a new cart'])
})

test('allows at most ten orders per cart', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  for (let attempts = 0; attempts < 10; attempts++) {
    ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }), 201)
    ok(await app.call('DELETE', `/cart/${cartId}/checkout`, { key: shop.publishableKey }))
  }
  const refused = await shop.checkout(cartId)
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'The cart was checked out 10 times, which is the maximum. Create a new cart',
  ])
})

test("hides a guest's data from another checkout request that pays the guest's order", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart({ email: 'private@example.com' })
  expect(ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' })).text).toContain('private@example.com')
  const other = ok(await shop.checkout(cartId))
  expect(other.body.order).toMatchObject({ status: 'CONFIRMED', email: null, shippingAddress: null })
  expect(other.text).not.toContain('private@example.com')
})

test('reports a cancelled order whose money was not refunded', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  await app.deps.db.write(async (tx) => {
    await app.deps.orderStore.move(tx, id, ['CONFIRMED'], 'CANCELLED', {})
  })
  const found: string[] = []
  for await (const { subject, problems } of bookFindings(app.deps.db)) if (subject === 'money owed') found.push(...problems)
  expect(found).toEqual([`Order ${id} was never sold, and 1000 of it is not refunded`])
})

test('keeps an order compensating when a new refund replaces a failed one at the same time', async () => {
  await using app = await testApp()
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    capture: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    retrieve: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    refund: async () => ({ reference: 're_1', state: 'PENDING' }),
    retrieveRefund: async ({ refundReference }) =>
      refundReference === undefined ? undefined : { reference: refundReference, state: 'FAILED', failureCode: 'closed_account' },
  })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  app.clock.advance(hour / 2)
  const { orderStore } = app.deps
  const refundsOf = orderStore.refundsOf.bind(orderStore)
  let reads = 0
  // Another process settles the refunds after the saga has read them and before it queries them.
  orderStore.refundsOf = async (from, orderId) => {
    const found = await refundsOf(from, orderId)
    if (reads++ === 0) for (const { id } of found) await settleRefund(app.deps, id, { holder: 'somebody else' })
    return found
  }
  await runSaga(app.deps, order.id)
  expect(await shop.order(order.id)).toMatchObject({ status: 'COMPENSATING', refunds: [{ status: 'FAILED' }, { status: 'PENDING' }] })
})

test('keeps an order past its time when the processor reports its payment as in process at that moment', async () => {
  await using app = await testApp()
  let state: ReturnType<typeof paymentAnswer>['state'] = 'REQUIRES_ACTION'
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('REQUIRES_ACTION'),
    retrieve: async () => paymentAnswer(state),
  })
  const { order } = ok(await shop.buy()).body
  state = 'PROCESSING'
  app.clock.advance(hour)
  await app.jobs.closeOrders()
  expect(await shop.order(order.id)).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'PROCESSING' })
  expect(await shop.stock()).toEqual({ onHand: 9 + 1, reserved: 1 })
})

test('refunds a paid order that is cancelled through a processor that accepts no repeated requests', async () => {
  await using app = await testApp()
  const sent: string[] = []
  const shop = await sellingWithProcessor(app, {
    capabilities: { ...capabilities, refundRepeatsMs: 0 },
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    capture: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    retrieve: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    refund: async ({ refundId }) => {
      sent.push(refundId)
      return { reference: 're_1', state: 'SUCCEEDED' }
    },
  })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED', refunds: [{ status: 'SUCCEEDED' }] })
  expect(sent).toHaveLength(1)
})

for (const isClaimable of [true, false])
  test(`${isClaimable ? 'offers as claim' : 'refunds'} the captured part of a cancelled order, and ends its undecided payment`, async () => {
    await using app = await testApp()
    const refund: RefundAnswer = { reference: 'r', state: isClaimable ? 'CLAIMABLE' : 'SUCCEEDED', claimUrl: 'https://pay.example/claim' }
    const shop = await sellingWithProcessor(app, {
      capabilities: { ...capabilities, capturesItself: true, ...(isClaimable ? { refunds: 'claim' } : {}) },
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => paymentAnswer('PROCESSING', { authorized: 400, captured: 400 }),
      void: async () => paymentAnswer('PROCESSING', { authorized: 400, captured: 400 }),
      refund: async () => refund,
      retrieveRefund: async () => refund,
    })
    const cartId = await shop.cart()
    const { order } = ok(await shop.checkout(cartId, { processor: 'scripted' })).body
    ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey }))
    ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
    const paymentStatus = isClaimable ? 'CAPTURED' : 'REFUNDED'
    expect(await shop.order(order.id)).toMatchObject({
      status: 'CANCELLED',
      paymentStatus,
      capturedTotal: shop.usd(400),
      refunds: [{ status: refund.state, amount: shop.usd(400) }],
    })
    for (let hours = 0; hours < 15 * 24; hours += 8) {
      app.clock.advance(8 * hour)
      await app.jobs.resume()
      await app.jobs.sweep()
    }
    const { payments } = await shop.order(order.id)
    expect(payments).toMatchObject([{ status: 'FAILED', failureCode: 'not_answered', captured: shop.usd(400) }])
    expect(await shop.order(order.id)).toMatchObject({ paymentStatus, refunds: [{ status: refund.state }] })
    const found: string[] = []
    for await (const { problems } of bookFindings(app.deps.db)) found.push(...problems)
    expect(found).toEqual([])
  })

test('shows a payment as failed when its order is cancelled and its creation is unknown', async () => {
  await using app = await testApp()
  const shop = await sellingWithProcessor(app, {
    capabilities: { ...capabilities, createRepeatsMs: 0, findable: false },
    create: async () => {
      throw new ProcessorUnavailable('lost')
    },
  })
  const { order } = ok(await shop.buy()).body
  expect(order.paymentStatus).toBe('PROCESSING')
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'FAILED', payments: [{ status: 'FAILED' }] })
})
