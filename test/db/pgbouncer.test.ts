/** Tests PostgreSQL behind a pooler in transaction mode. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { DatabaseUnavailable } from '../../db/engine.ts'
import { postgresMigrations } from '../../db/migrations/index.ts'
import { withTarget } from '../../db/moving/target.ts'
import { openPostgres } from '../../db/postgres/engine.ts'
import { insertOf, rowsOf } from '../../db/prepared.ts'
import { attempts } from '../../db/schema/people.ts'
import { testApp } from '../support/app.ts'
import { emptyPostgres, openTestDatabase, testDatabase } from '../support/database.ts'
import { startPgBouncer, whyNoPgBouncer } from '../support/pgbouncer.ts'
import { sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

if (engine === 'postgres' && whyNoPgBouncer) process.stderr.write(`skipped: ${whyNoPgBouncer}\n`)
const row = (id: string) => ({ id, bucket: 'test', at: 0 })

describe.skipIf(engine !== 'postgres' || whyNoPgBouncer !== undefined)('PgBouncer in transaction mode', () => {
  test('behind PgBouncer, concurrent carts become orders and reads are correct', async () => {
    const database = await testDatabase()
    await using bouncer = await startPgBouncer(database.url, 3)
    {
      await using app = await testApp({}, { database: { ...database, url: bouncer.url } })
      const shop = await sellingIn(app, { onHand: 100 })
      const placeOrder = async () => {
        const checkout = await shop.checkout(await shop.cart())
        return [checkout.status, checkout.body.order.status]
      }
      // First one after the other, so that every connection prepares every statement once.
      for (let nth = 0; nth < 3; nth++) expect(await placeOrder()).toEqual([201, 'CONFIRMED'])
      expect(await Promise.all(Array.from({ length: 8 }, placeOrder))).toEqual(Array(8).fill([201, 'CONFIRMED']))
      const orders = await shop.get('/v2/orders')
      expect(orders.body.total).toBe(11)
      const [one] = orders.body.data
      expect((await shop.order(one.id)).status).toBe('CONFIRMED')
      expect((await app.call('GET', '/health/ready')).status).toBe(200)
    }
    await database.drop()
  })

  test('behind PgBouncer, no session setting is left for the next client, and timeouts still apply', async () => {
    await using of = await openTestDatabase()
    await using bouncer = await startPgBouncer(of.url, 1)
    const db = openPostgres(bouncer.url, Math.random, { timeouts: { statement: 300, answer: 60_000 } })
    await db.write((tx) => insertOf(attempts)(tx, row('a')))
    expect(await Promise.all(Array.from({ length: 5 }, () => db.read.first(rowsOf(attempts, ['id']), { id: 'a' })))).toEqual(
      Array(5).fill(row('a')),
    )
    const refused = await db.write((tx) => tx.rows(sql`select pg_sleep(60)`)).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(DatabaseUnavailable)
    const slowRead = await db.read.rows(sql`select pg_sleep(60)`).catch((error: unknown) => error)
    expect((slowRead as Error).cause).toBeInstanceOf(DatabaseUnavailable)
    // The pooler gives the same server connection to another client.
    const other = new pg.Client({ connectionString: bouncer.url })
    await other.connect()
    const { rows } = await other.query("select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock")
    expect(rows).toEqual([{ statement: '0', lock: '0' }])
    expect((await other.query('select name from pg_prepared_statements')).rows).toEqual([])
    await other.end()
    await db.close()
  })

  test('behind PgBouncer, souk move leaves no session setting for the next client', async () => {
    const target = await emptyPostgres()
    {
      await using bouncer = await startPgBouncer(target.url, 1)
      const run = { fingerprint: 'a', migrations: postgresMigrations, now: 0 }
      const moving = withTarget(bouncer.url, run, async (to) => {
        await to.put('attempts', ['id', 'bucket', 'at'], { upTo: 1n, rows: 1, sum: 0n, lines: Buffer.from('a\tb\t0\n') }, () => undefined)
        expect(await to.figures('attempts', ['at'])).toEqual(['1', '0', '0'])
        await to.lines('attempts', ['id'], (line) => expect(Buffer.from(line).toString()).toBe('a'))
        // As if the process were killed.
        throw new Error('stopped')
      })
      await expect(moving).rejects.toThrow('stopped')
      const other = new pg.Client({ connectionString: bouncer.url })
      await other.connect()
      const changedSettings = "('synchronous_commit', 'statement_timeout', 'bytea_output')"
      expect((await other.query(`select name from pg_settings where source = 'session' and name in ${changedSettings}`)).rows).toEqual([])
      await other.end()
    }
    await target.drop()
  })
})
