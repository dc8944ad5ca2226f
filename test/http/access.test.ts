/** Who may call what: every route, walked with every kind of credential. */
import { describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { type Access, accesses } from '../../src/http/access.ts'
import { startSession } from '../../src/modules/auth/service.ts'
import { system } from '../../src/modules/audit/service.ts'
import { type TestApp, testApp } from '../support/app.ts'

type Route = { method: string; path: string; access: Access | undefined }

const routesOf = ({ deps }: TestApp): Route[] =>
  createApp(deps)
    .routes.filter(({ method }) => method !== 'OPTIONS')
    .map(({ method, path, hooks }) => ({ method, path, access: (hooks as { detail?: { 'x-access'?: Access } }).detail?.['x-access'] }))

const pathOf = ({ path }: Route) => path.replaceAll(/:\w+/g, 'x')

/** Routes of people, keys and shops, as the contract has them. */
const manifest: Record<string, Access> = {
  'POST /merchant/login': 'public',
  'POST /merchant/signup': 'public',
  'POST /customer/signup': 'public',
  'POST /customer/login': 'public',
  'POST /auth/refresh': 'public',
  'POST /auth/logout': 'public',
  'GET /merchant/me': 'merchant',
  'GET /shops/v2': 'merchant',
  'PATCH /shops/v2': 'merchant',
  'GET /shops/v2/tax-rates': 'management',
  'PUT /shops/v2/tax-rates': 'management',
  'GET /shops/v2/shipping-methods': 'management',
  'PUT /shops/v2/shipping-methods': 'management',
  'GET /shops/v2/private-key': 'merchant',
  'POST /shops/v2/private-key/rotate': 'merchant',
  'POST /shops/v2/custody/wallet': 'merchant',
  'GET /shops/v2/public/name/:shopName': 'public',
  'GET /locations/countries': 'integration',
  'GET /health/live': 'public',
  'GET /health/ready': 'public',
  'GET /metrics': 'internal',
}

describe('the access of a route', () => {
  test('is stated by every route, and is what the contract says', async () => {
    await using app = await testApp()
    const routes = routesOf(app)
    expect(routes.filter(({ access }) => !access || !accesses.includes(access))).toEqual([])
    const stated = new Map(routes.map(({ method, path, access }) => [`${method} ${path}`, access]))
    for (const [route, access] of Object.entries(manifest)) expect([route, stated.get(route)]).toEqual([route, access])
    for (const route of ['POST /merchant/login', 'POST /customer/login', 'GET /shops/v2/public/name/:shopName']) {
      const [method, path] = route.split(' ')
      expect(stated.get(`${method} /api/v3${path}`)).toBe('public')
    }
  })

  test('refuses a stranger with 401 before it looks at path, query or body', async () => {
    await using app = await testApp()
    let walked = 0
    for (const route of routesOf(app)) {
      if (route.access === 'public' || route.access === 'internal') continue
      const body = route.method === 'GET' ? {} : { body: { title: 5, data: 'wrong' } }
      for (const headers of [{}, { authorization: 'Bearer a.b.c' }, { authorization: 'Basic dTpw' }, { 'x-service-api-key': 'sk_test_wrong' }, { 'integration-api-key': 'wrong' }]) {
        const answer = await app.call(route.method, `${pathOf(route)}?limit=x`, { headers: headers as Record<string, string>, ...body })
        expect([route.method, route.path, answer.status]).toEqual([route.method, route.path, 401])
      }
      walked++
    }
    expect(walked).toBeGreaterThan(10)
  })

  test('of the wrong kind is 401, of the right kind without role or scope 403', async () => {
    await using app = await testApp()
    const { token: merchant, publishableKey, secretKey, shop } = await app.merchant()
    const { token: superAdmin } = await app.superAdmin()
    const customer = (await startSession(app.deps, { id: 'cus_someone', role: 'CUSTOMER', shopId: shop.id }, system)).data.accessToken
    const tokens = { customer, superAdmin }
    for (const route of routesOf(app)) {
      const status = async (credential: { token?: string; key?: string }) => (await app.call(route.method, pathOf(route), { ...credential, ...(route.method === 'GET' ? {} : { body: {} }) })).status
      const told = (what: string, got: number) => [route.method, route.path, what, got]
      if (route.access === 'merchant' || route.access === 'management' || route.access === 'superAdmin') {
        for (const [name, token] of Object.entries(tokens)) {
          if (route.access === 'superAdmin' && name === 'superAdmin') continue
          expect(told(name, await status({ token }))).toEqual(told(name, 403))
        }
      }
      if (route.access === 'merchant' || route.access === 'superAdmin') expect(told('key', await status({ key: secretKey }))).toEqual(told('key', 401))
      if (route.access === 'superAdmin') expect(told('merchant', await status({ token: merchant }))).toEqual(told('merchant', 403))
      if (route.access === 'secretKey') expect(told('merchant', await status({ token: merchant }))).toEqual(told('merchant', 401))
      if (route.access === 'management' || route.access === 'secretKey') expect(told('publishable', await status({ key: publishableKey }))).toEqual(told('publishable', 403))
      if (route.access === 'integration') expect(told('merchant', await status({ token: merchant }))).toEqual(told('merchant', 401))
    }
  })

  test('public takes no notice of credentials, even broken ones', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    for (const headers of [{ authorization: 'Bearer broken' }, { 'x-service-api-key': 'broken' }, { 'x-shop-id': 'shop_nobody' }]) {
      expect((await app.call('GET', `/shops/v2/public/name/${shop.name}`, { headers: headers as Record<string, string> })).status).toBe(200)
    }
  })
})

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
