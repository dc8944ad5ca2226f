/** Tests that no public list reads or sorts a whole shop, for any sort and filters. */
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import pg from 'pg'
import { engine } from '../../../../db/columns.ts'
import type { Writer } from '../../../../db/engine.ts'
import { collectionProducts, productDocuments, products, productTags, variants } from '../../../../db/schema/catalog.ts'
import { type Sort, sortNames } from '../../../../src/modules/catalog/products/domain.ts'
import { findPublicProductIds, listPublicProducts, type PublicQuery } from '../../../../src/modules/catalog/products/public-reads.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { pageSlice, shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Table = Parameters<typeof getTableColumns>[0]

const count = 30_000
const suffix = engine === 'sqlite' ? `printf('%026d', n)` : `lpad(n::text, 26, '0')`
const newestKey = `'000000000.' || ${suffix}`

/** Inserts 30,000 copies of a product, with three vendors and five types. Every second copy has a second price. */
async function insertCopies(app: TestApp, collectionIds: readonly string[], id: string): Promise<void> {
  const { db } = app.deps
  // One statement for all would take long enough for PostgreSQL to cancel it on a busy machine.
  const copy = async (tx: Writer, table: Table, from: string, overrides: Record<string, string>, condition = 'true') => {
    const names = Object.values(getTableColumns(table)).map(({ name }) => name)
    for (let first = 1; first <= count; first += count / 6)
      await tx.rows(
        sql.raw(`insert into ${getTableName(table)} (${names.join(', ')})
        with recursive copy (n) as (select ${first} union all select n + 1 from copy where n + 1 < ${first + count / 6})
        select ${names.map((name) => overrides[name] ?? `r.${name}`).join(', ')} from ${from} r, copy where ${condition}`),
      )
  }
  const productId = `'prod_' || ${suffix}`
  const source = `(select * from product_documents where product_id = '${id}')`
  await db.write(async (tx) => {
    await copy(tx, products, `(select * from products where id = '${id}')`, { id: productId, handle: `'p' || n` })
    const document = {
      ...{ product_id: productId, newest_key: newestKey, visible_from: '0', title_key: `'t' || n || '.' || ${suffix}` },
      price_key: engine === 'sqlite' ? `printf('%015d', n) || '.' || ${suffix}` : `lpad(n::text, 15, '0') || '.' || ${suffix}`,
      ...{ vendor: `'V' || (n % 3)`, type: `'T' || (n % 5)`, available: engine === 'sqlite' ? 'n % 2' : 'n % 2 = 1' },
      ...{ min_price: 'n', max_price: 'n + (n % 2) * 500', spread: '(n % 2) * 3' },
    }
    await copy(tx, productDocuments, source, document)
    // If every product had the tag, a scan of the table would be as cheap as one of the index.
    await copy(tx, productTags, source, { ...document, tag: `case n % 3 when 0 then 'linen' else 'cotton' end` })
    const variant = { id: `'var_' || ${suffix}`, product_id: productId, price: 'n' }
    await copy(tx, variants, `(select * from variants where product_id = '${id}')`, variant)
    for (const collectionId of collectionIds)
      await copy(tx, collectionProducts, source, { ...document, collection_id: `'${collectionId}'`, position: 'n' }, 'n <= 5000')
    if (engine === 'postgres') {
      await tx.rows(
        sql.raw(`insert into product_words (product_id, shop_id, visible_from, words)
        select ${productId}, shop_id, 0, words from product_words r, generate_series(1, ${count}) n where r.product_id = '${id}'`),
      )
    }
  })
  await vacuumTables(app)
}

async function vacuumTables({ deps: { config } }: TestApp): Promise<void> {
  if (engine !== 'postgres') return
  const client = new pg.Client(config.databaseUrl)
  await client.connect()
  await vacuum(client)
  await client.end()
}

const filledTables = ['products', 'variants', 'product_documents', 'product_tags', 'collection_products', 'product_words']

/**
 * Runs VACUUM, as autovacuum does after so many inserts: the planner uses an index-only scan only if most pages are
 * marked visible to all. VACUUM skips rows that an older snapshot cannot see, such as that of an ANALYZE by autovacuum.
 */
async function vacuum(client: pg.Client): Promise<void> {
  const hidden = 'select 1 from pg_class where oid = any($1::regclass[]) and relallvisible < 0.9 * relpages'
  for (let tries = 0; tries < vacuumsMax; tries++) {
    // Without `freeze`, VACUUM skips pages that are in use.
    await client.query(`vacuum (freeze, analyze) ${filledTables.join(', ')}`)
    if ((await client.query(hidden, [filledTables])).rows.length === 0) return
    await Bun.sleep(100)
  }
}
const vacuumsMax = 100

/** Creates five collections, so that one of them is a small part of the table. */
const createCollections = (shop: Awaited<ReturnType<typeof shopIn>>): Promise<string[]> =>
  Promise.all([1, 2, 3, 4, 5].map(async (nth) => (await shop.post('/collection-v2', { title: `All ${nth}` })).body.id))

