/** Tests the order of the product list of a shop's staff. */
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { exactWordOf } from '../../../../db/admin-search.ts'
import { engine } from '../../../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../../../db/migrations/index.ts'
import { products, variants } from '../../../../db/schema/catalog.ts'
import { managedSearch } from '../../../../db/search.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { ok } from '../../../support/selling.ts'
import { insertRowCopies, paddedNumber, vacuumTables } from '../../../support/table-copies.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('sorts products of every status by title and lowest price, alone and beside filters, page by page', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await (await shopIn(app)).add({ title: 'Another shop' })
  const prices = (...amounts: number[]) => amounts.map((amount, at) => ({ price: usd(amount), sku: `S-${at}`, optionValues: [`${at}`] }))
  const sizes = { options: [{ name: 'Size', values: ['0', '1'] }] }
  await shop.add({ title: 'bowl', variants: prices(300, 500), ...sizes, vendor: 'Kiln' })
  await shop.add({ title: 'Élan', status: 'DRAFT', variants: [{ price: usd(100) }] })
  const cup = await shop.add({ title: 'Cup', status: 'ARCHIVED', variants: [{ price: usd(400) }], vendor: 'Kiln' })
  await shop.add({ title: 'Apron', variants: [{ price: usd(200) }] })
  const titles = async (query: string): Promise<string[]> =>
    ok(await shop.get(`/product-v2?${query}`)).body.data.map(({ title }: Json) => title)
  for (const [query, expected] of [
    ['', ['Apron', 'Cup', 'Élan', 'bowl']],
    ['sort=newest', ['Apron', 'Cup', 'Élan', 'bowl']],
    ['sort=title', ['Apron', 'bowl', 'Cup', 'Élan']],
    ['sort=price', ['Élan', 'Apron', 'bowl', 'Cup']],
    ['sort=-price', ['Cup', 'bowl', 'Apron', 'Élan']],
    ['sort=title&limit=2&page=2', ['Cup', 'Élan']],
    ['sort=title&limit=2&page=3', []],
    ['sort=price&status=ACTIVE', ['Apron', 'bowl']],
    ['sort=title&vendor=Kiln', ['bowl', 'Cup']],
    ['sort=-price&vendor=Kiln&limit=1&page=2', ['bowl']],
    ['sort=title&q=kiln', ['bowl', 'Cup']],
    ['sort=title&q=kiln&page=2', []],
  ] as const)
    expect([query, await titles(query)]).toEqual([query, [...expected]])
  expect(ok(await shop.get('/product-v2?sort=title&limit=3')).body).toMatchObject({ total: 4, pages: 2 })
  for (const sort of ['stock', '-title']) {
    const refused = await shop.get(`/product-v2?sort=${sort}`)
    expect([sort, refused.status, refused.body.field]).toEqual([sort, 400, 'sort'])
  }

  ok(await shop.patch(`/product-v2/${cup.id}`, { title: 'A cup', variants: [{ id: cup.variants[0]?.id, price: usd(50) }] }))
  expect(await titles('sort=title')).toEqual(['A cup', 'Apron', 'bowl', 'Élan'])
  expect(await titles('sort=price')).toEqual(['A cup', 'Élan', 'Apron', 'bowl'])

  const { text } = await app.call('GET', '/product-v2?sort=title', { key: shop.secretKey, headers: { accept: 'text/csv' } })
  expect(['bowl', 'Élan', 'A cup', 'Apron'].map((title) => text.indexOf(title))).toEqual(
    ['bowl', 'Élan', 'A cup', 'Apron'].map((title) => text.indexOf(title)).toSorted((a, b) => a - b),
  )
})

test('the migration gives products of older versions the keys that a write gives them', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({ title: 'Élan', variants: [{ price: usd(1_250) }] })
  await shop.add({ title: 'A Draft', status: 'DRAFT', variants: [{ price: usd(70) }] })
  const { read, write } = app.deps.db
  const keys = () =>
    read.select({ id: products.id, title: products.titleKey, price: products.priceKey }).from(products).orderBy(products.id)
  const before = await keys()
  const migrations = engine === 'sqlite' ? sqliteMigrations : postgresMigrations
  const statements = migrations.find(({ tag }) => tag.endsWith('_list-sorts'))?.statements.split('--> statement-breakpoint') ?? []
  const fill = statements.find((statement) => statement.trim().startsWith('UPDATE')) ?? ''
  await write(async (tx) => {
    await tx.update(products).set({ titleKey: '', priceKey: '' })
    await tx.rows(sql.raw(`${fill.replace(';', '')} returning 1 as done`))
  })
  expect(await keys()).toEqual(before)
})

test('reads a page of a long list along the index of its order, without a sort', async () => {
  await using app = await testApp()
  const { deps } = app
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Mug', variants: [{ price: usd(99_999) }] })
  const copyId = `'prod_' || ${paddedNumber(26)}`
  // Later copies have lower titles and prices. A tenth are drafts.
  const key = engine === 'sqlite' ? `printf('%015d', 20000 - n)` : `lpad((20000 - n)::text, 15, '0')`
  await insertRowCopies(app, products, 12_000, `r.id = '${id}'`, {
    ...{ id: copyId, handle: `'p' || n`, title: `'Copy ' || n`, title_key: key, price_key: key },
    status: `case n % 10 when 0 then 'DRAFT' else 'ACTIVE' end`,
  })
  await insertRowCopies(app, variants, 12_000, `r.product_id = '${id}'`, { id: `'var_' || ${paddedNumber(26)}`, product_id: copyId })
  await vacuumTables(app, [products, variants])
  await deps.db.write(async (tx) => {
    // The newest 1,010 drafts: more than a filter counts.
    for (const n of Array.from({ length: 1_010 }, (_, nth) => 12_000 - 10 * nth)) {
      const product = { id: `prod_${String(n).padStart(26, '0')}`, shopId: shop.shop.id, createdAt: n }
      await managedSearch.put(tx, product, { words: ['copy'], whole: [exactWordOf('status', 'DRAFT')] })
    }
  })
  const read = deps.db.read.rows.bind(deps.db.read)
  using rows = spyOn(deps.db.read, 'rows')
  for (const [query, first, total] of [
    ['sort=title', 12_000, 12_001],
    ['sort=price', 12_000, 12_001],
    ['sort=-price&page=2', 10, 12_001],
    ['sort=title&status=DRAFT', 12_000, 1_000],
    ['sort=-price&status=DRAFT', 10, 1_000],
  ] as const) {
    rows.mockClear()
    const { data, ...page } = ok(await shop.get(`/product-v2?${query}&limit=10`)).body
    expect([query, data[0].title, data.length, page.total]).toEqual([query, `Copy ${first}`, 10, total])
    const [statement] = rows.mock.calls.map(([one]) => one as SQL).slice(-1)
    const plan = await read<Json>(sql`${sql.raw(engine === 'sqlite' ? 'explain query plan' : 'explain')} ${statement}`)
    const lines = plan.map((line) => String(line.detail ?? line['QUERY PLAN']).trim())
    expect([query, lines.filter((line) => /TEMP B-TREE|SCAN|Sort {2}|Seq Scan|Bitmap/.test(line))]).toEqual([query, []])
    expect(lines.join('\n')).toMatch(query.includes('price') ? /products_price/ : /products_title/)
  }
})
