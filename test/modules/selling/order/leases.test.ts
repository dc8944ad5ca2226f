/** A lease on a row allows one processor call at a time; a call with an unknown outcome is queried, not repeated. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../../../db/columns.ts'
import { jobs } from '../../../../jobs/index.ts'
import { type ProcessorPayment, ProcessorUnavailable, type RefundAnswer } from '../../../../src/clients/processors/processor.ts'
import { system } from '../../../../src/core/command-context.ts'
import { isLeaseFree, leaseMs } from '../../../../src/core/leases.ts'
import { requestRefund } from '../../../../src/modules/selling/order/refunds/refund-requests.ts'
import { settleRefund } from '../../../../src/modules/selling/order/refunds/refunds.ts'
import { resumeOrders } from '../../../../src/modules/selling/order/saga/resume-orders.ts'
import { testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { ok } from '../../../support/selling.ts'
import { paymentAnswer, scriptedProcessor, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const now = Number.MAX_SAFE_INTEGER

test('holds a lease against others until it expires, also if their clocks are behind, until a clock steps back', () => {
  const lease = { leaseHolder: 'a', leaseUntil: 1_000_000 + leaseMs }
  expect(isLeaseFree(lease, 'a', 1_000_000)).toBe(true)
  expect(isLeaseFree(lease, 'b', 1_000_000)).toBe(false)
  expect(isLeaseFree(lease, 'b', 1_000_000 + leaseMs - 1)).toBe(false)
  expect(isLeaseFree(lease, 'b', 1_000_000 + leaseMs)).toBe(true)
  expect(isLeaseFree(lease, 'b', 999_999)).toBe(false)
  expect(isLeaseFree(lease, 'b', 1_000_000 - leaseMs)).toBe(false)
  expect(isLeaseFree(lease, 'b', 1_000_000 - leaseMs - 1)).toBe(true)
  expect(isLeaseFree({ leaseHolder: null, leaseUntil: null }, 'b', 0)).toBe(true)
})

test('sends each of five refunds once while requests send them and the job runs', async () => {
  await using app = await testApp()
  const release = Promise.withResolvers<void>()
  const sent: string[] = []
  const shop = await sellingWithProcessor(app, {
    create: async ({ amount }) => paymentAnswer('AUTHORIZED', { authorized: amount }),
    capture: async ({ amount }) => paymentAnswer('CAPTURED', { authorized: amount, captured: amount }),
    async refund({ refundId }) {
      sent.push(refundId)
      await release.promise
      return { reference: refundId, state: 'SUCCEEDED' }
    },
  })
  const { order } = ok(await shop.buy()).body
  const requests = Array.from({ length: 5 }, () => shop.refund(order.id, { amount: shop.usd(100) }))
  while (sent.length < 5) await Bun.sleep(1)
  await Promise.all([resumeOrders(app.deps, now), resumeOrders(app.deps, now)])
  release.resolve()
  for (const answer of await Promise.all(requests)) ok(answer)
  expect(new Set(sent).size).toBe(5)
  expect(sent.length).toBe(5)
  expect(await shop.order(order.id)).toMatchObject({ refundedTotal: shop.usd(500) })
})

test('captures once while a request captures and the job runs', async () => {
  await using app = await testApp()
  const release = Promise.withResolvers<void>()
  let captures = 0
  const shop = await sellingWithProcessor(app, {
    create: async ({ amount }) => paymentAnswer('AUTHORIZED', { authorized: amount }),
    async capture({ amount }) {
      captures++
      await release.promise
      return paymentAnswer('CAPTURED', { authorized: amount, captured: amount })
    },
    retrieve: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
  })
  const buying = shop.buy()
  while (captures === 0) await Bun.sleep(1)
  await Promise.all([resumeOrders(app.deps, now), resumeOrders(app.deps, now)])
  expect(captures).toBe(1)
  release.resolve()
  expect(ok(await buying).body.order.status).toBe('CONFIRMED')
  expect(captures).toBe(1)
  expect(violationsOf(await booksOf(app)).filter((one) => !one.includes('processor'))).toEqual([])
})

test('keeps the lease of a call in progress when another request queries the payment', async () => {
  await using app = await testApp()
  const release = Promise.withResolvers<void>()
  const called = Promise.withResolvers<void>()
  const calls: string[] = []
  let state: ProcessorPayment['state'] = 'REQUIRES_ACTION'
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('REQUIRES_ACTION'),
    retrieve: async () => paymentAnswer(state, { authorized: state === 'AUTHORIZED' ? 1_000 : 0, clientParameters: { secret: 's' } }),
    async capture({ amount }) {
      calls.push('capture')
      return paymentAnswer('CAPTURED', { authorized: amount, captured: amount })
    },
    async void() {
      calls.push('void')
      called.resolve()
      await release.promise
      return paymentAnswer('VOIDED')
    },
  })
  const cartId = await shop.cart()
  ok(await shop.checkout(cartId, { processor: 'scripted' }))
  const key = shop.publishableKey
  const cancelCheckout = () => app.call('DELETE', `/cart/${cartId}/checkout`, { key })
  const slow = cancelCheckout()
  await called.promise
  for (const newState of ['REQUIRES_ACTION', 'AUTHORIZED'] as const) {
    state = newState
    app.clock.advance(2_000)
    ok(await app.call('POST', `/cart/${cartId}/complete`, { key }))
    expect((await cancelCheckout()).status).toBe(409)
  }
  expect(calls).toEqual(['void'])
  release.resolve()
  expect(ok(await slow).body.status).toBe('OPEN')
  expect(calls).toEqual(['void'])
})

test('queries a refund that has a reference at its processor for days, and never sends it again', async () => {
  await using app = await testApp()
  const sent: string[] = []
  const queriedReferences: (string | undefined)[] = []
  let state: RefundAnswer['state'] = 'PENDING'
  const shop = await sellingWithProcessor(app, {
    create: async ({ amount }) => paymentAnswer('AUTHORIZED', { authorized: amount }),
    capture: async ({ amount }) => paymentAnswer('CAPTURED', { authorized: amount, captured: amount }),
    async refund({ refundId }) {
      sent.push(refundId)
      return { reference: 're_1', state: 'PENDING' }
    },
    async retrieveRefund({ refundReference }) {
      queriedReferences.push(refundReference)
      return { reference: 're_1', state }
    },
  })
  const { order } = ok(await shop.buy()).body
  const refund = ok(await shop.refund(order.id, { amount: shop.usd(300) })).body
  expect(refund).toMatchObject({ status: 'PENDING', processorReference: 're_1' })
  for (let runs = 0; runs < 72 * 2; runs++) {
    app.clock.advance(30 * minute)
    await app.jobs.resume()
  }
  expect(sent.length).toBe(1)
  expect(queriedReferences.length).toBeGreaterThan(100)
  expect(new Set(queriedReferences)).toEqual(new Set(['re_1']))
  state = 'SUCCEEDED'
  app.clock.advance(30 * minute)
  await app.jobs.resume()
  expect(await shop.order(order.id)).toMatchObject({ refundedTotal: shop.usd(300), refunds: [{ status: 'SUCCEEDED' }] })
})

test('does not resend a refund after its lease expired, and keeps the lease of the process that took over', async () => {
  await using app = await testApp()
  const sent: string[] = []
  const refundStarted = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  let answer: RefundAnswer | undefined
  const shop = await sellingWithProcessor(app, {
    create: async ({ amount }) => paymentAnswer('AUTHORIZED', { authorized: amount }),
    capture: async ({ amount }) => paymentAnswer('CAPTURED', { authorized: amount, captured: amount }),
    async refund({ refundId }) {
      sent.push(refundId)
      answer = { reference: 're_1', state: 'PENDING' }
      if (sent.length > 1) return answer
      refundStarted.resolve()
      await release.promise
      return answer
    },
    retrieveRefund: async () => answer,
  })
  const { order } = ok(await shop.buy()).body
  const attempt = { shopId: shop.shop.id, orderId: order.id, scope: { amount: 300 }, reason: undefined, attemptKey: 'a', actor: system }
  const { refund } = await requestRefund(app.deps, attempt, 'REFUND')
  // The process stalled, and another process took over the refund.
  app.clock.advance(minute)
  const job = settleRefund(app.deps, refund.id, { holder: 'job' })
  await refundStarted.promise
  expect((await settleRefund(app.deps, refund.id, { holder: 'a' }, { isNew: true })).status).toBe('PENDING')
  expect(sent).toHaveLength(1)
  // The job stalled, too, and another process holds the lease.
  app.clock.advance(minute)
  const other = await app.deps.db.write((tx) => app.deps.orderStore.leaseRefund(tx, refund, 'other', app.clock.now()))
  expect(other?.leaseHolder).toBe('other')
  release.resolve()
  await job
  expect(await app.deps.orderStore.findRefund(app.deps.db.read, refund.id)).toMatchObject({
    leaseHolder: 'other',
    leaseUntil: other?.leaseUntil,
    processorReference: 're_1',
  })
})

// SQLite runs one write at a time.
test.skipIf(engine === 'sqlite')('does not reschedule a refund that succeeds while another process tries to lease it', async () => {
  await using app = await testApp()
  const refundStarted = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const shop = await sellingWithProcessor(app, {
    create: async ({ amount }) => paymentAnswer('AUTHORIZED', { authorized: amount }),
    capture: async ({ amount }) => paymentAnswer('CAPTURED', { authorized: amount, captured: amount }),
    async refund() {
      refundStarted.resolve()
      await release.promise
      return { reference: 're_1', state: 'SUCCEEDED' }
    },
  })
  const { order } = ok(await shop.buy()).body
  const attempt = { shopId: shop.shop.id, orderId: order.id, scope: { amount: 300 }, reason: undefined, attemptKey: 'a', actor: system }
  const { refund } = await requestRefund(app.deps, attempt, 'REFUND')
  app.clock.advance(minute)
  const job = settleRefund(app.deps, refund.id, { holder: 'job' })
  await refundStarted.promise
  const { orderStore: store } = app.deps
  const { leaseRefund } = store
  store.leaseRefund = async (...args) => {
    const leased = await leaseRefund(...args)
    release.resolve()
    await job
    return leased
  }
  await settleRefund(app.deps, refund.id, { holder: 'beside' })
  expect(await store.findRefund(app.deps.db.read, refund.id)).toMatchObject({ status: 'SUCCEEDED', resumeAt: null, leaseHolder: null })
})

test('queries a refund whose response was lost before it resends it', async () => {
  await using app = await testApp()
  let answer: RefundAnswer | undefined
  let sent = 0
  const shop = await sellingWithProcessor(app, {
    create: async ({ amount }) => paymentAnswer('AUTHORIZED', { authorized: amount }),
    capture: async ({ amount }) => paymentAnswer('CAPTURED', { authorized: amount, captured: amount }),
    async refund() {
      sent++
      // This processor ignores our ids, so sending the refund again would create a second one.
      answer = { reference: `re_${sent}`, state: 'SUCCEEDED' }
      throw new ProcessorUnavailable('lost')
    },
    retrieveRefund: async () => answer,
  })
  const { order } = ok(await shop.buy()).body
  expect(ok(await shop.refund(order.id, { amount: shop.usd(300) })).body.status).toBe('PENDING')
  app.clock.advance(minute)
  await app.jobs.resume()
  expect(sent).toBe(1)
  expect(await shop.order(order.id)).toMatchObject({ refundedTotal: shop.usd(300), refunds: [{ processorReference: 're_1' }] })
})

test('continues payments and refunds at other processors while one processor hangs', async () => {
  await using app = await testApp()
  const hung = Promise.withResolvers<ProcessorPayment>()
  let hanging = 0
  let isUnavailable = true
  const shop = await sellingWithProcessor(
    app,
    {
      async create({ amount }) {
        if (isUnavailable) throw new ProcessorUnavailable('lost')
        hanging++
        await hung.promise
        return paymentAnswer('AUTHORIZED', { authorized: amount })
      },
      retrieve: async () => undefined,
    },
    { onHand: 30 },
  )
  const other = {
    create: async ({ amount, paymentId: reference }: { amount: number; paymentId: string }) => {
      if (isUnavailable) throw new ProcessorUnavailable('lost')
      return paymentAnswer('AUTHORIZED', { authorized: amount, reference })
    },
    capture: async ({ amount, paymentId: reference }: { amount: number; paymentId: string }) =>
      paymentAnswer('CAPTURED', { authorized: amount, captured: amount, reference }),
    retrieve: async () => undefined,
    retrieveRefund: async () => undefined,
    async refund({ refundId }: { refundId: string }) {
      if (isUnavailable) throw new ProcessorUnavailable('lost')
      return { reference: refundId, state: 'SUCCEEDED' as const }
    },
  }
  ;(app.deps.processors as Map<string, ReturnType<typeof scriptedProcessor>>).set('other', { ...scriptedProcessor(other), name: 'other' })
  isUnavailable = false
  const buyAtOther = async () => ok(await shop.checkout(await shop.cart(), { processor: 'other' })).body.order
  const sold = await buyAtOther()
  isUnavailable = true
  // These are more payments than one batch of the job has.
  for (let nth = 0; nth < 20; nth++) ok(await shop.buy())
  const order = await buyAtOther()
  expect(ok(await shop.refund(sold.id)).body.status).toBe('PENDING')
  isUnavailable = false
  app.clock.advance(minute)
  const first = app.jobs.resume()
  const currentStates = async () => [(await shop.order(order.id)).status, (await shop.order(sold.id)).paymentStatus]
  while (hanging < 8 || !Bun.deepEquals(await currentStates(), ['CONFIRMED', 'REFUNDED'])) await Bun.sleep(1)
  // The next run skips the lane that is in use, and a new refund does not wait for it either.
  await app.jobs.resume()
  expect(ok(await shop.refund(order.id)).body.status).toBe('SUCCEEDED')
  expect(hanging).toBe(8)
  hung.resolve(paymentAnswer('PENDING'))
  await first
})

test('expires orders of other processors while one processor hangs', async () => {
  await using app = await testApp()
  const hung = Promise.withResolvers<void>()
  const queryStarted = Promise.withResolvers<void>()
  let isHanging = false
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('REQUIRES_ACTION'),
    retrieve: async () => {
      if (isHanging) {
        queryStarted.resolve()
        await hung.promise
      }
      return paymentAnswer('REQUIRES_ACTION')
    },
    void: async () => paymentAnswer('VOIDED'),
  })
  const first = ok(await shop.buy()).body.order
  app.clock.advance(30 * minute)
  const later = ok(await shop.checkout(await shop.cart(), { paymentToken: 'tok_action' })).body.order
  app.clock.advance(30 * minute)
  isHanging = true
  const blockedRun = app.jobs.closeOrders()
  await queryStarted.promise
  app.clock.advance(30 * minute)
  // Runs of this job may overlap.
  expect(jobs.find(({ name }) => name === 'close-orders')?.overlaps).toBe(true)
  await app.jobs.closeOrders()
  expect([(await shop.order(first.id)).status, (await shop.order(later.id)).status]).toEqual(['PENDING_PAYMENT', 'EXPIRED'])
  hung.resolve()
  await blockedRun
  expect((await shop.order(first.id)).status).toBe('EXPIRED')
})

test('logs a declined payment once, with its order, payment, processor, operation and code', async () => {
  await using app = await testApp()
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('FAILED', { failureCode: 'card_declined' }),
  })
  const { order } = ok(await shop.buy()).body
  const lines = app.logged.filter(({ event }) => event.startsWith('payment.'))
  expect(lines.map(({ event }) => event)).toEqual(['payment.declined'])
  expect(lines[0]?.fields).toMatchObject({
    order: order.id,
    payment: order.payments[0].id,
    processor: 'scripted',
    question: 'create',
    code: 'card_declined',
  })
})
