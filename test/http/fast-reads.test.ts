/** Tests that cached reads of public records equal those of the route. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { system } from '../../src/core/command-context.ts'
import { changeProduct } from '../../src/modules/catalog/products/service.ts'
import { setShopStatus } from '../../src/modules/shop/shop-admin/index.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { invalidQueries, serverAndRoute } from '../support/cached-and-routed.ts'
import { shopIn, usd } from '../support/catalog.ts'
import { openCommandInstance } from '../support/command-process.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const prefixes = ['/product-v2/public/', '/api/v3/product-v2/public/']
/** Serves a shop with a product on a real server, and sends requests to the server or to the route directly. */
async function serveProduct(app: TestApp) {
  const shop = await shopIn(app)
  const { body: product } = await shop.post('/product-v2', {
    title: 'Tea 茶',
    status: 'ACTIVE',
    variants: [{ price: usd(500), cost: usd(7_654_321) }],
  })
  return { shop, product, ...serverAndRoute(app) }
}

describe.each(prefixes)('cached reads of a record under %s equal those of the route', (prefix) => {
  test('a public record is the same from the cache and the route: plain, with a query and with credentials', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const path = prefix + on.product.id
    const baseline = await on.same(path)
    expect(baseline).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/json;charset=utf-8',
        'cache-control': 'public, max-age=0, s-maxage=60',
        'access-control-allow-origin': '*',
        'x-content-type-options': 'nosniff',
        etag: expect.stringMatching(/^"[^"]+"$/),
      },
    })
    expect(JSON.parse(baseline.body)).toMatchObject({ id: on.product.id, title: 'Tea 茶' })
    expect(baseline.body).not.toContain('cost')
    expect(baseline.body).not.toContain('7654321')
    for (const query of ['?', '?a=b', '?limit=0&page=x', '?q=%2F%3F#'])
      expect([query, await on.same(path + query)]).toEqual([query, baseline])
    for (const headers of [{ 'x-service-api-key': on.shop.secretKey }, { authorization: 'Bearer nonsense' }, { accept: 'text/html' }])
      expect(await on.same(path, { headers })).toEqual(baseline)
  })

  test('conditional requests for a public record are the same from the cache and the route', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const path = prefix + on.product.id
    const etag = (await on.same(path)).headers['etag'] ?? ''
    const conditional = (condition: string) => on.same(path, { headers: { 'if-none-match': condition } })
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag} , "more"`, '*'])
      expect([condition, await conditional(condition)]).toMatchObject([condition, { status: 304, body: '', headers: { etag } }])
    for (const condition of ['"other"', `${etag}x`, etag.slice(1, -1), '"a", "b"', 'W/*'])
      expect([condition, (await conditional(condition)).status]).toEqual([condition, 200])
  })

  test('cross-origin requests for a public record are the same from the cache and the route', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const path = prefix + on.product.id
    const from = async (origin: string, more: Record<string, string> = {}) => (await on.same(path, { headers: { origin, ...more } })).status
    expect(await from('https://a.example')).toBe(200)
    const { body } = await app.call('PATCH', '/shops/v2', { token: on.shop.token, body: { storefrontOrigins: ['https://a.example'] } })
    expect(body.storefrontOrigins).toEqual(['https://a.example'])
    const etag = (await on.same(path)).headers['etag'] ?? ''
    expect([await from('https://a.example'), await from('https://a.example', { 'if-none-match': etag })]).toEqual([200, 304])
    for (const origin of ['https://b.example', 'https://a.example.evil', 'null'])
      expect([origin, await from(origin), await from(origin, { 'if-none-match': etag })]).toEqual([origin, 403, 403])
    expect((await on.same(path)).status).toBe(200)
  })

  test('cross-origin requests for a public list are the same from the cache and the route', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const path = prefix.replace('public/', `public/shop/${on.shop.shop.name}`)
    const from = async (origin: string) => (await on.same(path, { headers: { origin } })).status
    // The first request of each origin is checked by the route, and the next one is answered from the cache.
    for (const origin of ['https://a.example', 'https://b.example', 'null', 'https://a.example', 'https://b.example'])
      expect([origin, await from(origin)]).toEqual([origin, 200])
    await app.call('PATCH', '/shops/v2', { token: on.shop.token, body: { storefrontOrigins: ['https://a.example'] } })
    for (const [origin, status] of [
      ['https://b.example', 403],
      ['https://a.example', 200],
      ['https://b.example', 403],
      ['null', 403],
    ] as const)
      expect([origin, await from(origin)]).toEqual([origin, status])
    expect((await on.same(path)).status).toBe(200)
  })

  test('a missing or impossible record id is the same from the cache and the route', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    for (const id of [
      'prod_00000000000000000000000000',
      'nothing',
      `${on.product.id}x`,
      'x'.repeat(41),
      'x'.repeat(4_000),
      'a%2Fb',
      `${on.product.id}%2F`,
      `..%2F${on.product.id}`,
      '%20',
      '%E8%8C%B6',
      `${on.product.id}/`,
      `${on.product.id}/more`,
      '',
    ]) {
      const answer = await on.same(prefix + id)
      expect([id, answer.status]).toEqual([id, 404])
      expect(answer.headers['cache-control']).toBe('no-store')
    }
    for (const id of ['%zz', '%00', 'x'.repeat(9_000)])
      expect([id.slice(0, 9), (await on.same(prefix + id)).status]).toEqual([id.slice(0, 9), 400])
    // The same id in another encoding.
    expect((await on.same(prefix + on.product.id.replace('_', '%5F'))).status).toBe(200)
  })

  test('an invalid query string for a public record is refused by the cache and the route, cached or not', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const path = prefix + on.product.id
    for (const query of invalidQueries) expect([query.slice(0, 9), (await on.same(path + query)).status]).toEqual([query.slice(0, 9), 400])
    const baseline = await on.same(path)
    for (const query of invalidQueries) expect([query.slice(0, 9), (await on.same(path + query)).status]).toEqual([query.slice(0, 9), 400])
    const condition = { headers: { 'if-none-match': baseline.headers['etag'] ?? '' } }
    expect((await on.same(`${path}?y=%00`, condition)).status).toBe(400)
    for (const query of ['?', '?y=1', '?y=%20%E8%8C%B6&y=/a?b', '?y=+'])
      expect([query, await on.same(path + query)]).toEqual([query, baseline])
  })

  test('HEAD of a public record is the same from the cache and the route, and other methods are not cached', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const path = prefix + on.product.id
    const get = await on.viaServer(path)
    for (let nth = 0; nth < 2; nth++) expect(await on.viaServer(path, { method: 'HEAD' })).toEqual({ ...get, body: '' })
    const { status, headers } = await on.viaRoute(path, { method: 'HEAD' })
    expect({ status, headers }).toEqual({ status: get.status, headers: get.headers })
    const condition = { method: 'HEAD', headers: { 'if-none-match': get.headers['etag'] ?? '' } }
    expect((await on.viaServer(path, condition)).status).toBe(304)
    expect((await on.viaServer(`${prefix}nothing`, { method: 'HEAD' })).status).toBe(404)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect([method, (await on.same(path, { method })).status]).toEqual([method, 405])
    const preflight = { method: 'OPTIONS', headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' } }
    expect((await on.same(path, preflight)).status).toBe(204)
  })

  test('a public record is current at once after its publication, change and removal', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const soon = (
      await on.shop.post('/product-v2', {
        title: 'Soon',
        status: 'ACTIVE',
        publishedAt: '2026-01-06T12:00:10Z',
        variants: [{ price: usd(0) }],
      })
    ).body
    const path = prefix + soon.id
    expect((await on.same(path)).status).toBe(404)
    app.clock.advance(9_999)
    expect((await on.same(path)).status).toBe(404)
    app.clock.advance(1)
    const visible = await on.same(path)
    expect(visible.status).toBe(200)
    await on.shop.patch(`/product-v2/${soon.id}`, { title: 'Now' })
    const changed = await on.viaServer(path)
    expect([changed.status, JSON.parse(changed.body).title]).toEqual([200, 'Now'])
    expect(changed.headers['etag']).not.toBe(visible.headers['etag'])
    const conditional = await on.same(path, { headers: { 'if-none-match': visible.headers['etag'] ?? '' } })
    expect([conditional.status, JSON.parse(conditional.body).title]).toEqual([200, 'Now'])
    await on.shop.delete(`/product-v2/${soon.id}`)
    expect((await on.viaServer(path)).status).toBe(404)
    expect((await on.same(path, { headers: { 'if-none-match': changed.headers['etag'] ?? '' } })).status).toBe(404)
  })

  test('a public record is current at once before, during and after the suspension of its shop', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const { token } = await app.superAdmin()
    const path = prefix + on.product.id
    const set = (status: string) => app.call('PATCH', `/admin/shops/${on.shop.shop.id}`, { token, body: { status } })
    const before = await on.same(path)
    expect([before.status, (await set('SUSPENDED')).status]).toEqual([200, 200])
    expect((await on.viaServer(path)).status).toBe(404)
    expect((await on.same(path, { headers: { 'if-none-match': before.headers['etag'] ?? '' } })).status).toBe(404)
    expect((await set('ACTIVE')).status).toBe(200)
    expect(await on.same(path)).toEqual(before)
  })

  test('a public record is current after another process suspended its shop', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const path = prefix + on.product.id
    expect((await on.same(path)).status).toBe(200)
    await using command = await openCommandInstance(app)
    await setShopStatus(command.deps, { actor: system }, on.shop.shop.id, 'SUSPENDED')
    expect((await on.viaServer(path)).status).toBe(404)
  })

  test('a public record is current after another process commits', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const path = prefix + on.product.id
    const first = await on.same(path)
    await using command = await openCommandInstance(app)
    const write = { shop: on.shop.shop, actor: system }
    await changeProduct(command.deps, write, on.product.id, { title: 'From beside' })
    const changed = await on.viaServer(path, { headers: { 'if-none-match': first.headers['etag'] ?? '' } })
    expect([changed.status, JSON.parse(changed.body).title]).toEqual([200, 'From beside'])
    expect((await on.same(path)).headers['etag']).toBe(changed.headers['etag'] ?? '')
    await changeProduct(command.deps, write, on.product.id, { status: 'ARCHIVED' })
    expect((await on.viaServer(path)).status).toBe(404)
  })
})

describe('a cached record over HTTP', () => {
  test('a cached record is sent with a valid request id of the request, or a new one', async () => {
    await using app = await testApp()
    await using on = await serveProduct(app)
    const idFor = async (headers: Record<string, string>) =>
      (await fetch(`${on.server.url}/product-v2/public/${on.product.id}`, { headers })).headers.get('x-request-id')
    for (let nth = 0; nth < 2; nth++) {
      expect(await idFor({ 'x-request-id': 'mine-1' })).toBe('mine-1')
      expect(await idFor({ 'x-request-id': 'not one' })).toMatch(/^[\w-]{12}-[0-9a-z]+$/)
    }
    expect(await idFor({})).not.toBe(await idFor({}))
  })

  test('a cached record is served only on allowed hosts', async () => {
    await using app = await testApp({ ALLOWED_HOSTS: 'localhost,127.0.0.1' })
    await using on = await serveProduct(app)
    const path = `/product-v2/public/${on.product.id}`
    expect((await on.viaServer(path)).status).toBe(200)
    const stranger = await on.viaServer(path, { headers: { host: 'evil.example' } })
    expect(stranger.status).toBe(400)
    expect(stranger.body).not.toContain('Tea')
    expect((await on.viaServer(path)).status).toBe(200)
  })
})
