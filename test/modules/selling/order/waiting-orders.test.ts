/** Payments that wait for the shopper, are in process, or have an unknown state. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Processor, type ProcessorPayment, ProcessorUnavailable } from '../../../../src/clients/processors/processor.ts'
import { runSaga } from '../../../../src/modules/selling/order/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { ok } from '../../../support/selling.ts'
import { capabilities, paymentAnswer, scriptedProcessor, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const captured = paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 })
const unavailable = () => new ProcessorUnavailable('away')

/** Advances the clock in steps, and runs the jobs after each step. */
async function advance(app: TestApp, ms: number, stepMs: number, after: () => unknown = () => undefined): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    app.clock.advance(stepMs)
    await app.jobs.resume()
    await app.jobs.closeOrders()
    after()
  }
}

describe('a payment that waits for the shopper', () => {
  test('queries a waiting payment at growing intervals and a minute before expiry, so that no sale is lost', async () => {
    for (const paidAfter of [20 * minute, 58 * minute + 30_000]) {
      await using app = await testApp()
      const queryTimes: number[] = []
      const start = app.clock.now()
      const shop = await sellingWithProcessor(app, {
        create: async () => paymentAnswer('REQUIRES_ACTION'),
        async retrieve() {
          const passed = app.clock.now() - start
          queryTimes.push(passed)
          return passed >= paidAfter ? captured : paymentAnswer('REQUIRES_ACTION')
        },
      })
      const { order } = ok(await shop.buy()).body
      await advance(app, 61 * minute, 30_000)
      expect((await shop.order(order.id)).status).toBe('CONFIRMED')
      const gaps = queryTimes.slice(1).map((at, nth) => at - (queryTimes[nth] ?? 0))
      expect(queryTimes[0]).toBe(30_000)
      expect(queryTimes.length).toBeLessThan(15)
      expect(gaps.every((gap) => gap <= 11 * minute)).toBe(true)
      if (paidAfter > 50 * minute) expect(queryTimes.at(-1)).toBe(59 * minute)
    }
  })

  test('expires an order that is not paid, and voids its payment', async () => {
    await using app = await testApp()
    let voids = 0
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => paymentAnswer('REQUIRES_ACTION'),
      async void() {
        voids++
        return paymentAnswer('VOIDED')
      },
    })
    const { order } = ok(await shop.buy()).body
    await advance(app, 62 * minute, minute)
    expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', paymentStatus: 'VOIDED' })
    expect([voids, await shop.stock()]).toEqual([1, { onHand: 10, reserved: 0 }])
  })
})

describe('a shopper who returns to the shop', () => {
  test('queries the processor at most every two seconds when a shopper returns, and shows the last state between', async () => {
    await using app = await testApp()
    let queries = 0
    let answer = paymentAnswer('REQUIRES_ACTION')
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => {
        queries++
        return answer
      },
    })
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, { processor: 'scripted' }))
    const completeCart = async () => ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey }), 200).body
    await Promise.all([completeCart(), completeCart(), completeCart(), completeCart()])
    expect(queries).toBe(1)
    answer = captured
    app.clock.advance(1_999)
    expect((await completeCart()).payment.status).toBe('REQUIRES_ACTION')
    app.clock.advance(1)
    expect([(await completeCart()).order.status, queries]).toEqual(['CONFIRMED', 2])
    app.clock.advance(10_000)
    const writes = app.deps.db.stats.writes
    expect((await completeCart()).order.status).toBe('CONFIRMED')
    expect([queries, app.deps.db.stats.writes - writes]).toEqual([2, 0])
  })

  test('queries the processor for a returning shopper also after the clock stepped back', async () => {
    await using app = await testApp()
    let queries = 0
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => {
        queries++
        return paymentAnswer('REQUIRES_ACTION')
      },
    })
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, { processor: 'scripted' }))
    const completeCart = () => app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey })
    ok(await completeCart())
    app.clock.advance(-hour)
    ok(await completeCart())
    expect(queries).toBe(2)
  })
})

