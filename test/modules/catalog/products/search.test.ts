import { expect, setDefaultTimeout, test } from 'bun:test'
import { getTableColumns, getTableName, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { productDocuments, products } from '../../../../db/schema/catalog.ts'
import { searchFills } from '../../../../db/schema/search-index.ts'
import { productSearch } from '../../../../db/search.ts'
import { system } from '../../../../src/core/command-context.ts'
import { searchTermsOf } from '../../../../src/lib/search-terms.ts'
import { backfillProductSearch } from '../../../../src/modules/catalog/products/index.ts'
import { changeProduct } from '../../../../src/modules/catalog/products/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Table = Parameters<typeof getTableColumns>[0]

const q = (words: string, more = '') => `?q=${encodeURIComponent(words)}${more}`

test('finds a product by each of its fields, and only when it has every word', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({
    title: 'Linen Shirt',
    vendor: 'Maison Bleue',
    type: 'Apparel',
    tags: ['summer sale'],
    descriptionHtml: '<p>Woven in <b>Portugal</b>&nbsp;by hand</p>',
    options: [{ name: 'Colour', values: ['Indigo'] }],
    variants: [{ optionValues: ['Indigo'], sku: 'LS-0042', price: usd(100) }],
  })
  for (const found of [
    'linen',
    'maison',
    'apparel',
    'summer',
    'sale',
    'portugal',
    'hand',
    'indigo',
    'ls-0042',
    '0042',
    'shirt portugal indigo',
    'SHIRT  Linen',
    // Prefixes of the last word.
    'lin',
    'b',
    'shirt port',
    'ls-00',
    'summer s',
  ]) {
    expect([found, await shop.titles(q(found))]).toEqual([found, ['Linen Shirt']])
  }
  for (const missing of ['shirts', 'lin shirt', 'inen', 'linen wool', 'colour', 'nbsp', 'ortugal', 'draft'])
    expect([missing, await shop.titles(q(missing))]).toEqual([missing, []])
})

test('does not find products by cost or by fields that only the shop sees', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({
    title: 'Lamp',
    variants: [{ price: usd(700), cost: usd(333444), onHand: 987654, barcode: null }],
    seo: { title: 'hidden' },
  })
  for (const secret of ['333444', '987654', '700']) expect(await shop.titles(q(secret))).toEqual([])
})

test('ignores case and diacritics, and finds scripts without spaces', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({ title: 'Café Größe İstanbul' })
  await shop.add({ title: '東京のコーヒー豆' })
  await shop.add({ title: 'iPhone手机壳' })
  await shop.add({ title: 'กาแฟไทย' })
  await shop.add({ title: 'Монгол ноолуур' })
  await shop.add({ title: 'قهوة عربية' })
  for (const [words, title] of [
    ['CAFE', 'Café Größe İstanbul'],
    ['cafe\u0301', 'Café Größe İstanbul'],
    ['istanbul', 'Café Größe İstanbul'],
    ['größe', 'Café Größe İstanbul'],
    ['コーヒー', '東京のコーヒー豆'],
    ['東京', '東京のコーヒー豆'],
    ['豆', '東京のコーヒー豆'],
    ['手机', 'iPhone手机壳'],
    ['iphone', 'iPhone手机壳'],
    ['กาแฟ', 'กาแฟไทย'],
    ['НООЛУУР', 'Монгол ноолуур'],
    ['قهوة', 'قهوة عربية'],
  ] as const) {
    expect([words, await shop.titles(q(words))]).toEqual([words, [title]])
  }
})

test('finds letters that are newer than the tokenizer of the search engine', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  // Cyrillic Extended-C, Cherokee small letters, CJK extensions E and G, Adlam, Osage.
  const words = ['x\u1c82y', '\uab70\uab71', '\u{2b820}', '\u{30000}', '\u{1e922}\u{1e923}', '\u{104d8}a']
  for (const word of words) await shop.add({ title: `Only ${word}` })
  for (const word of words) expect([word, await shop.titles(q(word))]).toEqual([word, [`Only ${word}`]])
})

