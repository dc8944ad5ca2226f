/** Tests orders while a PostgreSQL standby takes over. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { isDatabaseAway } from '../../db/engine.ts'
import { openPostgres } from '../../db/postgres/engine.ts'
import { wasMigrated } from '../../db/postgres/migrate.ts'
import { testApp } from '../support/app.ts'
import { temporaryDir } from '../support/database.ts'
import { postgresPair, whyNoPostgres } from '../support/postgres-pair.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

if (engine === 'postgres' && whyNoPostgres) process.stderr.write(`skipped: ${whyNoPostgres}\n`)
const shoppers = 8

test.skipIf(engine !== 'postgres' || whyNoPostgres !== undefined)(
  'when the first of two servers is killed, the second takes over, no order is lost, and responses are 201 or 503',
  async () => {
    await using pair = await postgresPair()
    // A standby alone refuses writes, and souk reports the database as unavailable. If named first, it is skipped.
    const standby = openPostgres(pair.standby, Math.random)
    for (const isolation of ['serializable', 'locking'] as const) {
      const refused = await standby.write((tx) => tx.rows(sql`create table t (id int)`), { isolation }).catch((error: unknown) => error)
      expect(isDatabaseAway(refused)).toBe(true)
    }
    await standby.close()
    const standbyFirst = openPostgres(pair.standbyFirst, Math.random)
    await standbyFirst.write((tx) => tx.rows(sql`select pg_current_wal_lsn()`))
    await standbyFirst.close()

    const database = { url: pair.url, dataDir: temporaryDir(), drop: async () => undefined }
    await using app = await testApp({}, { database })
    const shop = await sellingIn(app, { onHand: 100_000 })
    const placed = new Map<string, number>()
    const answers: number[] = []
    let isOver = false
    let isPromoted = false
    let after = 0
    const shopping = Array.from({ length: shoppers }, async (_, nth) => {
      while (!isOver) {
        // Carts are not acknowledged writes, so the test retries until one exists.
        const cartId = await shop.cart({ email: `shopper${nth}@example.com` }).catch(() => undefined)
        // After a 503 the client retries with the same key and learns the order's state.
        const key = crypto.randomUUID()
        for (let isAnswered = cartId === undefined; !isAnswered && !isOver; ) {
          const { status, body } = await shop.checkout(cartId ?? '', {}, key)
          answers.push(status)
          isAnswered = status !== 503
          if (status !== 201) continue
          placed.set(body.order.id, body.order.number)
          if (isPromoted) after++
        }
      }
    })
    while (placed.size < 30) await Bun.sleep(1)
    pair.kill()
    await pair.promote()
    isPromoted = true
    while (after < 30) await Bun.sleep(1)
    isOver = true
    await Promise.all(shopping)
    expect(answers.filter((status) => status !== 201 && status !== 503)).toEqual([])

    expect(await wasMigrated(pair.url)).toBe(true)
    // After a restart every acknowledged order is there once.
    const reconnected = openPostgres(pair.url, Math.random)
    const storedOrders = await reconnected.read.rows<{ id: string; number: number }>(sql`select id, number from orders`)
    await reconnected.close()
    const numbers = new Map(storedOrders.map(({ id, number }) => [id, number]))
    expect([...placed].filter(([id, number]) => numbers.get(id) !== number)).toEqual([])
    expect(new Set(numbers.values()).size).toBe(storedOrders.length)
  },
  60_000,
)
