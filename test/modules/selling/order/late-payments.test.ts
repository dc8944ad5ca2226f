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
import { capabilities, paymentAnswer, scripted, sellingBy } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const captured = paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 })
const away = () => new ProcessorUnavailable('away')

const rowOf = async ({ deps }: TestApp, id: string) =>
  (await deps.db.read.select().from(paymentRows)).find((row) => row.id === id) ?? Promise.reject(new Error('no such payment'))

describe('watching a payment that ended without money', () => {
  /** An order that nobody paid, and whose payment was given up. */
  async function ended(app: TestApp) {
    const calls: { at: number; call: string }[] = []
    let answer: ProcessorPayment | 'silent' | undefined = paymentAnswer('VOIDED')
    let since = 0
    const noted = (call: string) => void calls.push({ at: app.clock.now() - since, call })
    const shop = await sellingBy(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      async retrieve() {
        noted('ask')
        if (answer === 'silent') throw away()
        return answer
      },
      async void() {
        noted('void')
        if (answer === 'silent') throw away()
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
      answers(with_: typeof answer) {
        answer = with_
      },
    }
  }
  async function pass(app: TestApp, ms: number, stepMs: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      app.clock.advance(stepMs)
      await app.jobs.sweep()
    }
  }

  test('queries an ended payment for 72 hours at growing intervals, and then stops', async () => {
    await using app = await testApp()
    const { calls, paymentId } = await ended(app)
    await pass(app, 80 * hour, 10 * minute)
    const asked = calls.map(({ at }) => at)
    const gaps = asked.map((at, nth) => at - (asked[nth - 1] ?? 0))
    expect(asked[0]).toBe(10 * minute)
    expect(gaps.slice(0, -1)).toEqual(gaps.slice(0, -1).toSorted((a, b) => a - b))
    expect(asked.length).toBeLessThan(20)
    expect(asked.at(-1)).toBe(72 * hour)
    expect((await rowOf(app, paymentId)).askAt).toBeNull()
    expect(calls.every(({ call }) => call === 'ask')).toBe(true)
  })

  test('refunds an ended payment once that was captured after all', async () => {
    await using app = await testApp()
    const { shop, id, answers } = await ended(app)
    answers(captured)
    await pass(app, 12 * hour, 10 * minute)
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
    const { calls, answers } = await ended(app)
    answers(paymentAnswer('AUTHORIZED', { authorized: 1_000 }))
    await pass(app, 10 * minute, 10 * minute)
    expect(calls.map(({ call }) => call)).toEqual(['ask', 'void'])
  })

  test('queries an ended payment every ten minutes while the processor is silent, and gives up after four days', async () => {
    await using app = await testApp()
    const { calls, paymentId, answers } = await ended(app)
    answers('silent')
    await pass(app, 2 * hour, 10 * minute)
    expect(calls.map(({ at }) => at / minute)).toEqual(Array.from({ length: 12 }, (_, nth) => 10 * (nth + 1)))
    app.clock.advance(4 * day)
    await app.jobs.sweep()
    expect((await rowOf(app, paymentId)).askAt).toBeNull()
    expect(app.logged.filter(({ event }) => event === 'payment.never_told')).toHaveLength(1)
  })

  test('queries an ended payment from one of several processes', async () => {
    await using app = await testApp()
    const { calls } = await ended(app)
    app.clock.advance(10 * minute)
    await Promise.all(Array.from({ length: 4 }, () => sweepPayments({ ...app.deps, lanesAtWork: new Set() })))
    expect(calls).toHaveLength(1)
  })
})

