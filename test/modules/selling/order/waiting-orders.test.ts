/** Payments that wait for their shopper, are in process, or have an unknown state. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Processor, type ProcessorPayment, ProcessorUnavailable } from '../../../../src/clients/processors/processor.ts'
import { runSaga } from '../../../../src/modules/selling/order/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { ok } from '../../../support/selling.ts'
import { capabilities, paymentAnswer, scripted, sellingBy } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const captured = paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 })
const away = () => new ProcessorUnavailable('away')

/** Lets time pass in steps, the jobs at work after each. */
async function pass(app: TestApp, ms: number, stepMs: number, after: () => unknown = () => undefined): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    app.clock.advance(stepMs)
    await app.jobs.resume()
    await app.jobs.closeOrders()
    after()
  }
}

describe('a payment that waits for its shopper', () => {
  test('queries a waiting payment at growing intervals and a minute before expiry, so that no sale is lost', async () => {
    for (const paidAfter of [20 * minute, 58 * minute + 30_000]) {
      await using app = await testApp()
      const asked: number[] = []
      const start = app.clock.now()
      const shop = await sellingBy(app, {
        create: async () => paymentAnswer('REQUIRES_ACTION'),
        async retrieve() {
          const passed = app.clock.now() - start
          asked.push(passed)
          return passed >= paidAfter ? captured : paymentAnswer('REQUIRES_ACTION')
        },
      })
      const { order } = ok(await shop.buy()).body
      await pass(app, 61 * minute, 30_000)
      expect((await shop.order(order.id)).status).toBe('CONFIRMED')
      const gaps = asked.slice(1).map((at, nth) => at - (asked[nth] ?? 0))
      expect(asked[0]).toBe(30_000)
      expect(asked.length).toBeLessThan(15)
      expect(gaps.every((gap) => gap <= 11 * minute)).toBe(true)
      if (paidAfter > 50 * minute) expect(asked.at(-1)).toBe(59 * minute)
    }
  })

  test('expires an order that is not paid, and voids its payment', async () => {
    await using app = await testApp()
    let voids = 0
    const shop = await sellingBy(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => paymentAnswer('REQUIRES_ACTION'),
      async void() {
        voids++
        return paymentAnswer('VOIDED')
      },
    })
    const { order } = ok(await shop.buy()).body
    await pass(app, 62 * minute, minute)
    expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', paymentStatus: 'VOIDED' })
    expect([voids, await shop.stock()]).toEqual([1, { onHand: 10, reserved: 0 }])
  })
})

describe('a shopper who returns to the shop', () => {
  test('queries the processor at most every two seconds when a shopper returns, and shows the last state between', async () => {
    await using app = await testApp()
    let asks = 0
    let answer = paymentAnswer('REQUIRES_ACTION')
    const shop = await sellingBy(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => {
        asks++
        return answer
      },
    })
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, { processor: 'scripted' }))
    const look = async () => ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey }), 200).body
    await Promise.all([look(), look(), look(), look()])
    expect(asks).toBe(1)
    answer = captured
    app.clock.advance(1_999)
    expect((await look()).payment.status).toBe('REQUIRES_ACTION')
    app.clock.advance(1)
    expect([(await look()).order.status, asks]).toEqual(['CONFIRMED', 2])
    app.clock.advance(10_000)
    const writes = app.deps.db.stats.writes
    expect((await look()).order.status).toBe('CONFIRMED')
    expect([asks, app.deps.db.stats.writes - writes]).toEqual([2, 0])
  })

  test('queries the processor for a returning shopper also after the clock stepped back', async () => {
    await using app = await testApp()
    let asks = 0
    const shop = await sellingBy(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => {
        asks++
        return paymentAnswer('REQUIRES_ACTION')
      },
    })
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, { processor: 'scripted' }))
    const look = () => app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey })
    ok(await look())
    app.clock.advance(-hour)
    ok(await look())
    expect(asks).toBe(2)
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
    const shop = await sellingBy(app, {
      create: answer('create', 'PENDING'),
      retrieve: async () => answer('query', calls.includes('void') ? 'VOIDED' : 'PENDING')(),
      void: answer('void', 'VOIDED'),
    })
    const { order } = ok(await shop.buy()).body
    for (let looks = 0; looks < 40 && !calls.includes('void'); looks++) await pass(app, 30_000, 30_000)
    expect(calls).toEqual(['create', ...Array(5).fill('query'), 'void'])
    expect((await shop.order(order.id)).payments).toMatchObject([{ status: 'VOIDED' }])
    await pass(app, 2 * hour, hour)
    expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', capturedTotal: shop.usd(0) })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  })

  test('voids a payment whose creation was not answered five times', async () => {
    await using app = await testApp()
    const calls: string[] = []
    const shop = await sellingBy(app, {
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
    for (let looks = 0; looks < 60 && !calls.includes('void'); looks++) await pass(app, minute, minute)
    expect(calls).toEqual([...Array(5).fill('create'), 'void'])
    await pass(app, 2 * hour, hour)
    expect(await shop.order(order.id)).toMatchObject({ status: 'EXPIRED', capturedTotal: shop.usd(0) })
  })
})

