/** What a statement that was built once promises, on both engines. */
import { describe, expect, test } from 'bun:test'
import { asc, eq, gte, sql } from 'drizzle-orm'
import { type Database, isUniqueViolation, type Writer } from '../../db/engine.ts'
import { attempts } from '../../db/schema/people.ts'
import { openTestDatabase } from '../support/database.ts'

/** All that is done to one table, prepared. */
const statementsOf = ({ statement }: Database) => ({
  insert: statement((queries) =>
    queries.insert(attempts).values({ id: sql.placeholder('id'), bucket: sql.placeholder('bucket'), at: sql.placeholder('at') }),
  ),
  later: statement((queries) =>
    queries
      .update(attempts)
      .set({ at: sql`${attempts.at} + ${sql.placeholder('by')}` })
      .where(eq(attempts.id, sql.placeholder('id')))
      .returning(),
  ),
  since: statement((queries) =>
    queries
      .select()
      .from(attempts)
      .where(gte(attempts.at, sql.placeholder('at')))
      .orderBy(asc(attempts.id)),
  ),
  remove: statement((queries) => queries.delete(attempts).where(eq(attempts.id, sql.placeholder('id')))),
})
const row = (id: string, at = 0) => ({ id, bucket: 'test', at })
const stored = ({ read }: Database) => read.select().from(attempts).orderBy(asc(attempts.id))
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as Error,
  )

describe('a prepared statement', () => {
  test('a prepared statement reads and changes within the write that it is given, and maps rows as one that is built', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const { insert, later, since, remove } = statementsOf(db)
    const seen = await db.write(async (tx) => {
      await insert(tx, row('a', 1))
      await insert(tx, row('b', 2))
      await insert(tx, row('c', 3))
      const changed = await later(tx, { id: 'b', by: 40 })
      await remove(tx, { id: 'c' })
      expect(await db.read.select().from(attempts)).toEqual([])
      return { changed, none: await later(tx, { id: 'z', by: 1 }), since: await since(tx, { at: 2 }) }
    })
    expect(seen).toEqual({ changed: [row('b', 42)], none: [], since: [row('b', 42)] })
    expect(await stored(db)).toEqual([row('a', 1), row('b', 42)])
  })

  test('a prepared statement is rolled back with its write, and with no other', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const { insert } = statementsOf(db)
    const outcomes = await Promise.all([
      refusalOf(db.write((tx) => insert(tx, row('a')))),
      refusalOf(
        db.write(async (tx) => {
          await insert(tx, row('b'))
          throw new Error('changed my mind')
        }),
      ),
      refusalOf(db.write((tx) => insert(tx, row('c')))),
    ])
    expect(outcomes.map((error) => error?.message)).toEqual([undefined, 'changed my mind', undefined])
    expect(await stored(db)).toEqual([row('a'), row('c')])
  })

  test('a prepared statement in many writes at once runs in the one that asks', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const { insert, since } = statementsOf(db)
    const counts = await Promise.all(
      Array.from({ length: 8 }, (_, nth) =>
        db.write(async (tx) => {
          await insert(tx, row(`row-${nth}`, 100 + nth))
          return (await since(tx, { at: 100 + nth })).some(({ id }) => id === `row-${nth}`)
        }),
      ),
    )
    expect(counts).toEqual(Array(8).fill(true))
    expect((await stored(db)).length).toBe(8)
  })

  test('a prepared statement fails as one that is built: the engine’s refusal is known again', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const { insert } = statementsOf(db)
    await db.write((tx) => insert(tx, row('a')))
    expect(isUniqueViolation(await refusalOf(db.write((tx) => insert(tx, row('a')))))).toBe(true)
    expect(await refusalOf(db.write((tx) => insert(tx, { id: 'b' })))).toBeInstanceOf(Error)
    expect(await stored(db)).toEqual([row('a')])
  })

  test('a prepared statement is refused once its write has settled, and without one', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const { insert } = statementsOf(db)
    const kept: Writer[] = []
    await db.write(async (tx) => void kept.push(tx))
    const message = 'a transaction was used after its work had settled'
    for (const tx of [...kept, {} as Writer]) {
      expect((await refusalOf(insert(tx, row('late'))))?.message).toBe(message)
      expect((await refusalOf(db.write(() => insert(tx, row('late')))))?.message).toBe(message)
    }
    expect(await stored(db)).toEqual([])
  })
})
