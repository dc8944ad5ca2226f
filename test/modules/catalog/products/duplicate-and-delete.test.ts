/** Tests copies of products, and their removal: deleted if they were never ordered, otherwise archived. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { extendBlocks, miscountedBlocks, readListPage } from '../../../../db/list-pages.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { findCatalogInconsistencies } from '../../../../src/modules/catalog/products/check-store.ts'
import { findDifferences } from '../../../../src/modules/operations/kpi/facts-store.ts'
import { foldKpis } from '../../../../src/modules/operations/kpi/index.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { drawPng } from '../../../support/pictures.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const shirt = {
  title: 'Linen Shirt',
  descriptionHtml: '<p>Soft</p>',
  vendor: 'Bleue',
  type: 'Apparel',
  tags: ['Summer', 'Sale'],
  status: 'ACTIVE',
  options: [{ name: 'Size', values: ['S', 'M'] }],
  variants: [
    {
      ...{ optionValues: ['S'], sku: 'LS-S', barcode: '4006381333931', price: usd(4200), compareAtPrice: usd(5000), cost: usd(1111) },
      ...{ onHand: 7, weightGrams: 180, lowStockAt: 2 },
    },
    { optionValues: ['M'], sku: 'LS-M', price: usd(4300) },
  ],
  images: [{ url: 'https://img.example/a.jpg', alt: 'Front' }, { url: 'https://img.example/b.jpg' }],
  seo: { title: 'Buy linen' },
}

async function problemsOf(app: TestApp): Promise<string[]> {
  const found: string[] = []
  for await (const { problems } of findCatalogInconsistencies(app.deps.db)) found.push(...problems)
  await foldKpis(app.deps)
  const differences = await findDifferences(app.deps.db.read, Math.floor(app.clock.now() / dayMs))
  const blocks = await app.deps.db.read.rows(miscountedBlocks)
  return [...found, ...differences.map((one) => `${one.kpi} ${one.key}`), ...blocks.map(() => 'miscounted block')]
}
const put = (app: TestApp, key: string, path: string, productIds: string[]) => app.call('PUT', path, { key, body: { productIds } })

describe('POST /product-v2/{id}/duplicate', () => {
  test('gives copies and products that are created concurrently different handles', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { body: original } = ok(await shop.post('/product-v2', shirt), 201)
    const copies = await Promise.all(Array.from({ length: 8 }, () => shop.post(`/product-v2/${original.id}/duplicate`, undefined)))
    const products = await Promise.all(Array.from({ length: 8 }, () => shop.post('/product-v2', { title: 'Tea' })))
    const handles = [...copies, ...products].map((created) => ok(created, 201).body.handle)
    expect(new Set(handles).size).toBe(16)
  })

  test('creates a draft with texts, options, images, tags, variants and collections, without stock, SKUs and barcodes', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { body: created } = ok(await shop.post('/product-v2', shirt), 201)
    const imageChange = { variants: [{ id: created.variants[0].id, imageId: created.images[1].id }] }
    const { body: original } = ok(await shop.patch(`/product-v2/${created.id}`, imageChange))
    const other = await shop.add({ title: 'Other' })
    const { body: summer } = ok(await shop.post('/collection-v2', { title: 'Summer' }), 201)
    const path = `/collection-v2/${summer.id}`
    const { headers } = ok(await put(app, shop.secretKey, `${path}/products`, [original.id, other.id]))
    app.clock.advance(1_000)
    const { body: copy } = ok(await shop.post(`/product-v2/${original.id}/duplicate`, undefined), 201)
    const { id, handle, title, variants, images, status, publishedAt, createdAt, updatedAt, ...rest } = copy
    expect(rest).toEqual(Object.fromEntries(Object.keys(rest).map((name) => [name, original[name]])))
    expect([handle, title, status, publishedAt]).toEqual(['linen-shirt-copy', 'Linen Shirt (copy)', 'DRAFT', null])
    expect([createdAt, updatedAt].every((at) => at > original.createdAt)).toBe(true)
    expect(images.map(({ id: _, ...image }: Json) => image)).toEqual(original.images.map(({ id: _, ...image }: Json) => image))
    const newFields = {
      id: expect.any(String),
      imageId: null,
      sku: null,
      barcode: null,
      onHand: 0,
      reserved: 0,
      available: expect.anything(),
    }
    expect(variants).toEqual([
      { ...original.variants[0], ...newFields, imageId: images[1].id, available: false },
      { ...original.variants[1], ...newFields },
    ])
    const ids = (of: Json) => [of.id, ...of.variants.map(({ id }: Json) => id), ...of.images.map(({ id }: Json) => id)]
    expect(new Set([...ids(copy), ...ids(original)]).size).toBe(10)
    expect(ok(await shop.get(`/product-v2/${id}`)).body).toEqual(copy)
    expect(ok(await shop.get(`/product-v2/${original.id}`)).body).toEqual(original)
    const members = ok(await shop.get(path))
    expect(members.body.productIds).toEqual([original.id, other.id, id])
    // The ETag changes, so that an edit of the earlier version cannot remove the copy.
    expect(members.headers.get('etag')).not.toBe(headers.get('etag'))
    expect(await shop.titles()).not.toContain(title)
    expect(ok(await shop.get('/product-v2?q=linen&status=DRAFT')).body.data.map((found: Json) => found.id)).toEqual([id])
    ok(await shop.patch(`/product-v2/${id}`, { status: 'ACTIVE' }))
    expect(await shop.titles(`?collection=${summer.id}`)).toContain(title)
    expect(await problemsOf(app)).toEqual([])
  })

  test('takes the next free handle, cuts long titles, and keeps uploaded pictures in use', async () => {
    await using app = await testApp({ PUBLIC_URL: 'https://souk.example' })
    const shop = await shopIn(app)
    const { body: picture } = ok(
      await app.call('POST', '/media', { key: shop.secretKey, raw: drawPng(), headers: { 'content-type': 'image/png' } }),
      201,
    )
    const title = `${'x'.repeat(248)}😀 end`
    const images = [{ url: picture.url }]
    const { body: original } = ok(await shop.post('/product-v2', { title, handle: 'mug', images, variants: [{ price: usd(1) }] }), 201)
    const copy = async (id: string) => ok(await shop.post(`/product-v2/${id}/duplicate`, {}), 201).body
    const [first, second] = [await copy(original.id), await copy(original.id)]
    expect([first.handle, second.handle, (await copy(first.id)).handle]).toEqual(['mug-copy', 'mug-copy-1', 'mug-copy-copy'])
    expect(first.title).toBe(`${'x'.repeat(248)} (copy)`)
    expect(first.images).toMatchObject([{ url: picture.url }])
    ok(await shop.delete(`/product-v2/${original.id}`))
    expect((await shop.delete(`/media/${picture.id}`)).status).toBe(409)
  })

  test('happens once per idempotency key, refuses another version and other fields, and finds only products of the shop', async () => {
    await using app = await testApp()
    const [shop, other] = [await shopIn(app), await shopIn(app)]
    const mug = await shop.add({ title: 'Mug' })
    const path = `/product-v2/${mug.id}/duplicate`
    const twice = await Promise.all([1, 2].map(() => shop.post(path, {}, { 'idempotency-key': 'one' })))
    const repeated = ok(await shop.post(path, {}, { 'idempotency-key': 'one' }), 201)
    expect(twice.map(({ status }) => status).filter((status) => status !== 409 && status !== 201)).toEqual([])
    expect(ok(await shop.get('/product-v2')).body.data.map(({ id }: Json) => id)).toEqual([repeated.body.id, mug.id])
    expect((await other.post(path, {})).status).toBe(404)
    expect((await shop.post(path, {}, { 'if-match': '"v9"' })).status).toBe(412)
    const refused = await shop.post(path, { title: 'Cup' })
    expect([refused.status, refused.body.field]).toEqual([400, 'title'])
  })

  test('concurrent copies get different handles, or are refused and succeed when repeated', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const mug = await shop.add({ title: 'Mug' })
    const copy = () => shop.post(`/product-v2/${mug.id}/duplicate`, {})
    const answers = await Promise.all([1, 2, 3].map(copy))
    for (const { status } of answers) expect([201, 409]).toContain(status)
    while (answers.filter(({ status }) => status === 201).length < 3) answers.push(ok(await copy(), 201))
    const handles = answers.flatMap(({ status, body }) => (status === 201 ? [body.handle] : []))
    expect(handles.sort()).toEqual(['mug-copy', 'mug-copy-1', 'mug-copy-2'])
  })
})

describe('DELETE /product-v2/{id}', () => {
  test('deletes a product that was never ordered, with everything that shows it', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { body: created } = ok(await shop.post('/product-v2', shirt), 201)
    const mug = await shop.add({ title: 'Mug' })
    const { body: summer } = ok(await shop.post('/collection-v2', { title: 'Summer', publishedAt: '2026-01-01T00:00:00Z' }), 201)
    const members = `/collection-v2/${summer.id}`
    ok(await put(app, shop.secretKey, `${members}/products`, [created.id, mug.id]))
    expect((await app.call('GET', `/product-v2/public/${created.id}`)).status).toBe(200)
    expect(await shop.titles('?tag=sale')).toEqual(['Linen Shirt'])
    const removal = ok(await shop.delete(`/product-v2/${created.id}`))
    expect(removal.body).toEqual({ ...created, deleted: true })
    for (const path of [`/product-v2/public/${created.id}`, `${shop.list}/handle/linen-shirt`])
      expect((await app.call('GET', path)).status).toBe(404)
    expect((await shop.get(`/product-v2/${created.id}`)).status).toBe(404)
    expect((await shop.delete(`/product-v2/${created.id}`)).status).toBe(404)
    for (const query of ['', '?q=linen', '?sort=price', `?collection=${summer.id}`, '?available=true'])
      expect(await shop.titles(query)).toEqual(query === '?q=linen' ? [] : ['Mug'])
    expect(ok(await shop.get('/product-v2?q=linen')).body).toMatchObject({ total: 0, data: [] })
    expect(ok(await shop.get('/product-v2')).body).toMatchObject({ total: 1 })
    expect(ok(await shop.get(members)).body.productIds).toEqual([mug.id])
    expect(ok(await shop.get('/product-v2/low-stock')).body.total).toBe(0)
    // The handle is free again.
    ok(await shop.post('/product-v2', shirt), 201)
    expect(await problemsOf(app)).toEqual([])
  })

  test('archives a product that any order contains, also a cancelled one', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const order = await shop.placeOrder()
    for (let time = 0; time < 2; time++) {
      const { body } = ok(await shop.delete(`/product-v2/${shop.productId}`))
      expect(body).toMatchObject({ id: shop.productId, status: 'ARCHIVED', deleted: false })
      expect(await shop.titles()).toEqual([])
    }
    expect((await app.call('GET', `/product-v2/public/${shop.productId}`)).status).toBe(404)
    expect(ok(await shop.get('/product-v2?status=ARCHIVED')).body.total).toBe(1)
    expect((await shop.order(order.id)).lines).toMatchObject([{ productId: shop.productId }])
    const tea = await shop.add({ title: 'Tea', variants: [{ price: usd(100), onHand: 3 }] })
    const pending = ok(
      await shop.checkout(await shop.cart({ variants: [tea.variants[0]?.id ?? ''] }), { method: 'sandbox-pending' }),
      200,
      400,
    )
    if (pending.status === 200) expect(ok(await shop.delete(`/product-v2/${tea.id}`)).body.deleted).toBe(false)
    expect(await problemsOf(app)).toEqual([])
  })

  test('the checkout of an open cart with the product is refused with the reason', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    expect(ok(await shop.delete(`/product-v2/${shop.productId}`)).body.deleted).toBe(true)
    const refused = await shop.checkout(cartId)
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('no longer sold')])
    ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey }))
  })

  test('a concurrent checkout succeeds or is refused, and never leaves an order without its product', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    for (let round = 0; round < 8; round++) {
      const tea = await shop.add({ title: `Tea ${round}`, variants: [{ price: usd(100), onHand: 3 }] })
      const cartId = await shop.cart({ variants: [tea.variants[0]?.id ?? ''] })
      const [checkout, removed] = await Promise.all([shop.checkout(cartId), shop.delete(`/product-v2/${tea.id}`)])
      expect([removed.status, checkout.status === 409]).toEqual([200, removed.body.deleted])
    }
    expect(await problemsOf(app)).toEqual([])
  })

  test('refuses another version, and finds only products of the shop', async () => {
    await using app = await testApp()
    const [shop, other] = [await shopIn(app), await shopIn(app)]
    const mug = await shop.add({ title: 'Mug' })
    const remove = (tag: string, key = shop.secretKey) => app.call('DELETE', `/product-v2/${mug.id}`, { key, headers: { 'if-match': tag } })
    expect((await remove('*', other.secretKey)).status).toBe(404)
    expect((await remove('"v9"')).status).toBe(412)
    expect(ok(await shop.get(`/product-v2/${mug.id}`)).body.title).toBe('Mug')
    expect(ok(await remove((await shop.get(`/product-v2/${mug.id}`)).headers.get('etag') ?? '')).body.deleted).toBe(true)
  })

  test('keeps the counted pages of a long list exact', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const first = await shop.add({ title: 'Mug' })
    await app.deps.db.write((tx) =>
      tx.rows(sql`insert into products (id, shop_id, handle, title, description_html, vendor, type, tags, status, currency, options, images, created_at, updated_at, version, created_as)
        select 'prod_01zzzzzzzzzzzzzzzzzzzz' || n.n, ${shop.shop.id}, 'h' || n.n, 'T', '', '', '', '[]', 'DRAFT', 'USD', '[]', '[]', 0, 0, 1, 'DRAFT'
        from (with recursive s(n) as (select 1000 union all select n + 1 from s where n < 3200) select n from s) n`),
    )
    const list = { list: 'PRODUCTS', shopId: shop.shop.id } as const
    await extendBlocks(app.deps.db, list, '~')
    const total = async () => (await readListPage(app.deps.db.read, list, { limit: 1, offset: 0 })).total
    expect(await total()).toBe(2202)
    expect(ok(await shop.delete(`/product-v2/${first.id}`)).body.deleted).toBe(true)
    expect(await total()).toBe(2201)
    expect(await app.deps.db.read.rows(miscountedBlocks)).toEqual([])
  })
})
