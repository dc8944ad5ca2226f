/** Tests retries of conflicts and lost connections on PostgreSQL. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { DatabaseUnavailable, isUniqueViolation } from '../../db/engine.ts'
import { openPostgres } from '../../db/postgres/engine.ts'
import { wasMigrated } from '../../db/postgres/migrate.ts'
import { attempts } from '../../db/schema/people.ts'
import { runInRequest } from '../../src/core/request-context.ts'
import { asAppError } from '../../src/http/errors.ts'
import { emptyPostgres, openTestDatabase } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )
const row = (id: string, at = 0) => ({ id, bucket: 'test', at })

describe.skipIf(engine !== 'postgres')('writes and reads on PostgreSQL', () => {
  test('concurrent writes that read what the others write have a serial result', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    // Write skew: each sees no row of the other and adds one. Serially, only the first would.
    const addIfNone = (id: string) =>
      db.write(async (tx) => {
        const rows = await tx.select().from(attempts)
        if (rows.length === 0) await tx.insert(attempts).values(row(id))
      })
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 6 }, (_, nth) => addIfNone(`${round}-${nth}`)))
      expect(await db.read.select().from(attempts)).toHaveLength(1)
      await db.write(async (tx) => void (await tx.delete(attempts)))
    }
    expect(db.stats.retries).toBeGreaterThan(0)
  })

  test('parallel workers and JIT compilation are off for reads and writes', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const workers = sql`select current_setting('max_parallel_workers_per_gather') as n, current_setting('jit') as jit`
    expect(await db.read.rows(workers)).toEqual([{ n: '0', jit: 'off' }])
    expect(await db.write((tx) => tx.rows(workers))).toEqual([{ n: '0', jit: 'off' }])
  })

  test('wasMigrated recognises a souk database without changing it', async () => {
    const empty = await emptyPostgres()
    try {
      expect(await wasMigrated(empty.url)).toBe(false)
      expect(await wasMigrated(empty.url)).toBe(false)
    } finally {
      await empty.drop()
    }
    await using opened = await openTestDatabase()
    expect(await wasMigrated(opened.url)).toBe(true)
  })

  test('a server that cannot be reached is unavailable for reads and writes', async () => {
    const db = openPostgres('postgres://souk@127.0.0.1:1/nowhere', Math.random)
    const written = await failure(db.write(async (tx) => void (await tx.insert(attempts).values(row('a')))))
    expect(written).toBeInstanceOf(DatabaseUnavailable)
    expect(runInRequest('test', () => asAppError(written))).toMatchObject({
      kind: 'UNAVAILABLE',
      message: 'The database is busy: nothing was changed, try again later',
    })
    expect(asAppError(await failure(db.read.select().from(attempts).execute()))).toMatchObject({ kind: 'UNAVAILABLE' })
    expect(JSON.stringify(asAppError(written))).not.toContain('127.0.0.1')
    await db.close()
  })

  test('a connection lost during a write rolls it back, and the next write gets a new one', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const lost = await failure(
      db.write(async (tx) => {
        await tx.insert(attempts).values(row('lost'))
        await tx.rows(sql`select pg_terminate_backend(pg_backend_pid())`)
        await tx.insert(attempts).values(row('after'))
      }),
    )
    expect(lost).toBeInstanceOf(DatabaseUnavailable)
    await db.write(async (tx) => void (await tx.insert(attempts).values(row('next'))))
    expect((await db.read.select().from(attempts)).map(({ id }) => id)).toEqual(['next'])
  })

  test('a write that continues after a failed query is refused with the error of that query', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const refused = await failure(
      db.write(async (tx) => {
        await tx.insert(attempts).values(row('a'))
        await tx
          .insert(attempts)
          .values(row('a'))
          .catch(() => undefined)
      }),
    )
    expect(isUniqueViolation(refused)).toBe(true)
    expect(await db.read.select().from(attempts)).toEqual([])
    await db.write(async (tx) => void (await tx.insert(attempts).values(row('next'))))
  })

  test('writes beyond the number of connections wait, and none is lost', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    await Promise.all(
      Array.from({ length: 60 }, (_, nth) =>
        db.write(async (tx) => void (await tx.insert(attempts).values(row(String(nth).padStart(2, '0'))))),
      ),
    )
    expect(await db.read.select().from(attempts)).toHaveLength(60)
    expect(await db.read.select().from(attempts).where(eq(attempts.id, '07'))).toEqual([row('07')])
  })
})
