/** Tests the size limits of public catalog responses, and summaries in lists. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { productDocuments, productSummaries } from '../../../../db/schema/catalog.ts'
import { searchFills } from '../../../../db/schema/search-index.ts'
import { system } from '../../../../src/core/command-context.ts'
import { publicAnswerBytesMax } from '../../../../src/lib/shorten-texts.ts'
import { backfillProductSummaries, createCollection, setCollectionProducts } from '../../../../src/modules/catalog/products/index.ts'
import { testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const range = (count: number) => Array.from({ length: count }, (_, nth) => nth)
/** Returns a text with three bytes per character. */
const wideText = (length: number) => '界'.repeat(length)
const imagesOf = (count: number) => range(count).map((nth) => ({ url: `https://images.example.com/${nth}.jpg`, alt: `Picture ${nth}` }))

/** Returns a product of the largest size that is accepted. */
const largeProduct = (nth: number) => ({
  title: `${wideText(240)} ${nth}`,
  vendor: wideText(255),
  type: wideText(255),
  descriptionHtml: `<p>${wideText(20_000)}</p>`,
  tags: range(100).map((tag) => `${tag} ${wideText(240)}`),
  options: [
    { name: wideText(255), values: range(250).map((value) => `${value} ${wideText(250)}`) },
    { name: `${wideText(254)}x`, values: [wideText(255)] },
    { name: `${wideText(254)}y`, values: [wideText(255)] },
  ],
  variants: range(60).map((value) => ({
    price: usd(100 + value),
    optionValues: [`${value} ${wideText(250)}`, wideText(255), wideText(255)],
  })),
  images: range(20).map((image) => ({ url: `https://images.example.com/${'x'.repeat(1_900)}${image}`, alt: wideText(500) })),
})

test('list items are summaries with at most 20 tags, 10 variants and two images, and the full counts', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const tags = range(30).map((nth) => `tag ${nth}`)
  const values = range(250).map((nth) => `Size ${nth}`)
  const { id } = await shop.add({
    ...{ title: 'Shirt', descriptionHtml: '<p>Long</p>', tags, images: imagesOf(250) },
    options: [{ name: 'Size', values }],
    variants: values.map((value, at) => ({ price: usd(1_000 + at), optionValues: [value], onHand: at === 200 ? 1 : 0 })),
  })
  await shop
    .post('/collection-v2', { title: 'All' })
    .then(({ body }) => shop.put(`/collection-v2/${body.id}/products`, { productIds: [id] }))
  const { body: record } = await app.call('GET', `/product-v2/public/${id}`)
  expect(record.variants).toHaveLength(250)
  expect(record.images).toHaveLength(250)
  const { descriptionHtml: _, seo: __, ...rest } = record
  const summary = {
    ...rest,
    tags: tags.slice(0, 20),
    variants: record.variants.slice(0, 10),
    variantsCount: 250,
    images: record.images.slice(0, 2),
    imagesCount: 250,
  }
  for (const query of ['', '?q=shirt', '?tag=tag%2029', '?minPrice=1249', '?available=true', '?collection=all'])
    expect([query, (await app.call('GET', `${shop.list}${query}`)).body.data]).toEqual([query, [summary]])
  const collections = `/collection-v2/published/${shop.shop.name}`
  expect((await app.call('GET', collections)).body.data[0]).toMatchObject({ productsCount: 1, products: [summary] })
  expect((await app.call('GET', `${collections}/all`)).body).toMatchObject({ productsCount: 1, products: [summary], total: 1, page: 1 })
})

