/** Stops the program after each commit of a first print or a mail. The next program completes each of them once. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { invoices } from '../../db/schema/invoices.ts'
import { carts } from '../../db/schema/selling.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { type CrashScenario, crash, runUninterrupted, simulateKill } from '../support/crash.ts'
import { copyOf, testDatabase } from '../support/database.ts'
import { mailServer } from '../support/mail-server.ts'
import { mailRows, sendMails } from '../support/mails.ts'
import { ok, type Selling, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hourMs = 3_600_000
/** Longer than the lease of a mail. */
const restartMs = 10 * 60_000
const settings = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example', ACCESS_TOKEN_SECONDS: '86400' }
const commitsMax = 30

/** Prepares a shop in a new database, and returns a stage on it. */
async function stageOf(
  prepare: (shop: Selling) => Promise<Pick<CrashScenario, 'operation' | 'extraRows'>>,
): Promise<CrashScenario & { [Symbol.asyncDispose]: () => Promise<void> }> {
  const database = await testDatabase()
  const app = await testApp(settings, { database })
  const prepared = await prepare(await sellingIn(app))
  const startAt = app.clock.now()
  await app.close()
  return { database, startAt, settings, ...prepared, [Symbol.asyncDispose]: () => database.drop() }
}

/** Expects the outcome of an uninterrupted run after a stop at any commit and a repetition. */
async function expectSameAfterCrashes(stage: CrashScenario): Promise<void> {
  const uninterrupted = await runUninterrupted(stage, 'here', ['untilQuiet'])
  expect([uninterrupted.problems, uninterrupted.count > 0]).toEqual([[], true])
  for (let stopAfter = 1; stopAfter <= uninterrupted.count; stopAfter++)
    for (const end of await crash(stage, 'here', stopAfter, [['sendAgain', 'untilQuiet']])) {
      expect([end.what, end.extraRows, end.problems]).toEqual([end.what, uninterrupted.extraRows, []])
      expect([end.what, end.answers.filter((status) => status >= 300)]).toEqual([end.what, []])
    }
}

test('an invoice is issued once, and a print after a crash shows the same parties', async () => {
  await using stage = await stageOf(async (shop) => {
    const { id } = await shop.placeOrder()
    return {
      operation: { method: 'GET', path: `/v2/orders/${id}/invoice`, options: { key: shop.secretKey } },
      async extraRows({ deps }: TestApp) {
        const rows = await deps.db.read.select().from(invoices)
        return rows.map(({ orderId, seller, buyer }) => ({ orderId, seller, buyer }))
      },
    }
  })
  await expectSameAfterCrashes(stage)
})

test('texts of a mail are replaced as a whole', async () => {
  const path = '/shops/v2/mail/templates/order-confirmed/en'
  await using stage = await stageOf(async ({ token }) => {
    const body = { subject: 'Thank you', intro: 'We pack it today.', closing: 'Bye' }
    return {
      operation: { method: 'PUT', path, options: { token, body } },
      async extraRows(app: TestApp) {
        const { subject, intro, closing } = ok(await app.call('GET', path, { token })).body
        return { subject, intro, closing }
      },
    }
  })
  await expectSameAfterCrashes(stage)
})

/** More carts than one write of the job handles. */
const cartCount = 130

test('mails about abandoned carts are queued once for each cart', async () => {
  await using stage = await stageOf(async (shop) => {
    await leaveCarts(shop, cartCount)
    return {
      operation: 'mailAbandonedCarts',
      async extraRows(app: TestApp) {
        const queued = await mailRows(app)
        const reminded = (await app.deps.db.read.select({ at: carts.remindedAt }).from(carts)).filter(({ at }) => at !== null)
        return [queued.length, new Set(queued.map(({ key }) => key)).size, reminded.length]
      },
    }
  })
  const { count, extraRows } = await runUninterrupted(stage, 'here', ['untilQuiet'])
  expect([count >= 2, extraRows]).toEqual([true, [cartCount, cartCount, cartCount]])
  await expectSameAfterCrashes(stage)
})

/** Leaves carts whose mail is due. */
async function leaveCarts(shop: Selling, count: number): Promise<void> {
  const { app, token } = shop
  ok(await app.call('PUT', '/shops/v2/mail', { token, body: { abandonedCartMail: { enabled: true, afterHours: 2 } } }))
  for (let nth = 0; nth < count; nth++) await shop.cart({ acceptsMarketing: true, email: `c${nth}@example.com` })
  app.clock.advance(3 * hourMs)
}

test('a mail about an abandoned cart arrives, also if the program stops while it is sent; a repetition has the same id', async () => {
  const prepared = await testDatabase()
  const first = await testApp(settings, { database: prepared })
  await leaveCarts(await sellingIn(first), 1)
  await first.jobs.mailAbandonedCarts()
  const startAt = first.clock.now()
  await first.close()
  let isOver = false
  for (let stopAfter = 1; !isOver && stopAfter <= commitsMax; stopAfter++) {
    await using server = await mailServer()
    const database = await copyOf(prepared)
    const app = await testApp({ ...settings, ...server.settings }, { database, startAt })
    const { stopped } = simulateKill(app, undefined, stopAfter)
    isOver = (await Promise.race([sendMails(app).then(() => 'sent'), stopped])) !== 'stopped'
    await app.abandon()
    const next = await testApp({ ...settings, ...server.settings }, { database, startAt: startAt + restartMs })
    for (let times = 0; times < 2; times++) {
      await next.jobs.mailAbandonedCarts()
      await sendMails(next)
      next.clock.advance(restartMs)
    }
    const ids = server.received.map(({ headers }) => headers.get('message-id'))
    expect([stopAfter, ids.length >= 1, ids.length <= 2, new Set(ids).size]).toEqual([stopAfter, true, true, 1])
    expect((await mailRows(next)).map(({ status }) => status)).toEqual(['SENT'])
    await next.close()
    await database.drop()
  }
  await prepared.drop()
  expect(isOver).toBe(true)
})
