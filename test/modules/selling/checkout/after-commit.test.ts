/** The database fails during a request: the error states what happened, and a retry with the same key resumes. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { DatabaseFull, DatabaseUnavailable } from '../../../../db/engine.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { ok, type Selling } from '../../../support/selling.ts'
import { paymentAnswer, sellingBy } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000
/** More writes than any of these requests makes. */
const writesMax = 30

/** What took effect at the processor: the same thing said again under the same id is the same thing. */
type Calls = { captures: Set<string>; refunds: Map<string, number> }

/** A processor that counts what it is told to do, and does it. */
async function shopWithCounts(app: TestApp) {
  const calls: Calls = { captures: new Set(), refunds: new Map() }
  // Made when it is first asked for.
  await app.deps.instanceKeys.of('CLIENT_ADDRESSES')
  await app.deps.orderLinks.ready()
  const shop = await sellingBy(app, {
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

/** Lets so many writes through, and refuses every later one until `back` is called. */
function awayAfter({ deps: { db } }: TestApp, writes: number, error = () => new DatabaseUnavailable('locked') as Error) {
  const { write } = db
  let left = writes
  db.write = (work, options) => (left-- > 0 ? write(work, options) : Promise.reject(error()))
  return () => {
    db.write = write
  }
}

/** What sends a request under one key, and what must have happened in the end, however often it was sent. */
type Case = {
  name: string
  status: number
  prepare: (app: TestApp, shop: Selling & { buy(): Promise<Answer> }) => Promise<() => Promise<Answer>>
  done: (calls: Calls) => void
}
const keyed = { 'idempotency-key': 'the-one' }
const cases: Case[] = [
  {
    name: 'a checkout',
    status: 201,
    async prepare(_, shop) {
      const cartId = await shop.cart()
      return () => shop.checkout(cartId, { processor: 'scripted' }, 'the-one')
    },
    done: ({ captures }) => expect(captures.size).toBe(1),
  },
  {
    name: 'a refund',
    status: 201,
    async prepare(_, shop) {
      const { order } = ok(await shop.buy()).body
      return () => shop.post(`/v2/orders/${order.id}/refunds`, { amount: shop.usd(300) }, keyed)
    },
    done: ({ refunds }) => expect([...refunds.values()]).toEqual([300]),
  },
  {
    name: 'a cancellation',
    status: 200,
    async prepare(_, shop) {
      const { order } = ok(await shop.buy()).body
      return () => shop.post(`/v2/orders/${order.id}/cancel`, {}, keyed)
    },
    done: ({ refunds }) => expect([...refunds.values()]).toEqual([1_000]),
  },
]

for (const { name, status, prepare, done } of cases) {
  test(`reports truthfully whether ${name} was accepted when the database fails, and the same key resumes it`, async () => {
    for (let writes = 0; writes < writesMax; writes++) {
      await using app = await testApp()
      const { shop, calls } = await shopWithCounts(app)
      const send = await prepare(app, shop)
      const before = JSON.stringify(await booksOf(app))
      const back = awayAfter(app, writes)
      const first = await send()
      back()
      if (first.status === status) {
        expect(writes).toBeGreaterThan(1)
        return
      }
      const nothing = JSON.stringify(await booksOf(app)) === before
      expect([writes, first.status, first.body.message]).toEqual([
        writes,
        503,
        nothing
          ? 'The database is busy: nothing was changed, try again later'
          : 'The database is busy, but the request was accepted: send it again under the same Idempotency-Key',
      ])
      expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0)
      // At once: no clock has moved.
      const again = await send()
      expect([writes, again.status]).toEqual([writes, status])
      done(calls)
      app.clock.advance(2 * hour)
      await app.jobs.resume()
      await app.jobs.closeOrders()
      done(calls)
      expect(violationsAtRest(await booksOf(app)).filter((one) => !one.includes('processor'))).toEqual([])
      expect((await send()).text).toBe(again.text)
    }
    throw new Error('the request never came through')
  })
}

test('places no order and captures nothing when the database fails before the order is written', async () => {
  await using app = await testApp()
  const { shop, calls } = await shopWithCounts(app)
  const cartId = await shop.cart()
  const back = awayAfter(app, 1)
  expect((await shop.checkout(cartId, { processor: 'scripted' }, 'k')).status).toBe(503)
  back()
  app.clock.advance(hour)
  await app.jobs.resume()
  expect((await shop.get('/v2/orders')).body.total).toBe(0)
  expect(calls.captures.size).toBe(0)
})

test('reports a full disk during a checkout, and that the request was accepted', async () => {
  await using app = await testApp()
  const { shop } = await shopWithCounts(app)
  const cartId = await shop.cart()
  const back = awayAfter(app, 2, () => new DatabaseFull('full'))
  const { body } = await shop.checkout(cartId, { processor: 'scripted' }, 'k')
  back()
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
