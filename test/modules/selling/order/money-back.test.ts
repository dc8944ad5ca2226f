/** Refunds that the processor cannot simply send: claims, payments by hand, external and reversed refunds. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { unifiedTransactions } from '../../../../db/schema/ledger.ts'
import {
  type Processor,
  type ProcessorPayment,
  ProcessorRefused,
  ProcessorUnavailable,
  type RefundAnswer,
  UnknownAnswer,
} from '../../../../src/clients/processors/processor.ts'
import { bookFindings } from '../../../../src/modules/payments/ledger/check-store.ts'
import { paymentsOf } from '../../../../src/modules/payments/payment/index.ts'
import { handleAnswer } from '../../../../src/modules/selling/order/saga/order-payments.ts'
import { newSagaContext } from '../../../../src/modules/selling/order/saga/saga-context.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { forceOrder } from '../../../support/order-rows.ts'
import { customerOf, ok } from '../../../support/selling.ts'
import { capabilities, paymentAnswer, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const claimUrl = 'https://pay.example.com/claims/1'
const refuseRefund = async (): Promise<never> => {
  throw new ProcessorRefused('refund_not_supported')
}

const baseProcessor: Partial<Processor> = {
  create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
  capture: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
  retrieve: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
}

/** Opens a shop whose processor captures 10.00 and handles refunds as `script` defines. */
const openShop = (app: TestApp, script: Partial<Processor>) => sellingWithProcessor(app, { ...baseProcessor, ...script })

/** Expects that the books and `souk check` find no problem. Returns the work that `souk check` lists for the shop. */
async function expectConsistent(app: TestApp): Promise<string[]> {
  expect(violationsOf(await booksOf(app))).toEqual([])
  const manualWork: string[] = []
  for await (const { subject, problems, isWork } of bookFindings(app.deps.db))
    if (isWork) manualWork.push(...problems)
    else expect([subject, problems]).toEqual([subject, []])
  return manualWork
}

async function advanceAndResume(app: TestApp, ms: number): Promise<void> {
  app.clock.advance(ms)
  await app.jobs.resume()
}

const messagesOf = async (app: TestApp, event: string): Promise<Json[]> =>
  (await booksOf(app)).outbox.filter((message) => message.event === event).map(({ body }) => JSON.parse(body).data)

/** Processes an answer of the processor about the first payment of an order, as after a webhook. */
async function processAnswer(app: TestApp, orderId: string, answer: ProcessorPayment): Promise<void> {
  const [payment] = await paymentsOf(app.deps, orderId)
  if (!payment) throw new Error('no payment')
  const reference = payment.processorReference ?? answer.reference
  await handleAnswer(app.deps, payment, { ...answer, reference }, newSagaContext(app.deps))
}

test('returns gift cards and goods of a claimable refund at once, and counts its money once it is claimed', async () => {
  await using app = await testApp()
  let answer: RefundAnswer = { reference: 'pp_1', state: 'CLAIMABLE', claimUrl }
  let queries = 0
  const shop = await openShop(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 700 }),
    capture: async () => paymentAnswer('CAPTURED', { authorized: 700, captured: 700 }),
    refund: async () => answer,
    retrieveRefund: async () => {
      queries++
      return answer
    },
  })
  const customer = await customerOf(app, shop.shop.name)
  const card = await shop.giftCard(300)
  const cartId = await shop.cart({ token: customer.token })
  ok(await app.call('PATCH', '/giftcard/apply', { token: customer.token, body: { code: card.code, cartId } }))
  const { order } = ok(await shop.checkout(cartId, { processor: 'scripted' }, undefined, customer.token)).body
  const lines = [{ lineId: order.lines[0].id, quantity: 1, restock: true }]
  const refund = ok(await shop.refund(order.id, { lines })).body
  expect(refund).toMatchObject({ status: 'CLAIMABLE', claimUrl, amount: shop.usd(1_000), settledReference: null })
  expect(await shop.order(order.id)).toMatchObject({
    status: 'FULFILLED',
    paymentStatus: 'PARTIALLY_REFUNDED',
    refundedTotal: shop.usd(0),
    giftCardRefundedTotal: shop.usd(300),
  })
  expect((await shop.stock()).onHand).toBe(10)
  const spentTotals = async () => (await booksOf(app)).totals.map((row) => row.spent)
  expect(await spentTotals()).toEqual([700])
  expect(await messagesOf(app, 'order.refund_claimable')).toMatchObject([{ refund: { id: refund.id, amount: shop.usd(700), claimUrl } }])
  expect(await messagesOf(app, 'order.refunded')).toEqual([])
  expect((await shop.refund(order.id, { amount: shop.usd(1) })).status).toBe(409)
  expect(await expectConsistent(app)).toEqual([])
  for (let hours = 0; hours < 72; hours++) await advanceAndResume(app, hour)
  expect(queries).toBeLessThan(12)
  answer = { reference: 'pp_1', state: 'SUCCEEDED' }
  await advanceAndResume(app, day)
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refunds: [{ status: 'SUCCEEDED', claimUrl: null }] })
  expect((await shop.stock()).onHand).toBe(10)
  expect(await spentTotals()).toEqual([0])
  expect(await messagesOf(app, 'order.refunded')).toMatchObject([{ refund: { amount: shop.usd(1_000) } }])
  expect(await expectConsistent(app)).toEqual([])
})