describe('payments whose creation is not answered, with another processor in reserve', () => {
  type Given = { promises?: Partial<Processor['capabilities']>; token?: string; fails?: 'hangs' | 'lost' }

  /** An order that is paid by `first`, with `second` in reserve. */
  async function paidWithReserve(app: TestApp, { promises = {}, token, fails = 'hangs' }: Given = {}) {
    const calls: string[] = []
    let known: ProcessorPayment | undefined
    const note = <T>(call: string, answer: T): T => {
      calls.push(call)
      return answer
    }
    const shop = await sellingBy(app, {
      create: async () => paymentAnswer('FAILED', { failureCode: 'declined' }),
      void: async () => paymentAnswer('VOIDED'),
    })
    const first = scripted({
      name: 'first',
      capabilities: { ...capabilities, ...promises },
      create: () => note('first create', fails === 'hangs' ? Promise.withResolvers<never>().promise : Promise.reject(away())),
      retrieve: async () => note('first ask', known),
      void: async () => note('first void', paymentAnswer('VOIDED', { reference: 'ref-first' })),
      refund: async ({ refundId }) => note('first refund', { reference: refundId, state: 'SUCCEEDED' as const }),
    })
    const second = scripted({
      name: 'second',
      create: async () => note('second create', paymentAnswer('AUTHORIZED', { reference: 'ref-second', authorized: 1_000 })),
      capture: async () => note('second capture', { ...captured, reference: 'ref-second' }),
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
    const done = runSaga(app.deps, id, context, await startNewPayment(app.deps, order, choices, context))
    return {
      shop,
      id: id as string,
      calls,
      done,
      turnsUp(as: ProcessorPayment) {
        known = { ...as, reference: 'ref-first' }
      },
      payments: async () => (await shop.order(id)).payments.slice(1),
    }
  }
  const later = async (app: TestApp) => {
    app.clock.advance(10 * minute)
    await app.jobs.sweep()
  }

  test('fails over to the next processor after an unanswered creation, records it, and watches the first payment', async () => {
    for (const fails of ['hangs', 'lost'] as const) {
      await using app = await testApp()
      const { shop, id, calls, done, payments } = await paidWithReserve(app, { fails })
      await done
      expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', capturedTotal: shop.usd(1_000) })
      expect(await payments()).toMatchObject([
        { processor: 'first', status: 'FAILED', failureCode: 'not_answered' },
        { processor: 'second', status: 'CAPTURED' },
      ])
      const event = (await shop.order(id)).events.find(({ type }: { type: string }) => type === 'PAYMENT_FAILED_OVER')
      expect(event.detail).toMatchObject({ processor: 'second', instead: 'first' })
      const before = calls.length
      await later(app)
      expect(calls.slice(before)).toEqual(['first ask'])
    }
  })

  test.each(['REQUIRES_ACTION', 'AUTHORIZED'] as const)('voids an abandoned payment that turns up as %s', async (state) => {
    await using app = await testApp()
    const { shop, id, calls, done, turnsUp } = await paidWithReserve(app)
    await done
    turnsUp(paymentAnswer(state, { authorized: state === 'AUTHORIZED' ? 1_000 : 0 }))
    await later(app)
    expect(calls.slice(-2)).toEqual(['first ask', 'first void'])
    expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', capturedTotal: shop.usd(1_000), refunds: [] })
  })

  test('refunds an abandoned payment that was captured, and keeps one sale', async () => {
    await using app = await testApp()
    const { shop, id, calls, done, turnsUp } = await paidWithReserve(app)
    await done
    turnsUp(captured)
    await later(app)
    await app.jobs.resume()
    expect(calls.filter((call) => call === 'first refund')).toHaveLength(1)
    expect(await shop.order(id)).toMatchObject({
      status: 'CONFIRMED',
      paymentStatus: 'CAPTURED',
      capturedTotal: shop.usd(1_000),
      refundedTotal: shop.usd(0),
    })
    await later(app)
    expect(calls.filter((call) => call === 'first refund')).toHaveLength(1)
  })

  test('waits for the first processor instead of failing over if the payment has a token', async () => {
    await using app = await testApp()
    const { calls, done, payments } = await paidWithReserve(app, { token: 'tok_1', fails: 'lost' })
    await done
    expect(calls).toEqual(['first create', 'first ask'])
    expect(await payments()).toMatchObject([{ processor: 'first', status: 'PENDING' }])
  })

  test('waits for the first processor instead of failing over if shoppers can pay there without a capture', async () => {
    for (const capturesItself of [true, ['card', 'paypal'] as const]) {
      await using app = await testApp()
      const { calls, done, payments } = await paidWithReserve(app, { promises: { capturesItself }, fails: 'lost' })
      await done
      expect(calls).not.toContain('second create')
      expect(await payments()).toMatchObject([{ processor: 'first', status: 'PENDING' }])
    }
    await using app = await testApp()
    const { calls, done } = await paidWithReserve(app, { promises: { capturesItself: ['crypto'] }, fails: 'lost' })
    await done
    expect(calls).toContain('second create')
  })
})