test('treats search operators as plain words or ignores them', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({ title: 'Salt and Pepper' })
  await shop.add({ title: 'Salt near Sea' })
  // Both were published at the same moment, so that their order depends on the engine.
  const saltTitles = await shop.titles(q('salt'))
  expect(saltTitles.toSorted()).toEqual(['Salt and Pepper', 'Salt near Sea'])
  for (const [words, titles] of [
    ['"salt', ['Salt near Sea', 'Salt and Pepper']],
    ["salt'; drop table products; --", []],
    ['salt AND pepper', ['Salt and Pepper']],
    ['salt AND', ['Salt and Pepper']],
    ['NOT salt', []],
    ['salt OR sugar', []],
    ['NEAR(salt sea)', ['Salt near Sea']],
    ['sal*', ['Salt near Sea', 'Salt and Pepper']],
    ['sal* sea', []],
    ['-salt', ['Salt near Sea', 'Salt and Pepper']],
    ['words:salt', []],
    ['salt:*', ['Salt near Sea', 'Salt and Pepper']],
    ['salt & !pepper | (sea <-> salt)', []],
    ['^salt + {sea}', ['Salt near Sea']],
    ['\\', []],
    ['"*"', []],
    ['%', []],
  ] as const) {
    expect([words, await shop.titles(q(words))]).toEqual([words, saltTitles.filter((title) => titles.some((one) => one === title))])
  }
})

test('a blank search lists all products', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({ title: 'Tea' })
  expect(await shop.titles('?q=')).toEqual(['Tea'])
  expect(await shop.titles(q('  '))).toEqual(['Tea'])
})

test('lists results newest first whatever sort says, without hidden products or those of other shops', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const other = await shopIn(app)
  const now = app.clock.now()
  const write = { shop: shop.shop, actor: system }
  await shop.add({ title: 'Cup A', publishedAt: now - 1000, variants: [{ price: usd(1) }] })
  await shop.add({ title: 'Cup B', publishedAt: now - 3000, variants: [{ price: usd(3) }] })
  await shop.add({ title: 'Cup C', publishedAt: now - 2000, variants: [{ price: usd(2) }] })
  await shop.add({ title: 'Cup to come', publishedAt: now + 5000 })
  await shop.add({ title: 'Cup draft', status: 'DRAFT' })
  await shop.add({ title: 'Cup hidden', publishedAt: null })
  const archived = await shop.add({ title: 'Cup gone' })
  await changeProduct(app.deps, write, archived.id, { status: 'ARCHIVED' })
  await other.add({ title: 'Cup of another' })
  for (const sort of ['', '&sort=price', '&sort=title']) expect(await shop.titles(q('cup', sort))).toEqual(['Cup A', 'Cup C', 'Cup B'])
  app.clock.advance(5000)
  expect(await shop.titles(q('cup'))).toEqual(['Cup to come', 'Cup A', 'Cup C', 'Cup B'])
  const [first] = (await app.call('GET', `${shop.list}${q('c cup')}`)).body.data
  await changeProduct(app.deps, write, first.id, { title: 'Mug' })
  expect(await shop.titles(q('cup'))).toEqual(['Cup to come', 'Cup A', 'Cup B'])
  expect(await shop.titles(q('mug'))).toEqual(['Mug'])
})

test('searches within a tag, a collection, or both', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const red = await shop.add({ title: 'Red cup', tags: ['Gift'] })
  await shop.add({ title: 'Blue cup', tags: ['gift', 'sale'] })
  const green = await shop.add({ title: 'Green cup' })
  const { body } = await shop.post('/collection-v2', { title: 'Best' })
  await shop.put(`/collection-v2/${body.id}/products`, { productIds: [green.id, red.id] })
  expect((await shop.titles(q('cup', '&tag=GIFT'))).sort()).toEqual(['Blue cup', 'Red cup'])
  expect(await shop.titles(q('blue', '&tag=gift'))).toEqual(['Blue cup'])
  expect((await shop.titles(q('cup', '&collection=best'))).sort()).toEqual(['Green cup', 'Red cup'])
  expect(await shop.titles(q('cup', `&collection=${body.id}&tag=gift`))).toEqual(['Red cup'])
  expect(await shop.titles(q('cup', '&collection=none'))).toEqual([])
  expect(await shop.titles(q('cup', '&tag=none'))).toEqual([])
})