test('cancels an order by a claimable refund, and pays an expired claim by hand once', async () => {
  await using app = await testApp()
  let answer: RefundAnswer = { reference: 'pp_1', state: 'CLAIMABLE', claimUrl }
  const shop = await openShop(app, { refund: async () => answer, retrieveRefund: async () => answer })
  const { order } = ok(await shop.buy()).body
  expect(ok(await shop.post(`/v2/orders/${order.id}/cancel`, { reason: 'Sold out' })).body).toMatchObject({
    status: 'CANCELLED',
    paymentStatus: 'CAPTURED',
    refunds: [{ status: 'CLAIMABLE' }],
  })
  expect((await shop.stock()).onHand).toBe(10)
  expect((await shop.post(`/v2/orders/${order.id}/fulfil`, {})).status).toBe(409)
  const [{ id: refundId }] = (await shop.order(order.id)).refunds
  const path = `/v2/orders/${order.id}/refunds/${refundId}/settled`
  // Only the shopper can end a claimable refund.
  expect((await shop.post(path, { reference: 'SEPA 1' })).status).toBe(409)
  answer = { reference: 'pp_1', state: 'FAILED', failureCode: 'archived' }
  await advanceAndResume(app, 2 * hour)
  expect((await shop.order(order.id)).refunds).toMatchObject([{ status: 'MANUAL', failureCode: 'archived', claimUrl: null }])
  expect(await messagesOf(app, 'order.refund_manual')).toMatchObject([{ refund: { id: refundId, amount: shop.usd(1_000) } }])
  const manualWork = `Refund ${refundId} of order ${order.id}: 1000 USD (minor units) is to be paid by hand, since the processor says archived`
  expect(await expectConsistent(app)).toEqual([manualWork])
  expect(ok(await shop.get('/v2/refunds?status=MANUAL')).body).toMatchObject({ total: 1, data: [{ id: refundId, status: 'MANUAL' }] })
  const otherMerchant = await app.merchant()
  const otherRequest = { token: otherMerchant.token, body: { reference: 'SEPA 1' } }
  expect((await app.call('POST', path, otherRequest)).status).toBe(404)
  expect(ok(await app.call('GET', '/v2/refunds', { token: otherMerchant.token })).body).toMatchObject({ total: 0, data: [] })
  const key = { 'idempotency-key': 'settled' }
  const settled = ok(await shop.post(path, { reference: 'SEPA 1' }, key))
  expect(settled.body).toMatchObject({ status: 'SUCCEEDED', settledReference: 'SEPA 1' })
  expect(ok(await shop.post(path, { reference: 'SEPA 1' }, key)).text).toBe(settled.text)
  expect((await shop.post(path, { reference: 'SEPA 2' })).status).toBe(409)
  expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
  expect((await shop.stock()).onHand).toBe(10)
  expect(await expectConsistent(app)).toEqual([])
  expect(ok(await shop.get('/v2/refunds?status=MANUAL')).body.total).toBe(0)
  expect(ok(await shop.get('/v2/refunds')).body.total).toBe(1)
  expect((await shop.get('/v2/refunds?status=LOST')).status).toBe(400)
})

