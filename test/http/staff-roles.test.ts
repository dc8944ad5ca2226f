/** Tests which routes each staff role may call. The lists are written by hand from the contract (4a, "Roles"). */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { canExport } from '../../src/core/principal.ts'
import { type StaffRole, staffRoles } from '../../src/core/roles.ts'
import { accessRules } from '../../src/http/access-rules.ts'
import { testApp } from '../support/app.ts'
import { acceptedCredentials } from '../support/credentials.ts'
import { approveBusiness } from '../support/kyb.ts'
import { ok } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { accessManifest } from './access-manifest.ts'

setDefaultTimeout(longTestMs)

/** Routes about the caller's account and shops. */
const accountRoutes = [
  ...['GET /merchant/me', 'GET /shops/v2', 'POST /shops/v2', 'POST /auth/password'],
  ...['GET /auth/totp', 'POST /auth/totp', 'POST /auth/totp/confirm', 'DELETE /auth/totp'],
  ...['GET /auth/sessions', 'DELETE /auth/sessions', 'DELETE /auth/sessions/:id'],
]
const orderReads = [
  ...['GET /v2/orders', 'GET /v2/orders/:orderId', 'GET /v2/refunds', 'GET /v2/orders/drafts', 'GET /v2/orders/drafts/:id'],
  'GET /v2/orders/:orderId/fulfilments/:fulfilmentId',
  // Fields that a role may not read are null: see test/modules/operations/overview.
  'GET /shops/v2/overview',
  'GET /v2/events',
]
const fulfilmentRoutes = [
  'POST /v2/orders/:orderId/fulfil',
  'POST /v2/orders/:orderId/fulfilments',
  'POST /v2/orders/fulfilments',
  'PATCH /v2/orders/:orderId/fulfilments/:fulfilmentId',
]
const documentRoutes = ['GET /v2/orders/:orderId/packing-slip', 'GET /v2/orders/documents']
const catalogReads = [
  ...['GET /product-v2', 'GET /product-v2/:id', 'GET /product-v2/low-stock', 'GET /product-v2/:id/variants/:variantId/stock'],
  ...['GET /collection-v2', 'GET /collection-v2/:id', 'GET /blogs', 'GET /blogs/:id', 'GET /media'],
]
const customerReads = ['GET /customer', 'GET /customer/:customerId', 'GET /customer/:customerId/order-ids', 'GET /addresses/:id']
const ownerRoutes = [
  ...['GET /shops/v2/private-key', 'POST /shops/v2/private-key/rotate', 'POST /shops/v2/custody/wallet', 'POST /shops/v2/go-live'],
  'GET /shops/v2/processor-accounts',
  ...['GET', 'PUT', 'DELETE'].map((method) => `${method} /shops/v2/processor-accounts/:processor`),
  'POST /shops/v2/processor-accounts/:processor/test',
  ...['GET /shops/v2/staff', 'POST /shops/v2/staff'],
  ...['GET', 'PATCH', 'DELETE'].map((method) => `${method} /shops/v2/staff/:id`),
  ...['GET /shops/v2/agents', 'PUT /shops/v2/agents', 'POST /shops/v2/agents/keys/rotate'],
  ...['POST /kyb', 'GET /kyb'],
  ...['POST /lending-application', 'GET /lending-application', 'GET /lending-application/:id', 'PATCH /lending-application/:id'],
  ...['POST /lending-application/:id/submit', 'POST /lending-application/:id/withdraw', 'GET /lending-application/:id/checklist'],
  'GET /lending-application/:id/documents',
  ...['PUT', 'GET', 'DELETE'].map((method) => `${method} /lending-application/:id/documents/:key`),
  ...['POST /webhook-endpoints', 'GET /webhook-endpoints', 'GET /webhook-endpoints/:id', 'DELETE /webhook-endpoints/:id'],
  ...['GET /webhook-endpoints/:id/deliveries', 'POST /webhook-endpoints/:id/deliveries/:deliveryId/resend'],
]

const merchantRoutes = Object.entries(accessManifest)
  .filter(([, access]) => acceptedCredentials(access).includes('merchant'))
  .map(([route]) => route)

const mayCall: Record<StaffRole, (route: string) => boolean> = {
  OWNER: () => true,
  MANAGER: (route) => !ownerRoutes.includes(route),
  FULFILMENT: (route) => [...accountRoutes, ...orderReads, ...fulfilmentRoutes, ...documentRoutes].includes(route),
  READ_ONLY: (route) => [...accountRoutes, ...catalogReads, ...orderReads, ...customerReads].includes(route),
}

