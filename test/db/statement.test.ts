/** Tests prepared statements on both engines. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc, eq, gte, sql } from 'drizzle-orm'
import { type Database, isUniqueViolation, type Writer } from '../../db/engine.ts'
import { prepare } from '../../db/prepared.ts'
import { attempts } from '../../db/schema/people.ts'
import { openTestDatabase } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const insert = prepare((queries) =>
  queries.insert(attempts).values({ id: sql.placeholder('id'), bucket: sql.placeholder('bucket'), at: sql.placeholder('at') }),
)
const increment = prepare((queries) =>
  queries
    .update(attempts)
    .set({ at: sql`${attempts.at} + ${sql.placeholder('by')}` })
    .where(eq(attempts.id, sql.placeholder('id')))
    .returning(),
)
const since = prepare((queries) =>
  queries
    .select()
    .from(attempts)
    .where(gte(attempts.at, sql.placeholder('at')))
    .orderBy(asc(attempts.id)),
)
const remove = prepare((queries) => queries.delete(attempts).where(eq(attempts.id, sql.placeholder('id'))))

/** Creates a work that inserts a row. */
const insertWork = (row: { id: string; bucket?: string; at?: number }) => async (tx: Writer) => tx.run(insert, row)
const row = (id: string, at = 0) => ({ id, bucket: 'test', at })
const stored = ({ read }: Database) => read.select().from(attempts).orderBy(asc(attempts.id))
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as Error,
  )

describe('a prepared statement', () => {
  test('a prepared statement reads and writes within its transaction, and maps rows like the builder', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const seen = await db.write(async (tx) => {
      await tx.run(insert, row('a', 1))
      await tx.run(insert, row('b', 2))
      await tx.run(insert, row('c', 3))
      const changed = await tx.all(increment, { id: 'b', by: 40 })
      await tx.run(remove, { id: 'c' })
      expect(await db.read.select().from(attempts)).toEqual([])
      return { changed, none: await tx.first(increment, { id: 'z', by: 1 }), since: await tx.all(since, { at: 2 }) }
    })
    expect(seen).toEqual({ changed: [row('b', 42)], none: undefined, since: [row('b', 42)] })
    expect(await stored(db)).toEqual([row('a', 1), row('b', 42)])
  })

  test('a prepared statement is rolled back with its own write only', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const outcomes = await Promise.all([
      refusalOf(db.write(insertWork(row('a')))),
      refusalOf(
        db.write(async (tx) => {
          await tx.run(insert, row('b'))
          throw new Error('changed my mind')
        }),
      ),
      refusalOf(db.write(insertWork(row('c')))),
    ])
    expect(outcomes.map((error) => error?.message)).toEqual([undefined, 'changed my mind', undefined])
    expect(await stored(db)).toEqual([row('a'), row('c')])
  })

  test('a prepared statement in concurrent writes runs in the write that calls it', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const counts = await Promise.all(
      Array.from({ length: 8 }, (_, nth) =>
        db.write(async (tx) => {
          await tx.run(insert, row(`row-${nth}`, 100 + nth))
          return (await tx.all(since, { at: 100 + nth })).some(({ id }) => id === `row-${nth}`)
        }),
      ),
    )
    expect(counts).toEqual(Array(8).fill(true))
    expect((await stored(db)).length).toBe(8)
  })

  test('a failed prepared statement has the same error as one of the builder', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    await db.write(insertWork(row('a')))
    expect(isUniqueViolation(await refusalOf(db.write(insertWork(row('a')))))).toBe(true)
    expect(await refusalOf(db.write(insertWork({ id: 'b' })))).toBeInstanceOf(Error)
    expect(await stored(db)).toEqual([row('a')])
  })

  test('a prepared statement names a missing value and stores nothing', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const refusal = await refusalOf(db.write(insertWork({ id: 'a', bucket: 'test' })))
    expect(refusal?.message).toBe('a prepared query was given no value for at')
    expect(await stored(db)).toEqual([])
  })

  test('a prepared statement is refused after its write has settled', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const saved: Writer[] = []
    await db.write(async (tx) => void saved.push(tx))
    const message = 'a transaction was used after its work had settled'
    const [tx] = saved
    if (!tx) throw new Error('no transaction was saved')
    const attemptsAfter: (() => Promise<unknown>)[] = [
      async () => tx.run(insert, row('late')),
      async () => tx.all(since, { at: 0 }),
      async () => tx.first(increment, { id: 'late', by: 1 }),
    ]
    for (const late of attemptsAfter) {
      expect((await refusalOf(late()))?.message).toBe(message)
      expect((await refusalOf(db.write(late)))?.message).toBe(message)
    }
    expect(await stored(db)).toEqual([])
  })

  test('a prepared statement works for any number of databases', async () => {
    await using one = await openTestDatabase()
    await using other = await openTestDatabase()
    await one.db.write(insertWork(row('a', 1)))
    await other.db.write(insertWork(row('b', 2)))
    expect([await one.db.read.all(since, { at: 0 }), await other.db.read.all(since, { at: 0 })]).toEqual([[row('a', 1)], [row('b', 2)]])
  })
})
