import { expect, setDefaultTimeout, test } from 'bun:test'
import { collectionProducts } from '../../../../db/schema/catalog.ts'
import { testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('a new collection is published now by default, numbers a taken handle and sanitizes its HTML', async () => {
  await using app = await testApp()
  const { shop, post, get } = await shopIn(app)
  const created = await post('/collection-v2', {
    title: 'Été 2026',
    descriptionHtml: '<p onclick="steal()">Hi<script>steal()</script></p>',
    image: { url: 'https://i.example/a.jpg' },
  })
  expect(created.status).toBe(201)
  const { id, ...rest } = created.body
  const now = '2026-01-06T12:00:00.000Z'
  expect(rest).toEqual({
    shopId: shop.id,
    handle: 'ete-2026',
    title: 'Été 2026',
    descriptionHtml: '<p>Hi</p>',
    image: { url: 'https://i.example/a.jpg', alt: null },
    publishedAt: now,
    createdAt: now,
    updatedAt: now,
  })
  expect((await post('/collection-v2', { title: 'Fine', rogue: 'zq9' })).body.message).toBe('unknown field: rogue')
  expect((await post('/collection-v2', { title: 'ete 2026' })).body.handle).toBe('ete-2026-1')
  expect((await post('/collection-v2', { title: 'Other', handle: 'ete-2026' })).status).toBe(409)
  expect((await get(`/collection-v2/${id}`)).body).toEqual({ ...created.body, productIds: [] })
  for (const [field, body] of [
    ['title', { title: '' }],
    ['handle', { handle: 'A B' }],
    ['image.url', { image: { url: 'javascript:zq9' } }],
    ['publishedAt', { publishedAt: 'zq9' }],
    ['publishedAt', { publishedAt: '9999-12-31T00:00:00Z' }],
    ['publishedAt', { publishedAt: '2026-01-01T25:00:00Z' }],
  ] as const) {
    const answer = await post('/collection-v2', { title: 'Fine', ...body })
    expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(`${field}:`)])
    expect(answer.text).not.toContain('zq9')
  }
})

test('PUT products sets the products of a collection in the given order and replaces earlier ones', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const { body: set } = await shop.post('/collection-v2', { title: 'Set' })
  const [a, b, c] = await Promise.all(['A', 'B', 'C'].map(async (title) => (await shop.add({ title })).id))
  const put = await shop.put(`/collection-v2/${set.id}/products`, { productIds: [c, a, b] })
  expect(put).toMatchObject({ status: 200, body: { id: set.id, productIds: [c, a, b] } })
  expect(await shop.titles('?collection=set')).toEqual(['C', 'A', 'B'])
  await shop.put(`/collection-v2/${set.id}/products`, { productIds: [b, c] })
  expect((await shop.get(`/collection-v2/${set.id}`)).body.productIds).toEqual([b, c])
  expect(await shop.titles('?collection=set')).toEqual(['B', 'C'])
  await shop.put(`/collection-v2/${set.id}/products`, { productIds: [] })
  expect(await shop.titles('?collection=set')).toEqual([])
})