test('books a refund that is reported as paid by hand several times only once', async () => {
  await using app = await testApp()
  const shop = await openShop(app, { refund: refuseRefund })
  const { order } = ok(await shop.buy()).body
  const refund = ok(await shop.refund(order.id, { amount: shop.usd(300) })).body
  expect(refund).toMatchObject({ status: 'MANUAL', failureCode: 'refund_not_supported' })
  const path = `/v2/orders/${order.id}/refunds/${refund.id}/settled`
  const answers = await Promise.all([1, 2, 3, 4].map((nth) => shop.post(path, { reference: `SEPA ${nth}` })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  expect(await shop.order(order.id)).toMatchObject({ refundedTotal: shop.usd(300), paymentStatus: 'PARTIALLY_REFUNDED' })
  expect(await expectConsistent(app)).toEqual([])
})

test('accepts payment by hand of a refund that its processor has not answered for three days, and not before', async () => {
  await using app = await testApp()
  const shop = await openShop(app, {
    async refund() {
      throw new ProcessorUnavailable('hung')
    },
  })
  const { order } = ok(await shop.buy()).body
  const refund = ok(await shop.refund(order.id)).body
  const settle = () => shop.post(`/v2/orders/${order.id}/refunds/${refund.id}/settled`, { reference: 'SEPA 1' })
  app.clock.advance(3 * day - 1)
  expect((await settle()).status).toBe(409)
  app.clock.advance(1)
  expect(ok(await settle()).body).toMatchObject({ status: 'SUCCEEDED', settledReference: 'SEPA 1' })
  expect(await expectConsistent(app)).toEqual([])
})

test('logs why a refund is not settled: no answer, an unknown answer, or a processor that is gone', async () => {
  for (const [event, level, error] of [
    ['refund.no_answer', 'warn', new ProcessorUnavailable('hung')],
    ['refund.unknown_answer', 'warn', new UnknownAnswer('status: perhaps')],
    ['refund.processor_missing', 'error', undefined],
  ] as const) {
    await using app = await testApp()
    const shop = await openShop(app, {
      async refund() {
        throw error
      },
    })
    const { order } = ok(await shop.buy()).body
    if (error === undefined) (app.deps.processors as Map<string, Processor>).delete('scripted')
    const refund = ok(await shop.refund(order.id)).body
    const lines = app.logged.filter((line) => line.event.startsWith('refund.'))
    expect(lines).toMatchObject([{ level, event, fields: { order: order.id, refund: refund.id, payment: order.payments[0].id } }])
    if (error !== undefined) expect(lines[0]?.fields['error']).toBe(error)
    expect(await shop.order(order.id)).toMatchObject({ refunds: [{ status: 'PENDING' }] })
  }
})

test('logs payment.processor_missing for a waiting order whose processor is gone, and expires the order', async () => {
  await using app = await testApp()
  const requiresAction = async () => paymentAnswer('REQUIRES_ACTION')
  const shop = await openShop(app, { create: requiresAction, retrieve: requiresAction })
  const { order } = ok(await shop.buy()).body
  ;(app.deps.processors as Map<string, Processor>).delete('scripted')
  await advanceAndResume(app, minute)
  const fields = { order: order.id, payment: order.payments[0].id, processor: 'scripted' }
  expect(app.logged).toContainEqual({ level: 'error', event: 'payment.processor_missing', fields })
  app.clock.advance(hour)
  await app.jobs.closeOrders()
  expect((await shop.order(order.id)).status).toBe('EXPIRED')
})

test('accepts payment by hand of a refund that was never sent or cannot be queried, but not of one in flight', async () => {
  for (const [failure, neverSent] of [
    ['refused the connection', true],
    ['hung', false],
    ['gone', false],
  ] as const) {
    await using app = await testApp()
    let sent = 0
    const shop = await openShop(app, {
      async refund() {
        sent++
        throw new ProcessorUnavailable(failure, { neverSent })
      },
    })
    const { order } = ok(await shop.buy()).body
    const refund = ok(await shop.refund(order.id, { amount: shop.usd(300) })).body
    expect(refund.status).toBe('PENDING')
    if (failure === 'gone') (app.deps.processors as Map<string, Processor>).delete('scripted')
    const settled = await shop.post(`/v2/orders/${order.id}/refunds/${refund.id}/settled`, { reference: 'SEPA 1' })
    expect([failure, settled.status]).toEqual([failure, failure === 'hung' ? 409 : 200])
    if (failure === 'hung') continue
    app.clock.advance(60 * 60_000)
    await app.jobs.resume()
    expect(sent).toBe(1)
    expect(await shop.order(order.id)).toMatchObject({ refundedTotal: shop.usd(300), refunds: [{ status: 'SUCCEEDED' }] })
    expect(await expectConsistent(app)).toEqual([])
  }
})

test('hides the settlement reference of a refund from the customer', async () => {
  await using app = await testApp()
  const shop = await openShop(app, { refund: refuseRefund })
  const customer = await customerOf(app, shop.shop.name)
  const cartId = await shop.cart({ token: customer.token })
  const { order } = ok(await shop.checkout(cartId, { processor: 'scripted' }, undefined, customer.token)).body
  const refund = ok(await shop.refund(order.id)).body
  ok(await shop.post(`/v2/orders/${order.id}/refunds/${refund.id}/settled`, { reference: 'Our note' }))
  const customerView = ok(await app.call('GET', `/v2/orders/${order.id}`, { token: customer.token }))
  expect(customerView.body.refunds).toMatchObject([{ status: 'SUCCEEDED', settledReference: null, claimUrl: null }])
  expect(customerView.text).not.toContain('Our note')
})

test('leaves a due refund for payment by hand after a dozen refusals, and ends the order', async () => {
  await using app = await testApp()
  let refusals = 0
  const shop = await openShop(app, {
    refund: async () => {
      refusals++
      throw new ProcessorRefused('account_closed')
    },
  })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  expect(await shop.order(order.id)).toMatchObject({
    status: 'COMPENSATING',
    refunds: [{ status: 'PENDING', failureCode: 'account_closed' }],
  })
  for (let runs = 0; runs < 40; runs++) await advanceAndResume(app, hour)
  expect(refusals).toBe(12)
  expect(await shop.order(order.id)).toMatchObject({
    status: 'CANCELLED',
    capturedTotal: shop.usd(1_000),
    refundedTotal: shop.usd(0),
    refunds: [{ status: 'MANUAL', failureCode: 'account_closed' }],
  })
})

test('ends a compensating order without waiting for its refund to be claimed', async () => {
  await using app = await testApp()
  let answer: RefundAnswer = { reference: 'pp_1', state: 'CLAIMABLE', claimUrl }
  const shop = await openShop(app, { refund: async () => answer, retrieveRefund: async () => answer })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'CAPTURED', refunds: [{ status: 'CLAIMABLE' }] })
  answer = { reference: 'pp_1', state: 'SUCCEEDED' }
  await advanceAndResume(app, 2 * hour)
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
})

