/** Compares the numbered pages of a long list with the rows read one by one. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { and, desc, eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { engine } from '../../db/columns.ts'
import { DatabaseUnavailable, type WriteOptions } from '../../db/engine.ts'
import { blockRecords, countInBlock, extendBlocks, readListPage } from '../../db/list-pages.ts'
import { customers } from '../../db/schema/people.ts'
import { listBlocks } from '../../db/schema/search-index.ts'
import { longListFindings } from '../../src/cli/check.ts'
import { idBoundary } from '../../src/lib/ids.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const list = 'CUSTOMERS' as const

/** Inserts customers with these creation times, and counts them in blocks like a real insert. */
async function insertCustomers(app: TestApp, shopId: string, moments: readonly number[]): Promise<void> {
  const rows = moments.map((at, nth) => {
    const id = `${idBoundary('customer', at).slice(0, -6)}${String(++insertCustomers.nth).padStart(6, '0')}`
    const email = `c${insertCustomers.nth}-${nth}@example.com`
    return { id, shopId, email, name: 'N', acceptsMarketing: false, createdAt: at, updatedAt: at }
  })
  await app.deps.db.write(async (tx) => {
    for (let at = 0; at < rows.length; at += 500) await tx.insert(customers).values(rows.slice(at, at + 500))
    if (rows.length < 500) for (const { id } of rows) await countInBlock(tx, { list, shopId }, id)
  })
}
insertCustomers.nth = 0

const findProblems = async ({ deps }: TestApp) => (await Array.fromAsync(longListFindings(deps.db))).flatMap(({ problems }) => problems)

async function expectPagesToMatch(app: TestApp, shopId: string, offsets: readonly number[]): Promise<number> {
  const { read } = app.deps.db
  expect(await findProblems(app)).toEqual([])
  const all = await read.select({ id: customers.id }).from(customers).where(eq(customers.shopId, shopId)).orderBy(desc(customers.id))
  for (const offset of [0, ...offsets, all.length - 1, all.length, all.length + 50]) {
    const page = await readListPage(read, { list, shopId }, { limit: 20, offset })
    expect([offset, page.total, page.ids]).toEqual([offset, all.length, all.slice(offset, offset + 20).map(({ id }) => id)])
  }
  return all.length
}
const blocksOf = ({ deps }: TestApp, shopId: string) =>
  deps.db.read
    .select()
    .from(listBlocks)
    .where(and(eq(listBlocks.shopId, shopId), eq(listBlocks.list, list)))

test('a page is the same before and after its blocks are counted, across blocks, and with late records', async () => {
  await using app = await testApp()
  const [{ shop }, { shop: other }] = [await app.merchant(), await app.merchant()]
  const now = app.clock.now()
  await insertCustomers(
    app,
    shop.id,
    Array.from({ length: 3_400 }, (_, nth) => now - 1_000_000 + nth * 10),
  )
  await insertCustomers(
    app,
    other.id,
    Array.from({ length: 1_200 }, (_, nth) => now - 1_000_000 + nth * 10),
  )
  const edges = [1, 379, 380, 381, 395, 1_379, 1_380, 1_390, 2_500, 3_390]
  expect(await expectPagesToMatch(app, shop.id, edges)).toBe(3_400)
  const before = idBoundary('customer', now - 970_000)
  expect(await extendBlocks(app.deps.db, { list, shopId: shop.id }, before)).toBe(3)
  expect(await extendBlocks(app.deps.db, { list, shopId: shop.id }, before)).toBe(0)
  await expectPagesToMatch(app, shop.id, edges)
  await expectPagesToMatch(app, other.id, [1_000])
  expect((await blocksOf(app, other.id)).length).toBe(0)

  // Late records: before the first block, in a later one, and after all blocks.
  await insertCustomers(app, shop.id, [now - 2_000_000, now - 985_000, now - 985_001, now])
  expect((await blocksOf(app, shop.id)).map(({ records }) => records).sort()).toEqual([blockRecords, blockRecords + 1, blockRecords + 2])
  expect(await expectPagesToMatch(app, shop.id, edges)).toBe(3_404)
})

