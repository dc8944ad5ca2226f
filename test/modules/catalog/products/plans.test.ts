/** Tests that no public list reads or sorts a whole shop, for any sort and filters. */
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import pg from 'pg'
import { engine } from '../../../../db/columns.ts'
import { collectionProducts, productDocuments, products, productTags, variants } from '../../../../db/schema/catalog.ts'
import { type Sort, sortNames } from '../../../../src/modules/catalog/products/domain.ts'
import { listPublicProducts, type PublicQuery } from '../../../../src/modules/catalog/products/public-reads.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, slice, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Table = Parameters<typeof getTableColumns>[0]

const count = 30_000
const suffix = engine === 'sqlite' ? `printf('%026d', n)` : `lpad(n::text, 26, '0')`
const newestKey = `'000000000.' || ${suffix}`

/** A shop of 30,000 products, copied from one: three vendors, five types, and other prices in every second. */
async function fill({ deps: { db, config } }: TestApp, shopId: string, collectionId: string, id: string): Promise<void> {
  const copies = (table: Table, from: string, own: Record<string, string>, where = 'true') => {
    const names = Object.values(getTableColumns(table)).map(({ name }) => name)
    return sql.raw(`insert into ${getTableName(table)} (${names.join(', ')})
      with recursive copy (n) as (select 1 union all select n + 1 from copy where n < ${count})
      select ${names.map((name) => own[name] ?? `r.${name}`).join(', ')} from ${from} r, copy where ${where}`)
  }
  const productId = `'prod_' || ${suffix}`
  const ofOne = `(select * from product_documents where product_id = '${id}')`
  await db.write(async (tx) => {
    await tx.rows(copies(products, `(select * from products where id = '${id}')`, { id: productId, handle: `'p' || n` }))
    await tx.rows(
      copies(productDocuments, ofOne, {
        ...{ product_id: productId, newest_key: newestKey, visible_from: '0', title_key: `'t' || n || '.' || ${suffix}` },
        price_key: engine === 'sqlite' ? `printf('%015d', n) || '.' || ${suffix}` : `lpad(n::text, 15, '0') || '.' || ${suffix}`,
        ...{ vendor: `'V' || (n % 3)`, type: `'T' || (n % 5)`, available: engine === 'sqlite' ? 'n % 2' : 'n % 2 = 1' },
        ...{ min_price: 'n', max_price: 'n + (n % 2) * 500', spread: '(n % 2) * 3' },
      }),
    )
    const tag = { product_id: productId, tag: `'linen'`, shop_id: `'${shopId}'`, newest_key: newestKey }
    await tx.rows(copies(productTags, ofOne, tag, 'n % 3 = 0'))
    const variant = { id: `'var_' || ${suffix}`, product_id: productId, price: 'n' }
    await tx.rows(copies(variants, `(select * from variants where product_id = '${id}')`, variant))
    const member = { collection_id: `'${collectionId}'`, position: 'n', product_id: productId, visible_from: '0' }
    await tx.rows(copies(collectionProducts, ofOne, member, 'n <= 5000'))
    if (engine === 'postgres') {
      await tx.rows(
        sql.raw(`insert into product_words (product_id, shop_id, visible_from, words)
        select ${productId}, shop_id, 0, words from product_words r, generate_series(1, ${count}) n where r.product_id = '${id}'`),
      )
    }
  })
  if (engine !== 'postgres') return
  // As autovacuum does after so many inserts: without it the server thinks that no index holds all it needs.
  const client = new pg.Client(config.databaseUrl)
  await client.connect()
  await client.query('vacuum analyze products, variants, product_documents, product_tags, collection_products, product_words')
  await client.end()
}

