/** The database fails during a request. The error states what happened, and a retry with the same key resumes. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { DatabaseFull, DatabaseUnavailable } from '../../../../db/engine.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { ok, type Selling } from '../../../support/selling.ts'
import { paymentAnswer, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000
/** An upper bound for the writes of each tested request. */
const writesMax = 30

/** Captures and refunds at the processor by id, so that a repeated call counts once. */
type Calls = { captures: Set<string>; refunds: Map<string, number> }

/** Opens a shop with a processor that accepts every call and records captures and refunds. */
async function shopWithCounts(app: TestApp) {
  const calls: Calls = { captures: new Set(), refunds: new Map() }
  // Both keys are created at first use. Creating them here keeps their writes out of the count.
  await app.deps.instanceKeys.of('CLIENT_ADDRESSES')
  await app.deps.orderLinks.ready()
  const shop = await sellingWithProcessor(app, {
    create: async ({ amount }) => paymentAnswer('AUTHORIZED', { authorized: amount }),
    retrieve: async () => paymentAnswer('AUTHORIZED', { authorized: 1_000 }),
    async capture({ amount, paymentId }) {
      calls.captures.add(paymentId)
      return paymentAnswer('CAPTURED', { authorized: amount, captured: amount })
    },
    void: async () => paymentAnswer('VOIDED'),
    async refund({ amount, refundId }) {
      calls.refunds.set(refundId, amount)
      return { reference: refundId, state: 'SUCCEEDED' }
    },
    retrieveRefund: async () => undefined,
  })
  return { shop, calls }
}

/** Makes every write after the first `writes` fail until the returned function is called. */
function failAfter({ deps: { db } }: TestApp, writes: number, error = () => new DatabaseUnavailable('locked') as Error) {
  const { write } = db
  let left = writes
  db.write = (work, options) => (left-- > 0 ? write(work, options) : Promise.reject(error()))
  return () => {
    db.write = write
  }
}

/** A request under one idempotency key, and a check of its effect that must hold for any number of retries. */
type Case = {
  name: string
  status: number
  prepare: (app: TestApp, shop: Selling & { buy(): Promise<Answer> }) => Promise<() => Promise<Answer>>
  checkEffect: (calls: Calls) => void
}
const keyHeaders = { 'idempotency-key': 'the-one' }
const cases: Case[] = [
  {
    name: 'a checkout',
    status: 201,
    async prepare(_, shop) {
      const cartId = await shop.cart()
      return () => shop.checkout(cartId, { processor: 'scripted' }, 'the-one')
    },
    checkEffect: ({ captures }) => expect(captures.size).toBe(1),
  },
  {
    name: 'a refund',
    status: 201,
    async prepare(_, shop) {
      const { order } = ok(await shop.buy()).body
      return () => shop.post(`/v2/orders/${order.id}/refunds`, { amount: shop.usd(300) }, keyHeaders)
    },
    checkEffect: ({ refunds }) => expect([...refunds.values()]).toEqual([300]),
  },
  {
    name: 'a cancellation',
    status: 200,
    async prepare(_, shop) {
      const { order } = ok(await shop.buy()).body
      return () => shop.post(`/v2/orders/${order.id}/cancel`, {}, keyHeaders)
    },
    checkEffect: ({ refunds }) => expect([...refunds.values()]).toEqual([1_000]),
  },
]

for (const { name, status, prepare, checkEffect } of cases) {
  test(`reports truthfully whether ${name} was accepted when the database fails, and the same key resumes it`, async () => {
    for (let writes = 0; writes < writesMax; writes++) {
      await using app = await testApp()
      const { shop, calls } = await shopWithCounts(app)
      const send = await prepare(app, shop)
      const before = JSON.stringify(await booksOf(app))
      const restore = failAfter(app, writes)
      const first = await send()
      restore()
      if (first.status === status) {
        expect(writes).toBeGreaterThan(1)
        return
      }
      const isUnchanged = JSON.stringify(await booksOf(app)) === before
      expect([writes, first.status, first.body.message]).toEqual([
        writes,
        503,
        isUnchanged
          ? 'The database is busy: nothing was changed, try again later'
          : 'The database is busy, but the request was accepted: send it again under the same Idempotency-Key',
      ])
      expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0)
      // The retry succeeds at once, without advancing the clock.
      const retried = await send()
      expect([writes, retried.status]).toEqual([writes, status])
      checkEffect(calls)
      app.clock.advance(2 * hour)
      await app.jobs.resume()
      await app.jobs.closeOrders()
      checkEffect(calls)
      expect(violationsAtRest(await booksOf(app)).filter((one) => !one.includes('processor'))).toEqual([])
      expect((await send()).text).toBe(retried.text)
    }
    throw new Error('the request never came through')
  })
}

test('places no order and captures nothing when the database fails before the order is written', async () => {
  await using app = await testApp()
  const { shop, calls } = await shopWithCounts(app)
  const cartId = await shop.cart()
  const restore = failAfter(app, 1)
  expect((await shop.checkout(cartId, { processor: 'scripted' }, 'k')).status).toBe(503)
  restore()
  app.clock.advance(hour)
  await app.jobs.resume()
  expect((await shop.get('/v2/orders')).body.total).toBe(0)
  expect(calls.captures.size).toBe(0)
})

test('reports a full disk during a checkout, and that the request was accepted', async () => {
  await using app = await testApp()
  const { shop } = await shopWithCounts(app)
  const cartId = await shop.cart()
  const restore = failAfter(app, 2, () => new DatabaseFull('full'))
  const { body } = await shop.checkout(cartId, { processor: 'scripted' }, 'k')
  restore()
  expect(body.message).toBe('The disk is full, but the request was accepted: send it again under the same Idempotency-Key')
})

test('commits four times per checkout, including the claim of its idempotency key', async () => {
  await using app = await testApp()
  const { shop } = await shopWithCounts(app)
  const cartId = await shop.cart()
  const { db } = app.deps
  const { write } = db
  let writes = 0
  db.write = (work, options) => {
    writes++
    return write(work, options)
  }
  ok(await shop.checkout(cartId, { processor: 'scripted' }, 'k'))
  db.write = write
  expect(writes).toBe(4)
})
