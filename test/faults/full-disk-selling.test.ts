/** Fills the disk before and between a shop's writes. Each write must happen completely and once, or not at all. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { DatabaseFull } from '../../db/engine.ts'
import { carts } from '../../db/schema/selling.ts'
import { mailAbandonedCarts } from '../../src/modules/selling/abandoned-cart/index.ts'
import { type Answer, type TestApp, testApp } from '../support/app.ts'
import { booksOf, violationsAtRest, violationsOf } from '../support/books.ts'
import { usd } from '../support/catalog.ts'
import { browserOn, draftsOf, formOf } from '../support/drafts.ts'
import { mailRows } from '../support/mails.ts'
import { manualOrderOf } from '../support/manual-payments.ts'
import { requestedReturnOf, returnableOf } from '../support/returns.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { canFillDisks, fillDisk, mountSmallDisk, unmountDisks } from '../support/small-disk.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hasSmallDisks = canFillDisks()
afterAll(unmountDisks)

/** More commits than any of these requests has. */
const commitsMax = 10
const hourMs = 3_600_000

async function shopOnSmallDisk() {
  const dataDir = mountSmallDisk(16) ?? ''
  const ballast = join(dataDir, 'ballast')
  const settings = {
    ...{ DATA_DIR: dataDir, DATABASE_URL: `file:${join(dataDir, 'souk.db')}`, ACCESS_TOKEN_SECONDS: '86400' },
    // Mails stay in the queue, because no mail server listens.
    ...{ SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example' },
  }
  const app = await testApp(settings, { diskFree: () => undefined })
  const { db } = app.deps
  const write = db.write.bind(db)
  return {
    app,
    shop: await sellingIn(app, { onHand: 1_000 }),
    /** Fills the disk after this number of commits. */
    fillAfter(commits: number): void {
      let left = commits
      if (left === 0) fillDisk(ballast)
      db.write = async (work, options) => {
        const value = await write(work, options)
        if (--left === 0) fillDisk(ballast)
        return value
      }
    },
    makeRoom(): void {
      db.write = write
      rmSync(ballast, { force: true })
    },
    [Symbol.asyncDispose]: () => app.close(),
  }
}
type Disk = Awaited<ReturnType<typeof shopOnSmallDisk>>

/** A request, and its effect in the database. Equal effects before and after mean that nothing happened. */
type Act = {
  readonly send: () => Promise<Answer>
  readonly effect: () => Promise<unknown>
  /** True for a page, which shows a refusal with status 200. */
  readonly isPage?: true
}
const pageRefusal = 'Try again in a moment'
const countIn = async ({ deps }: TestApp, table: string): Promise<number> => {
  const [row] = await deps.db.read.rows<{ n: number | string }>(sql.raw(`select count(*) as n from ${table}`))
  return Number(row?.n ?? 0)
}
const withKey = () => ({ 'idempotency-key': crypto.randomUUID() })

const acts: Record<string, (disk: Disk) => Promise<Act>> = {
  async 'the first print of an invoice'({ app, shop }) {
    const { id } = await shop.placeOrder()
    return { send: () => shop.get(`/v2/orders/${id}/invoice`), effect: () => countIn(app, 'invoices') }
  },
  async 'the first print of the invoices of several orders'({ app, shop }) {
    const ids = [(await shop.placeOrder()).id, (await shop.placeOrder()).id]
    return {
      send: () => shop.get(`/v2/orders/documents?type=invoice&ids=${ids.join()}`),
      effect: () => countIn(app, 'invoices'),
    }
  },
  async 'the texts of a mail'({ app, shop }) {
    const path = '/shops/v2/mail/templates/order-confirmed/en'
    const body = { subject: 'Thank you', intro: `${crypto.randomUUID()} ${'x'.repeat(1_500)}` }
    return {
      send: () => app.call('PUT', path, { token: shop.token, body }),
      effect: async () => ok(await app.call('GET', path, { token: shop.token })).body.intro,
    }
  },
  async 'the request of a return'({ shop }) {
    const { path, body } = await returnableOf(shop)
    const headers = withKey()
    return { send: () => shop.post(path, body, headers), effect: async () => ok(await shop.get(path)).body }
  },
  async 'the approval of a return'({ shop }) {
    const { path, listPath } = await requestedReturnOf(shop)
    const headers = withKey()
    return { send: () => shop.post(`${path}/approve`, {}, headers), effect: async () => ok(await shop.get(listPath)).body }
  },
  async 'a received return with its refund'({ shop }) {
    const { path, orderId, listPath } = await requestedReturnOf(shop)
    ok(await shop.post(`${path}/approve`, {}))
    const headers = withKey()
    return {
      send: () => shop.post(`${path}/receive`, { restock: true, refund: true }, headers),
      async effect() {
        const { refundedTotal } = await shop.order(orderId)
        const { data } = ok(await shop.get(listPath)).body
        return [data.map(({ status, refund }: { status: string; refund: object | null }) => [status, refund !== null]), refundedTotal]
      },
    }
  },
  async 'the sale of a draft'({ app, shop }) {
    const drafts = draftsOf(shop)
    const draft = ok(await drafts.create({ email: 'ann@example.com' }), 201).body
    const browser = browserOn(app, draft.payUrl)
    const fields = formOf(await browser.look(), 'pay')
    return {
      send: () => browser.send(fields),
      effect: async () => [(await drafts.read(draft.id)).status, await countIn(app, 'orders')],
      isPage: true,
    }
  },
  async 'the sale of a gift card'({ app, shop }) {
    const variants = [{ price: usd(2_500) }]
    const product = ok(await shop.post('/product-v2', { title: 'Card', kind: 'GIFT_CARD', status: 'ACTIVE', variants })).body
    const cartId = await shop.cart({ variants: [product.variants[0].id], quantity: 2 })
    const key = crypto.randomUUID()
    return {
      send: () => shop.checkout(cartId, {}, key),
      effect: async () => [await countIn(app, 'orders'), await countIn(app, 'gift_cards')],
    }
  },
  async 'a payment marked as received'({ shop }) {
    const { orderId } = await manualOrderOf(shop)
    const headers = withKey()
    return {
      send: () => shop.post(`/v2/orders/${orderId}/mark-paid`, {}, headers),
      effect: async () => (await shop.order(orderId)).capturedTotal,
    }
  },
}

describe.skipIf(!hasSmallDisks)('a disk that fills up', () => {
  for (const [name, prepare] of Object.entries(acts))
    test(`${name}: is refused on a full disk, is never half-written when the disk fills between writes, and succeeds once there is room`, async () => {
      await using disk = await shopOnSmallDisk()
      const { app } = disk
      let isComplete = false
      for (let commits = 0; !isComplete && commits < commitsMax; commits++) {
        const { send, effect, isPage } = await prepare(disk)
        const before = await effect()
        disk.fillAfter(commits)
        const { status, body, text } = await send()
        isComplete = status < 400 && !(isPage && text.includes(pageRefusal))
        const after = await effect()
        if (!isComplete) expect([name, commits, status]).toEqual([name, commits, isPage ? 200 : 503])
        const refusal = isPage ? pageRefusal : 'othing was changed'
        if (commits === 0) expect([isComplete, body?.message ?? text]).toEqual([false, expect.stringContaining(refusal)])
        if (String(body?.message).includes('nothing was changed')) expect([name, commits, after]).toEqual([name, commits, before])
        expect(violationsOf(await booksOf(app))).toEqual([])
        disk.makeRoom()
        // A request that was partly executed is completed by a job or by its repetition.
        const repeated = await send()
        expect([name, commits, repeated.status < 400]).toEqual([name, commits, true])
        app.clock.advance(60_000)
        await app.jobs.resume()
        const finalEffect = await effect()
        expect([name, commits, finalEffect]).not.toEqual([name, commits, before])
        await send()
        expect([name, commits, await effect()]).toEqual([name, commits, finalEffect])
        expect(violationsAtRest(await booksOf(app))).toEqual([])
      }
      expect(isComplete).toBe(true)
    })

  test('mails about abandoned carts are neither queued nor recorded on a full disk, and queued once when there is room', async () => {
    await using disk = await shopOnSmallDisk()
    const { app, shop } = disk
    const settings = { abandonedCartMail: { enabled: true, afterHours: 2 } }
    ok(await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: settings }))
    for (const nth of [1, 2, 3]) await shop.cart({ acceptsMarketing: true, email: `c${nth}@example.com` })
    app.clock.advance(2 * hourMs + 1_000)
    const countReminders = async () => {
      const rows = await app.deps.db.read.select({ at: carts.remindedAt }).from(carts)
      return [rows.filter(({ at }) => at !== null).length, (await mailRows(app)).length]
    }
    disk.fillAfter(0)
    expect(await mailAbandonedCarts(app.deps).catch((error: unknown) => error)).toBeInstanceOf(DatabaseFull)
    expect(await countReminders()).toEqual([0, 0])
    disk.makeRoom()
    for (let times = 0; times < 2; times++) await mailAbandonedCarts(app.deps)
    expect(await countReminders()).toEqual([3, 3])
  })
})