test('a collection page has a page of products, and the collection list twelve of each, at most 20 collections', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const ids: string[] = []
  for (const nth of range(15)) ids.push((await shop.add({ title: `Product ${nth}` })).id)
  const { id: draft } = await shop.add({ title: 'Draft', status: 'DRAFT' })
  const scheduled = await shop.add({ title: 'Later', publishedAt: app.clock.now() + 60_000 })
  const by = { shop: { id: shop.shop.id }, actor: system }
  for (const nth of range(21)) {
    const { id } = await createCollection(app.deps, by, { title: `Collection ${nth}` })
    await setCollectionProducts(app.deps, by, id, nth === 20 ? [draft, ...ids, scheduled.id] : [])
  }
  const path = `/collection-v2/published/${shop.shop.name}`
  const { body: list } = await app.call('GET', `${path}?limit=100`)
  expect(list).toMatchObject({ total: 21, pages: 2, limit: 20, page: 1 })
  expect(list.data).toHaveLength(20)
  const first = list.data.find(({ title }: { title: string }) => title === 'Collection 20')
  expect([first.productsCount, first.products.map((one: { id: string }) => one.id)]).toEqual([15, ids.slice(0, 12)])
  const pageOf = async (query: string) => (await app.call('GET', `${path}/collection-20${query}`)).body
  expect(await pageOf('?page=2&limit=10')).toMatchObject({ page: 2, limit: 10, total: 15, pages: 2, productsCount: 15 })
  const readProductIds = async (query: string) => (await pageOf(query)).products.map((one: { id: string }) => one.id)
  expect([await readProductIds(''), await readProductIds('?page=2&limit=10'), await readProductIds('?page=3&limit=10')]).toEqual([
    ids,
    ids.slice(10),
    [],
  ])
  // A change of visibility takes effect at once.
  await shop.patch(`/product-v2/${draft}`, { status: 'ACTIVE' })
  expect(await readProductIds('')).toEqual([draft, ...ids])
  app.clock.advance(61_000)
  expect(await readProductIds('')).toEqual([draft, ...ids, scheduled.id])
  await shop.delete(`/product-v2/${ids[0]}`)
  expect([(await pageOf('')).productsCount, await readProductIds('?limit=2')]).toEqual([16, [draft, ids[1]]])
})

test('lists of the largest products and collections stay within 1 MB and omit no item', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const ids: string[] = []
  for (const nth of range(60)) ids.push((await shop.add(largeProduct(nth))).id)
  const by = { shop: { id: shop.shop.id }, actor: system }
  for (const nth of range(20)) {
    const { id } = await createCollection(app.deps, by, {
      ...{ title: `${wideText(240)} ${nth}`, handle: nth === 0 ? 'first' : `c-${nth}`, descriptionHtml: `<p>${wideText(65_000)}</p>` },
      image: { url: `https://images.example.com/${'x'.repeat(1_900)}`, alt: wideText(500) },
    })
    await setCollectionProducts(app.deps, by, id, ids)
  }
  const bytesAt = async (path: string) => {
    const { status, text, body } = await app.call('GET', path)
    expect([path, status]).toEqual([path, 200])
    return { bytes: Buffer.byteLength(text), body }
  }
  const path = `/collection-v2/published/${shop.shop.name}`
  for (const [query, count] of [
    [`${shop.list}?limit=100`, 60],
    [`${shop.list}?limit=20`, 20],
    [`${shop.list}?minPrice=150&limit=100`, 60],
    [`${path}?limit=20`, 20],
  ] as const) {
    const { bytes, body } = await bytesAt(query)
    expect([query, bytes <= publicAnswerBytesMax, body.data.length]).toEqual([query, true, count])
  }
  const { bytes, body } = await bytesAt(`${path}/first?limit=100`)
  expect([bytes <= publicAnswerBytesMax, body.products.length, body.descriptionHtml.length]).toEqual([true, 60, 65_007])
  expect((await bytesAt(`/product-v2/public/${ids[0]}`)).bytes).toBeLessThan(publicAnswerBytesMax)
})