describe('a payment in process', () => {
  async function undecided(app: TestApp) {
    let answer: ProcessorPayment = paymentAnswer('PROCESSING', { authorized: 1_000 })
    let asks = 0
    const shop = await sellingBy(app, {
      create: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
      capture: async () => answer,
      retrieve: async () => {
        asks++
        return answer
      },
      void: async () => answer,
      refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }),
    })
    const { order } = ok(await shop.buy()).body
    return {
      shop,
      id: order.id as string,
      asks: () => asks,
      decide(as: ProcessorPayment) {
        answer = as
      },
    }
  }

  test('shows a payment in process as PROCESSING, keeps its order for days, and confirms it when the money comes', async () => {
    await using app = await testApp()
    const { shop, id, decide, asks } = await undecided(app)
    expect(await shop.order(id)).toMatchObject({
      status: 'PENDING_PAYMENT',
      paymentStatus: 'PROCESSING',
      payments: [{ status: 'PROCESSING' }],
    })
    await pass(app, 5 * day, hour)
    expect(await shop.order(id)).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'PROCESSING' })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 1 })
    expect(asks()).toBeLessThan(5 * 24 + 10)
    decide(captured)
    await pass(app, 2 * hour, hour)
    expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED' })
  })

  test('expires an order with a payment in process after seven days, and refunds money that comes later', async () => {
    await using app = await testApp()
    const { shop, id, decide } = await undecided(app)
    await pass(app, 7 * day - 2 * hour, hour)
    expect((await shop.order(id)).status).toBe('PENDING_PAYMENT')
    await pass(app, 4 * hour, hour)
    expect(await shop.order(id)).toMatchObject({ status: 'EXPIRED', payments: [{ status: 'PROCESSING' }] })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    decide(captured)
    await pass(app, 3 * hour, 30 * minute)
    expect(await shop.order(id)).toMatchObject({
      status: 'EXPIRED',
      paymentStatus: 'REFUNDED',
      capturedTotal: shop.usd(1_000),
      refundedTotal: shop.usd(1_000),
    })
  })

  test('lets an order wait for another payment when its payment in process fails', async () => {
    await using app = await testApp()
    const { shop, id, decide } = await undecided(app)
    decide(paymentAnswer('FAILED', { failureCode: 'refused' }))
    await pass(app, 2 * minute, 30_000)
    const order = await shop.order(id)
    expect(order).toMatchObject({
      status: 'PENDING_PAYMENT',
      paymentStatus: 'FAILED',
      payments: [{ status: 'FAILED', failureCode: 'refused' }],
    })
    // As long as any other that may be paid again.
    await pass(app, 62 * minute, minute)
    expect((await shop.order(id)).status).toBe('EXPIRED')
  })
})

