/** Compares the heads of rankings with the sums of all rows, and checks which tables dashboards read. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { products } from '../../../../db/schema/catalog.ts'
import { kpiDays, kpiDeltas } from '../../../../db/schema/kpi.ts'
import { users } from '../../../../db/schema/people.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { dayNumberOf } from '../../../../src/lib/day.ts'
import {
  readFigure,
  readGmv,
  readRefundRate,
  readTopMerchants,
  readTopProducts,
} from '../../../../src/modules/operations/kpi/dashboards.ts'
import { type Delta, foldDeltas, type Span } from '../../../../src/modules/operations/kpi/domain.ts'
import { rankings, topOfAll, topOfCandidates } from '../../../../src/modules/operations/kpi/ranking-store.ts'
import { addSums, kpiStore } from '../../../../src/modules/operations/kpi/store.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const figures = ['USERS', 'SHOPS', 'ORDERS', 'PRODUCTS'] as const
type ReadDeps = Parameters<typeof readGmv>[0]

const merchantsCount = 50
const productsCount = 60
const days = 365

/** Creates a pseudo-random generator of numbers from 0 to 1. The same seed gives the same numbers. */
function createRandom(seed: number): () => number {
  let at = seed
  return () => {
    at = (at * 1_103_515_245 + 12_345) % 2_147_483_648
    return at / 2_147_483_648
  }
}

/**
 * Creates merchants, every tenth of them with two shops, and products, as copies of rows created through the routes.
 */
async function createNetwork(app: TestApp) {
  const { shop, productId } = await sellingIn(app)
  const { read } = app.deps.db
  const [user] = (await read.select().from(users)).filter(({ role }) => role === 'MERCHANT')
  const [oneShop] = (await read.select().from(shops)).filter(({ id }) => id === shop.id)
  const [oneProduct] = (await read.select().from(products)).filter(({ id }) => id === productId)
  if (!(user && oneShop && oneProduct)) throw new Error('no rows to copy')
  const name = (what: string, nth: number) => `${what}_${String(nth).padStart(4, '0')}`
  const owners = Array.from({ length: merchantsCount }, (_, nth) => ({ ...user, id: name('usr', nth), email: `m${nth}@example.com` }))
  const copiedShops = Array.from({ length: merchantsCount + merchantsCount / 10 }, (_, nth) => ({
    ...oneShop,
    id: name('shop', nth),
    name: `ranked-${nth}`,
    merchantId: owners[nth < merchantsCount ? nth : (nth - merchantsCount) * 10]?.id ?? '',
  }))
  const copiedProducts = Array.from({ length: productsCount }, (_, nth) => ({
    ...oneProduct,
    id: name('prod', nth),
    handle: `p-${nth}`,
    title: `P ${nth}`,
  }))
  await app.deps.db.write(async (tx) => {
    await tx.insert(users).values(owners)
    await tx.insert(shops).values(copiedShops)
    await tx.insert(products).values(copiedProducts)
  })
  return { shopIds: copiedShops.map(({ id }) => id), productIds: copiedProducts.map(({ id }) => id) }
}

