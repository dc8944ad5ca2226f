import { expect, setDefaultTimeout, test } from 'bun:test'
import { system } from '../../src/core/command-context.ts'
import type { Access } from '../../src/http/access-rules.ts'
import { startSession } from '../../src/modules/identity/auth/service.ts'
import { type Answer, type CallOptions, testApp } from '../support/app.ts'
import { acceptedCredentials, createCredentials, declaredAccess, refusedCredentials } from '../support/credentials.ts'
import { approveBusiness } from '../support/kyb.ts'
import { longTestMs } from '../support/timeouts.ts'
import { accessManifest } from './access-manifest.ts'

setDefaultTimeout(longTestMs)

const everythingOn = { SIGNUP_ENABLED: 'true', LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' }
const twinPrefix = '/api/v3'

test('the access of every route equals the manifest', async () => {
  await using app = await testApp()
  const stated = [...declaredAccess(app)].filter(([route]) => !route.includes(` ${twinPrefix}/`))
  expect(Object.fromEntries(stated)).toEqual(accessManifest)
})

test('a route under API_V3_PREFIX has the same access as its original', async () => {
  await using app = await testApp()
  const twins = [...declaredAccess(app)].filter(([route]) => route.includes(` ${twinPrefix}/`))
  expect(twins.length).toBeGreaterThan(0)
  for (const [route, access] of twins) expect(access, route).toBe(accessManifest[route.replace(twinPrefix, '')] as Access)
})

type Guarded = { route: string; method: string; path: string; access: keyof typeof refusedCredentials }
const guarded: Guarded[] = Object.entries(accessManifest).flatMap(([route, access]) => {
  const [method = '', path = ''] = route.split(' ')
  if (!(access in refusedCredentials)) return []
  return [{ route, method, path: path.replace(/:\w+/g, 'none_00000000000000000000000000'), access: access as Guarded['access'] }]
})

function expectRefusal(answer: Answer, statusCode: 401 | 403, route: string): void {
  expect(answer.status, route).toBe(statusCode)
  expect(answer.body, route).toEqual({
    statusCode,
    message: expect.any(String),
    error: statusCode === 401 ? 'Unauthorized' : 'Forbidden',
    code: statusCode === 401 ? 'unauthenticated' : 'forbidden',
  })
}

test('a guarded route without credentials is 401, whatever the body', async () => {
  await using app = await testApp(everythingOn)
  for (const { route, method, path } of guarded) {
    expectRefusal(await app.call(method, path), 401, route)
    if (method !== 'GET') expectRefusal(await app.call(method, path, { body: { title: 1 } }), 401, route)
  }
})

test('a malformed, forged or expired credential is 401', async () => {
  await using app = await testApp(everythingOn)
  const merchant = await app.merchant()
  const [head, claims] = merchant.token.split('.')
  const expired = (await startSession(app.deps, { id: merchant.id, role: 'MERCHANT' }, system)).data.accessToken
  app.clock.advance((app.deps.config.accessTokenSeconds + 1) * 1000)
  const invalidCredentials: CallOptions[] = [
    { token: expired },
    { token: `${head}.${claims}.AAAA` },
    { token: 'x' },
    { headers: { authorization: 'Basic YTpi' } },
    { key: `${merchant.secretKey.slice(0, -1)}!` },
    { key: '' },
    { headers: { 'integration-api-key': 'wrong' } },
  ]
  for (const { route, method, path } of guarded) {
    for (const credential of invalidCredentials)
      expectRefusal(await app.call(method, path, credential), 401, `${route} ${JSON.stringify(credential)}`)
  }
})

test('a credential of the wrong kind is 401, and one without the role or scope is 403', async () => {
  await using app = await testApp(everythingOn)
  const { credentials } = await createCredentials(app)
  for (const { route, method, path, access } of guarded) {
    for (const kind of refusedCredentials[access].unknown)
      expectRefusal(await app.call(method, path, credentials[kind]), 401, `${route} as ${kind}`)
    for (const kind of refusedCredentials[access].forbidden)
      expectRefusal(await app.call(method, path, credentials[kind]), 403, `${route} as ${kind}`)
  }
})

test('the right credential is not refused', async () => {
  await using app = await testApp(everythingOn)
  const { credentials, merchant, admin } = await createCredentials(app)
  await approveBusiness(app, merchant, admin)
  for (const { route, method, path, access } of guarded) {
    // Keeps the old key valid if the route is the rotation. Other routes refuse graceSeconds as an unknown field.
    const body = method === 'GET' ? {} : { body: { graceSeconds: 3_600 } }
    for (const kind of acceptedCredentials(access)) {
      expect([401, 403], `${route} as ${kind}`).not.toContain((await app.call(method, path, { ...credentials[kind], ...body })).status)
    }
  }
})

test('a secret key cannot access another shop, not even with x-shop-id', async () => {
  await using app = await testApp()
  const [one, other] = [await app.merchant(), await app.merchant()]
  const answer = await app.call('GET', '/shops/v2', { token: one.token, headers: { 'x-shop-id': other.shop.id } })
  expect(answer.status).toBe(404)
  expect(answer.text).not.toContain(other.shop.name)
})

test('metrics are open to this machine; elsewhere they are 403 without a token and 401 with a wrong one', async () => {
  await using app = await testApp({ METRICS_TOKEN: 'a-token-for-the-metrics' })
  const from = '203.0.113.9'
  expect((await app.call('GET', '/metrics')).status).toBe(200)
  expectRefusal(await app.call('GET', '/metrics', { from }), 403, 'without a token')
  expectRefusal(await app.call('GET', '/metrics', { from, token: 'wrong' }), 401, 'with a wrong token')
  expect((await app.call('GET', '/metrics', { from, token: 'a-token-for-the-metrics' })).status).toBe(200)
  expectRefusal(await app.call('GET', '/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } }), 403, 'with forwarding headers')
})