describe('a payment whose creation was not answered', () => {
  /** What it was called for, by a processor that promises this. */
  async function silent(app: TestApp, promises: Partial<Processor['capabilities']>, script: Partial<Processor> = {}, error = away) {
    const calls: string[] = []
    const shop = await sellingBy(app, {
      capabilities: { ...capabilities, ...promises },
      async create() {
        calls.push('create')
        throw error()
      },
      async retrieve() {
        calls.push('retrieve')
        throw away()
      },
      async void() {
        calls.push('void')
        throw away()
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
    const { shop, calls, cartId, id, payment } = await silent(app, { createRepeatsMs: 0, findable: false })
    expect(payment).toMatchObject({ status: 'PROCESSING', clientParameters: {} })
    expect(await shop.order(id)).toMatchObject({ status: 'PENDING_PAYMENT', paymentStatus: 'PROCESSING' })
    expect((await shop.checkout(cartId, { processor: 'scripted' })).status).toBe(409)
    expect(ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey })).body.payment.status).toBe('PROCESSING')
    await pass(app, 62 * minute, minute)
    expect(await shop.order(id)).toMatchObject({ status: 'EXPIRED', payments: [{ status: 'FAILED', failureCode: 'not_answered' }] })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(calls).toEqual(['create'])
  })

  test('resends a payment that certainly was not sent', async () => {
    await using app = await testApp()
    const neverSent = () => new ProcessorUnavailable('no connection', { neverSent: true })
    const { shop, calls, id } = await silent(app, { createRepeatsMs: 0, findable: false }, {}, neverSent)
    expect(await shop.order(id)).toMatchObject({ paymentStatus: 'PENDING', payments: [{ status: 'PENDING' }] })
    await pass(app, minute, 20_000)
    expect(calls.filter((call) => call === 'create').length).toBeGreaterThan(1)
    ;(app.deps.processors as Map<string, Processor>).set(
      'scripted',
      scripted({ create: async () => paymentAnswer('REQUIRES_ACTION'), retrieve: async () => captured }),
    )
    await pass(app, 10 * minute, minute)
    expect((await shop.order(id)).status).toBe('CONFIRMED')
  })

  test('resends an unanswered payment only while the processor accepts repeats, and queries it afterwards', async () => {
    await using app = await testApp()
    let isKnown = false
    const calls: string[] = []
    const { shop, id } = await silent(
      app,
      { createRepeatsMs: 20_000, findable: true },
      {
        async create() {
          calls.push('create')
          throw away()
        },
        async retrieve() {
          calls.push('look')
          if (!isKnown) throw away()
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
    // It does not say: what may be there is not made again.
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
      const { shop, id } = await silent(
        app,
        { createRepeatsMs: 20_000, findable },
        {
          async create() {
            if (++creates === 1) throw away()
            return paymentAnswer('REQUIRES_ACTION')
          },
          retrieve: async () => (creates === 1 && app.clock.now() % hour < 20_000 ? Promise.reject(away()) : undefined),
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
  const never = () => new Promise<never>(() => undefined)

  test('cancels an unpaid order although the processor hangs, and voids its payment later', async () => {
    await using app = await testApp()
    app.deps.failOver.patienceMs = 20
    let hangs = true
    const shop = await sellingBy(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => paymentAnswer('REQUIRES_ACTION'),
      void: async () => (hangs ? never() : paymentAnswer('VOIDED')),
    })
    const { order } = ok(await shop.buy()).body
    const cancelled = ok(await shop.post(`/v2/orders/${order.id}/cancel`, {})).body
    expect(cancelled).toMatchObject({ status: 'CANCELLED', payments: [{ status: 'REQUIRES_ACTION' }] })
    hangs = false
    await pass(app, 2 * minute, minute)
    expect(await shop.order(order.id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'VOIDED', payments: [{ status: 'VOIDED' }] })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  })

  for (const path of ['cancel', 'refunds'])
    test(`answers ${path} with a pending refund although the processor hangs, and sends the refund once`, async () => {
      await using app = await testApp()
      app.deps.failOver.patienceMs = 20
      let sent = 0
      let isDone = false
      const shop = await sellingBy(app, {
        create: async () => captured,
        async refund() {
          sent++
          return never()
        },
        retrieveRefund: async () => (isDone ? { reference: 'r', state: 'SUCCEEDED' } : undefined),
        capabilities: { ...capabilities, refundRepeatsMs: 0 },
      })
      const { order } = ok(await shop.buy()).body
      const headers = { 'idempotency-key': 'back' }
      const body = path === 'cancel' ? {} : { all: true }
      const asked = await app.call('POST', `/v2/orders/${order.id}/${path}`, { token: shop.token, body, headers })
      const refund = path === 'cancel' ? ok(asked).body.refunds[0] : ok(asked, 201).body
      expect(refund.status).toBe('PENDING')
      expect((await shop.order(order.id)).status).toBe('CONFIRMED')
      await pass(app, 5 * minute, minute)
      isDone = true
      await pass(app, 10 * minute, minute)
      expect(await shop.order(order.id)).toMatchObject({
        status: path === 'cancel' ? 'CANCELLED' : 'FULFILLED',
        paymentStatus: 'REFUNDED',
        refunds: [{ status: 'SUCCEEDED' }],
      })
      expect(sent).toBe(1)
    })
})

describe('creation of a payment that must not be repeated, at a slow processor', () => {
  const promises = { capabilities: { ...capabilities, capturesItself: true, createRepeatsMs: 0, refunds: 'claim' } } as const

  test('creates a payment once although the request arrives long after it was given up', async () => {
    await using app = await testApp()
    const start = app.clock.now()
    const made: number[] = []
    const shop = await sellingBy(app, {
      ...promises,
      async create() {
        made.push(app.clock.now() - start)
        throw away()
      },
      retrieve: async () => (app.clock.now() - start >= 50_000 ? paymentAnswer('REQUIRES_ACTION') : undefined),
    })
    const { order } = ok(await shop.buy()).body
    await pass(app, 5 * minute, 5_000)
    expect(made).toEqual([0])
    expect(await shop.order(order.id)).toMatchObject({ payments: [{ status: 'REQUIRES_ACTION', processorReference: 'ref' }] })
  })

  test('creates a payment a second time after a minute if the first request has not arrived', async () => {
    await using app = await testApp()
    const start = app.clock.now()
    const made: number[] = []
    const shop = await sellingBy(app, {
      ...promises,
      async create() {
        made.push(app.clock.now() - start)
        if (made.length === 1) throw away()
        return paymentAnswer('REQUIRES_ACTION')
      },
      retrieve: async () => (made.length > 1 ? paymentAnswer('REQUIRES_ACTION') : undefined),
    })
    ok(await shop.buy())
    await pass(app, 5 * minute, 5_000)
    expect(made).toHaveLength(2)
    expect(made[1]).toBeGreaterThanOrEqual(60_000)
  })

  test('creates a payment in one of two processes although the query before it outlasted the lease', async () => {
    await using app = await testApp()
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let [made, asks, slow] = [0, 0, false]
    const shop = await sellingBy(app, {
      ...promises,
      async create() {
        made++
        throw away()
      },
      async retrieve() {
        asks++
        if (!slow) return undefined
        slow = false
        asked.resolve()
        await answered.promise
        return undefined
      },
    })
    const { order } = ok(await shop.buy()).body
    app.clock.advance(2 * minute)
    slow = true
    const first = app.jobs.resume()
    await asked.promise
    // Another process, or a request beside the job, once the lease is over.
    app.clock.advance(31_000)
    await runSaga(app.deps, order.id)
    expect(made).toBe(2)
    answered.resolve()
    await first
    expect(made).toBe(2)
    expect(asks).toBeGreaterThan(2)
  })
})