test('each block with a wrong count is reported', async () => {
  await using app = await testApp()
  const { db } = app.deps
  const now = app.clock.now()
  const [{ shop }, { shop: other }] = [await app.merchant(), await app.merchant()]
  for (const { id } of [shop, other]) {
    await insertCustomers(
      app,
      id,
      Array.from({ length: 2_000 }, (_, nth) => now - 1_000_000 + nth * 10),
    )
    expect(await extendBlocks(db, { list, shopId: id }, idBoundary('customer', now))).toBe(2)
  }
  expect(await findProblems(app)).toEqual([])
  const lastIds = (await blocksOf(app, shop.id)).map((block) => block.last).sort()
  await db.write(async (tx) => {
    const inBlock = (id: string) => and(eq(listBlocks.shopId, shop.id), eq(listBlocks.last, id))
    await tx
      .update(listBlocks)
      .set({ records: 999 })
      .where(inBlock(lastIds[1] ?? ''))
    await tx.insert(listBlocks).values({ shopId: other.id, list: 'PRODUCTS', last: 'prod_z', records: 1 })
  })
  expect(await findProblems(app)).toEqual([
    `Shop ${shop.id}, CUSTOMERS up to ${lastIds[1]}: counted 999 of 1000`,
    `Shop ${other.id}, PRODUCTS up to prod_z: counted 1 of 0`,
  ])
  // The repair that docs/operations.md describes.
  await db.write((tx) => tx.rows(sql`delete from list_blocks returning 1 as done`))
  expect(await extendBlocks(db, { list, shopId: shop.id }, idBoundary('customer', now))).toBe(2)
  expect(await expectPagesToMatch(app, shop.id, [999, 1_000])).toBe(2_000)
})

test('recent records are in no block, and concurrent runs create each block once', async () => {
  await using app = await testApp()
  const { shop } = await app.merchant()
  const now = app.clock.now()
  await insertCustomers(
    app,
    shop.id,
    Array.from({ length: 2_600 }, (_, nth) => now - 2_600 + nth),
  )
  expect(await extendBlocks(app.deps.db, { list, shopId: shop.id }, idBoundary('customer', now - 5_000))).toBe(0)
  const before = idBoundary('customer', now + 1)
  const counts = await Promise.all([1, 2, 3].map(() => extendBlocks(app.deps.db, { list, shopId: shop.id }, before)))
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(2)
  await expectPagesToMatch(app, shop.id, [599, 600, 601, 1_599, 1_600])
})

test('records that arrive late while blocks are created are counted once, in any order', async () => {
  await using app = await testApp()
  const { db } = app.deps
  const { shop } = await app.merchant()
  const now = app.clock.now()
  await insertCustomers(
    app,
    shop.id,
    Array.from({ length: 600 }, (_, nth) => now - 1_000_000 + nth * 100),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ lateMoments: fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 12 }), more: fc.boolean() }),
        {
          minLength: 1,
          maxLength: 5,
        },
      ),
      async (rounds) => {
        for (const { lateMoments, more } of rounds) {
          const start = now - 1_000_000
          const growth = more
            ? [
                insertCustomers(
                  app,
                  shop.id,
                  Array.from({ length: 400 }, (_, nth) => start + 60_000 + nth * 10),
                ),
              ]
            : []
          // On PostgreSQL a busy machine may hold the lock for more than a second. Like src/core/long-lists.ts, the
          // test then leaves the work to the next run.
          const extend = () =>
            extendBlocks(db, { list, shopId: shop.id }, idBoundary('customer', now)).catch((error: unknown) => {
              if (!(error instanceof DatabaseUnavailable)) throw error
            })
          await Promise.all([...growth, extend(), ...lateMoments.map((at) => insertCustomers(app, shop.id, [start + at])), extend()])
          await expectPagesToMatch(app, shop.id, [1, 399, 400, 401, 999, 1_000, 1_001, 1_500])
        }
      },
    ),
    { numRuns: 12 },
  )
})