test('pays late or excess money by hand if it cannot be refunded, and books it then', async () => {
  await using app = await testApp()
  const shop = await openShop(app, {
    create: async ({ paymentId }) => paymentAnswer('REQUIRES_ACTION', { reference: paymentId }),
    retrieve: async () => paymentAnswer('REQUIRES_ACTION'),
    refund: refuseRefund,
  })
  const { order: late } = ok(await shop.buy()).body
  app.clock.advance(2 * hour)
  await app.jobs.closeOrders()
  await processAnswer(app, late.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }))
  expect(await shop.order(late.id)).toMatchObject({
    capturedTotal: shop.usd(1_000),
    refunds: [{ status: 'MANUAL', amount: shop.usd(1_000) }],
  })
  const { order: sold } = ok(await shop.buy()).body
  await processAnswer(app, sold.id, paymentAnswer('CAPTURED', { authorized: 1_200, captured: 1_200 }))
  expect(await shop.order(sold.id)).toMatchObject({
    capturedTotal: shop.usd(1_000),
    refunds: [{ status: 'MANUAL', amount: shop.usd(200) }],
  })
  expect(await expectConsistent(app)).toHaveLength(2)
  const { data } = ok(await shop.get('/v2/refunds?status=MANUAL')).body
  for (const { id, orderId } of data) ok(await shop.post(`/v2/orders/${orderId}/refunds/${id}/settled`, { reference: 'SEPA' }))
  expect(await expectConsistent(app)).toEqual([])
  expect(await shop.order(late.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
  expect(await shop.order(sold.id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED', refundedTotal: shop.usd(0) })
  expect(await messagesOf(app, 'order.refunded')).toEqual([])
})

test('reopens a due refund that fails after it succeeded for payment by hand, and does not send it again', async () => {
  await using app = await testApp()
  let state: RefundAnswer['state'] = 'SUCCEEDED'
  let sent = 0
  const shop = await openShop(app, {
    capabilities: { ...capabilities, refundsMayFail: true },
    create: async () => paymentAnswer('REQUIRES_ACTION'),
    retrieve: async () => paymentAnswer('REQUIRES_ACTION'),
    refund: async () => {
      sent++
      return { reference: 're_1', state }
    },
    retrieveRefund: async () => ({ reference: 're_1', state, failureCode: 'closed_account' }),
  })
  const { order } = ok(await shop.buy()).body
  app.clock.advance(2 * hour)
  await app.jobs.closeOrders()
  await processAnswer(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }))
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refunds: [{ status: 'SUCCEEDED' }] })
  expect(await expectConsistent(app)).toEqual([])
  state = 'FAILED'
  await advanceAndResume(app, day + minute)
  expect(await shop.order(order.id)).toMatchObject({
    paymentStatus: 'CAPTURED',
    refundedTotal: shop.usd(0),
    refunds: [{ status: 'MANUAL' }],
  })
  expect(await expectConsistent(app)).toHaveLength(1)
  await processAnswer(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }))
  const [{ id }] = (await shop.order(order.id)).refunds
  ok(await shop.post(`/v2/orders/${order.id}/refunds/${id}/settled`, { reference: 'SEPA' }))
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
  expect([sent, await expectConsistent(app)]).toEqual([1, []])
})

