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
  for (const headers of [{ authorization: 'Bearer broken' }, { 'x-service-api-key': 'broken' }, { 'x-shop-id': 'shop_nobody' }] as Record<
    string,
    string
  >[]) {
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

test('a route whose own transform took the place of the one that authenticates fails closed', async () => {
  const { Elysia } = await import('elysia')
  const { access } = await import('../../src/http/access.ts')
  const { errors } = await import('../../src/http/errors.ts')
  await using app = await testApp()
  const { token } = await app.merchant()
  let reached = false
  const http = new Elysia()
    .use(errors(app.deps))
    .use(access(app.deps))
    .get(
      '/mistake',
      () => {
        reached = true
        return 'open'
      },
      { access: 'merchant', transform: () => undefined },
    )
  for (const headers of [{}, { authorization: `Bearer ${token}` }] as Record<string, string>[]) {
    expect((await http.handle(new Request('http://localhost/mistake', { headers }))).status).toBe(500)
  }
  expect(reached).toBe(false)
})

test('no guarded route has a transform of its own', async () => {
  const { createApp } = await import('../../src/app.ts')
  await using app = await testApp({ SIGNUP_ENABLED: 'true' })
  const counts = createApp(app.deps).routes.map(({ method, path, hooks }) => {
    const { transform, detail } = hooks as { transform?: unknown[]; detail?: { 'x-access'?: string } }
    return { route: `${method} ${path}`, access: detail?.['x-access'], transforms: transform?.length ?? 0 }
  })
  const guarded = counts.filter(({ access }) => access !== undefined && !['public', 'processor', 'internal'].includes(access))
  expect(guarded.length).toBeGreaterThan(10)
  // One that authenticates, one that looks at the shape.
  expect(guarded.filter(({ transforms }) => transforms !== 2)).toEqual([])
})