/** Inserts visible products directly, because the service would take too long. */
async function insertProducts(app: TestApp, shopId: string, count: number): Promise<void> {
  const from = app.clock.now() - count
  for (let start = 0; start < count; start += 100) {
    await app.deps.db.write(async (tx) => {
      for (let nth = start; nth < Math.min(count, start + 100); nth++) {
        const id = app.deps.newId('product')
        const at = from + nth
        const common = {
          handle: `p-${nth}`,
          title: `Bead ${nth}`,
          descriptionHtml: '',
          vendor: '',
          type: '',
          tags: [],
          status: 'ACTIVE',
          currency: 'USD',
          options: [],
          images: [],
        } as const
        await tx.insert(products).values({
          id,
          shopId,
          ...common,
          tags: [],
          options: [],
          images: [],
          seoTitle: null,
          seoDescription: null,
          publishedAt: at,
          createdAt: at,
          updatedAt: at,
        })
        const document = JSON.stringify({ id, title: common.title, tags: [], variants: [], images: [] })
        await tx.insert(productDocuments).values({
          productId: id,
          shopId,
          document,
          etag: 'any',
          visibleFrom: at,
          newestKey: `${nth}`,
          titleKey: `${nth}`,
          priceKey: `${nth}`,
        })
        await productSearch.add(tx, { productId: id, shopId, visibleFrom: at, words: ['bead', String(nth)], tags: [] })
      }
    })
  }
}

test('the total of a search is exact up to 1,000 results', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await insertProducts(app, shop.shop.id, 1000)
  const exact = await app.call('GET', `${shop.list}${q('bead', '&limit=100&page=10')}`)
  expect(exact.body).toMatchObject({ total: 1000, pages: 10, page: 10, limit: 100 })
  expect(exact.body).not.toHaveProperty('totalCapped')
  expect(exact.body.data.map(({ title }: { title: string }) => title)).toEqual(Array.from({ length: 100 }, (_, at) => `Bead ${99 - at}`))
  expect((await app.call('GET', `${shop.list}${q('bead', '&limit=100&page=11')}`)).body.data).toEqual([])
})

test('beyond 1,000 results, the total is capped and the list ends there', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await insertProducts(app, shop.shop.id, 1130)
  const first = await app.call('GET', `${shop.list}${q('bead', '&limit=100')}`)
  expect(first.body).toMatchObject({ total: 1000, totalCapped: true, pages: 10 })
  expect(first.body.data[0].title).toBe('Bead 1129')
  const titles: string[] = []
  for (let page = 9; page <= 13; page++) titles.push(...(await shop.titles(q('bead', `&limit=100&page=${page}`))))
  expect(titles).toEqual(Array.from({ length: 200 }, (_, at) => `Bead ${329 - at}`))
  expect((await app.call('GET', `${shop.list}${q('bead 1007')}`)).body).toMatchObject({ total: 1, data: [{ title: 'Bead 1007' }] })
})

