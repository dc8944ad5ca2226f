/** Two processes pay, change or delete the same draft at the same time. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { browserOn, draftsOf, formOf } from '../../../support/drafts.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const rounds = 6

/** Starts two processes on one database with a shop. */
async function startTwoProcesses() {
  const app = await testApp()
  const shop = await sellingIn(app, { onHand: 100 })
  const otherApp = await testApp({}, { database: app.database, as: 'command', startAt: app.clock.now() })
  return {
    app,
    otherApp,
    shop,
    drafts: draftsOf(shop),
    draft: async () => ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201).body,
    orders: async () => ok(await shop.get('/v2/orders?limit=100')).body.data as { status: string; total: { amount: number } }[],
    async [Symbol.asyncDispose]() {
      await otherApp.close()
      await app.close()
    },
  }
}

test('creates one order and one payment when two processes pay a draft at the same time', async () => {
  await using world = await startTwoProcesses()
  for (let round = 1; round <= rounds; round++) {
    const { payUrl } = await world.draft()
    const [page, otherPage] = [browserOn(world.app, payUrl), browserOn(world.otherApp, payUrl)]
    const [form, otherForm] = [formOf(await page.look(), 'pay'), formOf(await otherPage.look(), 'pay')]
    const answers = await Promise.all([page.send(form), otherPage.send(otherForm), otherPage.send(form), page.send(otherForm)])
    for (const { status } of answers) expect([200, 303]).toContain(status)
    expect((await world.orders()).map(({ status }) => status)).toEqual(Array.from({ length: round }, () => 'CONFIRMED'))
    expect((await page.look()).text).toContain('Payment received')
  }
  const books = await booksOf(world.app)
  expect(violationsAtRest(books)).toEqual([])
  expect(books.payments.length).toBe(rounds)
  expect(await world.shop.stock()).toEqual({ onHand: 100 - rounds, reserved: 0 })
})

test('charges the price that was shown, or nothing, when the shop changes a draft during its payment', async () => {
  await using world = await startTwoProcesses()
  for (let round = 1; round <= rounds; round++) {
    const { id, payUrl } = await world.draft()
    const page = browserOn(world.otherApp, payUrl)
    const form = formOf(await page.look(), 'pay')
    const newPrice = { lines: [{ variantId: world.shop.variantId, quantity: 1, unitPrice: world.shop.money(5_000) }] }
    const [changed] = await Promise.all([world.drafts.change(id, newPrice), page.send(form)])
    expect([200, 409]).toContain(changed.status)
    const { status, totals } = await world.drafts.read(id)
    // The page never showed the new price, so it cannot charge that price.
    expect([status, totals.total.amount]).toEqual(changed.status === 200 ? ['OPEN', 5_000] : ['COMPLETED', 1_000])
  }
  expect((await world.orders()).every(({ total }) => total.amount === 1_000)).toBe(true)
})

test('either deletes a draft or sells it when both happen at the same time', async () => {
  await using world = await startTwoProcesses()
  let sold = 0
  for (let round = 1; round <= rounds; round++) {
    const { id, payUrl } = await world.draft()
    const page = browserOn(world.otherApp, payUrl)
    const form = formOf(await page.look(), 'pay')
    const [removed] = await Promise.all([world.drafts.remove(id), page.send(form)])
    expect([204, 409]).toContain(removed.status)
    if (removed.status === 409) sold++
    expect((await world.shop.get(`/v2/orders/drafts/${id}`)).status).toBe(removed.status === 204 ? 404 : 200)
    expect((await world.orders()).length).toBe(sold)
  }
  expect(violationsAtRest(await booksOf(world.app))).toEqual([])
})
