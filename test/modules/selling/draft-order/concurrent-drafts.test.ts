/** Two processes pay, change or delete the same draft at the same time. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { browserOn, draftsOf, formOf } from '../../../support/drafts.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const rounds = 6

/** Two programs on one database, and a shop in it. */
async function two() {
  const app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const beside = await testApp({}, { database: app.database, as: 'command', startAt: app.clock.now() })
  return {
    app,
    beside,
    shop,
    drafts: draftsOf(shop),
    draft: async () => ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201).body,
    orders: async () => ok(await shop.get('/v2/orders?limit=100')).body.data as { status: string; total: { amount: number } }[],
    async [Symbol.asyncDispose]() {
      await beside.close()
      await app.close()
    },
  }
}

test('creates one order and one payment when two processes pay a draft at the same time', async () => {
  await using it = await two()
  for (let round = 1; round <= rounds; round++) {
    const { payUrl } = await it.draft()
    const [one, other] = [browserOn(it.app, payUrl), browserOn(it.beside, payUrl)]
    const [form, another] = [formOf(await one.look(), 'pay'), formOf(await other.look(), 'pay')]
    const answers = await Promise.all([one.send(form), other.send(another), other.send(form), one.send(another)])
    for (const { status } of answers) expect([200, 303]).toContain(status)
    expect((await it.orders()).map(({ status }) => status)).toEqual(Array.from({ length: round }, () => 'CONFIRMED'))
    expect((await one.look()).text).toContain('Payment received')
  }
  const books = await booksOf(it.app)
  expect(violationsAtRest(books)).toEqual([])
  expect(books.payments.length).toBe(rounds)
  expect(await it.shop.stock()).toEqual({ onHand: 100 - rounds, reserved: 0 })
})

test('charges the price that was shown, or nothing, when the shop changes a draft during its payment', async () => {
  await using it = await two()
  for (let round = 1; round <= rounds; round++) {
    const { id, payUrl } = await it.draft()
    const page = browserOn(it.beside, payUrl)
    const form = formOf(await page.look(), 'pay')
    const dearer = { lines: [{ variantId: it.shop.variantId, quantity: 1, unitPrice: it.shop.money(5_000) }] }
    const [changed] = await Promise.all([it.drafts.change(id, dearer), page.send(form)])
    expect([200, 409]).toContain(changed.status)
    const { status, totals } = await it.drafts.read(id)
    // The page never showed the new price, so it cannot have been paid.
    expect([status, totals.total.amount]).toEqual(changed.status === 200 ? ['OPEN', 5_000] : ['COMPLETED', 1_000])
  }
  expect((await it.orders()).every(({ total }) => total.amount === 1_000)).toBe(true)
})

test('either deletes a draft or sells it when both happen at the same time', async () => {
  await using it = await two()
  let sold = 0
  for (let round = 1; round <= rounds; round++) {
    const { id, payUrl } = await it.draft()
    const page = browserOn(it.beside, payUrl)
    const form = formOf(await page.look(), 'pay')
    const [removed] = await Promise.all([it.drafts.remove(id), page.send(form)])
    expect([204, 409]).toContain(removed.status)
    if (removed.status === 409) sold++
    expect((await it.shop.get(`/v2/orders/drafts/${id}`)).status).toBe(removed.status === 204 ? 404 : 200)
    expect((await it.orders()).length).toBe(sold)
  }
  expect(violationsAtRest(await booksOf(it.app))).toEqual([])
})
