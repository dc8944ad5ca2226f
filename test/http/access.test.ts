/** Tests the order of access checks. Access to each route is tested in access-manifest.test.ts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type TestApp, testApp } from '../support/app.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('a request without credentials is refused before its body is validated', async () => {
  await using app = await testApp()
  const answer = await app.call('PATCH', '/shops/v2', { body: { title: 1 } })
  expect(answer.status).toBe(401)
  expect(answer.body).toEqual({
    statusCode: 401,
    message: 'Send a valid access token as Authorization: Bearer TOKEN',
    error: 'Unauthorized',
    code: 'unauthenticated',
  })
})

test('a request for another shop gets validation errors first, and then 404', async () => {
  await using app = await testApp()
  const { token } = await app.merchant()
  const other = await app.merchant()
  const headers = { 'x-shop-id': other.shop.id }
  expect((await app.call('PATCH', '/shops/v2', { token, headers, body: { title: 1 } })).status).toBe(400)
  expect((await app.call('PATCH', '/shops/v2', { token, headers, body: { title: 'mine now' } })).status).toBe(404)
})

test('a public route ignores credentials, even broken ones', async () => {
  await using app = await testApp()
  const { shop } = await app.merchant()
  for (const headers of [{ authorization: 'Bearer broken' }, { 'x-service-api-key': 'broken' }, { 'x-shop-id': 'shop_nobody' }] as Record<
    string,
    string
  >[]) {
    expect((await app.call('GET', `/shops/v2/public/name/${shop.name}`, { headers })).status).toBe(200)
  }
})

test('a key takes precedence over a token: a broken key is refused despite a valid token', async () => {
  await using app = await testApp()
  const { token, secretKey } = await app.merchant()
  const other = await app.merchant()
  await app.call('PUT', '/shops/v2/tax-rates', { token: other.token, body: { data: [{ country: 'AE', rateBps: 500 }] } })
  expect((await app.call('GET', '/shops/v2/tax-rates', { token, key: 'sk_test_broken' })).status).toBe(401)
  expect((await app.call('GET', '/shops/v2/tax-rates', { token: other.token, key: secretKey })).body).toEqual({ data: [] })
})

test('a route with a transform that replaces authentication is 500 and does not run', async () => {
  const { Elysia } = await import('elysia')
  const { access } = await import('../../src/http/access.ts')
  const { errors } = await import('../../src/http/errors.ts')
  await using app = await testApp()
  const { token } = await app.merchant()
  let hasRun = false
  const http = new Elysia()
    .use(errors(app.deps))
    .use(access(app.deps))
    .get(
      '/mistake',
      () => {
        hasRun = true
        return 'open'
      },
      { access: 'merchant', transform: () => undefined },
    )
  for (const headers of [{}, { authorization: `Bearer ${token}` }] as Record<string, string>[]) {
    expect((await http.handle(new Request('http://localhost/mistake', { headers }))).status).toBe(500)
  }
  expect(hasRun).toBe(false)
})

test('no route has another transform', async () => {
  const { createApp } = await import('../../src/app.ts')
  await using app = await testApp()
  const routes = createApp(app.deps).routes.filter(({ method }) => method !== 'OPTIONS')
  expect(routes.length).toBeGreaterThan(50)
  for (const { method, path, hooks } of routes) {
    // One transform authenticates the caller, the other checks the body.
    expect([method, path, (hooks as { transform?: unknown[] }).transform?.length]).toEqual([method, path, 2])
  }
})

describe('a route that is switched off', () => {
  /** Creates a guarded route with a switch, which is off at first. */
  async function createSwitchedRoute(app: TestApp) {
    const { Elysia, t } = await import('elysia')
    const { access } = await import('../../src/http/access.ts')
    const { unreadBodies } = await import('../../src/http/body.ts')
    const { errors } = await import('../../src/http/errors.ts')
    const { createRouteTable } = await import('../../src/http/route-table.ts')
    const deps = { ...app.deps, routeTable: createRouteTable() }
    const route = { isOn: false }
    const switchedAccess = { by: 'merchant', while: () => route.isOn } as const
    const http = new Elysia()
      .use(errors(deps))
      .use(unreadBodies())
      .use(access(deps))
      .get('/lend', ({ principal }) => principal.id, { access: switchedAccess })
      .post('/lend', ({ principal }) => principal.id, { access: switchedAccess, body: t.Object({ amount: t.Number() }) })
    deps.routeTable.fill(http.routes)
    const ask = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
      const answer = await http.handle(new Request(`http://localhost${path}`, { method, headers, ...(body === undefined ? {} : { body }) }))
      return [answer.status, await answer.text()] as const
    }
    return { route, ask }
  }
  const json = { 'content-type': 'application/json' }

  test('a disabled route is 404 for everyone with any body, before the body is read', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const { route, ask } = await createSwitchedRoute(app)
    const bearer = { authorization: `Bearer ${token}` }
    const unknownPath = await ask('GET', '/nowhere', {})
    expect(unknownPath[0]).toBe(404)
    for (const headers of [{}, { authorization: 'Bearer broken' }, bearer] as Record<string, string>[]) {
      expect(await ask('GET', '/lend', headers)).toEqual(unknownPath)
      for (const body of ['{', '{}', '[]', `{"amount":1,"x":"${'x'.repeat(1_100_000)}"}`])
        expect(await ask('POST', '/lend', { ...json, ...headers }, body)).toEqual(unknownPath)
      expect(await ask('POST', '/lend', { 'content-type': 'text/csv', ...headers }, 'a,b')).toEqual(unknownPath)
    }
    route.isOn = true
    expect((await ask('GET', '/lend', {}))[0]).toBe(401)
    expect((await ask('POST', '/lend', json, '{}'))[0]).toBe(401)
    expect((await ask('GET', '/lend', bearer))[0]).toBe(200)
    expect((await ask('POST', '/lend', { ...json, ...bearer }, '{}'))[0]).toBe(400)
    expect((await ask('POST', '/lend', { ...json, ...bearer }, '{"amount":1}'))[0]).toBe(200)
  })

  test('a disabled route is 404 for a body that is not JSON, also when the app handles it without the fast path', async () => {
    await using app = await testApp()
    const { text: unknownPath } = await app.call('POST', '/nowhere', { body: {} })
    for (const [type, raw] of [
      ['application/json', '{'],
      ['text/csv', 'a,b'],
      ['text/plain', 'x'],
    ] as const) {
      const answer = await app.call('POST', '/merchant/signup', { raw, headers: { 'content-type': type } })
      expect([type, answer.status, answer.text]).toEqual([type, 404, unknownPath])
    }
  })
})

test('a body that is not JSON is refused after authentication, also on a route that takes no body', async () => {
  await using app = await testApp()
  const { token } = await app.merchant()
  for (const type of ['text/csv', 'text/plain', 'multipart/form-data; boundary=x']) {
    const csvBody = { raw: 'a,b', headers: { 'content-type': type } }
    expect([type, (await app.call('POST', '/shops/v2/custody/wallet', csvBody)).status]).toEqual([type, 401])
    expect([type, (await app.call('POST', '/shops/v2/custody/wallet', { ...csvBody, token })).status]).toEqual([type, 415])
  }
})