const filters: readonly Partial<PublicQuery>[] = (() => {
  const prices = [{}, { minPrice: 29_900 }, { minPrice: 10_000 }, { minPrice: 10_000, maxPrice: 10_100 }, { maxPrice: 20_000 }]
  const tags = [{}, { tag: 'Linen' }]
  const values = [
    {},
    { vendor: 'V1' },
    { type: 'T1' },
    { vendor: 'V1', type: 'T1' },
    { type: 'T1', available: true },
    { available: false },
    { available: true, vendor: 'V2' },
  ]
  return prices.flatMap((price) => tags.flatMap((tag) => values.map((value) => ({ ...price, ...tag, ...value }))))
})()

/** Tables that grow with a shop. */
const large = 'products|product_documents|product_tags|collection_products|variants|product_summaries|product_ranks|product_words'
const fullScan =
  engine === 'sqlite' ? new RegExp(`^SCAN (${large}|[fdr])( |$)(?!VIRTUAL TABLE INDEX)`) : new RegExp(`Seq Scan on (${large})`)

/** Limit of the entries of one source that a list sorts; see `db/product-lists.ts`. */
const sortedMax = 5_000
type PlanNode = { 'Node Type': string; 'Actual Rows': number; Plans?: PlanNode[] }
/** Returns the numbers of rows that the sort steps of an executed plan read. */
const sortedRows = ({ 'Node Type': type, Plans: inputs = [] }: PlanNode): number[] => [
  ...(/Sort/.test(type) ? inputs.map((input) => input['Actual Rows']) : []),
  ...inputs.flatMap(sortedRows),
]

test('no combination of sort and filters reads a whole table or sorts an unbounded part of it', async () => {
  await using app = await testApp()
  const { deps } = app
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Linen shirt', variants: [{ price: usd(1) }] })
  const collectionIds = await createCollections(shop)
  const [collectionId] = collectionIds
  await insertCopies(app, collectionIds, id)
  const read = deps.db.read.rows.bind(deps.db.read)
  using rows = spyOn(deps.db.read, 'rows')
  const plans = new Map<string, string>()
  const runQuery = async (query: Partial<PublicQuery>, sort: Sort | undefined, page: number) => {
    rows.mockClear()
    const listQuery = { shopId: shop.shop.id, showQuantity: false, sort, q: undefined, ...query }
    const found = await listPublicProducts(deps, listQuery, pageSlice(page, 20))
    for (const [statement] of rows.mock.calls as [SQL][]) {
      const plan = engine === 'sqlite' ? sql`explain query plan ${statement}` : sql`explain ${statement}`
      for (const row of await read<Record<string, unknown>>(plan)) {
        const line = String(row['detail'] ?? row['QUERY PLAN'])
        if (fullScan.test(line)) plans.set(line, JSON.stringify({ ...query, sort }))
      }
      if (engine === 'sqlite') continue
      const [executed] = await read<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(sql`explain (analyze, timing off, format json) ${statement}`)
      const most = Math.max(0, ...(executed?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => sortedRows(Plan)))
      if (most > 2 * sortedMax) plans.set(`sorts ${most} rows`, JSON.stringify({ ...query, sort }))
    }
    return found
  }
  for (const filter of filters)
    for (const sort of sortNames)
      for (const more of [{}, { collectionId }] as const) {
        const { total, totalCapped } = await runQuery({ ...filter, ...more }, sort, 1)
        const isFiltered = Object.keys({ ...filter, ...more }).length > 0
        expect([total <= 1_000 || !isFiltered, totalCapped === true && total < 1_000]).toEqual([true, false])
      }
  await runQuery({ collectionId }, undefined, 1)
  await runQuery({}, 'title', 1_400)
  for (const filter of [{}, { minPrice: 29_900 }, { minPrice: 10_000, vendor: 'V1' }, { collectionId }])
    await runQuery({ q: 'linen', ...filter }, undefined, 1)
  expect(Object.fromEntries(plans)).toEqual({})
})

test('finds the few products that meet all filters when each filter alone matches thousands', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Linen shirt', variants: [{ price: usd(1) }] })
  await insertCopies(app, await createCollections(shop), id)
  const pageOf = async (query: Partial<PublicQuery>, sort: Sort | undefined, page = 1) => {
    const listQuery = { shopId: shop.shop.id, showQuantity: false, sort, q: undefined, ...query }
    const { total, totalCapped } = await listPublicProducts(app.deps, listQuery, pageSlice(page, 100))
    return { total, totalCapped }
  }
  // Tagged products are multiples of 3. None of them is of vendor V1.
  expect(await pageOf({ tag: 'linen', vendor: 'V1' }, 'title')).toEqual({ total: 0, totalCapped: undefined })
  // Available products are odd, and have a second price that is 500 higher.
  expect(await pageOf({ available: true, minPrice: 29_000, maxPrice: 29_001 }, 'price')).toMatchObject({ total: 2 })
  expect(await pageOf({ available: false, minPrice: 29_001 }, '-price')).toMatchObject({ total: 500 })
  expect(await pageOf({ available: true, minPrice: 30_001 }, 'newest')).toMatchObject({ total: 250 })
})

