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
import { capabilities, paymentAnswer, sellingBy } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const claimUrl = 'https://pay.example.com/claims/1'
const unable = async (): Promise<never> => {
  throw new ProcessorRefused('refund_not_supported')
}

const takes: Partial<Processor> = {
  create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
  capture: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
  retrieve: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
}

/** A shop whose processor takes 10.00, and gives them back as the script says. */
const shopBy = (app: TestApp, script: Partial<Processor>) => sellingBy(app, { ...takes, ...script })

/** Everything adds up, in the rows and as `souk check` sees it. Returns what is to be done by hand. */
async function inOrder(app: TestApp): Promise<string[]> {
  expect(violationsOf(await booksOf(app))).toEqual([])
  const toDo: string[] = []
  for await (const { subject, problems, isWork } of bookFindings(app.deps.db))
    if (isWork) toDo.push(...problems)
    else expect([subject, problems]).toEqual([subject, []])
  return toDo
}

async function after(app: TestApp, ms: number): Promise<void> {
  app.clock.advance(ms)
  await app.jobs.resume()
}

const messagesOf = async (app: TestApp, event: string): Promise<Json[]> =>
  (await booksOf(app)).outbox.filter((message) => message.event === event).map(({ body }) => JSON.parse(body).data)

/** What a message makes of a payment: its processor is asked, and what it says is taken. */
async function messaged(app: TestApp, orderId: string, answer: ProcessorPayment): Promise<void> {
  const [payment] = await paymentsOf(app.deps, orderId)
  if (!payment) throw new Error('no payment')
  const reference = payment.processorReference ?? answer.reference
  await handleAnswer(app.deps, payment, { ...answer, reference }, newSagaContext(app.deps))
}

