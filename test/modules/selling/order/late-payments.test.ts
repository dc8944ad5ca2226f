/** Refunds payments that succeed after they ended or after a fail-over to another processor. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { payments as paymentRows } from '../../../../db/schema/payments.ts'
import { type Processor, type ProcessorPayment, ProcessorUnavailable } from '../../../../src/clients/processors/processor.ts'
import type { PaymentChoice } from '../../../../src/modules/payments/payment/domain.ts'
import { startNewPayment } from '../../../../src/modules/selling/order/placing/place-order.ts'
import { sweepPayments } from '../../../../src/modules/selling/order/saga/resume-orders.ts'
import { runSaga } from '../../../../src/modules/selling/order/saga/saga.ts'
import { requestSagaContext } from '../../../../src/modules/selling/order/saga/saga-context.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf } from '../../../support/books.ts'
import { ok } from '../../../support/selling.ts'
import { capabilities, paymentAnswer, scriptedProcessor, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const captured = paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 })
const unavailable = () => new ProcessorUnavailable('away')

const rowOf = async ({ deps }: TestApp, id: string) =>
  (await deps.db.read.select().from(paymentRows)).find((row) => row.id === id) ?? Promise.reject(new Error('no such payment'))

describe('watching a payment that ended without money', () => {
  /** Places an order, lets it expire unpaid, and returns its voided payment and the calls of its processor. */
  async function expireUnpaidOrder(app: TestApp) {
    const calls: { at: number; call: string }[] = []
    let answer: ProcessorPayment | 'silent' | undefined = paymentAnswer('VOIDED')
    let since = 0
    const recordCall = (call: string) => void calls.push({ at: app.clock.now() - since, call })
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      async retrieve() {
        recordCall('ask')
        if (answer === 'silent') throw unavailable()
        return answer
      },
      async void() {
        recordCall('void')
        if (answer === 'silent') throw unavailable()
        return paymentAnswer('VOIDED')
      },
      refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }),
    })
    const { order } = ok(await shop.buy()).body
    app.clock.advance(hour)
    await app.jobs.closeOrders()
    expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', payments: [{ status: 'VOIDED' }] })
    since = app.clock.now()
    calls.length = 0
    return {
      shop,
      id: order.id as string,
      paymentId: order.payments[0].id as string,
      calls,
      respondWith(newAnswer: typeof answer) {
        answer = newAnswer
      },
    }
  }
  async function advance(app: TestApp, ms: number, stepMs: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      app.clock.advance(stepMs)
      await app.jobs.sweep()
    }
  }

  test('queries an ended payment for 72 hours at growing intervals, and then stops', async () => {
    await using app = await testApp()
    const { calls, paymentId } = await expireUnpaidOrder(app)
    await advance(app, 80 * hour, 10 * minute)
    const queryTimes = calls.map(({ at }) => at)
    const gaps = queryTimes.map((at, nth) => at - (queryTimes[nth - 1] ?? 0))
    expect(queryTimes[0]).toBe(10 * minute)
    expect(gaps.slice(0, -1)).toEqual(gaps.slice(0, -1).toSorted((a, b) => a - b))
    expect(queryTimes.length).toBeLessThan(20)
    expect(queryTimes.at(-1)).toBe(72 * hour)
    expect((await rowOf(app, paymentId)).askAt).toBeNull()
    expect(calls.every(({ call }) => call === 'ask')).toBe(true)
  })

  test('refunds an ended payment once that was captured after all', async () => {
    await using app = await testApp()
    const { shop, id, respondWith } = await expireUnpaidOrder(app)
    respondWith(captured)
    await advance(app, 12 * hour, 10 * minute)
    expect(await shop.order(id)).toMatchObject({
      status: 'EXPIRED',
      paymentStatus: 'REFUNDED',
      capturedTotal: shop.usd(1_000),
      refundedTotal: shop.usd(1_000),
      refunds: [{ status: 'SUCCEEDED' }],
    })
    expect((await booksOf(app)).refunds).toHaveLength(1)
  })

  test('voids an ended payment that is still open at the processor', async () => {
    await using app = await testApp()
    const { calls, respondWith } = await expireUnpaidOrder(app)
    respondWith(paymentAnswer('AUTHORIZED', { authorized: 1_000 }))
    await advance(app, 10 * minute, 10 * minute)
    expect(calls.map(({ call }) => call)).toEqual(['ask', 'void'])
  })

  test('queries an ended payment every ten minutes while the processor is silent, and gives up after four days', async () => {
    await using app = await testApp()
    const { calls, paymentId, respondWith } = await expireUnpaidOrder(app)
    respondWith('silent')
    await advance(app, 2 * hour, 10 * minute)
    expect(calls.map(({ at }) => at / minute)).toEqual(Array.from({ length: 12 }, (_, nth) => 10 * (nth + 1)))
    app.clock.advance(4 * day)
    await app.jobs.sweep()
    expect((await rowOf(app, paymentId)).askAt).toBeNull()
    expect(app.logged.filter(({ event }) => event === 'payment.never_told')).toHaveLength(1)
  })

  test('queries an ended payment from one of several processes', async () => {
    await using app = await testApp()
    const { calls } = await expireUnpaidOrder(app)
    app.clock.advance(10 * minute)
    await Promise.all(Array.from({ length: 4 }, () => sweepPayments({ ...app.deps, busyLanes: new Set() })))
    expect(calls).toHaveLength(1)
  })
})