test('a change or import that makes the public record of a product exceed 1 MB is refused', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Shirt', tags: ['a'] })
  const tags = range(250).map((nth) => `${nth} ${wideText(250)}`)
  const options = ['A', 'B', 'C'].map((name) => ({ name, values: range(250).map((nth) => `${nth} ${wideText(250)}`) }))
  const images = range(60).map((nth) => ({ url: `https://i.example.com/${'x'.repeat(1_900)}${nth}`, alt: wideText(500) }))
  await shop.patch(`/product-v2/${id}`, { tags, images })
  const refused = { status: 400, body: expect.objectContaining({ message: expect.stringMatching(/too large: .* \d{7} bytes/) }) }
  const optionValues = options.map(({ values }) => values[0] ?? '')
  expect(await shop.post('/product-v2', { title: 'Coat', options, variants: [{ price: usd(1), optionValues }] })).toMatchObject({
    status: 201,
  })
  expect(await shop.patch(`/product-v2/${id}`, { descriptionHtml: `<p>${wideText(65_000)}</p>` })).toMatchObject({ status: 200 })
  const variants = await shop.get(`/product-v2/${id}`).then(({ body }) => [{ id: body.variants[0].id, optionValues }])
  expect(await shop.patch(`/product-v2/${id}`, { options, variants })).toMatchObject(refused)
  expect((await shop.get(`/product-v2/${id}`)).body).toMatchObject({ options: [] })
  const rows = range(250).map(
    (nth) =>
      `big,${nth === 0 ? 'Big' : ''},1,Size,${nth} ${wideText(240)},${nth} ${wideText(240)},https://i.example.com/${'x'.repeat(2_000)}${nth},${wideText(500)}`,
  )
  const file = `Handle,Title,Variant Price,Option1 Name,Option1 Value,Variant SKU,Image Src,Image Alt Text\n${rows.join('\n')}\n`
  for (const query of ['?dryRun=true', '']) {
    const { body } = await app.call('POST', `/product-v2/import${query}`, {
      key: shop.secretKey,
      raw: file,
      headers: { 'content-type': 'text/csv' },
    })
    expect([query, body]).toMatchObject([query, { failed: 1, created: 0, errors: [{ message: expect.stringContaining('too large') }] }])
  }
})

test('an older product above 1 MB is shown within it, with fewer images', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Shirt', descriptionHtml: '<p>x</p>', images: imagesOf(250) })
  const [row] = await app.deps.db.read.select().from(productDocuments).where(eq(productDocuments.productId, id))
  const view = JSON.parse(row?.document ?? '{}')
  view.images = view.images.map((image: object) => ({
    ...image,
    url: `https://images.example.com/${'x'.repeat(2_000)}`,
    alt: wideText(512),
  }))
  view.descriptionHtml = `<p>${wideText(65_000)}</p>`
  await app.deps.db.write(async (tx) => {
    await tx
      .update(productDocuments)
      .set({ document: JSON.stringify(view) })
      .where(eq(productDocuments.productId, id))
  })
  app.deps.documents.invalidate(id)
  const { status, text, body } = await app.call('GET', `/product-v2/public/${id}`)
  expect([status, Buffer.byteLength(text) <= publicAnswerBytesMax, body.title, body.variants.length]).toEqual([200, true, 'Shirt', 1])
  expect(body.images.length).toBeLessThan(250)
})

test('products of an older version are listed the same before and after the summary backfill', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  for (const title of ['Shirt', 'Coat']) await shop.add({ title, tags: ['Linen'], images: imagesOf(4) })
  const readLists = async () => [
    (await app.call('GET', `${shop.list}?sort=title`)).body,
    (await app.call('GET', `${shop.list}?tag=linen&minPrice=0&sort=title`)).body,
  ]
  const before = await readLists()
  await app.deps.db.write(async (tx) => {
    await tx.delete(productSummaries).where(sql`1 = 1`)
    await tx.update(productDocuments).set({ tagBits: -1 })
    await tx.insert(searchFills).values({ subject: 'SUMMARIES', below: '~', done: 0 })
  })
  expect(await readLists()).toEqual(before)
  expect(await backfillProductSummaries(app.deps)).toEqual({ filled: 2, isDone: true })
  expect(await app.deps.db.read.select().from(productSummaries)).toHaveLength(2)
  expect(await readLists()).toEqual(before)
})