test('PUT products refuses foreign, unknown and repeated products and changes nothing', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const other = await shopIn(app)
  const mine = await shop.add({ title: 'Mine' })
  const second = await shop.add({ title: 'Second' })
  const theirs = await other.add({ title: 'Theirs' })
  const { body: set } = await shop.post('/collection-v2', { title: 'Set' })
  await shop.put(`/collection-v2/${set.id}/products`, { productIds: [mine.id] })
  const before = await shop.get(`/collection-v2/${set.id}`)
  app.clock.advance(1_000)
  for (const productIds of [
    [second.id, theirs.id],
    [second.id, 'prod_none'],
    [second.id, second.id],
    'zq9',
    [5],
    Array.from({ length: 10_001 }, (_, at) => `p${at}`),
  ]) {
    const answer = await shop.put(`/collection-v2/${set.id}/products`, { productIds })
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(/^productIds[.\d]*:/)])
    expect(answer.text).not.toContain(theirs.id)
  }
  expect((await shop.get(`/collection-v2/${set.id}`)).body).toEqual(before.body)
  expect((await app.deps.db.read.select().from(collectionProducts)).length).toBe(1)
  for (const answer of [
    await other.get(`/collection-v2/${set.id}`),
    await other.patch(`/collection-v2/${set.id}`, { title: 'Stolen' }),
    await other.put(`/collection-v2/${set.id}/products`, { productIds: [theirs.id] }),
    await other.delete(`/collection-v2/${set.id}`),
    await other.get('/collection-v2/coll_none'),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { statusCode: 404, message: 'No such collection' } })
  }
  expect((await shop.get(`/collection-v2/${set.id}`)).body).toEqual(before.body)
})

test('a list that repeats a product is 400 even if the collection does not exist', async () => {
  await using app = await testApp()
  const { put } = await shopIn(app)
  const answer = await put('/collection-v2/coll_none/products', { productIds: ['prod_a', 'prod_a'] })
  expect([answer.status, answer.body.message]).toEqual([400, 'productIds.1: must not be repeated'])
})

test('the public list shows each collection with its first visible products and no hidden ones', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const other = await shopIn(app)
  const ids: string[] = []
  for (let nth = 0; nth < 14; nth++)
    ids.push((await shop.add({ title: `P${nth}`, variants: [{ price: usd(nth), cost: usd(31_337), onHand: 4_242 }] })).id)
  const draft = await shop.add({ title: 'Draft', status: 'DRAFT' })
  const soon = await shop.add({ title: 'Soon', publishedAt: app.clock.now() + 60_000 })
  const { body: full } = await shop.post('/collection-v2', { title: 'Full' })
  await shop.put(`/collection-v2/${full.id}/products`, { productIds: [draft.id, soon.id, ...ids] })
  app.clock.advance(1_000)
  const { body: empty } = await shop.post('/collection-v2', { title: 'Empty' })
  await shop.post('/collection-v2', { title: 'Hidden', publishedAt: null })
  const { body: scheduled } = await shop.post('/collection-v2', { title: 'Later', publishedAt: '2026-01-06T12:00:30Z' })
  await other.post('/collection-v2', { title: 'Theirs' })
  const list = `/collection-v2/published/${shop.shop.name}`
  const response = await app.call('GET', list)
  expect(response.body).toMatchObject({ total: 2, page: 1, pages: 1, data: [{ id: empty.id, products: [] }, { id: full.id }] })
  expect(response.body.data[1].products.map(({ title }: { title: string }) => title)).toEqual(
    Array.from({ length: 12 }, (_, nth) => `P${nth}`),
  )
  expect(response.text).not.toMatch(/cost|onHand|\b31337\b|\b4242\b|Hidden|Later|Theirs|Draft|Soon/)
  expect(await shop.titles('?collection=later')).toEqual([])
  expect((await app.call('GET', `${list}?limit=1&page=2`)).body).toMatchObject({ total: 2, pages: 2, data: [{ id: full.id }] })
  app.clock.advance(60_000)
  expect((await app.call('GET', list)).body.data.map(({ title }: { title: string }) => title)).toEqual(['Later', 'Empty', 'Full'])
  expect((await app.call('GET', list)).body.data[2].products[0].title).toBe('Soon')
  expect((await shop.get('/collection-v2')).body.total).toBe(4)
  expect((await app.call('GET', '/collection-v2/published/nobody')).status).toBe(404)
  expect(scheduled.publishedAt).toBe('2026-01-06T12:00:30.000Z')
})

