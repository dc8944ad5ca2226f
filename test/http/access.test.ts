/** In which order a request is judged. Who may call what is in access-manifest.test.ts. */
import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'

test('a stranger is refused before the body is looked at', async () => {
  await using app = await testApp()
  const answer = await app.call('PATCH', '/shops/v2', { body: { title: 1 } })
  expect(answer.status).toBe(401)
  expect(answer.body).toEqual({ statusCode: 401, message: 'A valid access token is required', error: 'Unauthorized' })
})

test("a request for somebody else's shop is told first what is wrong with it, and then that there is no such shop", async () => {
  await using app = await testApp()
  const { token } = await app.merchant()
  const other = await app.merchant()
  const headers = { 'x-shop-id': other.shop.id }
  expect((await app.call('PATCH', '/shops/v2', { token, headers, body: { title: 1 } })).status).toBe(400)
  expect((await app.call('PATCH', '/shops/v2', { token, headers, body: { title: 'mine now' } })).status).toBe(404)
})

test('public takes no notice of credentials, even broken ones', async () => {
  await using app = await testApp()
  const { shop } = await app.merchant()
  for (const headers of [{ authorization: 'Bearer broken' }, { 'x-service-api-key': 'broken' }, { 'x-shop-id': 'shop_nobody' }] as Record<string, string>[]) {
    expect((await app.call('GET', `/shops/v2/public/name/${shop.name}`, { headers })).status).toBe(200)
  }
})

test('a key decides over a token that comes with it: a broken key is not healed by a good token', async () => {
  await using app = await testApp()
  const { token, secretKey } = await app.merchant()
  const other = await app.merchant()
  await app.call('PUT', '/shops/v2/tax-rates', { token: other.token, body: { data: [{ country: 'AE', rateBps: 500 }] } })
  expect((await app.call('GET', '/shops/v2/tax-rates', { token, key: 'sk_test_broken' })).status).toBe(401)
  expect((await app.call('GET', '/shops/v2/tax-rates', { token: other.token, key: secretKey })).body).toEqual({ data: [] })
})