test('matches the last word as a prefix and earlier words whole, also with tag, collection and filters', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const long = 'a'.repeat(19)
  const red = await shop.add({ title: 'Red cup', vendor: 'Kiln', tags: ['Gift'], variants: [{ price: usd(500), sku: `${long}b-c` }] })
  await shop.add({ title: 'Blue cupboard', vendor: 'Kiln', tags: ['gift', 'sale'], variants: [{ price: usd(900), sku: `${long}bcd` }] })
  const green = await shop.add({ title: 'Green cup', variants: [{ price: usd(100), sku: `${long}xyz` }] })
  const { body } = await shop.post('/collection-v2', { title: 'Best' })
  await shop.put(`/collection-v2/${body.id}/products`, { productIds: [green.id, red.id] })
  const found = async (words: string, more = '') => (await shop.titles(q(words, more))).toSorted()
  expect(await found('cu')).toEqual(['Blue cupboard', 'Green cup', 'Red cup'])
  expect(await found('cupb')).toEqual(['Blue cupboard'])
  expect(await found('cu', '&tag=GIFT')).toEqual(['Blue cupboard', 'Red cup'])
  expect(await found('gi', '&tag=sale')).toEqual(['Blue cupboard'])
  expect(await found('cu', '&collection=best')).toEqual(['Green cup', 'Red cup'])
  expect(await found('cu', '&collection=best&tag=gift')).toEqual(['Red cup'])
  expect(await found('cu', '&vendor=Kiln&maxPrice=600')).toEqual(['Red cup'])
  expect(await found('cu', '&vendor=Kiln&sort=-price')).toEqual(['Blue cupboard', 'Red cup'])
  expect(await found('cu', '&minPrice=901')).toEqual([])
  expect(await found('re cu')).toEqual([])
  expect(await found('kiln red c')).toEqual(['Red cup'])
  // The search does not find the stored form of a tag. Only the parameter `tag` does.
  expect(await found('_')).toEqual([])
  expect(await found(long)).toEqual(['Blue cupboard', 'Green cup', 'Red cup'])
  expect(await found(`${long}b`)).toEqual(['Blue cupboard', 'Red cup'])
  expect(await found(`${long}bc`)).toEqual(['Blue cupboard'])
  expect(await found(`${long}bcde`)).toEqual([])
  const { body: firstPage } = await app.call('GET', `${shop.list}${q('cu', '&limit=1')}`)
  expect(firstPage).toMatchObject({ total: 3, pages: 3 })
  expect(firstPage).not.toHaveProperty('totalCapped')
})

/** Stores the search index as an older version did: whole words only, before the backfill. */
async function storeAsOlderVersion(app: TestApp, shopId: string): Promise<void> {
  await app.deps.db.write(async (tx) => {
    await tx.insert(searchFills).values({ subject: 'PRODUCTS', below: '~', done: 0 })
    if (engine === 'postgres') return
    await tx.rows(sql`delete from product_words`)
    const rows = await tx.select().from(products)
    for (const { id, title } of rows) {
      const words = searchTermsOf(title, 10).map((word) => shopId.slice(shopId.indexOf('_') + 1) + word)
      await tx.rows(
        sql`insert into product_words (rowid, words) select rank, ${words.join(' ')} from product_ranks where product_id = ${id}`,
      )
    }
  })
}

test('finds products indexed by an older version by prefix, before and after the backfill', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({ title: 'Linen shirt' })
  await shop.add({ title: 'Lintel' })
  await storeAsOlderVersion(app, shop.shop.id)
  await shop.add({ title: 'Linden' })
  const readResult = async () => {
    const { body } = await app.call('GET', `${shop.list}${q('lin')}`)
    expect(body).not.toHaveProperty('totalCapped')
    return [body.total, ...body.data.map(({ title }: { title: string }) => title).toSorted()]
  }
  expect(await readResult()).toEqual([3, 'Linden', 'Linen shirt', 'Lintel'])
  expect(await backfillProductSearch(app.deps)).toEqual({ filled: 3, isDone: true })
  expect(await readResult()).toEqual([3, 'Linden', 'Linen shirt', 'Lintel'])
  expect(await shop.titles(q('lin shirt'))).toEqual([])
  expect(await shop.titles(q('linen sh'))).toEqual(['Linen shirt'])
})

