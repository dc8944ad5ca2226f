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

/** Time that is over when a test says so, of all the requests that began meanwhile. */
function handSetDeadlines() {
  const begun = new Set<() => void>()
  return {
    deadline() {
      const { promise: passed, resolve } = Promise.withResolvers<void>()
      begun.add(resolve)
      return { passed, cancel: () => void begun.delete(resolve) }
    },
    begun,
    pass() {
      for (const resolve of begun) resolve()
    },
  }
}

/** Keeps the database's writes waiting, as behind a process that stands still, until `goOn` is called. */
function standingStill({ deps: { db } }: TestApp) {
  const { write } = db
  const [stood, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  db.write = async (work, options) => {
    stood.resolve()
    await going.promise
    return write(work, options)
  }
  return {
    stood: stood.promise,
    goOn() {
      db.write = write
      going.resolve()
    },
  }
}

test('a checkout whose processor takes too long is accepted, and its idempotency key returns the outcome', async () => {
  const time = handSetDeadlines()
  await using app = await testApp({}, { deadline: time.deadline })
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const shop = await sellingWithProcessor(app, {
    async create({ amount }) {
      asked.resolve()
      await answered.promise
      return paymentAnswer('CAPTURED', { authorized: amount, captured: amount })
    },
  })
  const cartId = await shop.cart()
  const send = () => shop.checkout(cartId, { processor: 'scripted' }, 'the-one')
  const first = send()
  await asked.promise
  time.pass()
  const late = await first
  expect([late.status, late.body.message, late.headers.get('access-control-allow-origin')]).toEqual([
    503,
    'The request took too long, but the request was accepted: send it again under the same Idempotency-Key',
    '*',
  ])
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(late.headers.get('x-request-id')).toBeTruthy()
  // The first request is still at work, so a second one must not start.
  expect((await send()).status).toBe(409)
  answered.resolve()
  let again = await send()
  while (again.status === 409) again = await send()
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body.order).toMatchObject({ number: 1, status: 'CONFIRMED' })
  expect(time.begun.size).toBe(0)
})

test('after the deadline, the outcome of a write that waits for the database is unknown, and a read changed nothing', async () => {
  const time = handSetDeadlines()
  await using app = await testApp({}, { deadline: time.deadline })
  const shop = await sellingWithProcessor(app, {})
  const cartId = await shop.cart()
  const still = standingStill(app)
  const waiting = shop.checkout(cartId, {}, 'the-one')
  await still.stood
  time.pass()
  const { status, body } = await waiting
  expect([status, body.message.startsWith('The request took too long, and the outcome is unknown: ')]).toEqual([503, true])
  const read = runInRequest('id', () => deadlineExceeded({ method: 'GET' }))
  expect(read.message).toBe('The request took too long: nothing was changed, try again later')
  still.goOn()
  let again = await shop.checkout(cartId, {}, 'the-one')
  while (again.status === 409) again = await shop.checkout(cartId, {}, 'the-one')
  expect(ok(again, 201).body.order).toMatchObject({ number: 1, status: 'CONFIRMED' })
})

test('a file upload may take longer than other requests', async () => {
  const time = handSetDeadlines()
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
