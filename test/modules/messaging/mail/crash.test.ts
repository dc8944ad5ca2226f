/** Tests that a sale queues exactly one mail if the process crashes at any commit. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { orders } from '../../../../db/schema/selling.ts'
import { testApp } from '../../../support/app.ts'
import { simulateKill } from '../../../support/crash.ts'
import { testDatabase } from '../../../support/database.ts'
import { mailRows } from '../../../support/mails.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** No server listens at this address, so queued mail stays queued. */
const settings = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example' }
/** Longer than the lease of an idempotency key. */
const restartMs = 40_000
/** More commits than a sale has. */
const commitsMax = 30

test('every sale queues exactly one mail, whichever commit the process crashed after', async () => {
  let isOver = false
  let stops = 0
  for (let stopAfter = 1; !isOver && stopAfter <= commitsMax; stopAfter++) {
    const database = await testDatabase()
    try {
      const app = await testApp(settings, { database })
      const shop = await sellingIn(app)
      const cart = await shop.cart()
      const { stopped } = simulateKill(app, undefined, stopAfter)
      isOver = (await Promise.race([shop.checkout(cart, {}, 'the-key'), stopped])) !== 'stopped'
      if (!isOver) stops++
      await app.abandon()
      await using next = await testApp(settings, { database, startAt: app.clock.now() + restartMs })
      await next.jobs.resume()
      ok(
        await next.call('POST', `/cart/${cart}/checkout`, {
          key: shop.publishableKey,
          body: { method: 'card' },
          headers: { 'idempotency-key': 'the-key' },
        }),
      )
      await next.jobs.resume()
      const sold = await next.deps.db.read.select({ id: orders.id, status: orders.status }).from(orders)
      expect([stopAfter, sold.map(({ status }) => status)]).toEqual([stopAfter, ['CONFIRMED']])
      expect((await mailRows(next)).map(({ key }) => key)).toEqual(sold.map(({ id }) => `order-confirmed:${id}`))
    } finally {
      await database.drop()
    }
  }
  // At least the claim of the key, the order and the sale; and one run completed.
  expect([isOver, stops >= 3]).toEqual([true, true])
})
