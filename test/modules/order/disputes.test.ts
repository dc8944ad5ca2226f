/** Money that the shopper's bank took back, as messages tell of it: twice, late, and in any order. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { disputes } from '../../../db/schema/payments.ts'
import { locking } from '../../../src/core/change.ts'
import { bookFindings } from '../../../src/modules/ledger/check-store.ts'
import { noteDispute, type ToldDispute } from '../../../src/modules/order/disputes.ts'
import { paymentsOf } from '../../../src/modules/payment/index.ts'
import { type Json, type TestApp, testApp } from '../../support/app.ts'
import { booksOf, violationsOf } from '../../support/books.ts'
import { ok, type Selling, sellingIn } from '../../support/selling.ts'

const opened: ToldDispute = { reference: 'dp_1', amount: 1_000, currency: 'USD', state: 'OPEN' }

async function tell(app: TestApp, orderId: string, dispute: ToldDispute): Promise<void> {
  const [payment] = await paymentsOf(app.deps, orderId)
  if (!payment) throw new Error('no payment')
  await app.deps.db.write((tx) => noteDispute(tx, app.deps, { payment, dispute }), locking)
}

/** What disputes took, as the books have it. */
async function taken(app: TestApp, orderId: string): Promise<number> {
  const rows = (await booksOf(app)).movements.filter((row) => row.orderId === orderId)
  const sumOf = (wanted: string) => rows.filter(({ kind }) => kind === wanted).reduce((sum, { amount }) => sum + amount, 0)
  return sumOf('DISPUTE') - sumOf('DISPUTE_WON')
}

async function problems(app: TestApp): Promise<string[]> {
  const found: string[] = []
  for await (const { problems: all } of bookFindings(app.deps.db)) found.push(...all)
  return found
}

const seenBy = async (shop: Selling, id: string): Promise<Json> => (await shop.order(id)).disputes

test('a dispute takes the money while it is open, brings it back when it is won, and is told to the shop each time', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.bought()
  expect(await seenBy(shop, id)).toEqual([])
  await tell(app, id, opened)
  expect(await seenBy(shop, id)).toMatchObject([{ reference: 'dp_1', amount: shop.usd(1_000), status: 'OPEN' }])
  expect(await taken(app, id)).toBe(1_000)
  await tell(app, id, { ...opened, state: 'WON' })
  expect(await seenBy(shop, id)).toMatchObject([{ status: 'WON' }])
  expect(await taken(app, id)).toBe(0)
  const order = await shop.order(id)
  expect(order).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED', refundedTotal: shop.usd(0) })
  expect(order.events.map(({ type }: Json) => type).slice(-2)).toEqual(['DISPUTE_OPENED', 'DISPUTE_WON'])
  const told = (await booksOf(app)).outbox.filter(({ event }) => event === 'order.disputed').map(({ body }) => JSON.parse(body).data)
  expect(told).toMatchObject([
    { orderId: id, dispute: { amount: shop.usd(1_000), status: 'OPEN' } },
    { orderId: id, dispute: { status: 'WON' } },
  ])
  expect(violationsOf(await booksOf(app))).toEqual([])
  expect(await problems(app)).toEqual([])
})

test('messages of a dispute that come twice and in any order, at once or one by one, come to the same end', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 1_000 })
  const state = fc.constantFrom('OPEN', 'WON', 'LOST')
  const property = fc.asyncProperty(fc.array(state, { minLength: 1, maxLength: 6 }), fc.boolean(), async (states, atOnce) => {
    const { id } = await shop.bought()
    const all = states.map((one) => () => tell(app, id, { ...opened, state: one }))
    if (atOnce) await Promise.all(all.map((one) => one()))
    else for (const one of all) await one()
    const end = states.includes('LOST') ? 'LOST' : states.includes('WON') ? 'WON' : 'OPEN'
    expect(await seenBy(shop, id)).toMatchObject([{ status: end }])
    expect(await taken(app, id)).toBe(end === 'WON' ? 0 : 1_000)
  })
  await fc.assert(property, { numRuns: 15 })
  expect(await problems(app)).toEqual([])
})

test('a dispute in another currency than its payment’s is noted and told, and not booked', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.bought()
  await tell(app, id, { ...opened, currency: 'EUR', amount: 900 })
  const order = await shop.order(id)
  expect(order.disputes).toMatchObject([{ amount: { amount: 900, currency: 'EUR' }, status: 'OPEN' }])
  expect(order.events.at(-1)).toMatchObject({ type: 'DISPUTE_OPENED', detail: { dispute: order.disputes[0].id } })
  expect(order.events.at(-1).detail).not.toHaveProperty('amount')
  expect(await taken(app, id)).toBe(0)
  expect(app.logged.some(({ event, fields }) => event === 'payment.disputed' && fields?.['booked'] === false)).toBe(true)
  expect(await problems(app)).toEqual([])
})

test('two disputes of one payment are two; souk check names one that the books do not have as it is', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.bought()
  await tell(app, id, { ...opened, amount: 400 })
  await tell(app, id, { ...opened, reference: 'dp_2', amount: 600 })
  expect(await taken(app, id)).toBe(1_000)
  expect(await problems(app)).toEqual([])
  const [{ id: disputeId }] = await seenBy(shop, id)
  await app.deps.db.write(async (tx) => void (await tx.update(disputes).set({ status: 'WON' })))
  expect(await problems(app)).toHaveLength(2)
  expect((await problems(app))[0]).toBe(`Dispute ${disputeId} is WON: it took 0, and 400 in the books`)
})

test('what was refunded and what a dispute took are told apart', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.bought()
  await tell(app, id, { ...opened, state: 'LOST' })
  ok(await shop.refund(id, { amount: shop.usd(100) }))
  expect(await shop.order(id)).toMatchObject({ refundedTotal: shop.usd(100), disputes: [{ status: 'LOST' }] })
  expect(await problems(app)).toEqual([])
})
