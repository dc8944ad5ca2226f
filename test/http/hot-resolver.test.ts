/** What payment pages are told is answered ahead of the framework once it is known: nobody can tell, and nobody gets round the limit. */
import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { bothWays } from '../support/both-ways.ts'
import { everySetting } from '../support/processor-settings.ts'
import { serveTestApp } from '../support/server.ts'

const pathOf = (name: string) => `/checkout/${name}/payment-intent-resolver`

test('what a payment page is told is the same by the server and by the route: plain, with a query, held, from a browser, and refused', async () => {
  await using app = await testApp(everySetting)
  const { shop } = await app.merchant()
  await using on = bothWays(app)
  const path = pathOf(shop.name)
  const plain = await on.same(path)
  const etag = String(plain.headers['etag'])
  expect(plain).toMatchObject({
    status: 200,
    headers: { 'cache-control': 'public, max-age=0, s-maxage=60', 'access-control-allow-origin': '*' },
  })
  expect(await on.same(`${path}?shopUrl=other`)).toEqual(plain)
  expect(await on.same(pathOf(`%73${shop.name.slice(1)}`))).toEqual(plain)
  expect(await on.same(path, { headers: { origin: 'https://elsewhere.example', authorization: 'Bearer nonsense' } })).toEqual(plain)
  expect((await on.same(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
  for (const name of ['no-such-shop', 'x'.repeat(300), 'toString', '%2F']) expect((await on.same(pathOf(name))).status).not.toBe(200)
})

test('what a payment page is told counts once a request by the server, and the sixty-first of a minute is refused', async () => {
  await using app = await testApp(everySetting)
  const { shop } = await app.merchant()
  await using serving = serveTestApp(app)
  const statuses: number[] = []
  for (let nth = 0; nth < 62; nth++) statuses.push((await fetch(`${serving.url}${pathOf(shop.name)}`)).status)
  expect(statuses.lastIndexOf(200)).toBe(59)
  expect(statuses.slice(60)).toEqual([429, 429])
  const refused = await fetch(`${serving.url}${pathOf(shop.name)}`)
  expect([refused.headers.get('retry-after'), refused.headers.get('cache-control')]).toEqual(['60', 'no-store'])
  app.clock.advance(60_000)
  expect((await fetch(`${serving.url}${pathOf(shop.name)}`)).status).toBe(200)
})

test('what a payment page is told by the server is anew with the first request after a breaker opened', async () => {
  await using app = await testApp(everySetting)
  const { shop } = await app.merchant()
  await using serving = serveTestApp(app)
  const paypal = async () =>
    ((await (await fetch(`${serving.url}${pathOf(shop.name)}`)).json()) as { paypal: { enabled: boolean } }).paypal.enabled
  const seen = [await paypal(), await paypal()]
  for (let nth = 0; nth < 5; nth++) app.deps.breakers.failed({ processor: 'paypal', host: 'api-m.sandbox.paypal.com' })
  seen.push(await paypal())
  expect(seen).toEqual([true, true, false])
})
