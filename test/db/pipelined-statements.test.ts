/** Tests writes and reads that are sent in one message. */
import { expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { isUniqueViolation, NothingChanged } from '../../db/engine.ts'
import { insertOf, lockAsKnownOf, prepare, prepareSure, rowsOf, sureChangeOf } from '../../db/prepared.ts'
import { attempts } from '../../db/schema/people.ts'
import { openTestDatabase } from '../support/database.ts'

const row = (id: string, at = 0) => ({ id, bucket: 'test', at })
const locking = { isolation: 'locking' } as const
const insert = insertOf(attempts)
const findById = rowsOf(attempts, ['id'])
const findByBucket = rowsOf(attempts, ['bucket'])
const setAt = sureChangeOf(attempts, eq(attempts.id, sql.placeholder('which')))
const lockAsKnown = lockAsKnownOf(attempts, 'id', ['bucket', 'at'])
const assertExists = prepareSure(
  (queries) =>
    queries
      .select({ one: sql`1`.as('one') })
      .from(attempts)
      .where(eq(attempts.id, sql.placeholder('which'))),
  'behind',
)
const broken = prepare((queries) => queries.select({ at: sql<number | null>`cast(${attempts.id} as integer) / 0` }).from(attempts))

test('a write that awaits nothing is stored completely or not at all, and then runs its effects', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const effects: string[] = []
  const insertBoth = (one: string, other: string) =>
    db.write(async (tx) => {
      await insert(tx, row(one))
      await insert(tx, row(other))
      tx.afterCommit(() => effects.push(one))
    }, locking)
  await insertBoth('a', 'b')
  expect(await insertBoth('c', 'b').catch(isUniqueViolation)).toBe(true)
  await insertBoth('c', 'd')
  expect(effects).toEqual(['a', 'c'])
  expect((await db.read.all(findByBucket, { bucket: 'test' })).map(({ id }) => id).sort()).toEqual(['a', 'b', 'c', 'd'])
})

test('a write fails with NothingChanged if its row is missing or differs from the expected one, and is rolled back', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write((tx) => insert(tx, row('a')), locking)
  const changeIfUnchanged = (id: string, expected: ReturnType<typeof row>) =>
    db
      .write(async (tx) => {
        await insert(tx, row(`beside ${id}`))
        await lockAsKnown(tx, expected)
        await setAt(tx, { at: 1 }, { which: id })
      }, locking)
      .catch((error: unknown) => error)
  expect(await changeIfUnchanged('nobody', row('a'))).toBeInstanceOf(NothingChanged)
  expect(await changeIfUnchanged('a', row('a', 7))).toBeInstanceOf(NothingChanged)
  expect(await db.read.all(findByBucket, { bucket: 'test' })).toEqual([row('a')])
  expect(await changeIfUnchanged('a', row('a'))).toBeUndefined()
  expect(await db.read.first(findById, { id: 'a' })).toEqual(row('a', 1))
})

test('a write fails with NothingChanged if a read that must find a row finds none, and is rolled back', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const insertIfExists = (which: string) =>
    db
      .write(async (tx) => {
        await insert(tx, row('a'))
        await tx.run(assertExists, { which })
      }, locking)
      .catch((error: unknown) => error)
  expect(await insertIfExists('b')).toBeInstanceOf(NothingChanged)
  expect(await db.read.all(findByBucket, { bucket: 'test' })).toEqual([])
  expect(await insertIfExists('a')).toBeUndefined()
  expect(await db.read.all(findByBucket, { bucket: 'test' })).toEqual([row('a')])
})

test('reads sent together get their own rows, and one that fails does not affect the others', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write((tx) => insert(tx, row('a', 5)), locking)
  const findA = () => db.read.first(findById, { id: 'a' })
  const outcomes = await Promise.allSettled([
    findA(),
    findA(),
    (async () => db.read.all(broken))(),
    findA(),
    db.read.first(findById, { id: 'b' }),
  ])
  const [one, other, failed, behind, none] = outcomes.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.status))
  expect([one, other, behind, none]).toEqual([row('a', 5), row('a', 5), row('a', 5), undefined])
  expect(one).not.toBe(other)
  // In SQLite, a division by zero is null.
  expect(failed).toEqual(db.version() === undefined ? 'rejected' : [{ at: null }])
})

test('nested snapshots read as of the same moment', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write((tx) => insert(tx, row('a', 5)), locking)
  const all = db.read.inSnapshot(() => [
    db.read.first(findById, { id: 'a' }),
    ...db.read.inSnapshot(() => [db.read.first(findById, { id: 'b' }), db.read.all(findByBucket, { bucket: 'test' })]),
  ])
  expect(await Promise.all(all)).toEqual([row('a', 5), undefined, [row('a', 5)]])
})
