/** Tests that only one of two processes does work that both find. */
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

/** Starts two processes with one database and the same processors. An order waits for its payment on Stripe's page. */
async function startTwoWorkers() {
  const app = await testApp(processorSettings)
  const shop = await sellingIn(app)
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { card: { enabled: true, processor: 'stripe' } } }))
  const outside = newProcessorStates()
  const played = simulateProcessors(app, outside)
  const { order } = ok(await shop.checkout(await shop.cart(), { processor: 'stripe' }), 201).body
  const otherApp = await testApp(processorSettings, { database: app.database, as: 'command', startAt: app.clock.now() })
  const [reference = ''] = outside.at.stripe.storedPayments.map((one) => one.reference)
  /** The number of calls, and of those that changed something at the processor. */
  let calls = 0
  let changes = 0
  for (const one of [played, simulateProcessors(otherApp, outside)])
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
    /** Advances both clocks, and runs the work in both processes concurrently. */
    async runInBoth(ms: number, work: (one: TestApp) => Promise<unknown>): Promise<void> {
      for (const one of [app, otherApp]) one.clock.advance(ms)
      await Promise.all([app, otherApp].map(work))
    },
    /** Returns the books. Fails if they have violations. */
    async books(): Promise<Books> {
      const books = await booksOf(app)
      expect(violationsOf(books, outside)).toEqual([])
      return books
    },
    async [Symbol.asyncDispose]() {
      await otherApp.close()
      await app.close()
    },
  }
}
const violationsOf = (books: Books, outside: ProcessorStates) => [
  ...violationsAtRest(books),
  ...processorMismatches(books, mergedState(outside)),
]

test('of two workers on one webhook of a processor, one takes it and applies it once', async () => {
  await using workers = await startTwoWorkers()
  const { app, order, outside } = workers
  workers.pay()
  // The message is stored and no worker processes it, so both find it.
  const [payment] = outside.at.stripe.storedPayments
  const raw = JSON.stringify({ id: 'evt_1', payment: { paymentId: payment?.paymentId, reference: payment?.reference } })
  const blocked = Promise.withResolvers<void>()
  for (let nth = 0; nth < 8; nth++) app.deps.backgroundTasks.start('message stripe', () => blocked.promise)
  ok(await app.call('POST', '/webhooks/payments/stripe', { raw, headers: signatureHeaders }))
  blocked.resolve()
  await workers.runInBoth(1_000, ({ jobs }) => jobs.messages())
  const books = await workers.books()
  expect(books.orders).toMatchObject([{ id: order.id, status: 'CONFIRMED', capturedTotal: 1_000 }])
  expect(books.messages).toMatchObject([{ attempts: 1, resumeAt: null }])
  // The processor gets one query and one capture.
  expect([workers.calls(), workers.changes()]).toEqual([2, 1])
})

test('of two concurrent resumes of a waiting payment, one captures it', async () => {
  await using workers = await startTwoWorkers()
  workers.pay()
  await workers.runInBoth(60_000, ({ jobs }) => jobs.resume())
  expect((await workers.books()).orders).toMatchObject([{ status: 'CONFIRMED', capturedTotal: 1_000 }])
  expect(workers.changes()).toBe(1)
})

test('of two concurrent sweeps of a late payment, one refunds it', async () => {
  await using workers = await startTwoWorkers()
  const { outside } = workers
  await workers.runInBoth(hourMs, ({ jobs }) => jobs.closeOrders())
  expect(workers.changes()).toBe(1)
  for (const one of outside.at.stripe.storedPayments) Object.assign(one, { state: 'CAPTURED', captured: one.amount })
  await workers.runInBoth(hourMs, ({ jobs }) => jobs.sweep())
  const books = await workers.books()
  expect(books.orders).toMatchObject([{ status: 'EXPIRED', capturedTotal: 1_000, refundedTotal: 1_000 }])
  expect(books.refunds).toMatchObject([{ status: 'SUCCEEDED', amount: 1_000 }])
  // One void and one refund; the worker that made them may query the payment once more.
  expect(workers.changes()).toBe(2)
})
