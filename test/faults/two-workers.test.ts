/** Tests that of two processes which find the same work, one does it and the other leaves it alone. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type TestApp, testApp } from '../support/app.ts'
import { type Books, booksOf, violationsAtRest } from '../support/books.ts'
import { mergedState, newProcessorStates, type ProcessorStates, simulateProcessors } from '../support/persistent-processors.ts'
import { processorSettings } from '../support/processor-settings.ts'
import { processorMismatches, signatureHeaders } from '../support/random-processor.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hourMs = 60 * 60_000

/** Two programs on one database, and before the same processors; an order waits for its payment on Stripe's page. */
async function twoWorkers() {
  const app = await testApp(processorSettings)
  const shop = await sellingIn(app)
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { card: { enabled: true, processor: 'stripe' } } }))
  const outside = newProcessorStates()
  const played = simulateProcessors(app, outside)
  const { order } = ok(await shop.checkout(await shop.cart(), { processor: 'stripe' }), 201).body
  const beside = await testApp(processorSettings, { database: app.database, as: 'command', startAt: app.clock.now() })
  const [reference = ''] = outside.at.stripe.there.map((one) => one.reference)
  /** Calls, and those of them by which something changed there. */
  let calls = 0
  let changes = 0
  for (const one of [played, simulateProcessors(beside, outside)])
    one.around(async (call, hasChanged) => {
      calls++
      const answer = await call()
      if (hasChanged()) changes++
      return answer
    })
  return {
    app,
    shop,
    outside,
    order,
    calls: () => calls,
    changes: () => changes,
    pay: () => played.at.stripe.pay(reference, 1),
    /** Lets so much time pass, and has both do it at once. */
    async both(ms: number, work: (one: TestApp) => Promise<unknown>): Promise<void> {
      for (const one of [app, beside]) one.clock.advance(ms)
      await Promise.all([app, beside].map(work))
    },
    /** The books, in which nothing is wrong. */
    async books(): Promise<Books> {
      const books = await booksOf(app)
      expect(wrong(books, outside)).toEqual([])
      return books
    },
    async [Symbol.asyncDispose]() {
      await beside.close()
      await app.close()
    },
  }
}
const wrong = (books: Books, outside: ProcessorStates) => [...violationsAtRest(books), ...processorMismatches(books, mergedState(outside))]

test('of two workers on one webhook of a processor, one takes it and applies it once', async () => {
  await using it = await twoWorkers()
  const { app, order, outside } = it
  it.pay()
  // Stored, and its worker gone: both find it.
  const [payment] = outside.at.stripe.there
  const raw = JSON.stringify({ id: 'evt_1', payment: { paymentId: payment?.paymentId, reference: payment?.reference } })
  const held = Promise.withResolvers<void>()
  for (let nth = 0; nth < 8; nth++) app.deps.backgroundTasks.start('message stripe', () => held.promise)
  ok(await app.call('POST', '/webhooks/payments/stripe', { raw, headers: signatureHeaders }))
  held.resolve()
  await it.both(1_000, ({ jobs }) => jobs.messages())
  const books = await it.books()
  expect(books.orders).toMatchObject([{ id: order.id, status: 'CONFIRMED', capturedTotal: 1_000 }])
  expect(books.messages).toMatchObject([{ attempts: 1, resumeAt: null }])
  // The processor gets one query and one capture.
  expect([it.calls(), it.changes()]).toEqual([2, 1])
})

test('of two concurrent resumes of a waiting payment, one captures it', async () => {
  await using it = await twoWorkers()
  it.pay()
  await it.both(60_000, ({ jobs }) => jobs.resume())
  expect((await it.books()).orders).toMatchObject([{ status: 'CONFIRMED', capturedTotal: 1_000 }])
  expect(it.changes()).toBe(1)
})

test('of two concurrent sweeps of a late payment, one refunds it', async () => {
  await using it = await twoWorkers()
  const { outside } = it
  await it.both(hourMs, ({ jobs }) => jobs.closeOrders())
  expect(it.changes()).toBe(1)
  for (const one of outside.at.stripe.there) Object.assign(one, { state: 'CAPTURED', captured: one.amount })
  await it.both(hourMs, ({ jobs }) => jobs.sweep())
  const books = await it.books()
  expect(books.orders).toMatchObject([{ status: 'EXPIRED', capturedTotal: 1_000, refundedTotal: 1_000 }])
  expect(books.refunds).toMatchObject([{ status: 'SUCCEEDED', amount: 1_000 }])
  // One void and one refund; the worker that made them may query the payment once more.
  expect(it.changes()).toBe(2)
})
