import { expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../../../db/columns.ts'
import { system } from '../../../../src/core/command-context.ts'
import { createResponseCache } from '../../../../src/http/response-cache.ts'
import { openInstance } from '../../../../src/instance.ts'
import { changeProduct, createProduct } from '../../../../src/modules/catalog/products/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Creates a shop with one product and one collection. Returns the paths of its public reads. */
async function createPublicReads(app: TestApp) {
  const shop = await shopIn(app)
  const { body: product } = await shop.post('/product-v2', { title: 'Tea', status: 'ACTIVE', variants: [{ price: usd(0) }] })
  const { body: collection } = await shop.post('/collection-v2', { title: 'Set' })
  await shop.put(`/collection-v2/${collection.id}/products`, { productIds: [product.id] })
  return {
    shop,
    product,
    paths: [
      `/product-v2/public/${product.id}`,
      shop.list,
      `${shop.list}?q=tea`,
      `${shop.list}?collection=set`,
      `/collection-v2/published/${shop.shop.name}`,
    ],
  }
}

test('a public read has a strong ETag, lets shared caches keep it for a minute, and answers 304', async () => {
  await using app = await testApp()
  const { paths } = await createPublicReads(app)
  for (const path of [...paths, ...paths.map((one) => `/api/v3${one}`)]) {
    const first = await app.call('GET', path)
    const etag = first.headers.get('etag') ?? ''
    expect([path, first.status]).toEqual([path, 200])
    expect(etag).toMatch(/^"[^"]+"$/)
    expect(first.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=60')
    expect(first.headers.get('access-control-allow-origin')).toBe('*')
    expect(first.headers.get('x-content-type-options')).toBe('nosniff')
    for (const ifNoneMatch of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag} , "more"`, '*']) {
      const revalidated = await app.call('GET', path, { headers: { 'if-none-match': ifNoneMatch } })
      expect([ifNoneMatch, revalidated.status, revalidated.text, revalidated.headers.get('etag')]).toEqual([ifNoneMatch, 304, '', etag])
      expect(revalidated.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=60')
    }
    for (const ifNoneMatch of ['"other"', etag.slice(1, -1), ''])
      expect((await app.call('GET', path, { headers: { 'if-none-match': ifNoneMatch } })).status).toBe(200)
  }
})

test('after a write, every public read shows it with another ETag', async () => {
  await using app = await testApp()
  const { shop, product, paths } = await createPublicReads(app)
  const before = new Map<string, string | null>()
  for (const path of paths) before.set(path, (await app.call('GET', path)).headers.get('etag'))
  for (const change of [
    { title: 'Tea, black' },
    { variants: [{ id: product.variants[0].id, price: usd(7777) }] },
    { descriptionHtml: '<p>Fresh</p>' },
    { tags: ['new'] },
  ]) {
    await shop.patch(`/product-v2/${product.id}`, change)
    for (const path of paths) {
      const answer = await app.call('GET', path)
      // Lists show summaries, without descriptions.
      const isUnchanged = 'descriptionHtml' in change && path !== paths[0]
      expect([path, answer.headers.get('etag') === before.get(path)]).toEqual([path, isUnchanged])
      if ('title' in change) expect([path, answer.text.includes('Tea, black')]).toEqual([path, true])
      if ('variants' in change) expect([path, answer.text.includes('7777')]).toEqual([path, true])
      before.set(path, answer.headers.get('etag'))
    }
  }
  await shop.delete(`/product-v2/${product.id}`)
  const [record = '', ...lists] = paths
  expect((await app.call('GET', record)).status).toBe(404)
  for (const path of lists) expect([path, (await app.call('GET', path)).text.includes(product.id)]).toEqual([path, false])
})

test('a publication date takes effect on every read within a second', async () => {
  await using app = await testApp()
  const { shop, paths } = await createPublicReads(app)
  const lists = paths.slice(1, 3)
  const { body: soon } = await shop.post('/product-v2', {
    title: 'Tea soon',
    status: 'ACTIVE',
    variants: [{ price: usd(0) }],
    publishedAt: '2026-01-06T12:00:10.500Z',
  })
  const readVisibility = async () =>
    Promise.all([...lists, `/product-v2/public/${soon.id}`].map(async (path) => (await app.call('GET', path)).text.includes(soon.id)))
  expect(await readVisibility()).toEqual([false, false, false])
  app.clock.advance(9_600)
  expect(await readVisibility()).toEqual([false, false, false])
  app.clock.advance(1_000)
  expect(await readVisibility()).toEqual([true, true, true])
})

test('a write of another process shows on the next read', async () => {
  await using app = await testApp()
  const { shop, paths } = await createPublicReads(app)
  const lists = paths.slice(1, 3)
  for (const path of lists) expect((await app.call('GET', path)).body.total).toBe(1)
  const command = await openInstance({
    config: app.deps.config,
    as: 'command',
    clock: app.clock,
    log: app.deps.log,
    ...(engine === 'sqlite' ? { sqlite: { besideServer: true } } : {}),
  })
  try {
    await createProduct(
      command.deps,
      { shop: shop.shop, actor: system },
      { title: 'Tea from beside', status: 'ACTIVE', variants: [{ price: usd(0) }] },
    )
    for (const path of lists) expect((await app.call('GET', path)).body.total).toBe(2)
    const response = await app.call('GET', paths[0] ?? '')
    expect(response.body.title).toBe('Tea')
    await changeProduct(command.deps, { shop: shop.shop, actor: system }, response.body.id, { title: 'Changed beside' })
    expect((await app.call('GET', paths[0] ?? '')).body.title).toBe('Changed beside')
  } finally {
    await command.close()
  }
})

test('caches a response of up to 1 MB and no larger one', async () => {
  const cache = createResponseCache({ version: () => 1, now: () => 0 })
  const isCached = async (path: string, text: string) => {
    await cache.respond(new Request(`http://localhost${path}`), async () => text)
    return cache.get(path) !== undefined
  }
  const kilobyte = 1024
  expect(await isCached('/ascii', 'a'.repeat(1024 * kilobyte))).toBe(true)
  expect(await isCached('/wide', '茶'.repeat(340 * kilobyte))).toBe(true)
  expect(await isCached('/longer', 'a'.repeat(1024 * kilobyte + 1))).toBe(false)
  expect(await isCached('/wide-longer', '茶'.repeat(342 * kilobyte))).toBe(false)
})

test('a cached response remembers up to eight origins to which it was sent', async () => {
  const cache = createResponseCache({ version: () => 1, now: () => 0 })
  const send = (origin?: string) =>
    cache.respond(new Request('http://localhost/list', origin === undefined ? {} : { headers: { origin } }), async () => '[]')
  await send()
  expect(cache.get('/list')?.origins).toEqual([])
  const origins = Array.from({ length: 9 }, (_, nth) => `https://shop-${nth}.example`)
  for (const origin of [...origins, ...origins]) expect(await (await send(origin)).text()).toBe('[]')
  expect(cache.get('/list')?.origins).toEqual(origins.slice(0, 8))
})