test('leaves a due refund for payment by hand after it failed three times at a bank', async () => {
  await using app = await testApp()
  let sent = 0
  const shop = await openShop(app, {
    refund: async () => ({ reference: `re_${++sent}`, state: 'PENDING' }),
    retrieveRefund: async ({ refundReference }) =>
      refundReference === undefined ? undefined : { reference: refundReference, state: 'FAILED', failureCode: 'closed_account' },
  })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  for (let runs = 0; runs < 24 * 6; runs++) await advanceAndResume(app, hour)
  expect(sent).toBe(3)
  expect(await shop.order(order.id)).toMatchObject({
    status: 'CANCELLED',
    refunds: [{ status: 'FAILED' }, { status: 'FAILED' }, { status: 'MANUAL', amount: shop.usd(1_000) }],
  })
})

test('counts a refused refund as succeeded if the processor has already refunded the money', async () => {
  await using app = await testApp()
  const shop = await openShop(app, {
    refund: async () => {
      throw new ProcessorRefused('charge_already_refunded')
    },
    retrieve: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded: 1_000 }),
  })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  expect(await shop.order(order.id)).toMatchObject({
    status: 'CANCELLED',
    refundedTotal: shop.usd(1_000),
    refunds: [{ status: 'SUCCEEDED', settledReference: 'ref' }],
  })
})

test('leaves a refund that may have been sent for payment by hand, and resends one that was never sent', async () => {
  for (const neverSent of [false, true]) {
    await using app = await testApp()
    let sent = 0
    const shop = await openShop(app, {
      capabilities: { ...capabilities, refundRepeatsMs: 0 },
      refund: async () => {
        if (++sent > 1) return { reference: 're_1', state: 'SUCCEEDED' }
        throw new ProcessorUnavailable('lost', { neverSent })
      },
    })
    const { order } = ok(await shop.buy()).body
    expect(ok(await shop.refund(order.id)).body.status).toBe('PENDING')
    await advanceAndResume(app, 2 * minute)
    const [refund] = (await shop.order(order.id)).refunds
    expect([sent, refund.status]).toEqual(neverSent ? [2, 'SUCCEEDED'] : [1, 'PENDING'])
    await advanceAndResume(app, 2 * hour)
    const [last] = (await shop.order(order.id)).refunds
    expect([sent, last.status]).toEqual(neverSent ? [2, 'SUCCEEDED'] : [1, 'MANUAL'])
    await expectConsistent(app)
  }
})

