/** Tests products that show images of their shop. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { describePictureDifferences } from '../../../../src/modules/catalog/media/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { testDatabase } from '../../../support/database.ts'
import * as make from '../../../support/pictures.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const handIn = (app: TestApp, key: string, raw: Uint8Array) =>
  app.call('POST', '/media', { key, raw, headers: { 'content-type': 'image/png' } })
const outside = 'https://cdn.example/shirt.jpg'

test('a product keeps showing an image of its shop, with its true size, after PUBLIC_URL changes', async () => {
  const database = await testDatabase()
  await using _ = { [Symbol.asyncDispose]: () => database.drop() }
  const made = await (async () => {
    await using app = await testApp({ PUBLIC_URL: 'https://old.example' }, { database })
    const shop = await shopIn(app)
    const picture = (await handIn(app, shop.secretKey, make.drawn(200, 100))).body
    const images = [
      { url: `${picture.url}-160`, alt: 'Mine', width: 5, height: 5 },
      { url: outside, width: 7, height: 9 },
      { url: 'https://old.example/media/nothing' },
    ]
    const created = await shop.post('/product-v2', {
      title: 'Shirt "url":"/media/',
      status: 'ACTIVE',
      images,
      variants: [{ price: usd(0) }],
    })
    expect([created.status, created.body.images.map(({ url, width, height }: Record<string, unknown>) => [url, width, height])]).toEqual([
      201,
      [
        [picture.url, 200, 100],
        [outside, 7, 9],
        ['https://old.example/media/nothing', null, null],
      ],
    ])
    const id = created.body.id
    const shown = await app.call('GET', `/product-v2/public/${id}`)
    expect([shown.status, shown.body.images[0].url, shown.body.title]).toEqual([200, picture.url, 'Shirt "url":"/media/'])
    return { id, shop, picture, etag: shown.headers.get('etag') ?? '', key: shop.secretKey }
  })()
  await using app = await testApp({ PUBLIC_URL: 'https://new.example/shop' }, { database })
  const url = made.picture.url.replace('https://old.example', 'https://new.example/shop')
  const shown = await app.call('GET', `/product-v2/public/${made.id}`, { headers: { 'if-none-match': made.etag } })
  expect([shown.status, shown.body?.images[0].url]).toEqual([200, url])
  const etag = shown.headers.get('etag') ?? ''
  expect((await app.call('GET', `/product-v2/public/${made.id}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  const listed = await app.call('GET', made.shop.list)
  expect(listed.body.data[0].images[0].url).toBe(url)
  const own = await app.call('GET', `/product-v2/${made.id}`, { key: made.key })
  expect(own.body.images[0].url).toBe(url)
  // In a collection, and in a cart, too.
  const collection = await app.call('POST', '/collection-v2', {
    key: made.key,
    body: { title: 'All', publishedAt: new Date(app.deps.clock.now() - 1000).toISOString() },
  })
  await app.call('PUT', `/collection-v2/${collection.body.id}/products`, { key: made.key, body: { productIds: [made.id] } })
  const collections = await app.call('GET', `/collection-v2/published/${made.shop.shop.name}`)
  expect(collections.body.data[0].products[0].images[0].url).toBe(url)
  const cart = await app.call('POST', '/cart', { key: made.key, body: {} })
  const line = await app.call('POST', `/cart/${cart.body.id}/items`, {
    key: made.key,
    body: { variantId: own.body.variants[0].id, quantity: 1 },
  })
  expect([line.status, line.text.includes(url)]).toEqual([line.status, true])
  expect(await describePictureDifferences(app.deps)).toEqual([])
})

test('every public read of a product has its image URLs, with and without quantities', async () => {
  await using app = await testApp({ PUBLIC_URL: 'https://shop.example' })
  const shop = await shopIn(app)
  const picture = (await handIn(app, shop.secretKey, make.drawn(20, 20))).body
  const images = [{ url: picture.url }]
  const { id, handle } = (
    await shop.post('/product-v2', {
      title: 'Hat',
      vendor: 'Mill',
      tags: ['felt'],
      status: 'ACTIVE',
      images,
      variants: [{ price: usd(0) }],
    })
  ).body
  const publishedAt = new Date(app.deps.clock.now() - 1000).toISOString()
  const collection = (await shop.post('/collection-v2', { title: 'All', handle: 'all', publishedAt })).body
  await app.call('PUT', `/collection-v2/${collection.id}/products`, { key: shop.secretKey, body: { productIds: [id] } })
  const published = `/collection-v2/published/${shop.shop.name}`
  const paths = [
    `/product-v2/public/${id}`,
    ...['', `/handle/${handle}`, '?q=hat', '?tag=felt', '?vendor=Mill', '?collection=all'].map((rest) => `${shop.list}${rest}`),
    ...[published, `${published}/all`],
  ]
  for (const showQuantity of [false, true, false]) {
    expect((await app.call('PATCH', '/shops/v2', { token: shop.token, body: { showQuantity } })).status).toBe(200)
    for (const path of paths) {
      const { status, text } = await app.call('GET', path)
      const urls = [...text.matchAll(/"url":"([^"]*)"/g)].map(([, url]) => url)
      expect([path, status, urls, text.includes('"quantityAvailable"')]).toEqual([path, 200, [picture.url], showQuantity])
    }
  }
})

test('an image that a product shows cannot be deleted, and a product cannot show an image of another shop', async () => {
  await using app = await testApp({ PUBLIC_URL: 'https://shop.example' })
  const [shop, other] = [await shopIn(app), await shopIn(app)]
  const [one, two, foreign] = [
    (await handIn(app, shop.secretKey, make.drawn(20, 20))).body,
    (await handIn(app, shop.secretKey, make.drawn(30, 20))).body,
    (await handIn(app, other.secretKey, make.drawn(40, 20))).body,
  ]
  const refused = await shop.post('/product-v2', { title: 'Hat', images: [{ url: one.url }, { url: foreign.url }] })
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'images.1.url: must be a picture of this shop: upload it with POST /media first',
  ])
  const { id, images } = (await shop.post('/product-v2', { title: 'Hat', images: [{ url: one.url }, { url: one.url }, { url: two.url }] }))
    .body
  const held = await shop.delete(`/media/${one.id}`)
  expect(held.body).toMatchObject({
    statusCode: 409,
    code: 'in_use',
    message: `Product ${id} uses this picture. Remove it from the product first`,
  })
  const kept = await shop.patch(`/product-v2/${id}`, { title: 'Cap' })
  expect([kept.status, kept.body.images]).toEqual([200, images])
  expect(await describePictureDifferences(app.deps)).toEqual([])
  const less = await shop.patch(`/product-v2/${id}`, { images: [{ id: images[2].id, url: two.url }] })
  expect([less.status, less.body.images.length, less.body.images[0].id]).toEqual([200, 1, images[2].id])
  expect((await shop.delete(`/media/${one.id}`)).status).toBe(204)
  // An archived product may be shown again, so its pictures stay.
  expect((await shop.patch(`/product-v2/${id}`, { status: 'ARCHIVED' })).status).toBe(200)
  expect((await shop.delete(`/media/${two.id}`)).status).toBe(409)
  expect((await shop.patch(`/product-v2/${id}`, { images: [] })).status).toBe(200)
  expect((await shop.delete(`/media/${two.id}`)).status).toBe(204)
  const gone = await shop.patch(`/product-v2/${id}`, { images: [{ url: two.url }] })
  expect(gone.status).toBe(400)
  expect(await describePictureDifferences(app.deps)).toEqual([])
})

test('when a product adds an image while it is deleted, exactly one of the two requests is refused', async () => {
  await using app = await testApp({ PUBLIC_URL: 'https://shop.example' })
  const shop = await shopIn(app)
  for (let round = 0; round < 8; round++) {
    const picture = (await handIn(app, shop.secretKey, make.drawn(20 + round, 20))).body
    const { id } = (await shop.post('/product-v2', { title: `Hat ${round}` })).body
    const [shown, removed] = await Promise.all([
      shop.patch(`/product-v2/${id}`, { images: [{ url: picture.url }] }),
      shop.delete(`/media/${picture.id}`),
    ])
    expect([
      [200, 409],
      [400, 204],
    ]).toContainEqual([shown.status, removed.status])
    expect(await describePictureDifferences(app.deps)).toEqual([])
  }
})