describe('a processor that never decides', () => {
  test('queries a payment that stays PENDING five times, then voids it', async () => {
    await using app = await testApp()
    const calls: string[] = []
    const answer = (call: string, state: ProcessorPayment['state']) => async () => {
      calls.push(call)
      return paymentAnswer(state)
    }
    const shop = await sellingWithProcessor(app, {
      create: answer('create', 'PENDING'),
      retrieve: async () => answer('query', calls.includes('void') ? 'VOIDED' : 'PENDING')(),
      void: answer('void', 'VOIDED'),
    })
    const { order } = ok(await shop.buy()).body
    for (let runs = 0; runs < 40 && !calls.includes('void'); runs++) await advance(app, 30_000, 30_000)
    expect(calls).toEqual(['create', ...Array(5).fill('query'), 'void'])
    expect((await shop.order(order.id)).payments).toMatchObject([{ status: 'VOIDED' }])
    await advance(app, 2 * hour, hour)
    expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', capturedTotal: shop.usd(0) })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  })

  test('voids a payment whose creation was not answered five times', async () => {
    await using app = await testApp()
    const calls: string[] = []
    const shop = await sellingWithProcessor(app, {
      create: async () => {
        calls.push('create')
        throw new ProcessorUnavailable('timeout')
      },
      retrieve: async () => undefined,
      void: async () => {
        calls.push('void')
        return paymentAnswer('VOIDED')
      },
    })
    const { order } = (await shop.buy()).body
    for (let runs = 0; runs < 60 && !calls.includes('void'); runs++) await advance(app, minute, minute)
    expect(calls).toEqual([...Array(5).fill('create'), 'void'])
    await advance(app, 2 * hour, hour)
    expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', capturedTotal: shop.usd(0) })
  })
})

describe('a payment in process', () => {
  async function placeUndecidedOrder(app: TestApp) {
    let answer: ProcessorPayment = paymentAnswer('PROCESSING', { authorized: 1_000 })
    let queries = 0
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
      capture: async () => answer,
      retrieve: async () => {
        queries++
        return answer
      },
      void: async () => answer,
      refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }),
    })
    const { order } = ok(await shop.buy()).body
    return {
      shop,
      id: order.id as string,
      queries: () => queries,
      decide(newAnswer: ProcessorPayment) {
        answer = newAnswer
      },
    }
  }

  test('shows a payment in process as PROCESSING, keeps its order for days, and confirms it when the money comes', async () => {
    await using app = await testApp()
    const { shop, id, decide, queries } = await placeUndecidedOrder(app)
    expect(await shop.order(id)).toMatchObject({
      status: 'PENDING_PAYMENT',
      paymentStatus: 'PROCESSING',
      payments: [{ status: 'PROCESSING' }],
    })
    await advance(app, 5 * day, hour)
    expect(await shop.order(id)).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'PROCESSING' })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 1 })
    expect(queries()).toBeLessThan(5 * 24 + 10)
    decide(captured)
    await advance(app, 2 * hour, hour)
    expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED' })
  })

  test('expires an order with a payment in process after seven days, and refunds money that comes later', async () => {
    await using app = await testApp()
    const { shop, id, decide } = await placeUndecidedOrder(app)
    await advance(app, 7 * day - 2 * hour, hour)
    expect((await shop.order(id)).status).toBe('PENDING_PAYMENT')
    await advance(app, 4 * hour, hour)
    expect(await shop.order(id)).toMatchObject({ status: 'EXPIRED', payments: [{ status: 'PROCESSING' }] })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    decide(captured)
    await advance(app, 3 * hour, 30 * minute)
    expect(await shop.order(id)).toMatchObject({
      status: 'EXPIRED',
      paymentStatus: 'REFUNDED',
      capturedTotal: shop.usd(1_000),
      refundedTotal: shop.usd(1_000),
    })
  })

  test('lets an order wait for another payment when its payment in process fails', async () => {
    await using app = await testApp()
    const { shop, id, decide } = await placeUndecidedOrder(app)
    decide(paymentAnswer('FAILED', { failureCode: 'refused' }))
    await advance(app, 2 * minute, 30_000)
    const order = await shop.order(id)
    expect(order).toMatchObject({
      status: 'PENDING_PAYMENT',
      paymentStatus: 'FAILED',
      payments: [{ status: 'FAILED', failureCode: 'refused' }],
    })
    // The order expires like any other order that can be paid again.
    await advance(app, 62 * minute, minute)
    expect((await shop.order(id)).status).toBe('EXPIRED')
  })
})