describe.skipIf(engine !== 'postgres')('list blocks on PostgreSQL with concurrent writes', () => {
  for (const isolation of ['locking', 'serializable'] as const) {
    test(`a ${isolation} write that looked for its block before it existed and commits later is counted`, async () => {
      await using app = await testApp()
      const { shopId, before, lateWrite, proceed } = await startLateWrite(app, { isolation }, 'BEFORE')
      const extending = extendBlocks(app.deps.db, { list, shopId }, before)
      await Promise.race([extending, untilLockWait(app)])
      proceed()
      await lateWrite
      expect(await extending).toBe(2)
      expect(await expectPagesToMatch(app, shopId, [99, 100, 101, 1_100, 1_101, 2_099])).toBe(2_101)
    })

    test(`a ${isolation} write that began before its block existed and looks for it later is counted`, async () => {
      await using app = await testApp()
      const { shopId, before, lateWrite, proceed } = await startLateWrite(app, { isolation }, 'AFTER')
      expect(await extendBlocks(app.deps.db, { list, shopId }, before)).toBe(2)
      proceed()
      await lateWrite
      expect(await expectPagesToMatch(app, shopId, [99, 100, 101, 1_100, 1_101, 2_099])).toBe(2_101)
    })
  }

  test('no block is created during a long write, and other writes meanwhile are not blocked for long', async () => {
    await using app = await testApp()
    const { db } = app.deps
    const { shopId, before, lateWrite, proceed } = await startLateWrite(app, { isolation: 'locking' }, 'BEFORE')
    const extending = extendBlocks(db, { list, shopId }, before).catch((error: unknown) => error)
    await untilLockWait(app)
    // This write waits for the lock as long as the block creation does.
    await insertCustomers(app, shopId, [app.clock.now() - 999_985])
    expect(await extending).toBeInstanceOf(DatabaseUnavailable)
    expect(await blocksOf(app, shopId)).toEqual([])
    proceed()
    await lateWrite
    expect(await extendBlocks(db, { list, shopId }, before)).toBe(2)
    expect(await expectPagesToMatch(app, shopId, [100, 1_101])).toBe(2_102)
  })
})

/** Creates a shop whose list can get blocks, and a write of a customer in the first block that waits for the test. */
async function startLateWrite(app: TestApp, options: WriteOptions, looksUp: 'BEFORE' | 'AFTER') {
  const { shop } = await app.merchant()
  const now = app.clock.now()
  await insertCustomers(
    app,
    shop.id,
    Array.from({ length: 2_100 }, (_, nth) => now - 1_000_000 + nth * 10),
  )
  const [hasBegun, mayProceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const at = now - 999_995
  const id = `${idBoundary('customer', at).slice(0, -6)}${String(++insertCustomers.nth).padStart(6, '0')}`
  const lateWrite = app.deps.db.write(async (tx) => {
    const email = `${id}@example.com`
    await tx.insert(customers).values({ id, shopId: shop.id, email, name: 'N', acceptsMarketing: false, createdAt: at, updatedAt: at })
    if (looksUp === 'BEFORE') await countInBlock(tx, { list, shopId: shop.id }, id)
    hasBegun.resolve()
    await mayProceed.promise
    if (looksUp === 'AFTER') await countInBlock(tx, { list, shopId: shop.id }, id)
  }, options)
  await hasBegun.promise
  return { shopId: shop.id, before: idBoundary('customer', now), lateWrite, proceed: mayProceed.resolve }
}

/** Waits until a connection waits for a lock. */
async function untilLockWait({ deps }: TestApp): Promise<void> {
  const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  for (let tries = 0; tries < 1_000; tries++) {
    if ((await deps.db.read.rows(waiting)).length > 0) return
    await Bun.sleep(5)
  }
  throw new Error('no connection waits for a lock')
}

test('a list in use gets blocks in the background, and its total is exact at any length', async () => {
  await using app = await testApp()
  const { shop, secretKey } = await app.merchant()
  await insertCustomers(
    app,
    shop.id,
    Array.from({ length: 12_345 }, (_, nth) => app.clock.now() - 2_000_000 + nth),
  )
  const readLastPage = async () => {
    const { body } = await app.call('GET', '/customer?page=618', { key: secretKey })
    return [body.total, body.pages, body.totalCapped, body.data.length]
  }
  expect(await readLastPage()).toEqual([12_345, 618, undefined, 5])
  for (let tries = 0; tries < 2_000 && (await blocksOf(app, shop.id)).length < 12; tries++) await Bun.sleep(5)
  expect((await blocksOf(app, shop.id)).length).toBe(12)
  expect(await readLastPage()).toEqual([12_345, 618, undefined, 5])
})
