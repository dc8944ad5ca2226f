/** The output of `souk order show` and `souk orders stuck`. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { ProcessorRefused, ProcessorUnavailable } from '../../../../src/clients/processors/processor.ts'
import { type Order, orderStatuses, type Refund } from '../../../../src/modules/selling/order/domain.ts'
import { diagnoseOrder, stuckOrders } from '../../../../src/modules/selling/order/index.ts'
import { overdueMs, reasonOf, stepsOf } from '../../../../src/modules/selling/order/saga/saga-explanation.ts'
import { startTime, testApp } from '../../../support/app.ts'
import { address, ok } from '../../../support/selling.ts'
import { paymentAnswer, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const iso = (ms: number) => new Date(ms).toISOString()
const unavailable = () => new ProcessorUnavailable('away')
const stuckQuery = { olderThanMs: 5 * minute, limit: 50 }

test('lists an order as stuck, with its next steps, when the processor is silent but not when the shopper may pay', async () => {
  await using app = await testApp()
  let isSilent = false
  const shop = await sellingWithProcessor(app, {
    async create() {
      if (isSilent) throw unavailable()
      return paymentAnswer('REQUIRES_ACTION')
    },
    async retrieve({ reference }) {
      if (reference === undefined) throw unavailable()
      return paymentAnswer('REQUIRES_ACTION')
    },
  })
  ok(await shop.buy())
  isSilent = true
  const { order } = ok(await shop.buy(), 200, 201, 202).body
  expect(await stuckOrders(app.deps, stuckQuery)).toEqual({ total: 0, orders: [] })
  app.clock.advance(5 * minute)
  await app.jobs.resume()
  const { total, orders } = await stuckOrders(app.deps, stuckQuery)
  const [saga] = await app.deps.orderStore.saga(order.id).then((one) => (one ? [one] : []))
  expect(total).toBe(1)
  expect(orders).toEqual([
    {
      id: order.id,
      number: 2,
      shopId: shop.shop.id,
      status: 'PENDING_PAYMENT',
      since: iso(startTime),
      attempts: saga?.order.attempts ?? 0,
      why: `scripted didn't respond to ${saga?.order.attempts} attempts`,
      next: [
        { what: `create payment ${saga?.payments[0]?.id} at scripted`, at: iso(saga?.order.resumeAt ?? 0) },
        { what: 'expire the order if it is unpaid', at: iso(startTime + 60 * minute) },
      ],
    },
  ])
  // The jobs do not run.
  app.clock.advance(20 * minute)
  const laterStuck = await stuckOrders(app.deps, { ...stuckQuery, limit: 1 })
  expect(laterStuck.orders[0]?.why).toStartWith(`overdue since ${iso(saga?.order.resumeAt ?? 0)}: `)
  // The first order is listed, too, because it should have expired.
  app.clock.advance(60 * minute)
  expect(await stuckOrders(app.deps, { ...stuckQuery, limit: 1 })).toMatchObject({ total: 2, orders: [{ status: 'PENDING_PAYMENT' }] })
})

test('lists a refund as stuck that its processor does not settle, with calls and times but no personal data', async () => {
  await using app = await testApp()
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000, reference: 'charge-7' }),
    async refund() {
      throw unavailable()
    },
  })
  const shippingAddress = { ...address, phone: '+1 207 555 0137', company: 'Haddad Mugs' }
  const person = { email: 'noor.haddad@example.com', shippingAddress, shippingMethod: 'standard' }
  ok(
    await shop.put('/shops/v2/shipping-methods', {
      data: [{ code: 'standard', title: 'Standard', price: shop.usd(0), countries: ['US'] }],
    }),
  )
  const { order } = ok(
    await shop.checkout(await shop.cart(person), { processor: 'scripted', returnUrl: 'https://shop.example/PLANTED-return' }),
  ).body
  ok(await shop.post(`/v2/orders/${order.id}/fulfil`, { trackingNumber: 'PLANTED-parcel', carrier: 'PLANTED-post' }))
  const refund = ok(await shop.refund(order.id, { all: true, reason: 'PLANTED: Noor Haddad changed her mind' }), 200, 201, 202).body
  app.clock.advance(6 * minute)
  await app.jobs.resume()

  const diagnosis = await diagnoseOrder(app.deps, { number: order.number, shopName: shop.shop.name })
  expect(diagnosis).toEqual(await diagnoseOrder(app.deps, { id: order.id }))
  const [payment] = diagnosis.payments
  const [refundView] = diagnosis.refunds
  expect(diagnosis).toMatchObject({ status: 'FULFILLED', shop: { name: shop.shop.name }, total: shop.usd(1_000) })
  expect(payment).toMatchObject({ processor: 'scripted', account: 'of the instance', status: 'CAPTURED', processorReference: 'charge-7' })
  expect(refundView).toMatchObject({ id: refund.id, status: 'PENDING', sentAt: iso(startTime), amount: shop.usd(1_000) })
  expect(diagnosis.why).toBe(
    `refund ${refund.id} is not settled by scripted after ${refundView?.attempts} ${refundView?.attempts === 1 ? 'attempt' : 'attempts'}`,
  )
  expect(diagnosis.next).toEqual([
    { what: 'complete the order', at: iso(startTime + 14 * 24 * 60 * minute) },
    { what: `query refund ${refund.id} at scripted`, at: refundView?.resumeAt ?? '' },
  ])
  expect(diagnosis.parcels).toMatchObject([{ units: 1, version: 1 }])
  expect(diagnosis.events.map(({ type }) => type)).toEqual([
    ...['PLACED', 'PAYMENT_CAPTURED', 'CONFIRMED', 'FULFILLED', 'REFUND_REQUESTED'],
  ])
  expect(diagnosis.events[3]?.detail).toEqual({
    fulfilment: expect.stringMatching(/^ful_/),
    trackingNumber: '[not shown]',
    carrier: '[not shown]',
  })
  expect(JSON.stringify(diagnosis)).not.toMatch(/PLANTED|Noor|Haddad|example\.com|Quay|207 555/)

  const stuck = await stuckOrders(app.deps, stuckQuery)
  expect(stuck).toMatchObject({ total: 1, orders: [{ id: order.id, why: diagnosis.why, next: diagnosis.next }] })
  expect(JSON.stringify(stuck)).not.toMatch(/PLANTED|Noor|Haddad|example\.com/)
  for (const [orderKey, problem] of [
    [{ id: 'order_none' }, 'Order not found'],
    [{ number: 99, shopName: shop.shop.name }, 'The shop has no order with this number'],
    [{ number: 1, shopName: 'nobody' }, 'Shop not found'],
  ] as const)
    await expect(diagnoseOrder(app.deps, orderKey)).rejects.toThrow(problem)
})

test("hides the processor's text of a refused refund, and gives no reason to call the order stuck", async () => {
  await using app = await testApp()
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    async refund() {
      throw new ProcessorRefused('account closed; write to noor@example.com')
    },
  })
  const { order } = ok(await shop.buy()).body
  const refund = ok(await shop.refund(order.id), 200, 201, 202).body
  const { refunds, events, why } = await diagnoseOrder(app.deps, { id: order.id })
  expect(refunds[0]).toMatchObject({ id: refund.id, status: 'FAILED', failureCode: '[not shown]' })
  expect(events.at(-1)?.detail['code']).toBe('[not shown]')
  expect(why).toBeNull()
})

test('states the next step of an order in every state, and a reason where it does not proceed', () => {
  const now = startTime
  const baseOrder = {
    resumeAt: null,
    attempts: 0,
    confirmedAt: null,
    fulfilledAt: null,
    holds: 'HELD',
    amountDue: 100,
    expiresAt: now + minute,
  }
  const sagaWith = (more: Partial<Order>, refunds: Partial<Refund>[] = []) =>
    ({ order: { ...baseOrder, ...more } as Order, payments: [], refunds: refunds as Refund[] }) as const
  for (const status of orderStatuses) {
    const steps = stepsOf(sagaWith({ status }), now)
    expect([status, steps.length > 0, steps.every(({ what }) => what !== '')]).toEqual([status, true, true])
  }
  const notScheduled = 'the next step is not scheduled. This is a bug in souk: report it'
  for (const status of ['PAID', 'COMPENSATING'] as const) expect(reasonOf(sagaWith({ status }), now)).toBe(notScheduled)
  // The next steps of these orders are not scheduled either.
  expect(stepsOf(sagaWith({ status: 'COMPENSATING', holds: 'RELEASED' }), now)).toEqual([
    { what: 'not automatic any more: cancel the order when it is fully refunded', at: null },
  ])
  const pendingRefund = [{ id: 'ref_1', status: 'PENDING', processor: 'scripted', sentAt: now, resumeAt: null, leaseUntil: null }] as const
  expect(stepsOf(sagaWith({ status: 'CONFIRMED', confirmedAt: now }, [...pendingRefund]), now)).toEqual([
    { what: 'wait for the shop to fulfil or cancel the order', at: null },
    { what: 'not automatic any more: query refund ref_1 at scripted', at: null },
  ])
  const leasedRefund = [{ ...pendingRefund[0], leaseUntil: now + 10_000 }]
  expect(stepsOf(sagaWith({ status: 'CONFIRMED', confirmedAt: now }, leasedRefund), now)[1]?.what).toBe('query refund ref_1 at scripted')
  expect(reasonOf(sagaWith({ status: 'PAID', resumeAt: now, attempts: 3 }), now)).toBe(
    'not confirmed after 3 attempts: see order.not_confirmed in the log',
  )
  expect(stepsOf(sagaWith({ status: 'PAID', resumeAt: now, attempts: 3 }), now)[0]?.what).toBe(
    'confirm the order (attempt 4 of 20; then it is refunded)',
  )
  expect(reasonOf(sagaWith({ status: 'PAID', resumeAt: now - overdueMs }), now)).toStartWith('overdue since ')
  expect(reasonOf(sagaWith({ status: 'PENDING_PAYMENT' }), now)).toBeUndefined()
  const manual = { id: 'ref_1', orderId: 'order_1', status: 'MANUAL', resumeAt: null, processor: 'tap' } as const
  expect(stepsOf(sagaWith({ status: 'CANCELLED', holds: 'RELEASED' }, [manual]), now)).toEqual([
    { what: 'pay refund ref_1 back manually, then POST /v2/orders/order_1/refunds/ref_1/settled', at: null },
  ])
})