test('lists by price, both ways, when more products enclose the lowest price than are sorted', async () => {
  await using app = await testApp()
  const { deps } = app
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Linen shirt', variants: [{ price: usd(1) }] })
  await insertCopies(app, [], id)
  // One statement for all would take long enough for PostgreSQL to cancel it on a busy machine.
  for (const vendor of ['V0', 'V1', 'V2'])
    await deps.db.write((tx) =>
      tx.rows(sql`update product_documents set max_price = min_price + 100000, spread = 6 where vendor = ${vendor}`),
    )
  await vacuumTables(app)
  const read = deps.db.read.rows.bind(deps.db.read)
  using rows = spyOn(deps.db.read, 'rows')
  const idsOf = async (sort: Sort) => {
    rows.mockClear()
    const listQuery = { shopId: shop.shop.id, showQuantity: false, sort, q: undefined, minPrice: count - 4 }
    const { ids, total } = await findPublicProductIds(deps, listQuery, pageSlice(1, 10))
    const plans = (rows.mock.calls as [SQL][]).map(([statement]) =>
      read<Record<string, unknown>>(engine === 'sqlite' ? sql`explain query plan ${statement}` : sql`explain ${statement}`),
    )
    expect(JSON.stringify((await Promise.all(plans)).slice(2))).toContain('product_documents_spread_price')
    return [total, ...ids.map((one) => Number(one.slice(-10)))]
  }
  expect(await idsOf('price')).toEqual([1_000, ...Array.from({ length: 10 }, (_, nth) => nth + 1)])
  expect(await idsOf('-price')).toEqual([1_000, ...Array.from({ length: 10 }, (_, nth) => count - nth)])
})

test('reads the inner prices of a range only if they are few, otherwise those of each product', async () => {
  await using app = await testApp()
  const { deps } = app
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Linen shirt', variants: [{ price: usd(1) }] })
  await insertCopies(app, [], id)
  // Odd products have a second price that is 500 higher. Now they have one between the two as well.
  await deps.db.write((tx) =>
    tx.rows(
      sql.raw(`insert into product_inner_prices (product_id, price, shop_id)
      select product_id, min_price + 250, shop_id from product_documents where shop_id = '${shop.shop.id}' and spread > 0`),
    ),
  )
  await vacuumTables(app)
  const read = deps.db.read.rows.bind(deps.db.read)
  using rows = spyOn(deps.db.read, 'rows')
  for (const [maxPrice, total, isRead] of [
    [10_003, 8, true],
    [15_000, 1_000, false],
  ] as const) {
    rows.mockClear()
    const listQuery = { shopId: shop.shop.id, showQuantity: false, sort: 'newest' as const, q: undefined, minPrice: 10_000, maxPrice }
    expect((await listPublicProducts(deps, listQuery, pageSlice(1, 20))).total).toBe(total)
    // The first statement counts.
    const plans = (rows.mock.calls as [SQL][])
      .slice(1)
      .map(([statement]) =>
        read<Record<string, unknown>>(engine === 'sqlite' ? sql`explain query plan ${statement}` : sql`explain ${statement}`),
      )
    expect([maxPrice, /product_inner_prices_price/.test(JSON.stringify(await Promise.all(plans)))]).toEqual([maxPrice, isRead])
  }
})

test('reads few products by an index of both values when each of two filters matches thousands', async () => {
  await using app = await testApp()
  const { deps } = app
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Linen shirt', variants: [{ price: usd(1) }] })
  await insertCopies(app, await createCollections(shop), id)
  const none = engine === 'sqlite' ? '0' : 'false'
  await deps.db.write(async (tx) => {
    await tx.rows(sql.raw(`update product_documents set type = 'T0', available = ${none} where vendor = 'V1'`))
    await tx.rows(sql.raw(`update product_tags set type = 'T0', available = ${none} where tag = 'linen'`))
  })
  await vacuumTables(app)
  const read = deps.db.read.rows.bind(deps.db.read)
  using rows = spyOn(deps.db.read, 'rows')
  const cases: [index: RegExp, filter: Partial<PublicQuery>][] = [
    [/product_tags_vendor/, { tag: 'linen', vendor: 'V1' }],
    [/product_tags_(vendor|type)/, { tag: 'linen', available: true }],
    [/product_tags_type/, { tag: 'linen', type: 'T1' }],
    [/product_documents_vendor_stock/, { vendor: 'V1', type: 'T1' }],
    [/product_documents_vendor_stock/, { vendor: 'V1', available: true }],
  ]
  for (const [index, filter] of cases)
    for (const sort of sortNames) {
      rows.mockClear()
      const listQuery = { shopId: shop.shop.id, showQuantity: false, sort, q: undefined, ...filter }
      await listPublicProducts(deps, listQuery, pageSlice(1, 20))
      const statement = (rows.mock.calls as [SQL][]).findLast(([one]) => one !== undefined)?.[0]
      const plan = await read<Record<string, unknown>>(
        engine === 'sqlite' ? sql`explain query plan ${statement}` : sql`explain ${statement}`,
      )
      expect([sort, JSON.stringify(plan)]).toEqual([sort, expect.stringMatching(index)])
    }
})
