/** Pages of a long list by number, held against those that skip row by row. */
import { expect, test } from 'bun:test'
import { and, desc, eq } from 'drizzle-orm'
import fc from 'fast-check'
import { blockRecords, foldBlocks, noteInBlocks, pageOfBlocks } from '../../db/blocks.ts'
import { listBlocks } from '../../db/schema/finding.ts'
import { customers } from '../../db/schema/people.ts'
import { idBoundary } from '../../src/lib/ids.ts'
import { type TestApp, testApp } from '../support/app.ts'

const list = 'CUSTOMERS' as const

/** Customers as if each had been made at a moment, and counted as whoever makes one counts it. */
async function made(app: TestApp, shopId: string, moments: readonly number[]): Promise<void> {
  const rows = moments.map((at, nth) => {
    const id = `${idBoundary('customer', at).slice(0, -6)}${String(++made.nth).padStart(6, '0')}`
    const email = `c${made.nth}-${nth}@example.com`
    return { id, shopId, email, name: 'N', acceptsMarketing: false, createdAt: at, updatedAt: at }
  })
  await app.deps.db.write(async (tx) => {
    for (let at = 0; at < rows.length; at += 500) await tx.insert(customers).values(rows.slice(at, at + 500))
    if (rows.length < 500) for (const { id } of rows) await noteInBlocks(tx, { list, shopId }, id)
  })
}
made.nth = 0

async function agree(app: TestApp, shopId: string, offsets: readonly number[]): Promise<number> {
  const { read } = app.deps.db
  const all = await read.select({ id: customers.id }).from(customers).where(eq(customers.shopId, shopId)).orderBy(desc(customers.id))
  for (const offset of [0, ...offsets, all.length - 1, all.length, all.length + 50]) {
    const page = await pageOfBlocks(read, { list, shopId }, { limit: 20, offset })
    expect([offset, page.total, page.ids]).toEqual([offset, all.length, all.slice(offset, offset + 20).map(({ id }) => id)])
  }
  return all.length
}
const blocksOf = ({ deps }: TestApp, shopId: string) =>
  deps.db.read
    .select()
    .from(listBlocks)
    .where(and(eq(listBlocks.shopId, shopId), eq(listBlocks.list, list)))

test('a page is the same before its runs are counted, after it, across them, and when somebody comes in between late', async () => {
  await using app = await testApp()
  const [{ shop }, { shop: other }] = [await app.merchant(), await app.merchant()]
  const now = app.clock.now()
  await made(
    app,
    shop.id,
    Array.from({ length: 3_400 }, (_, nth) => now - 1_000_000 + nth * 10),
  )
  await made(
    app,
    other.id,
    Array.from({ length: 1_200 }, (_, nth) => now - 1_000_000 + nth * 10),
  )
  const edges = [1, 379, 380, 381, 395, 1_379, 1_380, 1_390, 2_500, 3_390]
  expect(await agree(app, shop.id, edges)).toBe(3_400)
  const before = idBoundary('customer', now - 970_000)
  expect(await foldBlocks(app.deps.db, { list, shopId: shop.id }, before)).toBe(3)
  expect(await foldBlocks(app.deps.db, { list, shopId: shop.id }, before)).toBe(0)
  await agree(app, shop.id, edges)
  await agree(app, other.id, [1_000])
  expect((await blocksOf(app, other.id)).length).toBe(0)

  // A clock that stood behind: into the first run, into a later one, and behind all of them.
  await made(app, shop.id, [now - 2_000_000, now - 985_000, now - 985_001, now])
  expect((await blocksOf(app, shop.id)).map(({ records }) => records).sort()).toEqual([blockRecords, blockRecords + 1, blockRecords + 2])
  expect(await agree(app, shop.id, edges)).toBe(3_404)
})

test('what is so new that older ones may come still is in no run, and two who make them at once make each once', async () => {
  await using app = await testApp()
  const { shop } = await app.merchant()
  const now = app.clock.now()
  await made(
    app,
    shop.id,
    Array.from({ length: 2_600 }, (_, nth) => now - 2_600 + nth),
  )
  expect(await foldBlocks(app.deps.db, { list, shopId: shop.id }, idBoundary('customer', now - 5_000))).toBe(0)
  const before = idBoundary('customer', now + 1)
  const counts = await Promise.all([1, 2, 3].map(() => foldBlocks(app.deps.db, { list, shopId: shop.id }, before)))
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(2)
  await agree(app, shop.id, [599, 600, 601, 1_599, 1_600])
})

test('whoever comes late while runs are made is counted once, in whatever order it happens', async () => {
  await using app = await testApp()
  const { db } = app.deps
  const { shop } = await app.merchant()
  const now = app.clock.now()
  await made(
    app,
    shop.id,
    Array.from({ length: 600 }, (_, nth) => now - 1_000_000 + nth * 100),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ late: fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 12 }), more: fc.boolean() }), {
        minLength: 1,
        maxLength: 5,
      }),
      async (rounds) => {
        for (const { late, more } of rounds) {
          const start = now - 1_000_000
          const grown = more
            ? [
                made(
                  app,
                  shop.id,
                  Array.from({ length: 400 }, (_, nth) => start + 60_000 + nth * 10),
                ),
              ]
            : []
          const folds = () => foldBlocks(db, { list, shopId: shop.id }, idBoundary('customer', now))
          await Promise.all([...grown, folds(), ...late.map((at) => made(app, shop.id, [start + at])), folds()])
          await agree(app, shop.id, [1, 399, 400, 401, 999, 1_000, 1_001, 1_500])
        }
      },
    ),
    { numRuns: 12 },
  )
})

test('a list that somebody reads is shortened beside them, and its total is exact at any length', async () => {
  await using app = await testApp()
  const { shop, secretKey } = await app.merchant()
  await made(
    app,
    shop.id,
    Array.from({ length: 12_345 }, (_, nth) => app.clock.now() - 2_000_000 + nth),
  )
  const last = async () => {
    const { body } = await app.call('GET', '/customer?page=618', { key: secretKey })
    return [body.total, body.pages, body.totalCapped, body.data.length]
  }
  expect(await last()).toEqual([12_345, 618, undefined, 5])
  for (let tries = 0; tries < 2_000 && (await blocksOf(app, shop.id)).length < 12; tries++) await Bun.sleep(5)
  expect((await blocksOf(app, shop.id)).length).toBe(12)
  expect(await last()).toEqual([12_345, 618, undefined, 5])
})