describe('a payment whose creation was not answered', () => {
  /** Places an order at a processor that does not answer the creation. Returns the order and the calls. */
  async function placeUnansweredOrder(
    app: TestApp,
    changedCapabilities: Partial<Processor['capabilities']>,
    script: Partial<Processor> = {},
    error = unavailable,
  ) {
    const calls: string[] = []
    const shop = await sellingWithProcessor(app, {
      capabilities: { ...capabilities, ...changedCapabilities },
      async create() {
        calls.push('create')
        throw error()
      },
      async retrieve() {
        calls.push('retrieve')
        throw unavailable()
      },
      async void() {
        calls.push('void')
        throw unavailable()
      },
      ...script,
    })
    const cartId = await shop.cart()
    const key = 'the-same-request'
    const { order, payment } = ok(await shop.checkout(cartId, { processor: 'scripted' }, key), 201).body
    return { shop, calls, cartId, key, payment, id: order.id as string }
  }

  test('does not resend an unanswered payment that it cannot find, blocks others, and ends it with the order', async () => {
    await using app = await testApp()
    const { shop, calls, cartId, id, payment } = await placeUnansweredOrder(app, { createRepeatsMs: 0, findable: false })
    expect(payment).toMatchObject({ status: 'PROCESSING', clientParameters: {} })
    expect(await shop.order(id)).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'PROCESSING' })
    expect((await shop.checkout(cartId, { processor: 'scripted' })).status).toBe(409)
    expect(ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey })).body.payment.status).toBe('PROCESSING')
    await advance(app, 62 * minute, minute)
    expect(await shop.order(id)).toMatchObject({ status: 'EXPIRED', payments: [{ status: 'FAILED', failureCode: 'not_answered' }] })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(calls).toEqual(['create'])
  })

  test('resends a payment that certainly was not sent', async () => {
    await using app = await testApp()
    const neverSent = () => new ProcessorUnavailable('no connection', { neverSent: true })
    const { shop, calls, id } = await placeUnansweredOrder(app, { createRepeatsMs: 0, findable: false }, {}, neverSent)
    expect(await shop.order(id)).toMatchObject({ paymentStatus: 'PENDING', payments: [{ status: 'PENDING' }] })
    await advance(app, minute, 20_000)
    expect(calls.filter((call) => call === 'create').length).toBeGreaterThan(1)
    ;(app.deps.processors as Map<string, Processor>).set(
      'scripted',
      scriptedProcessor({ create: async () => paymentAnswer('REQUIRES_ACTION'), retrieve: async () => captured }),
    )
    await advance(app, 10 * minute, minute)
    expect((await shop.order(id)).status).toBe('CONFIRMED')
  })

  test('resends an unanswered payment only while the processor accepts repeats, and queries it afterwards', async () => {
    await using app = await testApp()
    let isKnown = false
    const calls: string[] = []
    const { shop, id } = await placeUnansweredOrder(
      app,
      { createRepeatsMs: 20_000, findable: true },
      {
        async create() {
          calls.push('create')
          throw unavailable()
        },
        async retrieve() {
          calls.push('look')
          if (!isKnown) throw unavailable()
          return paymentAnswer('REQUIRES_ACTION')
        },
      },
    )
    expect(calls).toEqual(['create', 'look'])
    app.clock.advance(15_000)
    await app.jobs.resume()
    expect(calls).toEqual(['create', 'look', 'create', 'look'])
    app.clock.advance(30_000)
    await app.jobs.resume()
    // The processor does not answer the query, so the payment is not created again.
    expect(calls.slice(4)).not.toContain('create')
    isKnown = true
    app.clock.advance(60_000)
    await app.jobs.resume()
    expect(calls.slice(4)).not.toContain('create')
    expect(await shop.order(id)).toMatchObject({ payments: [{ status: 'REQUIRES_ACTION', processorReference: 'ref' }] })
  })

  test('recreates a payment that the processor does not know, and keeps one that it cannot query as PROCESSING', async () => {
    for (const findable of [true, false]) {
      await using app = await testApp()
      let creates = 0
      const { shop, id } = await placeUnansweredOrder(
        app,
        { createRepeatsMs: 20_000, findable },
        {
          async create() {
            if (++creates === 1) throw unavailable()
            return paymentAnswer('REQUIRES_ACTION')
          },
          retrieve: async () => (creates === 1 && app.clock.now() % hour < 20_000 ? Promise.reject(unavailable()) : undefined),
        },
      )
      app.clock.advance(60_000)
      await app.jobs.resume()
      expect(creates).toBe(findable ? 2 : 1)
      expect(await shop.order(id)).toMatchObject({ payments: [{ status: findable ? 'REQUIRES_ACTION' : 'PROCESSING' }] })
    }
  })
})

