/** Tests that concurrent writes, which may share a transaction, end as they would alone. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { DatabaseOutcomeUnknown, isUniqueViolation, NothingChanged, type WriteOptions, type Writer } from '../../db/engine.ts'
import { openPostgres } from '../../db/postgres/engine.ts'
import { insertAllOf, insertOf, prepareSure, rowsOf } from '../../db/prepared.ts'
import { attempts } from '../../db/schema/people.ts'
import { openTestDatabase } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const inGroup: WriteOptions = { isolation: 'locking', group: 'test' }
const row = (id: string, at = 0) => ({ id, bucket: 'test', at })
const times = <T>(count: number, make: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => make(nth))
const insert = insertOf(attempts)
const insertAll = insertAllOf(attempts)
const insertIfNew = insertOf(attempts, 'leave')
const findById = rowsOf(attempts, ['id'])
const findByBucket = rowsOf(attempts, ['bucket'], sql`${attempts.id}`)
const countUp = prepareSure(
  (queries) =>
    queries
      .update(attempts)
      .set({ at: sql`${attempts.at} + 1` })
      .where(eq(attempts.id, sql.placeholder('id'))),
  { row: 'id' },
)
const asValue = (error: unknown) => error
/** Opens a connection outside the engine. */
async function openOther(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

test('concurrent writes are stored with all their rows, run their effects once, and share commits on PostgreSQL', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write((tx) => insert(tx, row('counter')))
  const before = { ...db.stats }
  const effects: number[] = []
  const values = await Promise.all(
    times(40, (nth) =>
      db.write(async (tx) => {
        await tx.run(countUp, { id: 'counter' })
        await insert(tx, row(`one ${nth}`, nth))
        await insertAll(tx, [row(`two ${nth}`, nth), row(`three ${nth}`, nth)])
        tx.afterCommit(() => effects.push(nth))
        return nth
      }, inGroup),
    ),
  )
  expect(values).toEqual(times(40, (nth) => nth))
  expect(effects.sort((a, b) => a - b)).toEqual(values)
  const rows = await db.read.all(findByBucket, { bucket: 'test' })
  const inserted = times(40, (nth) => ['one', 'two', 'three'].map((word) => row(`${word} ${nth}`, nth))).flat()
  expect(rows).toEqual([...inserted, row('counter', 40)].sort((a, b) => (a.id < b.id ? -1 : 1)))
  expect(db.stats.writes - before.writes).toBe(40)
  expect(db.stats.commits - before.commits).toBeLessThan(10)
})

test('each of several concurrent writes ends as it would alone, whatever happens to the others', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write((tx) => insertAll(tx, [row('a'), row('b'), row('taken')]))
  const works: Record<string, (tx: Writer) => Promise<unknown>> = {
    first: async (tx) => tx.run(countUp, { id: 'a' }),
    succeeds: async (tx) => {
      await tx.run(countUp, { id: 'b' })
      await insertIfNew(tx, row('taken', 7))
      return 'done'
    },
    'updates a missing row': async (tx) => {
      await insert(tx, row('never'))
      await tx.run(countUp, { id: 'nobody' })
    },
    'inserts a taken key': (tx) => insert(tx, row('taken')),
    throws: async (tx) => {
      await insert(tx, row('never'))
      throw new Error('own error')
    },
    'awaits a read': async (tx) => {
      const counter = await tx.first(findById, { id: 'taken' })
      await insert(tx, row('read', counter?.at))
      return counter
    },
    'uses the query builder': async (tx) => tx.select({ id: attempts.id }).from(attempts).where(eq(attempts.id, 'taken')),
    'updates rows in another order': async (tx) => {
      await tx.run(countUp, { id: 'b' })
      await tx.run(countUp, { id: 'a' })
    },
  }
  const names = Object.keys(works)
  const outcomes = await Promise.all(Object.values(works).map((work) => db.write(work, inGroup).catch(asValue)))
  const outcomeOf = (name: string) => outcomes[names.indexOf(name)]
  expect(outcomeOf('succeeds')).toBe('done')
  expect(outcomeOf('updates a missing row')).toBeInstanceOf(NothingChanged)
  expect(isUniqueViolation(outcomeOf('inserts a taken key'))).toBe(true)
  expect(outcomeOf('throws')).toMatchObject({ message: 'own error' })
  expect(outcomeOf('awaits a read')).toEqual(row('taken'))
  expect(outcomeOf('uses the query builder')).toEqual([{ id: 'taken' }])
  expect(await db.read.all(findByBucket, { bucket: 'test' })).toEqual([row('a', 2), row('b', 2), row('read'), row('taken')])
  await Promise.all(times(3, () => db.write(async (tx) => tx.run(countUp, { id: 'a' }), inGroup)))
  expect((await db.read.first(findById, { id: 'a' }))?.at).toBe(5)
})

