/** A program that stops anywhere on the way of a sale: the next one leaves one mail of each sale, and none of what was none. */
import { expect, test } from 'bun:test'
import { orders } from '../../../db/schema/selling.ts'
import { testApp } from '../../support/app.ts'
import { stopping } from '../../support/crash.ts'
import { testDatabase } from '../../support/database.ts'
import { mailRows } from '../../support/mails.ts'
import { ok, sellingIn } from '../../support/selling.ts'

/** Nobody is there: what is queued stays. */
const settings = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example' }
/** Longer than the lease of an idempotency key. */
const restartMs = 40_000
const commitsMax = 8

test('of every sale there is one mail, wherever the program stopped', async () => {
  const seen = new Set<string>()
  for (let stopAfter = 1; stopAfter <= commitsMax; stopAfter++) {
    const database = await testDatabase()
    try {
      const app = await testApp(settings, { database })
      const shop = await sellingIn(app)
      const cart = await shop.cart()
      const { stopped } = stopping(app, undefined, stopAfter)
      await Promise.race([shop.checkout(cart, {}, 'the-key'), stopped])
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
      seen.add(String(stopAfter))
    } finally {
      await database.drop()
    }
  }
  expect(seen.size).toBe(commitsMax)
})
