/** Tests downloading images of other servers into the shop. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { system } from '../../../../src/core/command-context.ts'
import { describePictureDifferences } from '../../../../src/modules/catalog/media/index.ts'
import { fetchImages } from '../../../../src/modules/catalog/products/index.ts'
import { testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import * as make from '../../../support/pictures.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Starts a server with pictures of another shop. It records the paths that are requested. */
async function startPictureServer() {
  const requestedPaths: string[] = []
  let flaky = 2
  const [shirt, hat] = [await make.jpegOf(300, 200), make.drawPng(200, 200)]
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      requestedPaths.push(pathname)
      if (pathname === '/shirt.jpg') return new Response(shirt, { headers: { 'content-type': 'text/html' } })
      if (pathname === '/hat.png') return new Response(hat)
      if (pathname === '/flaky.png') return flaky-- > 0 ? new Response('no', { status: 503 }) : new Response(hat)
      if (pathname === '/page.jpg') return new Response('<html></html>')
      if (pathname === '/large.jpg') return new Response(Buffer.alloc(11 * 1024 * 1024))
      if (pathname === '/away.jpg') return Response.redirect('http://127.0.0.1:1/secret')
      return new Response('none', { status: 404 })
    },
  })
  return { requestedPaths, url: (path: string) => `http://127.0.0.1:${server.port}${path}`, [Symbol.asyncDispose]: () => server.stop(true) }
}

test('downloads each external image URL once, and keeps and reports the URLs that fail', async () => {
  await using server = await startPictureServer()
  await using app = await testApp({ PUBLIC_URL: 'https://shop.example', OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' })
  const shop = await shopIn(app)
  const images = (...paths: string[]) => paths.map((path) => ({ url: server.url(path), alt: path }))
  const shirt = (await shop.post('/product-v2', { title: 'Shirt', images: images('/shirt.jpg', '/gone.jpg', '/flaky.png') })).body
  const variant = shirt.variants[0].id
  await shop.patch(`/product-v2/${shirt.id}`, { variants: [{ id: variant, price: shirt.variants[0].price, imageId: shirt.images[2].id }] })
  await shop.post('/product-v2', { title: 'Hat', images: images('/hat.png', '/shirt.jpg', '/page.jpg', '/large.jpg', '/away.jpg') })
  await shop.post('/product-v2', { title: 'Plain' })
  const by = { shop: { id: shop.shop.id, currency: shop.shop.currency }, actor: system }
  const progressCalls: number[][] = []
  const report = await fetchImages(app.deps, by, { onProgress: (...progress) => progressCalls.push(progress) })
  expect(report).toMatchObject({ complete: true, products: 2, fetched: 3, known: 1, failed: 4 })
  expect(report.failures.map(({ handle, url, why }) => [handle, new URL(url).pathname, why]).toSorted()).toEqual([
    ['hat', '/away.jpg', 'redirect'],
    ['hat', '/large.jpg', 'answer too large'],
    ['hat', '/page.jpg', 'The file is not a picture in a supported format: JPEG, PNG, WebP, GIF or AVIF'],
    ['shirt', '/gone.jpg', 'answered 404'],
  ])
  expect(progressCalls).toEqual([
    [0, 2],
    [1, 2],
    [2, 2],
  ])
  const after = (await shop.get(`/product-v2/${shirt.id}`)).body
  expect(after.images.map(({ id }: { id: string }) => id)).toEqual(shirt.images.map(({ id }: { id: string }) => id))
  expect([after.images[0].url, after.images[0].width, after.images[0].alt]).toEqual([
    expect.stringMatching(/^https:\/\/shop\.example\/media\/[0-9a-f]{32}$/),
    300,
    '/shirt.jpg',
  ])
  expect([after.images[1].url, after.variants[0].imageId]).toEqual([server.url('/gone.jpg'), shirt.images[2].id])
  // The picture of the hat has two URLs and is stored once.
  expect((await shop.get('/media')).body.total).toBe(2)
  expect([
    server.requestedPaths.filter((path) => path === '/shirt.jpg').length,
    server.requestedPaths.filter((path) => path === '/flaky.png').length,
  ]).toEqual([1, 3])
  expect(await describePictureDifferences(app.deps)).toEqual([])
  // A repeated run requests only the URLs that failed.
  server.requestedPaths.length = 0
  expect(await fetchImages(app.deps, by)).toMatchObject({ products: 2, fetched: 0, known: 0, failed: 4 })
  expect(new Set(server.requestedPaths)).toEqual(new Set(['/gone.jpg', '/page.jpg', '/large.jpg', '/away.jpg']))
  // A URL that was downloaded before is not requested again.
  await shop.patch(`/product-v2/${shirt.id}`, { images: images('/shirt.jpg') })
  server.requestedPaths.length = 0
  expect(await fetchImages(app.deps, by)).toMatchObject({ fetched: 0, known: 1 })
  expect(server.requestedPaths).not.toContain('/shirt.jpg')
})

test('calls no address of a private network, and a stopped download continues on the next run', async () => {
  await using server = await startPictureServer()
  await using app = await testApp({ PUBLIC_URL: 'https://shop.example' })
  const shop = await shopIn(app)
  for (const title of ['One', 'Two']) await shop.post('/product-v2', { title, images: [{ url: server.url('/hat.png') }] })
  const by = { shop: { id: shop.shop.id, currency: shop.shop.currency }, actor: system }
  const stop = new AbortController()
  const stopped = await fetchImages(app.deps, by, { signal: stop.signal, onProgress: (done) => (done === 1 ? stop.abort() : undefined) })
  expect([stopped.complete, stopped.products]).toEqual([false, 1])
  const report = await fetchImages(app.deps, by)
  expect([report.complete, report.failures.map(({ why }) => why), server.requestedPaths]).toEqual([
    true,
    ['address not allowed', 'address not allowed'],
    [],
  ])
})