test('returns gift cards and goods of a claimable refund at once, and counts its money once it is claimed', async () => {
  await using app = await testApp()
  let answer: RefundAnswer = { reference: 'pp_1', state: 'CLAIMABLE', claimUrl }
  let asked = 0
  const shop = await shopBy(app, {
    create: async () => paymentAnswer('AUTHORIZED', { authorized: 700 }),
    capture: async () => paymentAnswer('CAPTURED', { authorized: 700, captured: 700 }),
    refund: async () => answer,
    retrieveRefund: async () => {
      asked++
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
  const spent = async () => (await booksOf(app)).totals.map((row) => row.spent)
  expect(await spent()).toEqual([700])
  expect(await messagesOf(app, 'order.refund_claimable')).toMatchObject([{ refund: { id: refund.id, amount: shop.usd(700), claimUrl } }])
  expect(await messagesOf(app, 'order.refunded')).toEqual([])
  expect((await shop.refund(order.id, { amount: shop.usd(1) })).status).toBe(409)
  expect(await inOrder(app)).toEqual([])
  for (let hours = 0; hours < 72; hours++) await after(app, hour)
  expect(asked).toBeLessThan(12)
  answer = { reference: 'pp_1', state: 'SUCCEEDED' }
  await after(app, day)
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refunds: [{ status: 'SUCCEEDED', claimUrl: null }] })
  expect((await shop.stock()).onHand).toBe(10)
  expect(await spent()).toEqual([0])
  expect(await messagesOf(app, 'order.refunded')).toMatchObject([{ refund: { amount: shop.usd(1_000) } }])
  expect(await inOrder(app)).toEqual([])
})

test('cancels an order by a claimable refund, and pays an expired claim by hand once', async () => {
  await using app = await testApp()
  let answer: RefundAnswer = { reference: 'pp_1', state: 'CLAIMABLE', claimUrl }
  const shop = await shopBy(app, { refund: async () => answer, retrieveRefund: async () => answer })
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
  // The shopper must claim it.
  expect((await shop.post(path, { reference: 'SEPA 1' })).status).toBe(409)
  answer = { reference: 'pp_1', state: 'FAILED', failureCode: 'archived' }
  await after(app, 2 * hour)
  expect((await shop.order(order.id)).refunds).toMatchObject([{ status: 'MANUAL', failureCode: 'archived', claimUrl: null }])
  expect(await messagesOf(app, 'order.refund_manual')).toMatchObject([{ refund: { id: refundId, amount: shop.usd(1_000) } }])
  const toDo = `Refund ${refundId} of order ${order.id}: 1000 USD (minor units) is to be paid by hand, since the processor says archived`
  expect(await inOrder(app)).toEqual([toDo])
  expect(ok(await shop.get('/v2/refunds?status=MANUAL')).body).toMatchObject({ total: 1, data: [{ id: refundId, status: 'MANUAL' }] })
  const stranger = await app.merchant()
  const asStranger = { token: stranger.token, body: { reference: 'SEPA 1' } }
  expect((await app.call('POST', path, asStranger)).status).toBe(404)
  expect(ok(await app.call('GET', '/v2/refunds', { token: stranger.token })).body).toMatchObject({ total: 0, data: [] })
  const key = { 'idempotency-key': 'settled' }
  const settled = ok(await shop.post(path, { reference: 'SEPA 1' }, key))
  expect(settled.body).toMatchObject({ status: 'SUCCEEDED', settledReference: 'SEPA 1' })
  expect(ok(await shop.post(path, { reference: 'SEPA 1' }, key)).text).toBe(settled.text)
  expect((await shop.post(path, { reference: 'SEPA 2' })).status).toBe(409)
  expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
  expect((await shop.stock()).onHand).toBe(10)
  expect(await inOrder(app)).toEqual([])
  expect(ok(await shop.get('/v2/refunds?status=MANUAL')).body.total).toBe(0)
  expect(ok(await shop.get('/v2/refunds')).body.total).toBe(1)
  expect((await shop.get('/v2/refunds?status=LOST')).status).toBe(400)
})

test('books a refund that is reported as paid by hand several times only once', async () => {
  await using app = await testApp()
  const shop = await shopBy(app, { refund: unable })
  const { order } = ok(await shop.buy()).body
  const refund = ok(await shop.refund(order.id, { amount: shop.usd(300) })).body
  expect(refund).toMatchObject({ status: 'MANUAL', failureCode: 'refund_not_supported' })
  const path = `/v2/orders/${order.id}/refunds/${refund.id}/settled`
  const answers = await Promise.all([1, 2, 3, 4].map((nth) => shop.post(path, { reference: `SEPA ${nth}` })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  expect(await shop.order(order.id)).toMatchObject({ refundedTotal: shop.usd(300), paymentStatus: 'PARTIALLY_REFUNDED' })
  expect(await inOrder(app)).toEqual([])
})

test('accepts payment by hand of a refund that its processor has not answered for three days, and not before', async () => {
  await using app = await testApp()
  const shop = await shopBy(app, {
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
  expect(await inOrder(app)).toEqual([])
})

test('logs why a refund is not settled: no answer, an unknown answer, or a processor that is gone', async () => {
  for (const [event, level, error] of [
    ['refund.no_answer', 'warn', new ProcessorUnavailable('hung')],
    ['refund.unknown_answer', 'warn', new UnknownAnswer('status: perhaps')],
    ['refund.processor_missing', 'error', undefined],
  ] as const) {
    await using app = await testApp()
    const shop = await shopBy(app, {
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
  const waits = async () => paymentAnswer('REQUIRES_ACTION')
  const shop = await shopBy(app, { create: waits, retrieve: waits })
  const { order } = ok(await shop.buy()).body
  ;(app.deps.processors as Map<string, Processor>).delete('scripted')
  await after(app, minute)
  const fields = { order: order.id, payment: order.payments[0].id, processor: 'scripted' }
  expect(app.logged).toContainEqual({ level: 'error', event: 'payment.processor_missing', fields })
  app.clock.advance(hour)
  await app.jobs.closeOrders()
  expect((await shop.order(order.id)).status).toBe('EXPIRED')
})

test('accepts payment by hand of a refund that was never sent or cannot be queried, but not of one in flight', async () => {
  for (const [how, neverSent] of [
    ['refused the connection', true],
    ['hung', false],
    ['gone', false],
  ] as const) {
    await using app = await testApp()
    let sent = 0
    const shop = await shopBy(app, {
      async refund() {
        sent++
        throw new ProcessorUnavailable(how, { neverSent })
      },
    })
    const { order } = ok(await shop.buy()).body
    const refund = ok(await shop.refund(order.id, { amount: shop.usd(300) })).body
    expect(refund.status).toBe('PENDING')
    if (how === 'gone') (app.deps.processors as Map<string, Processor>).delete('scripted')
    const settled = await shop.post(`/v2/orders/${order.id}/refunds/${refund.id}/settled`, { reference: 'SEPA 1' })
    expect([how, settled.status]).toEqual([how, how === 'hung' ? 409 : 200])
    if (how === 'hung') continue
    app.clock.advance(60 * 60_000)
    await app.jobs.resume()
    expect(sent).toBe(1)
    expect(await shop.order(order.id)).toMatchObject({ refundedTotal: shop.usd(300), refunds: [{ status: 'SUCCEEDED' }] })
    expect(await inOrder(app)).toEqual([])
  }
})

test('shows customers no settlement reference of their refund', async () => {
  await using app = await testApp()
  const shop = await shopBy(app, { refund: unable })
  const customer = await customerOf(app, shop.shop.name)
  const cartId = await shop.cart({ token: customer.token })
  const { order } = ok(await shop.checkout(cartId, { processor: 'scripted' }, undefined, customer.token)).body
  const refund = ok(await shop.refund(order.id)).body
  ok(await shop.post(`/v2/orders/${order.id}/refunds/${refund.id}/settled`, { reference: 'Our note' }))
  const seen = ok(await app.call('GET', `/v2/orders/${order.id}`, { token: customer.token }))
  expect(seen.body.refunds).toMatchObject([{ status: 'SUCCEEDED', settledReference: null, claimUrl: null }])
  expect(seen.text).not.toContain('Our note')
})

test('leaves a due refund for payment by hand after a dozen refusals, and ends the order', async () => {
  await using app = await testApp()
  let refusals = 0
  const shop = await shopBy(app, {
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
  for (let looks = 0; looks < 40; looks++) await after(app, hour)
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
  const shop = await shopBy(app, { refund: async () => answer, retrieveRefund: async () => answer })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'CAPTURED', refunds: [{ status: 'CLAIMABLE' }] })
  answer = { reference: 'pp_1', state: 'SUCCEEDED' }
  await after(app, 2 * hour)
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
})

test('pays late or excess money by hand if it cannot be refunded, and books it then', async () => {
  await using app = await testApp()
  const shop = await shopBy(app, {
    create: async ({ paymentId }) => paymentAnswer('REQUIRES_ACTION', { reference: paymentId }),
    retrieve: async () => paymentAnswer('REQUIRES_ACTION'),
    refund: unable,
  })
  const { order: late } = ok(await shop.buy()).body
  app.clock.advance(2 * hour)
  await app.jobs.closeOrders()
  await messaged(app, late.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }))
  expect(await shop.order(late.id)).toMatchObject({
    capturedTotal: shop.usd(1_000),
    refunds: [{ status: 'MANUAL', amount: shop.usd(1_000) }],
  })
  const { order: sold } = ok(await shop.buy()).body
  await messaged(app, sold.id, paymentAnswer('CAPTURED', { authorized: 1_200, captured: 1_200 }))
  expect(await shop.order(sold.id)).toMatchObject({
    capturedTotal: shop.usd(1_000),
    refunds: [{ status: 'MANUAL', amount: shop.usd(200) }],
  })
  expect(await inOrder(app)).toHaveLength(2)
  const { data } = ok(await shop.get('/v2/refunds?status=MANUAL')).body
  for (const { id, orderId } of data) ok(await shop.post(`/v2/orders/${orderId}/refunds/${id}/settled`, { reference: 'SEPA' }))
  expect(await inOrder(app)).toEqual([])
  expect(await shop.order(late.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
  expect(await shop.order(sold.id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED', refundedTotal: shop.usd(0) })
  expect(await messagesOf(app, 'order.refunded')).toEqual([])
})

test('reopens a due refund that fails after it succeeded for payment by hand, and does not send it again', async () => {
  await using app = await testApp()
  let state: RefundAnswer['state'] = 'SUCCEEDED'
  let sent = 0
  const shop = await shopBy(app, {
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
  await messaged(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }))
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refunds: [{ status: 'SUCCEEDED' }] })
  expect(await inOrder(app)).toEqual([])
  state = 'FAILED'
  await after(app, day + minute)
  expect(await shop.order(order.id)).toMatchObject({
    paymentStatus: 'CAPTURED',
    refundedTotal: shop.usd(0),
    refunds: [{ status: 'MANUAL' }],
  })
  expect(await inOrder(app)).toHaveLength(1)
  await messaged(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }))
  const [{ id }] = (await shop.order(order.id)).refunds
  ok(await shop.post(`/v2/orders/${order.id}/refunds/${id}/settled`, { reference: 'SEPA' }))
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
  expect([sent, await inOrder(app)]).toEqual([1, []])
})

test('leaves a due refund for payment by hand after it failed three times at a bank', async () => {
  await using app = await testApp()
  let sent = 0
  const shop = await shopBy(app, {
    refund: async () => ({ reference: `re_${++sent}`, state: 'PENDING' }),
    retrieveRefund: async ({ refundReference }) =>
      refundReference === undefined ? undefined : { reference: refundReference, state: 'FAILED', failureCode: 'closed_account' },
  })
  const { order } = ok(await shop.buy()).body
  await forceOrder(app, order.id, { status: 'PAID', confirmedAt: null })
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
  for (let looks = 0; looks < 24 * 6; looks++) await after(app, hour)
  expect(sent).toBe(3)
  expect(await shop.order(order.id)).toMatchObject({
    status: 'CANCELLED',
    refunds: [{ status: 'FAILED' }, { status: 'FAILED' }, { status: 'MANUAL', amount: shop.usd(1_000) }],
  })
})

test('counts a refused refund as succeeded if the processor has already refunded the money', async () => {
  await using app = await testApp()
  const shop = await shopBy(app, {
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
    const shop = await shopBy(app, {
      capabilities: { ...capabilities, refundRepeatsMs: 0 },
      refund: async () => {
        if (++sent > 1) return { reference: 're_1', state: 'SUCCEEDED' }
        throw new ProcessorUnavailable('lost', { neverSent })
      },
    })
    const { order } = ok(await shop.buy()).body
    expect(ok(await shop.refund(order.id)).body.status).toBe('PENDING')
    await after(app, 2 * minute)
    const [refund] = (await shop.order(order.id)).refunds
    expect([sent, refund.status]).toEqual(neverSent ? [2, 'SUCCEEDED'] : [1, 'PENDING'])
    await after(app, 2 * hour)
    const [last] = (await shop.order(order.id)).refunds
    expect([sent, last.status]).toEqual(neverSent ? [2, 'SUCCEEDED'] : [1, 'MANUAL'])
    await inOrder(app)
  }
})

test('reverses the bookings of a refund that fails after it succeeded, and books its payment by hand', async () => {
  await using app = await testApp()
  let answer: RefundAnswer = { reference: 're_1', state: 'SUCCEEDED' }
  let asked = 0
  const shop = await shopBy(app, {
    capabilities: { ...capabilities, refundsMayFail: true },
    refund: async () => answer,
    retrieveRefund: async () => {
      asked++
      return answer
    },
  })
  const customer = await customerOf(app, shop.shop.name)
  const cartId = await shop.cart({ token: customer.token })
  const { order } = ok(await shop.checkout(cartId, { processor: 'scripted' }, undefined, customer.token)).body
  const refund = ok(await shop.refund(order.id)).body
  expect(refund.status).toBe('SUCCEEDED')
  await after(app, 3 * hour)
  expect(asked).toBe(0)
  // A message about the payment: the job looks.
  answer = { reference: 're_1', state: 'FAILED', failureCode: 'lost_or_stolen_card' }
  await messaged(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded: 1_000 }))
  await app.jobs.resume()
  expect(asked).toBe(1)
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
  expect(await inOrder(app)).toHaveLength(1)
  // What has failed there may still be in what the processor tells: it is not taken for another refund.
  await messaged(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded: 1_000 }))
  expect((await shop.order(order.id)).refunds).toHaveLength(1)
  ok(await shop.post(`/v2/orders/${order.id}/refunds/${refund.id}/settled`, { reference: 'SEPA 1' }))
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', payments: [{ refunded: shop.usd(1_000) }] })
  expect(await spent()).toEqual([0])
  expect(await inOrder(app)).toEqual([])
  await after(app, 9 * day)
  expect(asked).toBe(1)
})

test('queries a succeeded refund daily for a week if it may still fail, and otherwise never', async () => {
  for (const refundsMayFail of [true, false]) {
    await using app = await testApp()
    let asked = 0
    const shop = await shopBy(app, {
      capabilities: { ...capabilities, refundsMayFail },
      refund: async () => ({ reference: 're_1', state: 'SUCCEEDED' }),
      retrieveRefund: async () => {
        asked++
        return { reference: 're_1', state: 'SUCCEEDED' }
      },
    })
    const { order } = ok(await shop.buy()).body
    ok(await shop.refund(order.id))
    for (let looks = 0; looks < 12; looks++) await after(app, day + minute)
    expect(asked).toBeLessThanOrEqual(refundsMayFail ? 7 : 0)
    expect(asked).toBeGreaterThanOrEqual(refundsMayFail ? 6 : 0)
    expect((await shop.order(order.id)).paymentStatus).toBe('REFUNDED')
    expect(await inOrder(app)).toEqual([])
  }
})

test("records a refund that was made on the processor's own page once", async () => {
  await using app = await testApp()
  const shop = await shopBy(app, { refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }) })
  const { order } = ok(await shop.buy()).body
  ok(await shop.refund(order.id, { amount: shop.usd(200) }))
  const seen = (refunded: number) => messaged(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded }))
  await seen(200)
  expect((await shop.order(order.id)).refunds).toHaveLength(1)
  await Promise.all([seen(500), seen(500), seen(500)])
  await seen(200)
  expect(await shop.order(order.id)).toMatchObject({
    status: 'CONFIRMED',
    paymentStatus: 'PARTIALLY_REFUNDED',
    refundedTotal: shop.usd(500),
    refunds: [{ amount: shop.usd(200) }, { status: 'SUCCEEDED', amount: shop.usd(300), lines: [] }],
  })
  expect((await shop.stock()).onHand).toBe(9)
  // More than came is not believed.
  await seen(1_500)
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'REFUNDED', refundedTotal: shop.usd(1_000) })
  await seen(1_500)
  expect((await shop.order(order.id)).refunds).toHaveLength(3)
  expect(await messagesOf(app, 'order.refunded')).toHaveLength(3)
  expect(await inOrder(app)).toEqual([])
})

