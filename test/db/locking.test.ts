/** Tests locking writes and inserts of many rows on both engines. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc, eq, sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { isUniqueViolation, type Writer } from '../../db/engine.ts'
import { insertAllOf, insertOf, lockedRowsIn, lockedRowsOf, prepare, prepareLocking, rowsOf, updateOf } from '../../db/prepared.ts'
import { attempts, sessions } from '../../db/schema/people.ts'
import { shops } from '../../db/schema/shop.ts'
import { openTestDatabase } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const row = (id: string, at = 0) => ({ id, bucket: 'test', at })
const locking = { isolation: 'locking' } as const
const insert = insertOf(attempts)
const insertAll = insertAllOf(attempts)
const findById = rowsOf(attempts, ['id'])
const lockById = lockedRowsOf(attempts, ['id'])
const lockByIds = lockedRowsIn(attempts, 'id')
const setAt = updateOf(attempts, eq(attempts.id, sql.placeholder('which')))

test('concurrent locking writes that increment a locked row lose no increment and are not retried', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write((tx) => insert(tx, row('counter')))
  const countUp = async (tx: Writer) => {
    const counter = await tx.first(lockById, { id: 'counter' })
    await setAt(tx, { at: (counter?.at ?? 0) + 1 }, { which: 'counter' })
  }
  await Promise.all(Array.from({ length: 40 }, () => db.write(countUp, locking)))
  expect((await db.read.first(findById, { id: 'counter' }))?.at).toBe(40)
  expect(db.stats.retries).toBe(0)
})

test('writes that lock several rows never deadlock, in whatever order the rows are named', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const ids = Array.from({ length: 7 }, (_, nth) => `row${nth}`)
  await db.write((tx) =>
    insertAll(
      tx,
      ids.map((id) => row(id)),
    ),
  )
  const countAllUp = (named: string[]) =>
    db.write(async (tx) => {
      for (const { id, at } of await lockByIds(tx, named)) await setAt(tx, { at: at + 1 }, { which: id })
    }, locking)
  await Promise.all(Array.from({ length: 20 }, (_, nth) => countAllUp(nth % 2 ? ids : ids.toReversed())))
  expect(await db.read.select().from(attempts).orderBy(asc(attempts.id))).toEqual(ids.map((id) => row(id, 20)))
  expect(db.stats.retries).toBe(0)
})

test('locking returns the rows that exist, once each and in order, for any number of ids', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const ids = Array.from({ length: 150 }, (_, nth) => `row${String(nth).padStart(3, '0')}`)
  await db.write((tx) =>
    insertAll(
      tx,
      ids.map((id) => row(id)),
    ),
  )
  for (const count of [0, 1, 2, 3, 64, 65, 150]) {
    const existingIds = ids.slice(0, count)
    const named = [...existingIds.toReversed(), ...existingIds, 'nobody']
    expect(await db.write(async (tx) => (await lockByIds(tx, named)).map(({ id }) => id), locking)).toEqual(existingIds)
  }
})

test('a serializable write is retried when a locking write changed a row that it locks or changes', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write((tx) =>
    insertAll(
      tx,
      ['a', 'b'].map((id) => row(id)),
    ),
  )
  const countUp = async (tx: Writer) => {
    const counter = await tx.first(lockById, { id: 'a' })
    await setAt(tx, { at: (counter?.at ?? 0) + 1 }, { which: 'a' })
  }
  // The value of `b` depends on `a`. Without the lock, the isolation level would not detect the conflict.
  const follow = async (tx: Writer) => {
    const counter = await tx.first(lockById, { id: 'a' })
    await setAt(tx, { at: counter?.at ?? 0 }, { which: 'b' })
  }
  await Promise.all(Array.from({ length: 20 }, (_, nth) => db.write(nth % 2 ? countUp : follow, nth % 4 < 2 ? locking : {})))
  await db.write(follow)
  const [a, b] = await db.read.select().from(attempts).orderBy(asc(attempts.id))
  expect([a?.at, b?.at]).toEqual([10, 10])
})

test('the types refuse a locking query to a reader, and it may read only one table', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  // @ts-expect-error: a reader has no transaction that could hold the lock
  const misuse = () => db.read.first(lockById, { id: 'a' })
  expect(misuse).toBeFunction()
  const joined = prepareLocking((queries) =>
    queries
      .select({ at: attempts.at })
      .from(attempts)
      .innerJoin(sessions, eq(sessions.id, attempts.id))
      .where(eq(attempts.id, sql.placeholder('id'))),
  )
  expect(() => joined.compiled).toThrow('a query that locks reads one table')
})

describe('inserting many rows', () => {
  test('one insert of many rows stores each as it would be alone: text, null, numbers, booleans and JSON', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const user = { id: 'usr_1', role: 'MERCHANT' as const, email: 'a@b.example', passwordHash: 'x', createdAt: 1 }
    const shop = (nth: number) => ({
      id: `shop_${nth}`,
      merchantId: user.id,
      name: `name${nth}`,
      title: `{"a",\\b} 'c' NULL, ${nth}`,
      description: nth % 2 ? '' : 'NULL',
      logoUrl: nth % 2 ? null : 'https://a.example/ä🌍.png',
      currency: 'USD',
      country: 'US',
      mode: 'TEST' as const,
      status: 'ACTIVE' as const,
      contact: { email: 'c"}\\@d.example' },
      address: {},
      origins: ['https://a.example', '{}'],
      taxRates: [{ country: 'US', region: null, rateBps: 1, inclusive: nth % 2 === 0 }],
      shippingMethods: [],
      showQuantity: false,
      strictProvinces: false,
      legalName: null,
      taxNumber: null,
      invoiceNote: null,
      returnDays: 30,
      pages: {},
      timeZone: 'UTC',
      version: 1,
      verifiedAt: null,
      taxRatesVersion: 1,
      shippingMethodsVersion: 1,
      createdAt: 100_000_000_000_000 + nth,
      updatedAt: 2,
    })
    const all = Array.from({ length: 37 }, (_, nth) => shop(nth + 10))
    const { users } = await import('../../db/schema/people.ts')
    await db.write(async (tx) => {
      await insertOf(users)(tx, user)
      await insertAllOf(shops)(tx, all)
      await insertAllOf(shops)(tx, [])
    })
    expect(await db.read.select().from(shops).orderBy(asc(shops.id))).toEqual(all)
  })

  test('an insert of many rows stores none if one is refused, and names a missing column', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const twice = await db.write((tx) => insertAll(tx, [row('a'), row('b'), row('a')])).catch((error: unknown) => error)
    expect(isUniqueViolation(twice)).toBe(true)
    const { at: _, ...incomplete } = row('c')
    const mistake = db.write((tx) => insertAll(tx, [incomplete as ReturnType<typeof row>]))
    expect(await mistake.catch(String)).toContain('was given no value for at')
    expect(await db.read.select().from(attempts)).toEqual([])
  })
})

test('a failed statement without rows fails its write with the same error, also if the write goes on', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const insertRow = prepare((queries) => queries.insert(attempts).values({ id: sql.placeholder('id'), bucket: 'test', at: 0 }))
  const outcomes = await Promise.all(
    [false, true].map((reads) =>
      db
        .write(async (tx) => {
          await tx.run(insertRow, { id: 'a' })
          await tx.run(insertRow, { id: 'a' })
          if (reads) await tx.first(findById, { id: 'a' })
        })
        .catch((error: unknown) => error),
    ),
  )
  expect(outcomes.map(isUniqueViolation)).toEqual([true, true])
  expect(await db.read.select().from(attempts)).toEqual([])
})

test.skipIf(engine !== 'postgres')('on PostgreSQL, a write waits for the server only when it reads', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const order: string[] = []
  await db.write(async (tx) => {
    await tx.run(prepare((queries) => queries.insert(attempts).values({ id: 'a', bucket: 'test', at: 0 })))
    // The event loop has not run yet, so no response can have arrived.
    setImmediate(() => order.push('the loop turned'))
    await insertAll(tx, [row('b'), row('c')])
    order.push('inserted')
    expect(await tx.first(findById, { id: 'c' })).toEqual(row('c'))
    order.push('read')
  }, locking)
  expect(order).toEqual(['inserted', 'the loop turned', 'read'])
})