test('a write in a group may not begin another write, and its transaction cannot be used afterwards', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  let savedTx: Writer | undefined
  const works: ((tx: Writer) => Promise<unknown>)[] = [
    (tx) => insert(tx, row('first')),
    async (tx) => {
      savedTx = tx
      await insert(tx, row('second'))
    },
    () => db.write((tx) => insert(tx, row('nested')), inGroup),
  ]
  const outcomes = await Promise.all(works.map((work) => db.write(work, inGroup).catch(asValue)))
  expect(outcomes[2]).toMatchObject({ message: 'a database work may not begin another write' })
  expect(await insert(savedTx as Writer, row('late')).catch(asValue)).toMatchObject({ message: expect.stringContaining('after its work') })
  expect((await db.read.all(findByBucket, { bucket: 'test' })).map(({ id }) => id)).toEqual(['first', 'second'])
})

describe.skipIf(engine !== 'postgres')('on Postgres', () => {
  test('writes of two processes that take the same rows in different orders never deadlock', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const other = openPostgres(opened.url, Math.random)
    const ids = times(8, (nth) => `row ${nth}`)
    await db.write((tx) =>
      insertAll(
        tx,
        ids.map((id) => row(id)),
      ),
    )
    const countAll = (which: typeof db, order: readonly string[]) =>
      order.map((id) => which.write(async (tx) => tx.run(countUp, { id }), inGroup))
    for (let round = 0; round < 20; round++) await Promise.all([...countAll(db, ids), ...countAll(other, ids.toReversed())])
    expect(await db.read.all(findByBucket, { bucket: 'test' })).toEqual(ids.map((id) => row(id, 40)))
    expect(db.stats.retries + other.stats.retries).toBe(0)
    await other.close()
  })

  test('a write that waits for a locked row does not hold up its group, and ends once it has the row', async () => {
    await using opened = await openTestDatabase()
    const { db, url } = opened
    const ids = ['a', 'b', 'c', 'd']
    await db.write((tx) =>
      insertAll(
        tx,
        ids.map((id) => row(id)),
      ),
    )
    await using other = await openOther(url)
    await other.client.query(`begin; select 1 from attempts where id = 'a' for update`)
    const ended: string[] = []
    const works = ['b', 'c', 'a', 'd'].map(async (id) => {
      await db.write(async (tx) => tx.run(countUp, { id }), inGroup)
      ended.push(id)
    })
    await Promise.all([works[0], works[1], works[3]])
    expect(ended).not.toContain('a')
    await other.client.query('commit')
    await Promise.all(works)
    expect(await db.read.all(findByBucket, { bucket: 'test' })).toEqual(ids.map((id) => row(id, 1)))
  })

  test('writes whose connection is lost have an unknown outcome and are not stored, and the next ones use another connection', async () => {
    await using opened = await openTestDatabase()
    const { db, url } = opened
    const ids = ['a', 'b', 'c', 'd']
    await db.write((tx) =>
      insertAll(
        tx,
        ids.map((id) => row(id)),
      ),
    )
    await using other = await openOther(url)
    await other.client.query(`begin; select 1 from attempts where id = 'c' for update`)
    const count = (id: string) => db.write(async (tx) => tx.run(countUp, { id }), inGroup).catch(asValue)
    const works = ids.map(count)
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    while ((await other.client.query(end)).rowCount === 0) await Bun.sleep(1)
    const [first, ...others] = await Promise.all(works)
    expect(first).toBeUndefined()
    expect(others.map((error) => error instanceof DatabaseOutcomeUnknown)).toEqual([true, true, true])
    await other.client.query('commit')
    expect(await db.read.all(findByBucket, { bucket: 'test' })).toEqual([row('a', 1), row('b'), row('c'), row('d')])
    expect(await Promise.all(ids.map(count))).toEqual([undefined, undefined, undefined, undefined])
  })
})