test('resends a refund an hour after its answer was lost if the processor lists refunds and shows none', async () => {
  await using app = await testApp()
  const sentAt: number[] = []
  const shop = await openShop(app, {
    capabilities: { ...capabilities, refundRepeatsMs: 0, refundsFindable: true },
    refund: async () => {
      if (sentAt.push(app.clock.now()) > 2) return { reference: 're_1', state: 'SUCCEEDED' }
      throw new ProcessorUnavailable('lost')
    },
  })
  const { order } = ok(await shop.buy()).body
  expect(ok(await shop.refund(order.id)).body.status).toBe('PENDING')
  for (let minutes = 0; minutes < 4 * 60; minutes += 5) await advanceAndResume(app, 5 * minute)
  expect((await shop.order(order.id)).refunds).toMatchObject([{ status: 'SUCCEEDED', amount: shop.usd(1_000) }])
  // Each request gets the whole hour to arrive.
  expect(sentAt.map((at, index) => index === 0 || at - (sentAt[index - 1] ?? at) >= hour)).toEqual([true, true, true])
  expect(await expectConsistent(app)).toEqual([])
})

test('reverses the bookings of a refund that fails after it succeeded, and books its payment by hand', async () => {
  await using app = await testApp()
  let answer: RefundAnswer = { reference: 're_1', state: 'SUCCEEDED' }
  let queries = 0
  const shop = await openShop(app, {
    capabilities: { ...capabilities, refundsMayFail: true },
    refund: async () => answer,
    retrieveRefund: async () => {
      queries++
      return answer
    },
  })
  const customer = await customerOf(app, shop.shop.name)
  const cartId = await shop.cart({ token: customer.token })
  const { order } = ok(await shop.checkout(cartId, { processor: 'scripted' }, undefined, customer.token)).body
  const refund = ok(await shop.refund(order.id)).body
  expect(refund.status).toBe('SUCCEEDED')
  await advanceAndResume(app, 3 * hour)
  expect(queries).toBe(0)
  // A message about the payment makes the job query the refund.
  answer = { reference: 're_1', state: 'FAILED', failureCode: 'lost_or_stolen_card' }
  await processAnswer(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded: 1_000 }))
  await app.jobs.resume()
  expect(queries).toBe(1)
  const failed = await shop.order(order.id)
  expect(failed).toMatchObject({
    status: 'FULFILLED',
    paymentStatus: 'CAPTURED',
    refundedTotal: shop.usd(0),
    payments: [{ refunded: shop.usd(0) }],
    refunds: [{ status: 'MANUAL', failureCode: 'lost_or_stolen_card' }],
  })
  expect(failed.events.map(({ type }: Json) => type).slice(-4)).toEqual(['REFUNDED', 'FULFILLED', 'REFUND_FAILED', 'REFUND_MANUAL'])
  const spent = async () => (await booksOf(app)).totals.map((row) => row.spent)
  expect(await spent()).toEqual([1_000])
  expect(await expectConsistent(app)).toHaveLength(1)
  // The refunded amount of the processor may still include the failed refund, which is not a new external refund.
  await processAnswer(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded: 1_000 }))
  expect((await shop.order(order.id)).refunds).toHaveLength(1)
  ok(await shop.post(`/v2/orders/${order.id}/refunds/${refund.id}/settled`, { reference: 'SEPA 1' }))
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', payments: [{ refunded: shop.usd(1_000) }] })
  expect(await spent()).toEqual([0])
  expect(await expectConsistent(app)).toEqual([])
  await advanceAndResume(app, 9 * day)
  expect(queries).toBe(1)
})

test('queries a succeeded refund daily for a week if it may still fail, and otherwise never', async () => {
  for (const refundsMayFail of [true, false]) {
    await using app = await testApp()
    let queries = 0
    const shop = await openShop(app, {
      capabilities: { ...capabilities, refundsMayFail },
      refund: async () => ({ reference: 're_1', state: 'SUCCEEDED' }),
      retrieveRefund: async () => {
        queries++
        return { reference: 're_1', state: 'SUCCEEDED' }
      },
    })
    const { order } = ok(await shop.buy()).body
    ok(await shop.refund(order.id))
    for (let runs = 0; runs < 12; runs++) await advanceAndResume(app, day + minute)
    expect(queries).toBeLessThanOrEqual(refundsMayFail ? 7 : 0)
    expect(queries).toBeGreaterThanOrEqual(refundsMayFail ? 6 : 0)
    expect((await shop.order(order.id)).paymentStatus).toBe('REFUNDED')
    expect(await expectConsistent(app)).toEqual([])
  }
})

