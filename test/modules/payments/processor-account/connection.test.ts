/** Connection tests: one call with entered or stored keys, a result in words, and nothing stored. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { auditLog } from '../../../../db/schema/people.ts'
import { processorAccounts } from '../../../../db/schema/processor-accounts.ts'
import { startBtcpayServer } from '../../../clients/processors/btcpay-server.ts'
import { startStripe } from '../../../clients/processors/stripe-server.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Caller = { readonly token: string }
const path = (processor: string) => `/shops/v2/processor-accounts/${processor}`
const testConnection = (app: TestApp, { token }: Caller, processor: string, body: unknown = {}) =>
  app.call('POST', `${path(processor)}/test`, { token, body })
const validKeys = { secretKey: 'sk_test_standin', publishableKey: 'pk_test_standin' }

test('tests entered keys with one call, and stores nothing', async () => {
  await using stripe = await startStripe()
  await using app = await testApp({ STRIPE_API_URL: stripe.url })
  const merchant = await app.merchant()
  const auditRows = (await app.deps.db.read.select().from(auditLog)).length
  const before = stripe.requests.length
  expect(ok(await testConnection(app, merchant, 'stripe', validKeys)).body).toEqual({
    processor: 'stripe',
    mode: 'TEST',
    result: 'CONNECTED',
    fields: [],
    message: 'stripe accepts these keys',
  })
  expect(stripe.requests.length).toBe(before + 1)
  expect(ok(await testConnection(app, merchant, 'stripe', { secretKey: 'sk_test_other' })).body).toMatchObject({
    result: 'REJECTED',
    fields: ['secretKey'],
    message: expect.stringContaining('Stripe rejects this key'),
  })
  stripe.fail('GET /v1/balance', { status: 500, json: {} })
  expect(ok(await testConnection(app, merchant, 'stripe', validKeys)).body).toMatchObject({ result: 'NO_ANSWER', fields: [] })
  expect(await app.deps.db.read.select().from(processorAccounts)).toEqual([])
  expect((await app.deps.db.read.select().from(auditLog)).length).toBe(auditRows)
  expect(JSON.stringify(app.logged)).not.toContain('sk_test_standin')
})

test('tests stored keys: those of the shop, otherwise those of the instance', async () => {
  await using stripe = await startStripe()
  await using app = await testApp({ STRIPE_API_URL: stripe.url, STRIPE_SECRET_KEY: 'sk_test_unknown', STRIPE_PUBLISHABLE_KEY: 'pk_test_a' })
  const merchant = await app.merchant()
  expect(ok(await testConnection(app, merchant, 'stripe')).body).toMatchObject({ mode: 'TEST', result: 'REJECTED' })
  ok(await app.call('PUT', path('stripe'), { token: merchant.token, body: validKeys }))
  expect(ok(await testConnection(app, merchant, 'stripe', { mode: 'TEST' })).body).toMatchObject({ result: 'CONNECTED' })
  expect((await testConnection(app, merchant, 'stripe', { mode: 'LIVE' })).status).toBe(404)
  expect((await testConnection(app, merchant, 'tap')).status).toBe(404)
  expect((await testConnection(app, merchant, 'unknown')).status).toBe(404)
})

test('rejects invalid fields without a call, and names apiUrl if the server redirects', async () => {
  await using btcpay = await startBtcpayServer()
  await using app = await testApp({ OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' })
  const merchant = await app.merchant()
  const { apiUrl, mode: _, ...keys } = btcpay.account
  const missing = await testConnection(app, merchant, 'btcpay', keys)
  expect([missing.status, missing.body.field]).toEqual([400, 'apiUrl'])
  const swapped = await testConnection(app, merchant, 'stripe', { secretKey: 'pk_test_a' })
  expect([swapped.status, swapped.body.field]).toEqual([400, 'secretKey'])
  expect(btcpay.requests.length).toBe(0)
  btcpay.fail(/GET/, { status: 302, headers: { location: 'https://pay.example/' } })
  expect(ok(await testConnection(app, merchant, 'btcpay', { ...keys, apiUrl })).body).toMatchObject({
    result: 'REJECTED',
    fields: ['apiUrl'],
    message: expect.stringContaining('must not lead elsewhere'),
  })
})

test('allows twenty tests an hour for each shop', async () => {
  await using stripe = await startStripe()
  await using app = await testApp({ STRIPE_API_URL: stripe.url, ACCESS_TOKEN_SECONDS: '86400' })
  const merchant = await app.merchant()
  for (let nth = 0; nth < 20; nth++) ok(await testConnection(app, merchant, 'stripe', validKeys))
  const { status, headers } = await testConnection(app, merchant, 'stripe', validKeys)
  expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true])
  // Saving keys has a separate limit.
  ok(await app.call('PUT', path('stripe'), { token: merchant.token, body: validKeys }))
})
