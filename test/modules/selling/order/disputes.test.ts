/** Disputes reported by webhooks: repeated, late and in any order. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { disputes, paymentMessages } from '../../../../db/schema/payments.ts'
import type { ProcessorMessage } from '../../../../src/clients/processors/processor.ts'
import { locking } from '../../../../src/core/command-context.ts'
import { bookFindings } from '../../../../src/modules/payments/ledger/check-store.ts'
import { paymentsOf } from '../../../../src/modules/payments/payment/index.ts'
import { type ReportedDispute, recordDispute } from '../../../../src/modules/selling/order/saga/disputes.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { paymentAnswer, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const opened: ReportedDispute = { reference: 'dp_1', amount: 1_000, currency: 'USD', state: 'OPEN' }

async function reportDispute(app: TestApp, orderId: string, dispute: ReportedDispute): Promise<void> {
  const [payment] = await paymentsOf(app.deps, orderId)
  if (!payment) throw new Error('no payment')
  await app.deps.db.write((tx) => recordDispute(tx, app.deps, { payment, dispute }), locking)
}

/** Returns the amount that open and lost disputes took, according to the ledger. */
async function disputedAmount(app: TestApp, orderId: string): Promise<number> {
  const rows = (await booksOf(app)).movements.filter((row) => row.orderId === orderId)
  const sumOf = (movementKind: string) => rows.filter(({ kind }) => kind === movementKind).reduce((sum, { amount }) => sum + amount, 0)
  return sumOf('DISPUTE') - sumOf('DISPUTE_WON')
}

async function findProblems(app: TestApp): Promise<string[]> {
  const found: string[] = []
  for await (const { problems: all } of bookFindings(app.deps.db)) found.push(...all)
  return found
}

const disputesOf = async (shop: Selling, id: string): Promise<Json> => (await shop.order(id)).disputes

test('books an open dispute, reverses it when it is won, and sends a webhook each time', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  expect(await disputesOf(shop, id)).toEqual([])
  await reportDispute(app, id, opened)
  expect(await disputesOf(shop, id)).toMatchObject([{ reference: 'dp_1', amount: shop.usd(1_000), status: 'OPEN' }])
  expect(await disputedAmount(app, id)).toBe(1_000)
  await reportDispute(app, id, { ...opened, state: 'WON' })
  expect(await disputesOf(shop, id)).toMatchObject([{ status: 'WON' }])
  expect(await disputedAmount(app, id)).toBe(0)
  const order = await shop.order(id)
  expect(order).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED', refundedTotal: shop.usd(0) })
  expect(order.events.map(({ type }: Json) => type).slice(-2)).toEqual(['DISPUTE_OPENED', 'DISPUTE_WON'])
  const messages = (await booksOf(app)).outbox.filter(({ event }) => event === 'order.disputed').map(({ body }) => JSON.parse(body).data)
  expect(messages).toMatchObject([
    { orderId: id, dispute: { amount: shop.usd(1_000), status: 'OPEN' } },
    { orderId: id, dispute: { status: 'WON' } },
  ])
  expect(violationsOf(await booksOf(app))).toEqual([])
  expect(await findProblems(app)).toEqual([])
})

test('reaches the same state from repeated and unordered messages of a dispute, in parallel or in sequence', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 1_000 })
  const state = fc.constantFrom('OPEN', 'WON', 'LOST')
  const property = fc.asyncProperty(fc.array(state, { minLength: 1, maxLength: 6 }), fc.boolean(), async (states, atOnce) => {
    const { id } = await shop.placeOrder()
    const all = states.map((one) => () => reportDispute(app, id, { ...opened, state: one }))
    if (atOnce) await Promise.all(all.map((one) => one()))
    else for (const one of all) await one()
    const end = states.includes('LOST') ? 'LOST' : states.includes('WON') ? 'WON' : 'OPEN'
    expect(await disputesOf(shop, id)).toMatchObject([{ status: end }])
    expect(await disputedAmount(app, id)).toBe(end === 'WON' ? 0 : 1_000)
  })
  await fc.assert(property, { numRuns: 15 })
  expect(await findProblems(app)).toEqual([])
})

test('records and reports a dispute in a foreign currency without booking it', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  await reportDispute(app, id, { ...opened, currency: 'EUR', amount: 900 })
  const order = await shop.order(id)
  expect(order.disputes).toMatchObject([{ amount: { amount: 900, currency: 'EUR' }, status: 'OPEN' }])
  expect(order.events.at(-1)).toMatchObject({ type: 'DISPUTE_OPENED', detail: { dispute: order.disputes[0].id } })
  expect(order.events.at(-1).detail).not.toHaveProperty('amount')
  expect(await disputedAmount(app, id)).toBe(0)
  expect(app.logged.some(({ event, fields }) => event === 'payment.disputed' && fields?.['booked'] === false)).toBe(true)
  expect(await findProblems(app)).toEqual([])
})