test('a collection is read by handle with any tracking parameter, and its products by page', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const ids = [await shop.add({ title: 'A' }), await shop.add({ title: 'B' })].map(({ id }) => id)
  const { body: lamps } = await shop.post('/collection-v2', { title: 'Lamps' })
  await shop.put(`/collection-v2/${lamps.id}/products`, { productIds: ids })
  const one = `/collection-v2/published/${shop.shop.name}/lamps`
  expect((await app.call('GET', `${one}?utm_source=mail&utm_source=x`)).text).toBe((await app.call('GET', one)).text)
  expect((await app.call('GET', `${one}?fbclid=1&limit=1&page=2`)).body).toMatchObject({
    page: 2,
    limit: 1,
    total: 2,
    products: [{ title: 'B' }],
  })
  expect((await app.call('GET', `${one}?page=x`)).body).toMatchObject({ statusCode: 400, field: 'page' })
  expect((await app.call('GET', `/collection-v2/published/${shop.shop.name}?utm_source=mail`)).status).toBe(400)
})

test('a change keeps the fields that it does not name; deleting a collection keeps its products', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const product = await shop.add({ title: 'P' })
  const { body: set } = await shop.post('/collection-v2', {
    title: 'Set',
    descriptionHtml: 'x',
    image: { url: 'https://i.example/a', alt: 'a' },
  })
  await shop.put(`/collection-v2/${set.id}/products`, { productIds: [product.id] })
  app.clock.advance(1_000)
  const changed = await shop.patch(`/collection-v2/${set.id}`, { title: 'Renamed', image: null })
  expect(changed.body).toEqual({ ...set, title: 'Renamed', image: null, updatedAt: '2026-01-06T12:00:01.000Z' })
  expect((await shop.patch(`/collection-v2/${set.id}`, { publishedAt: null })).body.publishedAt).toBeNull()
  expect(await shop.titles('?collection=set')).toEqual([])
  expect(await shop.delete(`/collection-v2/${set.id}`)).toMatchObject({ status: 204, text: '' })
  expect((await shop.get(`/collection-v2/${set.id}`)).status).toBe(404)
  expect((await shop.delete(`/collection-v2/${set.id}`)).status).toBe(404)
  expect(await shop.titles()).toEqual(['P'])
})

test('a repeated idempotency key creates or changes a collection once and replays the response byte for byte', async () => {
  await using app = await testApp()
  const { post, patch, get } = await shopIn(app)
  const key = { 'idempotency-key': 'k' }
  const first = await post('/collection-v2', { title: 'Set' }, key)
  app.clock.advance(1_000)
  expect(await post('/collection-v2', { title: 'Set' }, key)).toMatchObject({ status: 201, text: first.text })
  expect((await post('/collection-v2', { title: 'Other' }, key)).status).toBe(422)
  expect((await get('/collection-v2')).body.total).toBe(1)
  const changed = await patch(`/collection-v2/${first.body.id}`, { title: 'New' }, key)
  app.clock.advance(1_000)
  expect(await patch(`/collection-v2/${first.body.id}`, { title: 'New' }, key)).toMatchObject({ status: 200, text: changed.text })
})

test('the list of collections is limited to those of a product', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const [mug, cup] = [await shop.add({ title: 'Mug' }), await shop.add({ title: 'Cup' })]
  const [first, second] = [
    (await shop.post('/collection-v2', { title: 'One' })).body,
    (await shop.post('/collection-v2', { title: 'Two' })).body,
  ]
  await shop.put(`/collection-v2/${first.id}/products`, { productIds: [cup.id, mug.id] })
  await shop.put(`/collection-v2/${second.id}/products`, { productIds: [mug.id] })
  const titles = async (product: string) => {
    const { body } = await shop.get(`/collection-v2?product=${product}`)
    return [body.total, ...body.data.map(({ title }: { title: string }) => title)]
  }
  expect(await titles(mug.id)).toEqual([2, 'Two', 'One'])
  expect(await titles(cup.id)).toEqual([1, 'One'])
  expect(await titles('product_unknown')).toEqual([0])
})
