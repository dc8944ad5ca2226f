/** Tests products that show images of their shop. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { describePictureDifferences } from '../../../../src/modules/catalog/media/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { testDatabase } from '../../../support/database.ts'
import * as make from '../../../support/pictures.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const upload = (app: TestApp, key: string, raw: Uint8Array) =>
  app.call('POST', '/media', { key, raw, headers: { 'content-type': 'image/png' } })
const externalUrl = 'https://cdn.example/shirt.jpg'

test('a product keeps showing an image of its shop, with its true size, after PUBLIC_URL changes', async () => {
  const database = await testDatabase()
  await using _ = { [Symbol.asyncDispose]: () => database.drop() }
  const original = await (async () => {
    await using app = await testApp({ PUBLIC_URL: 'https://old.example' }, { database })
    const shop = await shopIn(app)
    const picture = (await upload(app, shop.secretKey, make.drawPng(200, 100))).body
    const images = [
      { url: `${picture.url}-160`, alt: 'Mine', width: 5, height: 5 },
      { url: externalUrl, width: 7, height: 9 },
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
        [externalUrl, 7, 9],
        ['https://old.example/media/nothing', null, null],
      ],
    ])
    const id = created.body.id
    const response = await app.call('GET', `/product-v2/public/${id}`)
    expect([response.status, response.body.images[0].url, response.body.title]).toEqual([200, picture.url, 'Shirt "url":"/media/'])
    return { id, shop, picture, etag: response.headers.get('etag') ?? '', key: shop.secretKey }
  })()
  await using app = await testApp({ PUBLIC_URL: 'https://new.example/shop' }, { database })
  const url = original.picture.url.replace('https://old.example', 'https://new.example/shop')
  const response = await app.call('GET', `/product-v2/public/${original.id}`, { headers: { 'if-none-match': original.etag } })
  expect([response.status, response.body?.images[0].url]).toEqual([200, url])
  const etag = response.headers.get('etag') ?? ''
  expect((await app.call('GET', `/product-v2/public/${original.id}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  const listed = await app.call('GET', original.shop.list)
  expect(listed.body.data[0].images[0].url).toBe(url)
  const shopView = await app.call('GET', `/product-v2/${original.id}`, { key: original.key })
  expect(shopView.body.images[0].url).toBe(url)
  // Collections and carts show the new URL as well.
  const collection = await app.call('POST', '/collection-v2', {
    key: original.key,
    body: { title: 'All', publishedAt: new Date(app.deps.clock.now() - 1000).toISOString() },
  })
  await app.call('PUT', `/collection-v2/${collection.body.id}/products`, { key: original.key, body: { productIds: [original.id] } })
  const collections = await app.call('GET', `/collection-v2/published/${original.shop.shop.name}`)
  expect(collections.body.data[0].products[0].images[0].url).toBe(url)
  const cart = await app.call('POST', '/cart', { key: original.key, body: {} })
  const line = await app.call('POST', `/cart/${cart.body.id}/items`, {
    key: original.key,
    body: { variantId: shopView.body.variants[0].id, quantity: 1 },
  })
  expect([line.status, line.text.includes(url)]).toEqual([line.status, true])
  expect(await describePictureDifferences(app.deps)).toEqual([])
})

test('every public read of a product has its image URLs, with and without quantities', async () => {
  await using app = await testApp({ PUBLIC_URL: 'https://shop.example' })
  const shop = await shopIn(app)
  const picture = (await upload(app, shop.secretKey, make.drawPng(20, 20))).body
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
    (await upload(app, shop.secretKey, make.drawPng(20, 20))).body,
    (await upload(app, shop.secretKey, make.drawPng(30, 20))).body,
    (await upload(app, other.secretKey, make.drawPng(40, 20))).body,
  ]
  const refused = await shop.post('/product-v2', { title: 'Hat', images: [{ url: one.url }, { url: foreign.url }] })
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'images.1.url: must be a picture of this shop: upload it with POST /media first',
  ])
  const { id, images } = (await shop.post('/product-v2', { title: 'Hat', images: [{ url: one.url }, { url: one.url }, { url: two.url }] }))
    .body
  const refusedDeletion = await shop.delete(`/media/${one.id}`)
  expect(refusedDeletion.body).toMatchObject({
    statusCode: 409,
    code: 'in_use',
    message: `Product ${id} uses this picture. Remove it from the product first`,
  })
  const renamed = await shop.patch(`/product-v2/${id}`, { title: 'Cap' })
  expect([renamed.status, renamed.body.images]).toEqual([200, images])
  expect(await describePictureDifferences(app.deps)).toEqual([])
  const reduced = await shop.patch(`/product-v2/${id}`, { images: [{ id: images[2].id, url: two.url }] })
  expect([reduced.status, reduced.body.images.length, reduced.body.images[0].id]).toEqual([200, 1, images[2].id])
  expect((await shop.delete(`/media/${one.id}`)).status).toBe(204)
  // An archived product may be shown again, so its pictures stay.
  expect((await shop.patch(`/product-v2/${id}`, { status: 'ARCHIVED' })).status).toBe(200)
  expect((await shop.delete(`/media/${two.id}`)).status).toBe(409)
  expect((await shop.patch(`/product-v2/${id}`, { images: [] })).status).toBe(200)
  expect((await shop.delete(`/media/${two.id}`)).status).toBe(204)
  const refusedChange = await shop.patch(`/product-v2/${id}`, { images: [{ url: two.url }] })
  expect(refusedChange.status).toBe(400)
  expect(await describePictureDifferences(app.deps)).toEqual([])
})

test('when a product adds an image while it is deleted, exactly one of the two requests is refused', async () => {
  await using app = await testApp({ PUBLIC_URL: 'https://shop.example' })
  const shop = await shopIn(app)
  for (let round = 0; round < 8; round++) {
    const picture = (await upload(app, shop.secretKey, make.drawPng(20 + round, 20))).body
    const { id } = (await shop.post('/product-v2', { title: `Hat ${round}` })).body
    const [changed, removed] = await Promise.all([
      shop.patch(`/product-v2/${id}`, { images: [{ url: picture.url }] }),
      shop.delete(`/media/${picture.id}`),
    ])
    expect([
      [200, 409],
      [400, 204],
    ]).toContainEqual([changed.status, removed.status])
    expect(await describePictureDifferences(app.deps)).toEqual([])
  }
})
