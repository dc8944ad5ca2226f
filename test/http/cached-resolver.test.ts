/** Tests that cached responses of the payment resolver equal those of the route and count for its limit. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { invalidQueries, serverAndRoute } from '../support/cached-and-routed.ts'
import { processorSettings } from '../support/processor-settings.ts'
import { sendRaw, serveTestApp } from '../support/server.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const pathOf = (name: string) => `/checkout/${name}/payment-intent-resolver`

test('the payment resolver is the same from the cache and the route in every variant', async () => {
  await using app = await testApp(processorSettings)
  const { shop } = await app.merchant()
  await using on = serverAndRoute(app)
  const path = pathOf(shop.name)
  const baseline = await on.same(path)
  const etag = String(baseline.headers['etag'])
  expect(baseline).toMatchObject({
    status: 200,
    headers: { 'cache-control': 'public, max-age=0, s-maxage=60', 'access-control-allow-origin': '*' },
  })
  expect(await on.same(`${path}?shopUrl=other`)).toEqual(baseline)
  expect(await on.same(pathOf(`%73${shop.name.slice(1)}`))).toEqual(baseline)
  expect(await on.same(path, { headers: { origin: 'https://elsewhere.example', authorization: 'Bearer nonsense' } })).toEqual(baseline)
  expect((await on.same(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
  expect(await on.same(`/api/v3${path}`)).toEqual(baseline)
  expect((await on.viaServer(`/api/v3${path}`, { method: 'HEAD' })).status).toBe(200)
  for (const name of ['no-such-shop', 'x'.repeat(300), 'toString', '%2F']) expect((await on.same(pathOf(name))).status).not.toBe(200)
})

test('the payment resolver refuses an invalid query string, cached or not', async () => {
  await using app = await testApp(processorSettings)
  await using on = serverAndRoute(app)
  for (const query of invalidQueries) {
    const path = pathOf((await app.merchant()).shop.name)
    const cold = await on.same(path + query)
    expect([query, cold.status, cold.headers['access-control-allow-origin']]).toEqual([query, 400, '*'])
    expect((await on.same(path)).status).toBe(200)
    expect(await on.same(path + query)).toEqual(cold)
    expect((await on.same(`${path}?y=%20&y=/a?b`)).status).toBe(200)
  }
})

test('refusals of the payment resolver can be read across origins', async () => {
  await using app = await testApp(processorSettings)
  const { shop } = await app.merchant()
  await using serving = serveTestApp(app)
  const ask = async (method: string, path: string, host = 'shop.example') => {
    const { status, headers } = await sendRaw(serving.port, `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    return [status, headers.get('access-control-allow-origin'), headers.get('access-control-expose-headers')?.includes('retry-after')]
  }
  const path = pathOf(shop.name)
  for (let nth = 0; nth < 2; nth++) {
    for (const host of ['', 'a b', 'a/b', 'http://x', '[::', '[::::]', 'a:65536', '1.2.3.999', 'a?b'])
      for (const query of ['', '?y=%00'])
        expect([host, query, ...(await ask('GET', path + query, host))]).toEqual([host, query, 400, '*', true])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect([method, ...(await ask(method, path))]).toEqual([method, 405, '*', true])
      expect([method, ...(await ask(method, `${path}?y=%00`))]).toEqual([method, 400, '*', true])
    }
    expect(await ask('OPTIONS', `${path}?y=%00`)).toEqual([400, '*', true])
    for (const name of ['%00', '%ff', 'x'.repeat(254), 'x'.repeat(9_000)])
      expect([name.length, ...(await ask('GET', pathOf(name)))]).toEqual([name.length, 400, '*', true])
    for (const name of ['no-such-shop', '..%2f', 'a%5Cb', '%20'])
      expect([name, ...(await ask('GET', pathOf(name)))]).toEqual([name, 404, '*', true])
    expect(await ask('GET', path)).toEqual([200, '*', true])
  }
  const statuses = new Set<unknown>()
  while (!statuses.has(429)) {
    const [status, ...readable] = await ask('GET', path)
    statuses.add(status)
    expect(readable).toEqual(['*', true])
  }
  app.edge.drain()
  expect(await ask('GET', path)).toEqual([503, '*', true])
})

test('the payment resolver ignores a shop named by the Host header', async () => {
  await using app = await testApp(processorSettings)
  const { shop } = await app.merchant()
  await using serving = serveTestApp(app)
  const ask = (path: string, host: string) => sendRaw(serving.port, `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  expect((await ask(pathOf(shop.name), 'a')).status).toBe(200)
  for (let skipped = 0; skipped < 12; skipped++)
    for (const path of ['/checkout/../payment-intent-resolver', '/checkout/.%2e/payment-intent-resolver', '/payment-intent-resolver'])
      expect((await ask(path, 'x'.repeat(skipped) + shop.name)).status).toBe(404)
})

test('the payment resolver counts each request once on both paths, and the sixty-first in a minute is 429', async () => {
  await using app = await testApp(processorSettings)
  const { shop } = await app.merchant()
  await using serving = serveTestApp(app)
  const statuses: number[] = []
  for (let nth = 0; nth < 62; nth++)
    statuses.push((await fetch(`${serving.url}${nth % 3 === 0 ? '/api/v3' : ''}${pathOf(shop.name)}`)).status)
  expect(statuses.lastIndexOf(200)).toBe(59)
  expect(statuses.slice(60)).toEqual([429, 429])
  const refused = await fetch(`${serving.url}${pathOf(shop.name)}`)
  expect([refused.headers.get('retry-after'), refused.headers.get('cache-control')]).toEqual(['60', 'no-store'])
  app.clock.advance(60_000)
  expect((await fetch(`${serving.url}${pathOf(shop.name)}`)).status).toBe(200)
})

test('the payment resolver is current with the first request after a breaker opens', async () => {
  await using app = await testApp(processorSettings)
  const { shop } = await app.merchant()
  await using serving = serveTestApp(app)
  const paypal = async () =>
    ((await (await fetch(`${serving.url}${pathOf(shop.name)}`)).json()) as { paypal: { enabled: boolean } }).paypal.enabled
  const states = [await paypal(), await paypal()]
  for (let nth = 0; nth < 5; nth++) app.deps.breakers.failed({ processor: 'paypal', host: 'api-m.sandbox.paypal.com' })
  states.push(await paypal())
  expect(states).toEqual([true, true, false])
})
