/** Tests that a request beyond its deadline gets a true response, and that its work completes. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { defaults } from '../../db/postgres/pool.ts'
import { runInRequest } from '../../src/core/request-context.ts'
import { deadlineExceeded } from '../../src/http/errors.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { shopIn } from '../support/catalog.ts'
import { ok } from '../support/selling.ts'
import { paymentAnswer, sellingWithProcessor } from '../support/test-processor.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Creates deadlines that pass for all pending requests when the test calls `pass`. */
function createManualDeadlines() {
  const pending = new Set<() => void>()
  return {
    deadline() {
      const { promise: passed, resolve } = Promise.withResolvers<void>()
      pending.add(resolve)
      return { passed, cancel: () => void pending.delete(resolve) }
    },
    pending,
    pass() {
      for (const resolve of pending) resolve()
    },
  }
}

/** Blocks the database's writes until `resume` is called, as a stalled process would. */
function blockWrites({ deps: { db } }: TestApp) {
  const { write } = db
  const [blocked, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  db.write = async (work, options) => {
    blocked.resolve()
    await resumed.promise
    return write(work, options)
  }
  return {
    stood: blocked.promise,
    resume() {
      db.write = write
      resumed.resolve()
    },
  }
}

test('a checkout whose processor takes too long is accepted, and its idempotency key returns the outcome', async () => {
  const time = createManualDeadlines()
  await using app = await testApp({}, { deadline: time.deadline })
  const [requested, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const shop = await sellingWithProcessor(app, {
    async create({ amount }) {
      requested.resolve()
      await answered.promise
      return paymentAnswer('CAPTURED', { authorized: amount, captured: amount })
    },
  })
  const cartId = await shop.cart()
  const send = () => shop.checkout(cartId, { processor: 'scripted' }, 'the-one')
  const first = send()
  await requested.promise
  time.pass()
  const pastDeadline = await first
  expect([pastDeadline.status, pastDeadline.body.message, pastDeadline.headers.get('access-control-allow-origin')]).toEqual([
    503,
    'The request took too long, but the request was accepted: send it again under the same Idempotency-Key',
    '*',
  ])
  expect(Number(pastDeadline.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(pastDeadline.headers.get('x-request-id')).toBeTruthy()
  // The first request is still running, so a second one must not start.
  expect((await send()).status).toBe(409)
  answered.resolve()
  let repeated = await send()
  while (repeated.status === 409) repeated = await send()
  expect(repeated.headers.get('idempotent-replayed')).toBe('true')
  expect(repeated.body.order).toMatchObject({ number: 1, status: 'CONFIRMED' })
  expect(time.pending.size).toBe(0)
})

test('after the deadline, the outcome of a write that waits for the database is unknown, and a read changed nothing', async () => {
  const time = createManualDeadlines()
  await using app = await testApp({}, { deadline: time.deadline })
  const shop = await sellingWithProcessor(app, {})
  const cartId = await shop.cart()
  const block = blockWrites(app)
  const waiting = shop.checkout(cartId, {}, 'the-one')
  await block.stood
  time.pass()
  const { status, body } = await waiting
  expect([status, body.message.startsWith('The request took too long, and the outcome is unknown: ')]).toEqual([503, true])
  const read = runInRequest('id', () => deadlineExceeded({ method: 'GET' }))
  expect(read.message).toBe('The request took too long: nothing was changed, try again later')
  block.resume()
  let repeated = await shop.checkout(cartId, {}, 'the-one')
  while (repeated.status === 409) repeated = await shop.checkout(cartId, {}, 'the-one')
  expect(ok(repeated, 201).body.order).toMatchObject({ number: 1, status: 'CONFIRMED' })
})

test('a file upload may take longer than other requests', async () => {
  const time = createManualDeadlines()
  await using app = await testApp({}, { deadline: time.deadline })
  const shop = await shopIn(app)
  const headers = { 'content-type': 'text/csv' }
  const importing = app.call('POST', '/product-v2/import', { token: shop.token, headers, raw: 'Title,Variant Price\nMug,10.00\n' })
  time.pass()
  expect(ok(await importing, 200).body.created).toBe(1)
})

test('database timeouts are shorter than the deadline of a request', () => {
  expect(defaults.connect + defaults.answer).toBeLessThan(28_000)
  expect(defaults.statement).toBeLessThan(defaults.answer)
  expect(defaults.lock).toBeLessThan(defaults.statement)
})
