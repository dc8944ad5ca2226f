/** Tests which responses browsers may read across origins. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { type AccessRule, accessRules, isForBrowsers } from '../../src/http/access-rules.ts'
import { testApp } from '../support/app.ts'
import { customerIn } from '../support/customers.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const origin = { origin: 'https://storefront.example' }

describe('cross-origin requests', () => {
  test('public responses and their errors can be read across origins, without credentials', async () => {
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const { shop } = await app.merchant()
    const json = { ...origin, 'content-type': 'application/json' }
    const answers = [
      await app.call('GET', `/shops/v2/public/name/${shop.name}`, { headers: origin }),
      await app.call('GET', `/api/v3/shops/v2/public/name/${shop.name}`, { headers: origin }),
      await app.call('GET', '/shops/v2/public/name/nobody', { headers: origin }),
      await app.call('GET', '/shops/v2/public/name/%00', { headers: origin }),
      await app.call('POST', '/merchant/login', { headers: origin, body: { email: 'a@example.com', password: 'wrong' } }),
      await app.call('POST', '/merchant/login', { headers: origin, body: {} }),
      await app.call('POST', '/merchant/login', { headers: json, raw: '{' }),
      await app.call('POST', '/merchant/login', { headers: { ...origin, 'content-type': 'text/plain' }, raw: 'x' }),
      await app.call('POST', '/merchant/login', { headers: { ...json, 'content-length': '99999999' }, raw: '{}' }),
      await app.call('GET', '/health/live', { headers: origin }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 400, 401, 400, 400, 415, 413, 200])
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toContain('retry-after')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
    app.edge.drain()
    expect(
      (await app.call('GET', `/shops/v2/public/name/${shop.name}`, { headers: origin })).headers.get('access-control-allow-origin'),
    ).toBe('*')
  })

  test('routes open to customers can be read across origins, also with other credentials and on errors', async () => {
    await using app = await testApp()
    const { shop, token, secretKey } = await app.merchant()
    const customer = await customerIn(app, shop)
    const paths = ['/v2/orders/none', '/addresses/none', '/customer/me', '/customer/me/orders', '/auth/sessions']
    for (const path of paths)
      for (const credential of [{ token: customer.token }, { token }, { key: secretKey }, {}]) {
        const { status, headers } = await app.call('GET', path, { ...credential, headers: origin })
        expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, status, '*'])
        expect(headers.get('access-control-allow-credentials')).toBeNull()
      }
    const answers = [
      await app.call('POST', '/auth/password', { token: customer.token, headers: origin, body: {} }),
      await app.call('POST', '/auth/refresh', { headers: origin, body: { refreshToken: 'x' } }),
      await app.call('POST', '/addresses', { token: customer.token, headers: origin, body: {} }),
      await app.call('DELETE', '/auth/sessions/none', { token: customer.token, headers: origin }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 401, 400, 404])
    for (const { headers } of answers) expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  test('customer tokens work only from the origins that their shop lists, and merchant tokens from any', async () => {
    await using app = await testApp()
    const { shop, token, email, password } = await app.merchant()
    const customer = await customerIn(app, shop)
    const login = { shopName: shop.name, email: customer.email, password: customer.password }
    const { refreshToken, accessToken } = (await app.call('POST', '/customer/login', { body: login })).body.data
    await app.call('PATCH', '/shops/v2', { token, body: { storefrontOrigins: ['https://storefront.example'] } })
    const evil = { origin: 'https://evil.example' }
    const requestsWith = (headers: Record<string, string>) => [
      () => app.call('GET', '/v2/orders/none', { token: accessToken, headers }),
      () => app.call('GET', '/auth/sessions', { token: accessToken, headers }),
      () => app.call('POST', '/auth/refresh', { headers, body: { refreshToken } }),
      () => app.call('POST', '/auth/logout', { headers, body: { refreshToken } }),
    ]
    for (const ask of requestsWith(evil)) expect((await ask()).status).toBe(403)
    const statuses = []
    for (const ask of requestsWith(origin)) statuses.push((await ask()).status)
    // The token was already used for a refresh; a logout with it still ends the session.
    expect(statuses).toEqual([404, 200, 200, 204])
    const { data } = (await app.call('POST', '/merchant/login', { headers: evil, body: { email, password } })).body
    expect((await app.call('POST', '/auth/refresh', { headers: evil, body: { refreshToken: data.refreshToken } })).status).toBe(200)
  })

  test('a preflight allows the headers of pages: credentials, idempotency keys, versions and trace headers', async () => {
    await using app = await testApp()
    const { headers } = await app.call('OPTIONS', '/cart/some', { headers: origin })
    const allowed = headers.get('access-control-allow-headers')?.split(', ')
    for (const name of ['authorization', 'x-service-api-key', 'content-type', 'idempotency-key', 'if-match'])
      expect(allowed).toContain(name)
    for (const name of ['traceparent', 'tracestate', 'sentry-trace', 'baggage']) expect(allowed).toContain(name)
  })

  test('a 304 can be read across origins', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const first = await app.call('GET', `/shops/v2/public/name/${shop.name}`, { headers: origin })
    const second = await app.call('GET', `/shops/v2/public/name/${shop.name}`, {
      headers: { ...origin, 'if-none-match': first.headers.get('etag') ?? '' },
    })
    expect([second.status, second.headers.get('access-control-allow-origin')]).toEqual([304, '*'])
  })

  test('responses to merchant tokens, secret keys, operators and unknown paths cannot be read across origins', async () => {
    await using app = await testApp()
    const { token, secretKey } = await app.merchant()
    const answers = [
      await app.call('GET', '/shops/v2', { token, headers: origin }),
      await app.call('GET', '/shops/v2', { headers: origin }),
      await app.call('PATCH', '/shops/v2', { token, headers: origin, body: { title: 5 } }),
      await app.call('GET', '/shops/v2/private-key', { token, headers: origin }),
      await app.call('GET', '/shops/v2/tax-rates', { key: secretKey, headers: origin }),
      await app.call('GET', '/merchant/me', { token, headers: origin }),
      await app.call('GET', '/locations/countries', { headers: origin }),
      await app.call('GET', '/metrics', { headers: origin }),
      await app.call('GET', '/nowhere', { headers: origin }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 400, 200, 200, 200, 401, 200, 404])
    for (const { headers } of answers) expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('a preflight succeeds only on routes that pages may call', async () => {
    await using app = await testApp()
    const app2 = createApp(app.deps)
    const routes = app2.routes.filter(({ method }) => method !== 'OPTIONS')
    const preflightHeaders = { ...origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
    const open = new Set(
      routes.filter(({ method, path }) => isForBrowsers(app.routeTable.get(method, path)?.access)).map(({ path }) => path),
    )
    expect(open.has('/merchant/login')).toBe(true)
    expect(open.has('/shops/v2/private-key')).toBe(false)
    for (const path of new Set(routes.map((route) => route.path))) {
      const answer = await app.call('OPTIONS', path.replaceAll(/:\w+/g, 'some'), { headers: preflightHeaders })
      const isOn = routes.some((route) => route.path === path && (app.routeTable.get(route.method, path)?.isOn?.() ?? true))
      expect([path, answer.status]).toEqual([path, open.has(path) ? 204 : isOn ? 405 : 404])
      expect([path, answer.headers.get('allow')?.includes('OPTIONS') ?? false]).toEqual([path, false])
      expect(answer.headers.get('access-control-allow-origin')).toBe(open.has(path) ? '*' : null)
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  test('exactly the routes for publishable keys, customers and the public allow cross-origin requests', async () => {
    await using app = await testApp()
    const routes = createApp(app.deps).routes.filter(({ method }) => method !== 'OPTIONS')
    let open = 0
    for (const { method, path } of routes) {
      const access = app.routeTable.get(method, path)?.access
      if (access === undefined) throw new Error(`${method} ${path} states nothing`)
      const { tokens = [], key, unguarded, raw, mayAskFor }: AccessRule = accessRules[access]
      // Routes of the console accept its own page only.
      const isForShoppers =
        tokens.includes('customer') ||
        key === 'storefront' ||
        (unguarded === true && !raw && mayAskFor === undefined && access !== 'console' && access !== 'page')
      expect([method, path, isForBrowsers(access)]).toEqual([method, path, isForShoppers])
      if (path.includes('*')) continue
      const { status, headers } = await app.call(method, path.replaceAll(/:\w+/g, 'some'), {
        headers: origin,
        ...(method === 'GET' ? {} : { body: {} }),
      })
      expect([method, path, status < 500, headers.get('access-control-allow-origin')]).toEqual([
        method,
        path,
        true,
        isForShoppers ? '*' : null,
      ])
      if (isForShoppers) open++
    }
    expect(open).toBeGreaterThan(50)
  })

  test('a preflight lists only the cross-origin methods of a path', async () => {
    await using app = await testApp()
    const methodsAt = async (path: string) =>
      (await app.call('OPTIONS', path, { headers: origin })).headers.get('access-control-allow-methods')
    expect(await methodsAt('/blogs')).toBe('GET')
    expect(await methodsAt('/blogs/some')).toBe('GET')
    expect(await methodsAt('/merchant/login')).toBe('POST')
  })

  test('a shop with listed origins is readable from them and without an origin, and from no other', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const path = `/shops/v2/public/name/${shop.name}`
    expect((await app.call('PATCH', '/shops/v2', { token, body: { storefrontOrigins: ['https://storefront.example'] } })).status).toBe(200)
    const from = async (value: string) => (await app.call('GET', path, { headers: { origin: value } })).status
    expect(await from('https://storefront.example')).toBe(200)
    for (const other of [
      'https://evil.example',
      'http://storefront.example',
      'https://storefront.example:8443',
      'https://storefront.example.evil.example',
      'null',
    ])
      expect([other, await from(other)]).toEqual([other, 403])
    expect((await app.call('GET', path)).status).toBe(200)
    const refused = await app.call('GET', path, { headers: { origin: 'https://evil.example' } })
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.body).toEqual({ statusCode: 403, message: 'The shop does not allow this origin', error: 'Forbidden', code: 'forbidden' })
    const signup = { shopName: shop.name, email: 'c@example.com', password: 'long enough' }
    expect((await app.call('POST', '/customer/signup', { headers: { origin: 'https://evil.example' }, body: signup })).status).toBe(403)
    expect((await app.call('POST', '/customer/login', { headers: { origin: 'https://evil.example' }, body: signup })).status).toBe(403)
  })
})