test('every route in the role lists is one that merchants may call', () => {
  const named = [...accountRoutes, ...orderReads, ...fulfilmentRoutes, ...documentRoutes, ...catalogReads, ...customerReads, ...ownerRoutes]
  expect(named.filter((route) => !merchantRoutes.includes(route))).toEqual([])
  expect(merchantRoutes.length).toBeGreaterThan(named.length)
})

test('each role can call its routes, and gets 403 for all others before the body is validated', async () => {
  await using app = await testApp({ SIGNUP_ENABLED: 'true', LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' })
  const owner = await app.merchant()
  await approveBusiness(app, owner, await app.superAdmin())
  const tokens = { OWNER: (await staffOf(app, owner, 'OWNER')).token } as Record<StaffRole, string>
  for (const role of staffRoles.slice(1)) tokens[role] = (await staffOf(app, owner, role)).token
  for (const role of staffRoles) {
    for (const route of merchantRoutes) {
      const [method = '', path = ''] = route.split(' ')
      const body = method === 'GET' ? {} : { body: { noSuchField: true } }
      const answer = await app.call(method, path.replace(/:\w+/g, 'none_00000000000000000000000000'), { token: tokens[role], ...body })
      const refused = answer.status === 403 && /This requires the .* role in the shop/.test(answer.body.message)
      expect([role, route, answer.status, refused]).toEqual([role, route, answer.status, !mayCall[role](route)])
      if (!refused) expect([role, route, answer.status]).not.toEqual([role, route, 403])
    }
  }
})

test('a super admin who owns a shop can call every route of merchants there, and none in other shops', async () => {
  await using app = await testApp({ SIGNUP_ENABLED: 'true', LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' })
  const stranger = await app.merchant()
  const admin = await app.superAdmin()
  const body = { shopName: 'own-shop', title: 'Own', country: 'US', currency: 'USD' }
  const shop = ok(await app.call('POST', '/shops/v2', { token: admin.token, body }), 201).body
  await approveBusiness(app, admin, admin)
  for (const route of merchantRoutes) {
    const [method = '', path = ''] = route.split(' ')
    const requestBody = method === 'GET' ? {} : { body: { noSuchField: true } }
    const call = (shopId?: string) =>
      app.call(method, path.replace(/:\w+/g, 'none_00000000000000000000000000'), {
        ...{ token: admin.token, ...requestBody },
        ...(shopId === undefined ? {} : { headers: { 'x-shop-id': shopId } }),
      })
    for (const shopId of [undefined, shop.id]) expect([route, [401, 403].includes((await call(shopId)).status)]).toEqual([route, false])
    if (accessManifest[route] === 'loggedIn' || accessManifest[route] === 'merchantOrSuperAdmin') continue
    expect([route, (await call(stranger.shop.id)).status < 300]).toEqual([route, false])
  }
})

test('READ_ONLY changes only its own account, and FULFILMENT also fulfils', () => {
  const changes = merchantRoutes.filter((route) => !route.startsWith('GET ') && !accountRoutes.includes(route))
  expect(changes.filter(mayCall.READ_ONLY)).toEqual([])
  expect(changes.filter(mayCall.FULFILMENT)).toEqual(fulfilmentRoutes)
})

test('an access rule has roles exactly if it admits merchants', () => {
  for (const [name, { tokens, roles }] of Object.entries(accessRules))
    expect([name, roles !== undefined]).toEqual([name, tokens?.includes('merchant') ?? false])
})

test('OWNER, MANAGER and the secret key may export lists', () => {
  const as = (role?: StaffRole) => canExport({ kind: 'merchant', id: 'mer_1', sessionId: 'ses_1', role })
  expect(staffRoles.filter((role) => as(role))).toEqual(['OWNER', 'MANAGER'])
  expect(as()).toBe(false)
  const shop = { id: 'shop_1', merchantId: 'mer_1', currency: 'USD', mode: 'TEST', origins: [], timeZone: 'UTC' } as const
  expect(canExport({ kind: 'key', id: 'key_1', scopes: ['storefront', 'server'], shop })).toBe(true)
  expect(canExport({ kind: 'key', id: 'key_1', scopes: ['storefront'], shop })).toBe(false)
  expect(canExport({ kind: 'customer', id: 'cus_1', sessionId: 'ses_1', shopId: 'shop_1' })).toBe(false)
})