describe('a processor that hangs', () => {
  const hang = () => new Promise<never>(() => undefined)

  test('cancels an unpaid order although the processor hangs, and voids its payment later', async () => {
    await using app = await testApp()
    app.deps.failOver.patienceMs = 20
    let hangs = true
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => paymentAnswer('REQUIRES_ACTION'),
      void: async () => (hangs ? hang() : paymentAnswer('VOIDED')),
    })
    const { order } = ok(await shop.buy()).body
    const cancelled = ok(await shop.post(`/v2/orders/${order.id}/cancel`, {})).body
    expect(cancelled).toMatchObject({ status: 'CANCELLED', payments: [{ status: 'REQUIRES_ACTION' }] })
    hangs = false
    await advance(app, 2 * minute, minute)
    expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'VOIDED', payments: [{ status: 'VOIDED' }] })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  })

  for (const path of ['cancel', 'refunds'])
    test(`answers ${path} with a pending refund although the processor hangs, and sends the refund once`, async () => {
      await using app = await testApp()
      app.deps.failOver.patienceMs = 20
      let sent = 0
      let isDone = false
      const shop = await sellingWithProcessor(app, {
        create: async () => captured,
        async refund() {
          sent++
          return hang()
        },
        retrieveRefund: async () => (isDone ? { reference: 'r', state: 'SUCCEEDED' } : undefined),
        capabilities: { ...capabilities, refundRepeatsMs: 0 },
      })
      const { order } = ok(await shop.buy()).body
      const headers = { 'idempotency-key': 'back' }
      const body = path === 'cancel' ? {} : { all: true }
      const response = await app.call('POST', `/v2/orders/${order.id}/${path}`, { token: shop.token, body, headers })
      const refund = path === 'cancel' ? ok(response).body.refunds[0] : ok(response, 201).body
      expect(refund.status).toBe('PENDING')
      expect((await shop.order(order.id)).status).toBe('CONFIRMED')
      await advance(app, 5 * minute, minute)
      isDone = true
      await advance(app, 10 * minute, minute)
      expect(await shop.order(order.id)).toMatchObject({
        status: path === 'cancel' ? 'CANCELLED' : 'FULFILLED',
        paymentStatus: 'REFUNDED',
        refunds: [{ status: 'SUCCEEDED' }],
      })
      expect(sent).toBe(1)
    })
})

describe('creation of a payment that must not be repeated, at a slow processor', () => {
  const changedCapabilities = { capabilities: { ...capabilities, capturesItself: true, createRepeatsMs: 0, refunds: 'claim' } } as const

  test('creates a payment once although the request arrives long after it was given up', async () => {
    await using app = await testApp()
    const start = app.clock.now()
    const created: number[] = []
    const shop = await sellingWithProcessor(app, {
      ...changedCapabilities,
      async create() {
        created.push(app.clock.now() - start)
        throw unavailable()
      },
      retrieve: async () => (app.clock.now() - start >= 50_000 ? paymentAnswer('REQUIRES_ACTION') : undefined),
    })
    const { order } = ok(await shop.buy()).body
    await advance(app, 5 * minute, 5_000)
    expect(created).toEqual([0])
    expect(await shop.order(order.id)).toMatchObject({ payments: [{ status: 'REQUIRES_ACTION', processorReference: 'ref' }] })
  })

  test('creates a payment a second time after a minute if the first request has not arrived', async () => {
    await using app = await testApp()
    const start = app.clock.now()
    const created: number[] = []
    const shop = await sellingWithProcessor(app, {
      ...changedCapabilities,
      async create() {
        created.push(app.clock.now() - start)
        if (created.length === 1) throw unavailable()
        return paymentAnswer('REQUIRES_ACTION')
      },
      retrieve: async () => (created.length > 1 ? paymentAnswer('REQUIRES_ACTION') : undefined),
    })
    ok(await shop.buy())
    await advance(app, 5 * minute, 5_000)
    expect(created).toHaveLength(2)
    expect(created[1]).toBeGreaterThanOrEqual(60_000)
  })

  test('creates a payment in one of two processes although the query before it outlasted the lease', async () => {
    await using app = await testApp()
    const [queryStarted, queryAnswered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let [created, queries, isSlow] = [0, 0, false]
    const shop = await sellingWithProcessor(app, {
      ...changedCapabilities,
      async create() {
        created++
        throw unavailable()
      },
      async retrieve() {
        queries++
        if (!isSlow) return undefined
        isSlow = false
        queryStarted.resolve()
        await queryAnswered.promise
        return undefined
      },
    })
    const { order } = ok(await shop.buy()).body
    app.clock.advance(2 * minute)
    isSlow = true
    const first = app.jobs.resume()
    await queryStarted.promise
    // The lease has expired, so another process or a request runs the saga.
    app.clock.advance(31_000)
    await runSaga(app.deps, order.id)
    expect(created).toBe(2)
    queryAnswered.resolve()
    await first
    expect(created).toBe(2)
    expect(queries).toBeGreaterThan(2)
  })
})