test('the head of a ranking equals that of all sums or is refused, with any folds, ties and removals', async () => {
  await using app = await testApp()
  const { read, write } = app.deps.db
  const { shopIds, productIds } = await createNetwork(app)
  const today = dayNumberOf(app.clock.now())
  const windows: [string, Span][] = [
    ['a year', { from: today - 364, to: today }],
    ['200 days', { from: today - 230, to: today - 31 }],
    ['a month', { from: today - 29, to: today }],
    ['a week', { from: today - 100, to: today - 94 }],
    ['a day', { from: today, to: today }],
  ]
  const results: Record<string, string[]> = {}
  for (const [distribution, exponent] of [
    ['unequal sales', 1.3],
    ['equal sales', 0],
  ] as const) {
    const number = createRandom(7)
    const deltas: Delta[] = []
    for (let day = today - days + 1; day <= today; day += 14)
      for (const [kpi, secondKpi, ids, largest] of [
        ['PRODUCT_UNITS', 'PRODUCT_CENTS', productIds, 4_000],
        ['MERCHANT_CENTS', 'MERCHANT_ORDERS', shopIds, 40_000],
      ] as const)
        for (const [nth, key] of ids.entries()) {
          const value = Math.floor((largest * (0.5 + number())) / (((nth * 7) % ids.length) + 1) ** exponent) - (number() < 0.02 ? 60 : 0)
          if (value === 0 || number() < 0.4) continue
          const id = `${key}:${day}`
          deltas.push({ kpi, day, id, key, value }, { kpi: secondKpi, day, id, key, value: kpi === 'PRODUCT_UNITS' ? value * 350 : 1 })
        }
    const fresh = deltas.filter((_, nth) => nth % 97 === 0)
    await write(async (tx) => {
      await tx.delete(kpiDays)
      await tx.delete(kpiDeltas)
      await addSums(tx, foldDeltas(deltas.filter((_, nth) => nth % 97 !== 0)))
      await kpiStore.append(tx, fresh)
    })
    for (const [label, span] of windows)
      for (const limit of [1, 10, 40])
        for (const ranking of [rankings.products, rankings.merchants]) {
          const rows = await topOfCandidates(read, ranking, 'LIVE', span, limit)
          if (rows)
            expect({ how: distribution, label, limit, rows }).toEqual({
              how: distribution,
              label,
              limit,
              rows: await topOfAll(read, ranking, 'LIVE', span, limit),
            })
          if (limit === 10)
            results[distribution] = [...(results[distribution] ?? []), rows === undefined ? `no head for ${label}` : 'found']
        }
  }
  expect(results['unequal sales']).toEqual(Array.from({ length: 10 }, () => 'found'))
  // With equal sales, the head is known only from the sums of all rows.
  expect(results['equal sales']).toContain('no head for a year')
})

/** Returns the tables that a statement reads, by its plan. */
async function tablesOf({ deps: { db } }: TestApp, statement: SQL): Promise<string[]> {
  if (engine === 'postgres') {
    const plan = await db.read.rows(sql`explain (format json) ${statement}`)
    return [...JSON.stringify(plan).matchAll(/"Relation Name":"(\w+)"/g)].map(([, name = '']) => name)
  }
  const steps = await db.read.rows<{ opcode: string; p2: number }>(sql`explain ${statement}`)
  const roots = steps.filter(({ opcode }) => opcode === 'OpenRead').map(({ p2 }) => p2)
  const tables = await db.read.rows<{ name: string }>(sql`select tbl_name as name from sqlite_master where rootpage in ${roots}`)
  return tables.map(({ name }) => name)
}

test('no dashboard reads facts, so its cost does not grow with sales', async () => {
  await using app = await testApp()
  const { clock, db, life } = app.deps
  const read: Record<string, string[]> = {}
  for (const [name, dashboard] of Object.entries({
    ...Object.fromEntries(figures.map((figure) => [figure, (deps: ReadDeps) => readFigure(deps, figure, {})])),
    gmv: (deps: ReadDeps) => readGmv(deps, {}),
    refunds: (deps: ReadDeps) => readRefundRate(deps, {}),
    merchants: (deps: ReadDeps) => readTopMerchants(deps, {}),
    products: (deps: ReadDeps) => readTopProducts(deps, {}),
  })) {
    const statements: SQL[] = []
    const rows = <T>(statement: SQL) => {
      statements.push(statement)
      return db.read.rows<T>(statement)
    }
    await dashboard({ clock, life, db: { ...db, read: { ...db.read, rows } } })
    read[name] = [...new Set((await Promise.all(statements.map((one) => tablesOf(app, one)))).flat())].sort()
  }
  const kpiTables = ['kpi_days', 'kpi_deltas']
  expect(read).toEqual({
    ...Object.fromEntries(figures.map((figure) => [figure, kpiTables])),
    gmv: kpiTables,
    refunds: kpiTables,
    merchants: [...kpiTables, 'shops'],
    products: [...kpiTables, 'products', 'shops'],
  })
})