test('keeps two disputes of one payment apart, and reports disputes that differ from the books', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  await reportDispute(app, id, { ...opened, amount: 400 })
  await reportDispute(app, id, { ...opened, reference: 'dp_2', amount: 600 })
  expect(await disputedAmount(app, id)).toBe(1_000)
  expect(await findProblems(app)).toEqual([])
  const [{ id: disputeId }] = await disputesOf(shop, id)
  await app.deps.db.write(async (tx) => void (await tx.update(disputes).set({ status: 'WON' })))
  expect(await findProblems(app)).toHaveLength(2)
  expect((await findProblems(app))[0]).toBe(`Dispute ${disputeId} is WON: it took 0, and 400 in the books`)
})

test('separates refunded money from disputed money', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  await reportDispute(app, id, { ...opened, state: 'LOST' })
  ok(await shop.refund(id, { amount: shop.usd(100) }))
  expect(await shop.order(id)).toMatchObject({ refundedTotal: shop.usd(100), disputes: [{ status: 'LOST' }] })
  expect(await findProblems(app)).toEqual([])
})

test('never books more disputed money than was captured, also for a dispute that is lost after it was won', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  await reportDispute(app, id, { ...opened, amount: 700 })
  await reportDispute(app, id, { ...opened, reference: 'dp_2', amount: 900_000 })
  expect(await disputedAmount(app, id)).toBe(1_000)
  const [, second] = await disputesOf(shop, id)
  expect(second).toMatchObject({ reference: 'dp_2', amount: shop.usd(300), status: 'OPEN' })
  expect((await shop.order(id)).events.at(-1).detail).toMatchObject({ amount: shop.usd(300), told: shop.usd(900_000) })
  await reportDispute(app, id, { ...opened, reference: 'dp_3', amount: 1 })
  expect(await disputedAmount(app, id)).toBe(1_000)
  await reportDispute(app, id, { ...opened, amount: 700, state: 'WON' })
  await reportDispute(app, id, { ...opened, reference: 'dp_4', amount: 500 })
  await reportDispute(app, id, { ...opened, amount: 700, state: 'LOST' })
  expect(await disputedAmount(app, id)).toBe(1_000)
  expect((await disputesOf(shop, id)).map(({ amount }: Json) => amount.amount)).toEqual([200, 300, 0, 500])
  expect(await findProblems(app)).toEqual([])
})

test('books no dispute of an unpaid payment, and captures first when the processor has the money', async () => {
  await using app = await testApp()
  let isPaid = false
  let message: ProcessorMessage = { id: 'one', payment: undefined }
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('REQUIRES_ACTION'),
    retrieve: async () => (isPaid ? paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }) : paymentAnswer('REQUIRES_ACTION')),
    readMessage: async () => message,
  })
  const { order } = ok(await shop.buy()).body
  const send = async (id: string, dispute: ReportedDispute) => {
    message = { id, payment: { paymentId: order.payments[0].id, reference: undefined }, dispute }
    ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
    await app.jobs.messages()
  }
  await send('one', opened)
  expect(await disputedAmount(app, order.id)).toBe(0)
  isPaid = true
  await send('two', { ...opened, reference: 'dp_2' })
  expect(await disputedAmount(app, order.id)).toBe(1_000)
  expect(await findProblems(app)).toEqual([])
})

test('keeps a dispute of an unknown payment without booking it, and reports it in souk check after a while', async () => {
  await using app = await testApp()
  const payment = { paymentId: undefined, reference: 'another' }
  const oddReference = 'dp "\\1'
  const shop = await sellingWithProcessor(app, {
    readMessage: async () => ({ id: 'one', payment, dispute: { ...opened, reference: oddReference } }),
  })
  const findDisputeWork = async () => {
    for await (const { subject, problems: all, isWork } of bookFindings(app.deps.db))
      if (subject === 'disputes of unknown payments') return [isWork, all]
    return undefined
  }
  ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
  for (let runs = 0; runs < 8; runs++) {
    await app.jobs.messages()
    app.clock.advance(30 * 60_000)
  }
  expect(app.logged.filter(({ event }) => event === 'payment_message.unknown_dispute')).toMatchObject([
    { level: 'error', fields: { processor: 'scripted', reference: oddReference, amount: 1_000, currency: 'USD' } },
  ])
  const stored = await app.deps.db.read.select().from(paymentMessages)
  expect(stored).toMatchObject([{ dispute: { ...opened, reference: oddReference }, resumeAt: null }])
  expect((await booksOf(app)).movements).toEqual([])
  expect(await findDisputeWork()).toEqual([
    true,
    [`Dispute ${oddReference} at scripted: OPEN, 1000 USD (minor units). Find its payment there`],
  ])
  // A recorded dispute of this processor with the same reference is not listed, even with special characters.
  const sold = await shop.placeOrder()
  await reportDispute(app, sold.id, { ...opened, reference: oddReference })
  expect(await findDisputeWork()).toEqual([true, [expect.stringContaining('at scripted')]])
  const { order } = ok(await shop.buy()).body
  await reportDispute(app, order.id, { ...opened, reference: oddReference })
  expect(await findDisputeWork()).toEqual([true, []])
})