test("records a refund that was made on the processor's own page once", async () => {
  await using app = await testApp()
  const shop = await openShop(app, { refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }) })
  const { order } = ok(await shop.buy()).body
  ok(await shop.refund(order.id, { amount: shop.usd(200) }))
  const reportRefunded = (refunded: number) =>
    processAnswer(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded }))
  await reportRefunded(200)
  expect((await shop.order(order.id)).refunds).toHaveLength(1)
  await Promise.all([reportRefunded(500), reportRefunded(500), reportRefunded(500)])
  await reportRefunded(200)
  expect(await shop.order(order.id)).toMatchObject({
    status: 'CONFIRMED',
    paymentStatus: 'PARTIALLY_REFUNDED',
    refundedTotal: shop.usd(500),
    refunds: [{ amount: shop.usd(200) }, { status: 'SUCCEEDED', amount: shop.usd(300), lines: [] }],
  })
  expect((await shop.stock()).onHand).toBe(9)
  // An amount above the captured one is limited to it.
  await reportRefunded(1_500)
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
  await reportRefunded(1_500)
  expect((await shop.order(order.id)).refunds).toHaveLength(3)
  expect(await messagesOf(app, 'order.refunded')).toHaveLength(3)
  expect(await expectConsistent(app)).toEqual([])
})

test('records no external refund while another is pending, and settles a refund by hand with it first', async () => {
  await using app = await testApp()
  let behaviour: 'lost' | 'unable' = 'lost'
  const shop = await openShop(app, {
    refund: async () => {
      if (behaviour === 'lost') throw new ProcessorUnavailable('lost')
      return refuseRefund()
    },
  })
  const { order } = ok(await shop.buy()).body
  ok(await shop.refund(order.id, { amount: shop.usd(400) }))
  const reportRefunded = () =>
    processAnswer(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded: 700 }))
  await reportRefunded()
  expect((await shop.order(order.id)).refunds).toMatchObject([{ status: 'PENDING' }])
  behaviour = 'unable'
  await advanceAndResume(app, 2 * minute)
  expect((await shop.order(order.id)).refunds).toMatchObject([{ status: 'MANUAL' }])
  await reportRefunded()
  expect(await shop.order(order.id)).toMatchObject({
    refundedTotal: shop.usd(700),
    refunds: [
      { status: 'SUCCEEDED', amount: shop.usd(400), settledReference: 'ref' },
      { status: 'SUCCEEDED', amount: shop.usd(300) },
    ],
  })
  expect(await expectConsistent(app)).toEqual([])
})

test('reports a refund whose bookings differ from its state', async () => {
  await using app = await testApp()
  const shop = await openShop(app, { refund: refuseRefund })
  const { order } = ok(await shop.buy()).body
  const refund = ok(await shop.refund(order.id, { amount: shop.usd(300) })).body
  await expectConsistent(app)
  const [row] = await app.deps.db.read.select().from(unifiedTransactions)
  if (!row) throw new Error('no row')
  const problems = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const { subject, problems: all, isWork } of bookFindings(app.deps.db)) if (!isWork && all.length > 0) found.push(subject)
    return found
  }
  const extraBookings = [
    ['REFUND', `refund:${refund.id}`],
    ['REFUND', `refund-settled:${refund.id}`],
    ['REFUND_REVERSED', `refund-reversed:${refund.id}`],
    ['GIFT_CARD_REFUND', `gift-card-refund:${refund.id}:gift_1`],
  ] as const
  for (const [kind, key] of extraBookings) {
    const booking = { ...row, id: app.deps.newId('transaction'), kind, key, amount: 300 }
    await app.deps.db.write((tx) => tx.insert(unifiedTransactions).values(booking))
    expect([key, await problems()]).toEqual([key, ['refunds']])
    await app.deps.db.write((tx) => tx.rows(sql`delete from unified_transactions where key = ${key} returning 1 as done`))
  }
  expect(await problems()).toEqual([])
})
