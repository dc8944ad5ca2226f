/** Tests the search of products by the staff of a shop. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { searchFills } from '../../../../db/schema/search-index.ts'
import { backfillProductSearch } from '../../../../src/modules/catalog/products/index.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('filters products by text, status, vendor, type, tag and SKU, one at a time and combined', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const other = await shopIn(app)
  await other.add({ title: 'Mug', vendor: 'Kiln', tags: ['Blue'] })
  const mug = await shop.add({
    title: 'Mug – кружка',
    vendor: 'Kiln',
    type: 'Cups',
    tags: ['Blue Sky', 'new'],
    descriptionHtml: '<p>Thrown by hand</p>',
    variants: [{ sku: 'MG-1', barcode: '4006381333931', price: usd(100) }],
  })
  const bowl = await shop.add({
    title: 'Bowl',
    vendor: 'kiln',
    type: 'Cups',
    status: 'DRAFT',
    tags: ['new'],
    variants: [{ sku: 'bw 2', price: usd(100) }],
  })
  const found = async (query: string): Promise<string[]> => {
    const { data, total, totalCapped } = ok(await shop.get(`/product-v2?${query}`)).body
    expect([total, totalCapped]).toEqual([data.length, undefined])
    return data.map(({ title }: Json) => title)
  }
  const [m, b] = [mug.title, bowl.title]
  expect(await found('')).toEqual([b, m])
  expect(await found('q=%20')).toEqual([b, m])
  expect(await found('q=mu')).toEqual([m])
  expect(await found('q=кру')).toEqual([m])
  expect(await found('q=kiln%20bo')).toEqual([b])
  expect(await found('q=hand')).toEqual([m])
  expect(await found('q=han')).toEqual([])
  expect(await found('q=400638')).toEqual([m])
  expect(await found('q=mg-1')).toEqual([m])
  expect(await found('status=DRAFT')).toEqual([b])
  expect(await found('status=ARCHIVED')).toEqual([])
  expect(await found('vendor=Kiln')).toEqual([m])
  expect(await found('type=Cups')).toEqual([b, m])
  expect(await found('type=Cup')).toEqual([])
  expect(await found('tag=NEW')).toEqual([b, m])
  expect(await found('tag=blue')).toEqual([])
  expect(await found('tag=blue%20sky&q=cups')).toEqual([m])
  expect(await found('sku=BW%202')).toEqual([b])
  expect(await found('sku=bw')).toEqual([])
  expect(await found('sku=mg-1&status=ACTIVE&vendor=Kiln&type=Cups&tag=new&q=mug')).toEqual([m])
  expect(await found('sku=mg-1&status=DRAFT')).toEqual([])
  for (const hostile of ['%25', '%22', "'", '*', '_', 'a%22%20OR%20%22b', "x'%20|%20'mug", '%F0%9F%98%80'])
    expect(await found(`q=${hostile}`), hostile).toEqual([])
  for (const hostile of ['%25', '%22', "'", '_', '&', ':*'])
    expect(await found(`vendor=${encodeURIComponent(hostile)}`), hostile).toEqual([])
  expect((await shop.get(`/product-v2?q=${'x'.repeat(201)}`)).status).toBe(400)
  expect((await shop.get('/product-v2?q=a%00')).status).toBe(400)

  ok(await shop.patch(`/product-v2/${mug.id}`, { title: 'Cup', tags: ['old'], variants: [{ id: mug.variants[0]?.id, sku: 'CP-1' }] }))
  expect(await found('tag=new')).toEqual([b])
  expect(await found('q=mug')).toEqual([])
  expect(await found('sku=cp-1&tag=OLD')).toEqual(['Cup'])
  ok(await shop.patch(`/product-v2/${mug.id}`, { status: 'ARCHIVED' }))
  expect(await found('status=ARCHIVED')).toEqual(['Cup'])
})

test('the backfill indexes products from before the search existed, and each is found once', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({ title: 'Mug' })
  await app.deps.db.write(async (tx) => {
    await tx.rows(sql`delete from managed_words`)
    await tx.insert(searchFills).values({ subject: 'PRODUCTS', below: '~', done: 0 })
  })
  await shop.add({ title: 'Other mug' })
  expect(ok(await shop.get('/product-v2?q=mug')).body.total).toBe(1)
  expect(await backfillProductSearch(app.deps)).toEqual({ filled: 2, isDone: true })
  expect(ok(await shop.get('/product-v2?q=mug')).body.data.map(({ title }: Json) => title)).toEqual(['Other mug', 'Mug'])
  expect(await app.deps.db.read.select().from(searchFills)).toEqual([])
})