describe('payments whose creation is not answered, with another processor in reserve', () => {
  type Options = { changedCapabilities?: Partial<Processor['capabilities']>; token?: string; fails?: 'hangs' | 'lost' }

  /** Places an order that is paid through `first`, with `second` as the fallback. */
  async function paidWithReserve(app: TestApp, { changedCapabilities = {}, token, fails = 'hangs' }: Options = {}) {
    const calls: string[] = []
    let found: ProcessorPayment | undefined
    const recordCall = <T>(call: string, answer: T): T => {
      calls.push(call)
      return answer
    }
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('FAILED', { failureCode: 'declined' }),
      void: async () => paymentAnswer('VOIDED'),
    })
    const first = scriptedProcessor({
      name: 'first',
      capabilities: { ...capabilities, ...changedCapabilities },
      create: () => recordCall('first create', fails === 'hangs' ? Promise.withResolvers<never>().promise : Promise.reject(unavailable())),
      retrieve: async () => recordCall('first ask', found),
      void: async () => recordCall('first void', paymentAnswer('VOIDED', { reference: 'ref-first' })),
      refund: async ({ refundId }) => recordCall('first refund', { reference: refundId, state: 'SUCCEEDED' as const }),
    })
    const second = scriptedProcessor({
      name: 'second',
      create: async () => recordCall('second create', paymentAnswer('AUTHORIZED', { reference: 'ref-second', authorized: 1_000 })),
      capture: async () => recordCall('second capture', { ...captured, reference: 'ref-second' }),
      retrieve: async () => ({ ...captured, reference: 'ref-second' }),
    })
    for (const one of [first, second]) (app.deps.processors as Map<string, Processor>).set(one.name, one)
    app.deps.failOver.patienceMs = 20
    const { id } = ok(await shop.buy()).body.order
    const order = await app.deps.orderStore.find(id)
    if (!order) throw new Error('no order')
    const choiceOf = (processor: string): PaymentChoice => ({
      method: 'card',
      processor,
      accountId: '',
      mode: 'TEST',
      token,
      returnUrl: undefined,
      attemptKey: `by ${processor}`,
    })
    const context = requestSagaContext(app.deps, 'request')
    const choices = { first: choiceOf('first'), fallbacks: token === undefined ? [choiceOf('second')] : [] }
    const saga = runSaga(app.deps, id, context, await startNewPayment(app.deps, order, choices, context))
    return {
      shop,
      id: id as string,
      calls,
      saga,
      appearAs(as: ProcessorPayment) {
        found = { ...as, reference: 'ref-first' }
      },
      payments: async () => (await shop.order(id)).payments.slice(1),
    }
  }
  const advanceAndSweep = async (app: TestApp) => {
    app.clock.advance(10 * minute)
    await app.jobs.sweep()
  }

  test('fails over to the next processor after an unanswered creation, records it, and watches the first payment', async () => {
    for (const fails of ['hangs', 'lost'] as const) {
      await using app = await testApp()
      const { shop, id, calls, saga, payments } = await paidWithReserve(app, { fails })
      await saga
      expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', capturedTotal: shop.usd(1_000) })
      expect(await payments()).toMatchObject([
        { processor: 'first', status: 'FAILED', failureCode: 'not_answered' },
        { processor: 'second', status: 'CAPTURED' },
      ])
      const event = (await shop.order(id)).events.find(({ type }: { type: string }) => type === 'PAYMENT_FAILED_OVER')
      expect(event.detail).toMatchObject({ processor: 'second', instead: 'first' })
      const before = calls.length
      await advanceAndSweep(app)
      expect(calls.slice(before)).toEqual(['first ask'])
    }
  })

  test.each(['REQUIRES_ACTION', 'AUTHORIZED'] as const)('voids an abandoned payment that turns up as %s', async (state) => {
    await using app = await testApp()
    const { shop, id, calls, saga, appearAs } = await paidWithReserve(app)
    await saga
    appearAs(paymentAnswer(state, { authorized: state === 'AUTHORIZED' ? 1_000 : 0 }))
    await advanceAndSweep(app)
    expect(calls.slice(-2)).toEqual(['first ask', 'first void'])
    expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', capturedTotal: shop.usd(1_000), refunds: [] })
  })

  test('refunds an abandoned payment that was captured, and keeps one sale', async () => {
    await using app = await testApp()
    const { shop, id, calls, saga, appearAs } = await paidWithReserve(app)
    await saga
    appearAs(captured)
    await advanceAndSweep(app)
    await app.jobs.resume()
    expect(calls.filter((call) => call === 'first refund')).toHaveLength(1)
    expect(await shop.order(id)).toMatchObject({
      status: 'CONFIRMED',
      paymentStatus: 'CAPTURED',
      capturedTotal: shop.usd(1_000),
      refundedTotal: shop.usd(0),
    })
    await advanceAndSweep(app)
    expect(calls.filter((call) => call === 'first refund')).toHaveLength(1)
  })

  test('waits for the first processor instead of failing over if the payment has a token', async () => {
    await using app = await testApp()
    const { calls, saga, payments } = await paidWithReserve(app, { token: 'tok_1', fails: 'lost' })
    await saga
    expect(calls).toEqual(['first create', 'first ask'])
    expect(await payments()).toMatchObject([{ processor: 'first', status: 'PENDING' }])
  })

  test('waits for the first processor instead of failing over if shoppers can pay there without a capture', async () => {
    for (const capturesItself of [true, ['card', 'paypal'] as const]) {
      await using app = await testApp()
      const { calls, saga, payments } = await paidWithReserve(app, { changedCapabilities: { capturesItself }, fails: 'lost' })
      await saga
      expect(calls).not.toContain('second create')
      expect(await payments()).toMatchObject([{ processor: 'first', status: 'PENDING' }])
    }
    await using app = await testApp()
    const { calls, saga } = await paidWithReserve(app, { changedCapabilities: { capturesItself: ['crypto'] }, fails: 'lost' })
    await saga
    expect(calls).toContain('second create')
  })
})