/** Inserts copies of a product without search words, each published a millisecond after the previous one. */
async function insertCopies({ deps }: TestApp, id: string, count: number): Promise<void> {
  const copies = (table: Table, key: string, overrides: Record<string, string>) => {
    const names = Object.values(getTableColumns(table)).map(({ name }) => name)
    const values = names.map((name) => overrides[name] ?? `r.${name}`)
    return sql.raw(`insert into ${getTableName(table)} (${names.join(', ')})
      with recursive copy (n) as (select 1 union all select n + 1 from copy where n < ${count})
      select ${values.join(', ')} from ${getTableName(table)} r, copy where r.${key} = '${id}'`)
  }
  await deps.db.write(async (tx) => {
    await tx.rows(copies(products, 'id', { id: `r.id || 'c' || n`, handle: `r.handle || n` }))
    await tx.rows(copies(productDocuments, 'product_id', { product_id: `r.product_id || 'c' || n`, visible_from: 'r.visible_from + n' }))
  })
}

test('among thousands of products, rare and common words are found completely and newest first', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const other = await shopIn(app)
  await other.add({ title: 'Linden' })
  await shop.add({ title: 'Linen' })
  await shop.add({ title: 'Lintel' })
  const { id } = await shop.add({ title: 'Thing' })
  const count = 5_000
  await insertCopies(app, id, count)
  const at = app.clock.now()
  for (let start = 1; start <= count; start += 500)
    await app.deps.db.write(async (tx) => {
      for (let n = start; n < start + 500; n++) {
        const words = ['thing', `common${n}`, ...(n % 20 === 0 ? [`some${n}`] : []), ...(n % 3 === 0 ? ['third'] : [])]
        await productSearch.add(tx, { productId: `${id}c${n}`, shopId: shop.shop.id, visibleFrom: at + n, words, tags: [] })
      }
    })
  app.clock.advance(count)
  const found = async (words: string) => {
    const query = { shopId: shop.shop.id, words: words.split(' '), now: app.clock.now(), limit: 1_001 }
    const { ids, isComplete } = await productSearch.find(app.deps.db.read, query)
    expect(isComplete).toBe(true)
    return ids.map((one) => Number(one.slice(id.length + 1)))
  }
  const descending = (step: number, from: number, many: number) => Array.from({ length: many }, (_, nth) => from - nth * step)
  expect(await shop.titles(q('lin'))).toEqual(['Lintel', 'Linen'])
  expect(await shop.titles(q('thing lin'))).toEqual([])
  expect(await found('common')).toEqual(descending(1, 5_000, 1_001))
  expect(await found('thi')).toEqual(descending(1, 5_000, 1_001))
  expect(await found('thir')).toEqual(descending(3, 4_998, 1_001))
  expect(await found('some')).toEqual(descending(20, 5_000, 250))
  expect(await found('thing some')).toEqual(descending(20, 5_000, 250))
  expect(await found('common7')).toEqual([...descending(1, 799, 100), ...descending(1, 79, 10), 7].sort((a, b) => b - a))
  expect((await found('third s')).length).toBe(83)
  expect(await found('nowhere')).toEqual([])
})

test('in a large shop before the backfill, finds whole words and marks the total as capped', async () => {
  if (engine === 'postgres') return
  await using app = await testApp()
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Linen' })
  await shop.add({ title: 'Lintel' })
  await insertCopies(app, id, 10_000)
  await app.deps.db.write((tx) => tx.rows(sql`delete from product_words`))
  await storeAsOlderVersion(app, shop.shop.id)
  const search = async (words: string) => {
    const { body } = await app.call('GET', `${shop.list}${q(words)}`)
    return [body.total, body.totalCapped, ...body.data.map(({ title }: { title: string }) => title)]
  }
  expect(await search('linen')).toEqual([1, true, 'Linen'])
  expect(await search('lin')).toEqual([0, true])
  while (!(await backfillProductSearch(app.deps)).isDone);
  expect((await search('lintel')).slice(0, 2)).toEqual([1, undefined])
  expect(await search('lin')).toEqual([2, undefined, 'Lintel', 'Linen'])
})