const filters: readonly Partial<PublicQuery>[] = (() => {
  const prices = [{}, { minPrice: 29_900 }, { minPrice: 10_000 }, { minPrice: 10_000, maxPrice: 10_100 }, { maxPrice: 20_000 }]
  const tags = [{}, { tag: 'Linen' }]
  const values = [
    {},
    { vendor: 'V1' },
    { type: 'T1' },
    { vendor: 'V1', type: 'T1' },
    { available: false },
    { available: true, vendor: 'V2' },
  ]
  return prices.flatMap((price) => tags.flatMap((tag) => values.map((value) => ({ ...price, ...tag, ...value }))))
})()

/** Tables that grow with a shop. */
const large = 'products|product_documents|product_tags|collection_products|variants|product_summaries|product_ranks|product_words'
const wide = engine === 'sqlite' ? new RegExp(`^SCAN (${large}|[fdr])( |$)(?!VIRTUAL TABLE INDEX)`) : new RegExp(`Seq Scan on (${large})`)

test('no combination of sort and filters reads a whole table or sorts an unbounded part of it', async () => {
  await using app = await testApp()
  const { deps } = app
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Linen shirt', variants: [{ price: usd(1) }] })
  const { body: collection } = await shop.post('/collection-v2', { title: 'All' })
  await fill(app, shop.shop.id, collection.id, id)
  const read = deps.db.read.rows.bind(deps.db.read)
  using rows = spyOn(deps.db.read, 'rows')
  const plans = new Map<string, string>()
  const look = async (query: Partial<PublicQuery>, sort: Sort | undefined, page: number) => {
    rows.mockClear()
    const asked = { shopId: shop.shop.id, showQuantity: false, sort, q: undefined, ...query }
    const found = await listPublicProducts(deps, asked, slice(page, 20))
    for (const [statement] of rows.mock.calls as [SQL][]) {
      const plan = engine === 'sqlite' ? sql`explain query plan ${statement}` : sql`explain ${statement}`
      for (const row of await read<Record<string, unknown>>(plan)) {
        const line = String(row['detail'] ?? row['QUERY PLAN'])
        if (wide.test(line)) plans.set(line, JSON.stringify({ ...query, sort }))
      }
    }
    return found
  }
  for (const filter of filters)
    for (const sort of sortNames)
      for (const more of [{}, { collectionId: collection.id }] as const) {
        const { total, totalCapped } = await look({ ...filter, ...more }, sort, 1)
        const isFiltered = Object.keys({ ...filter, ...more }).length > 0
        expect([total <= 1_000 || !isFiltered, totalCapped === true && total < 1_000]).toEqual([true, false])
      }
  await look({ collectionId: collection.id }, undefined, 1)
  await look({}, 'title', 1_400)
  for (const filter of [{}, { minPrice: 29_900 }, { minPrice: 10_000, vendor: 'V1' }, { collectionId: collection.id }])
    await look({ q: 'linen', ...filter }, undefined, 1)
  expect(Object.fromEntries(plans)).toEqual({})
})

test('finds the few products that meet all filters when each filter alone matches thousands', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Linen shirt', variants: [{ price: usd(1) }] })
  const { body: collection } = await shop.post('/collection-v2', { title: 'All' })
  await fill(app, shop.shop.id, collection.id, id)
  const pageOf = async (query: Partial<PublicQuery>, sort: Sort | undefined, page = 1) => {
    const asked = { shopId: shop.shop.id, showQuantity: false, sort, q: undefined, ...query }
    const { total, totalCapped } = await listPublicProducts(app.deps, asked, slice(page, 100))
    return { total, totalCapped }
  }
  // Tagged are multiples of 3; of vendor V1 are none of them.
  expect(await pageOf({ tag: 'linen', vendor: 'V1' }, 'title')).toEqual({ total: 0, totalCapped: undefined })
  // Available products are odd, and have a second price 500 above the first.
  expect(await pageOf({ available: true, minPrice: 29_000, maxPrice: 29_001 }, 'price')).toMatchObject({ total: 2 })
  expect(await pageOf({ available: false, minPrice: 29_001 }, '-price')).toMatchObject({ total: 500 })
  expect(await pageOf({ available: true, minPrice: 30_001 }, 'newest')).toMatchObject({ total: 250 })
})