test('records no external refund while another is pending, and settles a refund by hand with it first', async () => {
  await using app = await testApp()
  let answers: 'lost' | 'unable' = 'lost'
  const shop = await shopBy(app, {
    refund: async () => {
      if (answers === 'lost') throw new ProcessorUnavailable('lost')
      return unable()
    },
  })
  const { order } = ok(await shop.buy()).body
  ok(await shop.refund(order.id, { amount: shop.usd(400) }))
  const seen = () => messaged(app, order.id, paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, refunded: 700 }))
  await seen()
  expect((await shop.order(order.id)).refunds).toMatchObject([{ status: 'PENDING' }])
  answers = 'unable'
  await after(app, 2 * minute)
  expect((await shop.order(order.id)).refunds).toMatchObject([{ status: 'MANUAL' }])
  await seen()
  expect(await shop.order(order.id)).toMatchObject({
    refundedTotal: shop.usd(700),
    refunds: [
      { status: 'SUCCEEDED', amount: shop.usd(400), settledReference: 'ref' },
      { status: 'SUCCEEDED', amount: shop.usd(300) },
    ],
  })
  expect(await inOrder(app)).toEqual([])
})

test('reports a refund whose bookings differ from its state', async () => {
  await using app = await testApp()
  const shop = await shopBy(app, { refund: unable })
  const { order } = ok(await shop.buy()).body
  const refund = ok(await shop.refund(order.id, { amount: shop.usd(300) })).body
  await inOrder(app)
  const [row] = await app.deps.db.read.select().from(unifiedTransactions)
  if (!row) throw new Error('no row')
  const problems = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const { subject, problems: all, isWork } of bookFindings(app.deps.db)) if (!isWork && all.length > 0) found.push(subject)
    return found
  }
  const planted = [
    ['REFUND', `refund:${refund.id}`],
    ['REFUND', `refund-settled:${refund.id}`],
    ['REFUND_REVERSED', `refund-reversed:${refund.id}`],
    ['GIFT_CARD_REFUND', `gift-card-refund:${refund.id}:gift_1`],
  ] as const
  for (const [kind, key] of planted) {
    const wrong = { ...row, id: app.deps.newId('transaction'), kind, key, amount: 300 }
    await app.deps.db.write((tx) => tx.insert(unifiedTransactions).values(wrong))
    expect([key, await problems()]).toEqual([key, ['refunds']])
    await app.deps.db.write((tx) => tx.rows(sql`delete from unified_transactions where key = ${key} returning 1 as done`))
  }
  expect(await problems()).toEqual([])
})
