/**
 * Sends valid and invalid requests to every documented operation, with right and wrong credentials. FUZZ_SEED repeats a
 * run, FUZZ_RUNS makes it longer.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { engine } from '../../db/columns.ts'
import { kybRecords } from '../../db/schema/kyb.ts'
import { lendingApplications } from '../../db/schema/lending.ts'
import { apiDocument } from '../../src/cli/openapi.ts'
import { type Processor, ProcessorRefused } from '../../src/clients/processors/processor.ts'
import { system } from '../../src/core/command-context.ts'
import type { SafeFetch } from '../../src/core/outgoing.ts'
import type { OpenApi } from '../../src/http/openapi.ts'
import type { Schema } from '../../src/http/openapi-schema.ts'
import { storeInvitation } from '../../src/modules/identity/member/index.ts'
import { issueToken } from '../../src/modules/identity/one-time-token/index.ts'
import { createLender } from '../../src/modules/lending/lender/index.ts'
import { disableDiscounts } from '../../src/modules/selling/discount/index.ts'
import { currentKeys } from '../../src/modules/shop/shop/service.ts'
import { createPlatformWallet } from '../../src/modules/trust/fabric/index.ts'
import { registerMethodology } from '../../src/modules/trust/methodology/index.ts'
import { type Answer, type CallOptions, type Json, type TestApp, testApp } from '../support/app.ts'
import {
  acceptedCredentials,
  type CredentialKind,
  type Credentials,
  createCredentials,
  credentialKinds,
  declaredAccess,
} from '../support/credentials.ts'
import { type NameServer, nameServer } from '../support/dns.ts'
import { allowedRequests, invalidRequests, type RequestDraft, type Target } from '../support/fuzz-request.ts'
import { type Hints, marker } from '../support/fuzz-values.ts'
import { approveBusiness, fileBusiness } from '../support/kyb.ts'
import { createCompleteDraft, createDraft, createSubmitted } from '../support/lending.ts'
import { drawPng as pictureOf } from '../support/pictures.ts'
import { changeProcessor } from '../support/sandbox.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'
import { methodology, walletOf } from '../support/trust.ts'
import { insertFailedDelivery } from '../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const seed = Number(Bun.env['FUZZ_SEED'] ?? 20_260_106)
/**
 * The form of a response does not depend on the engine, and invalid requests are refused before they reach a store.
 * Only valid requests can end differently on PostgreSQL, so they have more weight there, in fewer runs.
 */
const [runsDefault, allowedTimes] = engine === 'sqlite' ? [40, 1] : [12, 3]
const runs = Number(Bun.env['FUZZ_RUNS'] ?? runsDefault)

/** Operations that the fuzzer cannot bring to a success, each with the reason. */
const neverSucceed: Record<string, string> = {
  'POST /auth/password': 'it takes the password of the run, and would change it',
  'POST /auth/password/reset': 'it takes a token that only a mail contains',
  'POST /auth/totp/confirm': 'it takes a code of an unconfirmed second factor, and would make logins require codes',
  'DELETE /auth/totp': 'it takes a code of an active second factor',
  'POST /cart/restore': 'it takes a token that only a mail contains',
  'POST /cart/handoff': 'it takes a token that only a platform gets',
  'POST /console/session': 'it takes the origin of the console’s own page',
  'DELETE /console/session': 'the same',
  'POST /console/setup': 'it takes a token that only a terminal shows, while there is no super admin',
  'POST /customer/verify': 'it takes a token that only a mail contains',
  ...Object.fromEntries(
    [
      ...['POST /carts', 'GET /carts/{id}', 'PUT /carts/{id}', 'POST /carts/{id}/cancel', 'GET /orders/{id}'],
      ...['POST /catalog/lookup', 'POST /catalog/product', 'POST /catalog/search'],
      ...['POST /checkout-sessions', 'GET /checkout-sessions/{id}', 'PUT /checkout-sessions/{id}'],
      ...['POST /checkout-sessions/{id}/cancel', 'POST /checkout-sessions/{id}/complete'],
    ].map((route) => [route.replace(' ', ' /ucp/{shopName}'), 'it takes the profile of a platform']),
  ),
  'POST /ucp/{shopName}/mcp': 'it takes a message of JSON-RPC',
  'POST /shops/v2/go-live': 'it takes an approved business, and would revoke the keys of the run',
  'PUT /shops/v2/processor-accounts/{processor}': 'its fields depend on the processor',
  'POST /shops/v2/processor-accounts/{processor}/test': 'the same',
  'POST /v2/orders/drafts/{id}/send': 'it takes a mail server',
  'POST /webhooks/payments/{processor}': 'it takes the signature of the processor over the body',
  'POST /webhooks/payments/{processor}/{shopId}': 'the same',
  'POST /webhooks/ingestion/{providerId}': 'it takes the signature of the service provider over the body',
  'GET /webhooks/payments/qpay/callback/{token}': 'it takes a token that only QPay gets',
  'POST /webhooks/payments/qpay/callback/{token}': 'the same',
}

/** Values that some operations need and no response contains, by name. They are created just before the operation. */
const preparations: Record<string, () => Promise<PreparedValues>> = {
  'GET /.well-known/ucp': enableAgents,
  'GET /.well-known/ucp/2026-04-08': enableAgents,
  'POST /admin/operations/jobs/{job}/run': async () => ({ job: ['fold-listings'] }),
  'POST /product-v2/{id}/variants/{variantId}/stock': productWithVariants,
  'DELETE /product-v2/{id}/variants/{variantId}': productWithVariants,
  'GET /product-v2/public/shop/{shopName}/handle/{handle}': publicHandle,
  'PATCH /cart/{id}/items/{lineId}': filledCart,
  'DELETE /cart/{id}/items/{lineId}': filledCart,
  'PATCH /customer/me/addresses/{id}': async () => ({ id: await bookAddresses() }),
  'DELETE /customer/me/addresses/{id}': async () => ({ id: await bookAddresses() }),
  // Excludes the account that the run is logged in with.
  'POST /customer/{customerId}/erase': async () => ({ customerId: await customersToErase() }),
  'POST /cart/{id}/checkout': async () => ({ id: await cartsToBuy() }),
  'POST /cart/{id}/complete': async () => ({ id: await boughtCarts() }),
  'POST /v2/orders/{orderId}/refunds/{refundId}/settled': manualRefunds,
  'GET /v2/orders/public/{token}': async () => ({ token: await orderTokens() }),
  'GET /v2/orders/public/{token}/receipt': async () => ({ token: await orderTokens() }),
  'GET /media/{name}': async () => ({ name: (await createPictures()).map(({ url }) => url.slice(url.lastIndexOf('/') + 1)) }),
  'DELETE /media/{name}': async () => ({ name: (await createPictures()).map(({ id }) => id) }),
  'POST /v2/orders/{orderId}/fulfil': ordersToSend,
  'POST /v2/orders/{orderId}/fulfilments': ordersToSend,
  'POST /v2/orders/{orderId}/notes': ordersToSend,
  'GET /v2/orders/{orderId}/packing-slip': ordersToSend,
  'GET /v2/orders/{orderId}/invoice': ordersToSend,
  'GET /v2/orders/documents': async () => ({ ids: (await ordersToSend())['orderId'] ?? [] }),
  'GET /v2/orders/{orderId}/credit-notes/{refundId}': creditedRefunds,
  'GET /v2/orders/{orderId}/fulfilments/{fulfilmentId}': sentFulfilments,
  'PATCH /v2/orders/{orderId}/fulfilments/{fulfilmentId}': sentFulfilments,
  'POST /v2/orders/{orderId}/mark-paid': manualOrders,
  'POST /v2/orders/{orderId}/returns': returnableOrders,
  'GET /v2/orders/{orderId}/returns': returnableOrders,
  'POST /v2/orders/public/{token}/returns': returnableOrders,
  'POST /v2/orders/{orderId}/returns/{returnId}/approve': async () => requestedReturns(),
  'POST /v2/orders/{orderId}/returns/{returnId}/reject': async () => requestedReturns(),
  'POST /v2/orders/{orderId}/returns/{returnId}/receive': async () => requestedReturns('approve'),
  'PATCH /v2/orders/{orderId}': ordersToSend,
  'POST /webhook-endpoints': noEndpoints,
  'POST /webhook-endpoints/{id}/deliveries/{deliveryId}/resend': failedDelivery,
  'GET /shops/v2/staff/{id}': async () => ({ id: [(await invitation()).id] }),
  'PATCH /shops/v2/staff/{id}': async () => ({ id: [(await invitation()).id] }),
  'DELETE /shops/v2/staff/{id}': async () => ({ id: [(await invitation()).id] }),
  'POST /auth/invitation': async () => ({ token: [(await invitation()).token] }),
  'DELETE /auth/sessions/{id}': async () => ({ id: await otherSessions() }),
  'GET /shops/v2/processor-accounts/{processor}': processorAccount,
  'DELETE /shops/v2/processor-accounts/{processor}': processorAccount,
  'POST /shops/v2/hosts': async () => ({ host: await freeHosts() }),
  'POST /shops/v2/hosts/{host}/verify': async () => ({ host: await listedHosts() }),
  'DELETE /shops/v2/hosts/{host}': async () => ({ host: await listedHosts() }),
  'POST /kyb': noLiveRecord,
  // An earlier operation may have approved the merchant's business for loans.
  'POST /shops/v2/go-live': noLiveRecord,
  'POST /lending-application': approveRunBusiness,
  'GET /lending-application': approveRunBusiness,
  'GET /lending-application/{id}': async () => ({ id: await loans(createDraft) }),
  'PATCH /lending-application/{id}': async () => ({ id: await loans(createDraft) }),
  'GET /lending-application/{id}/checklist': async () => ({ id: await loans(createDraft) }),
  'POST /lending-application/{id}/submit': async () => ({ id: await loans(createCompleteDraft) }),
  'POST /lending-application/{id}/withdraw': async () => ({ id: await loans(createDraft) }),
  'PUT /lending-application/{id}/documents/{key}': async () => ({ id: await loans(createDraft), key: documentKeys }),
  'GET /lending-application/{id}/documents/{key}': async () => ({ id: await loans(withDocuments), key: documentKeys }),
  'DELETE /lending-application/{id}/documents/{key}': async () => ({ id: await loans(withDocuments), key: documentKeys }),
  'GET /admin/lending-application/{id}/documents/{key}': async () => ({ id: await loans(withDocuments), key: documentKeys }),
  'GET /admin/lending-application/{id}': async () => ({ id: await loans(createDraft) }),
  'POST /admin/lending-application/{id}/decision': async () => ({ id: await loans(createSubmitted) }),
  'POST /admin/kyb/{id}/decision': async () => ({ id: await recordsToDecide() }),
  'POST /admin/platform-wallets': async () => ({ address: freeWallets() }),
  'GET /admin/platform-wallets/{id}': platformWallets,
  'PATCH /admin/platform-wallets/{id}': platformWallets,
  'GET /v2/methodologies/{lenderId}/{hash}': async () => {
    const { id } = await createLender(world.app.deps, { actor: system }, { displayName: 'Fuzzed' })
    const { contentHash } = await registerMethodology(world.app.deps, { actor: system }, methodology(id))
    return { lenderId: [id], hash: [contentHash] }
  },
  // Excludes the shop that the run uses later.
  'PATCH /admin/shops/{id}': async () => ({ id: [(await world.app.merchant()).shop.id] }),
}
type PreparedValues = Record<string, readonly unknown[]>

/** Invites a person to the run's shop. It does not use the route, which has an hourly limit. */
async function invitation(): Promise<{ id: string; token: string }> {
  const { deps } = world.app
  const { id: shopId } = world.everyone.merchant.shop
  const email = `${deps.newId('attempt')}@example.com`
  return deps.db.write(async (tx) => {
    const { member } = await storeInvitation(tx, deps, { shopId, email, role: 'READ_ONLY', byMail: true })
    return { id: member.id, token: await issueToken(tx, deps, { purpose: 'INVITATION', subjectId: member.id, shopId, email }) }
  })
}

/** Creates pictures in the run's shop. */
async function createPictures(): Promise<{ id: string; url: string }[]> {
  const { app, everyone } = world
  const raw = [pictureOf(20, 20), pictureOf(30, 20), pictureOf(40, 20)]
  const created = await Promise.all(raw.map((picture) => app.call('POST', '/media', { ...everyone.credentials.secret, raw: picture })))
  return created.map((answer) => ok(answer, 201).body)
}

/** The prefix of the ids that `{id}` takes, by the first segments of the path. */
const idsOf: [RegExp, string][] = [
  [/^\/product-v2/, 'prod'],
  [/^\/collection-v2/, 'coll'],
  [/^\/blogs/, 'blog'],
  [/^\/giftcard/, 'gift'],
  [/^\/discounts/, 'disc'],
  [/^\/customer/, 'cus'],
  [/^\/addresses/, 'addr'],
  [/^\/cart/, 'cart'],
  [/^\/affiliates/, 'aff'],
  [/^\/v2\/orders\/drafts/, 'draft'],
  [/^\/v2\/orders/, 'order'],
  [/^\/webhook-endpoints/, 'whe'],
  [/^\/admin\/kyb/, 'kyb'],
  [/^\/admin\/lenders/, 'lend'],
  [/^\/admin\/methodologies/, 'meth'],
  [/^\/admin\/platform-wallets/, 'wal'],
  [/^\/admin\/service-providers/, 'prov'],
  [/^\/admin\/repayments/, 'rep'],
  [/^\/admin\/shops/, 'shop'],
  [/lending-application/, 'loan'],
]
const idsNamed: Record<string, string> = {
  productId: 'prod',
  variantId: 'var',
  collectionId: 'coll',
  customerId: 'cus',
  addressId: 'addr',
  orderId: 'order',
  giftCardId: 'gift',
  cartId: 'cart',
  lineId: 'line',
  merchantId: 'mer',
  lenderId: 'lend',
  providerId: 'prov',
  'x-shop-id': 'shop',
}
/** Fields whose value must be new for a sign-up and existing for a login. */
const mayBeTaken = new Set(['email', 'shopName'])
const valuesPerName = 30
const recordsMax = 15
const triesMax = 500

type World = {
  app: TestApp
  dns: NameServer
  access: ReturnType<typeof declaredAccess>
  document: OpenApi
  validators: Validators
  everyone: Awaited<ReturnType<typeof createCredentials>>
  byPrefix: Map<string, string[]>
  byName: Map<string, unknown[]>
}
let world: World

/** Replaces processors by one that accepts every account, so that no request leaves the machine. */
const acceptEveryAccount: SafeFetch = async () => ({
  status: 200,
  headers: new Headers(),
  bytes: Buffer.from('{ "available": [], "access_token": "token", "expires_in": 3600 }'),
})

/** All operations. Deletions come last, so that the others find records. */
const targets: Target[] = Object.entries(apiDocument().paths)
  .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })))
  .sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))
const nameOf = ({ method, path }: Target) => `${method} ${path}`

beforeAll(async () => {
  const dns = await nameServer()
  const app = await testApp(
    { SIGNUP_ENABLED: 'true', LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true', DNS_SERVER: dns.address },
    { safeFetch: acceptEveryAccount },
  )
  const everyone = await createCredentials(app)
  const document: OpenApi = (await app.call('GET', '/docs/json')).body
  world = {
    app,
    dns,
    access: declaredAccess(app),
    document,
    validators: createValidators(document),
    everyone,
    byPrefix: new Map(),
    byName: new Map(),
  }
  harvest(everyone.merchant.shop)
  harvest(everyone.merchant.id)
  harvest(everyone.customer.id)
  // Creates records that later calls use, in two passes because some records need others.
  const makers = targets.filter(({ method, operation }) => method === 'POST' && operation.responses['201'])
  for (const target of [...makers, ...makers]) await createRecord(target)
})
afterAll(async () => {
  await world.app.close()
  await world.dns.close()
})

test('the fuzzer covers every operation of the served OpenAPI document', () => {
  const served = Object.entries(world.document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(targets.map(nameOf).sort()).toEqual(served.sort())
  for (const name of Object.keys(neverSucceed)) expect(served).toContain(name)
})

test('the response validator finds missing, mistyped and undocumented fields', async () => {
  const target = targets.find((one) => nameOf(one) === 'GET /shops/v2')
  if (!target) throw new Error('no such operation')
  const { body: shop } = await world.app.call('GET', '/shops/v2', world.everyone.credentials.merchant)
  expect(world.validators(target, 200, shop)).toBeUndefined()
  expect(world.validators(target, 200, { ...shop, title: undefined })).toContain('title')
  expect(world.validators(target, 200, { ...shop, createdAt: 'yesterday' })).toContain('date-time')
  expect(world.validators(target, 200, { ...shop, contact: { ...shop.contact, password: 'x' } })).toContain('additional properties')
})

for (const target of targets) {
  test(`${nameOf(target)} responds to any input as documented`, async () => {
    const succeeded = new Set<number>()
    await refresh()
    const prepared = await preparations[nameOf(target)]?.()
    const hints = hintsFor(target, prepared)
    const drafts = fc.oneof(
      { weight: allowedTimes, arbitrary: allowedRequests(target, hints) },
      { weight: 1, arbitrary: invalidRequests(target, hints) },
    )
    const property = fc.asyncProperty(drafts, fc.nat(), fc.nat(255), async (draft, dice, host) => {
      const answer = await send(target, draft, dice, host)
      assertAsDocumented(target, draft, answer)
      if (answer.status < 300) succeeded.add(answer.status)
    })
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: 15_000, markInterruptAsFailure: false })
    const missed = Object.keys(target.operation.responses)
      .map(Number)
      .filter((status) => status < 300 && !succeeded.has(status))
    if (missed.length > 0 && !(nameOf(target) in neverSucceed)) await sendUntilSuccess(target, missed, hints)
  })
}

/** Sends valid requests until the operation has succeeded. */
async function sendUntilSuccess(target: Target, expectedStatuses: number[], hints: Hints): Promise<void> {
  for (const [nth, draft] of drawValues(allowedRequests(target, hints), triesMax)) {
    // Uses each credential that opens the route in turn, because only one of them can access the prepared records.
    const { status } = await send(target, draft, nth * 5 + 1, nth % 250)
    if (expectedStatuses.includes(status)) return
  }
  throw new Error(
    `${nameOf(target)} never returned ${expectedStatuses.join(' or ')}: prepare what it needs, or add it to neverSucceed with a reason`,
  )
}

/** Sends the request: mostly under a credential that opens the route, sometimes under another or none. */
async function send(target: Target, { path, headers, body }: RequestDraft, dice: number, host: number): Promise<Answer> {
  const { app, everyone } = world
  const kind = credentialFor(target, dice)
  const credential: CallOptions = kind === undefined ? {} : everyone.credentials[kind]
  const payload =
    target.method === 'GET' || body === undefined
      ? undefined
      : 'json' in body
        ? { raw: JSON.stringify(body.json) ?? '', type: 'application/json' }
        : body
  return app.call(target.method, path, {
    ...credential,
    ...(payload ? { raw: payload.raw } : {}),
    headers: { ...headers, ...(payload ? { 'content-type': payload.type } : {}), ...credential.headers },
    // Addresses differ because of limits by address. All are loopback addresses because some routes accept no others.
    from: `127.0.${dice % 250}.${host}`,
  })
}

function credentialFor({ method, path }: Target, dice: number): CredentialKind | undefined {
  const right = acceptedCredentials(world.access.get(`${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`) ?? 'public')
  if (right.length > 0 && dice % 5 !== 0) return right[dice % right.length]
  return dice % 3 === 0 ? undefined : credentialKinds[dice % credentialKinds.length]
}

function assertAsDocumented(target: Target, { path }: RequestDraft, { status, headers, text, body }: Answer): void {
  const { responses } = target.operation
  const documented = responses[status]
  const about = `${nameOf(target)} as ${path.slice(0, 200)} → ${status} ${text.slice(0, 300)}`
  if (status >= 500)
    throw new Error(`${about}: ${JSON.stringify(world.app.logged.filter(({ level }) => level === 'error').at(-1), errorsToo)}`)
  if (!documented) throw new Error(`${about}: not documented`)
  expect(headers.get('x-request-id'), about).toBeTruthy()
  expect(headers.get('x-content-type-options'), about).toBe('nosniff')
  for (const name of Object.keys(documented.headers ?? {}))
    if (name !== 'idempotent-replayed') expect(headers.has(name), `${about}: ${name}`).toBe(true)
  // An unknown field is named, and its value is never repeated.
  const message: string = body?.message ?? body?.content ?? body?.error?.message ?? ''
  const isNamed = status === 400 && message.startsWith('unknown field: ')
  if (status >= 400 && !isNamed) expect(text.includes(marker), `${about}: repeats its input`).toBe(false)
  if (status === 400 && !isNamed) expect(message, about).not.toMatch(/[\^\\]/)
  expect(
    text.includes(world.everyone.merchant.password) || text.includes(world.everyone.customer.password),
    `${about}: shows a password`,
  ).toBe(false)
  const medias = Object.keys(documented.content ?? {})
  if (medias.length === 0) {
    expect(text, about).toBe('')
    return
  }
  const media = headers.get('content-type')?.split(';')[0]
  expect(medias, about).toContain(media ?? '')
  // A response that is also available as text may be any text.
  if (medias.length > 1 && medias.includes('application/json') && media !== 'application/json') return
  // The schema is that of one event. Tests of test/modules/messaging/live-events validate events with it.
  if (media === 'text/event-stream') return
  const problem = world.validators(target, status, media === 'application/json' ? body : text)
  if (problem) throw new Error(`${about}: ${problem}`)
  if (status < 300) harvest(body)
}

const errorsToo = (_: string, value: unknown) => (value instanceof Error ? value.stack : value)

/** Yields values in growing batches, because most callers need a few and each value is slow to generate. */
function* drawValues<T>(values: fc.Arbitrary<T>, most: number): Generator<[number, T]> {
  for (let from = 0, to = Math.min(20, most); from < most; from = to, to = Math.min(2 * to, most))
    for (const [nth, value] of fc.sample(values, { seed, numRuns: to }).slice(from).entries()) yield [from + nth, value]
}

async function createRecord(target: Target): Promise<void> {
  let created = 0
  for (const [nth, draft] of drawValues(allowedRequests(target, hintsFor(target)), 80)) {
    const answer = await send(target, draft, nth * 30 + 1, nth)
    if (answer.status !== 201) continue
    harvest(answer.body)
    if (++created === recordsMax) return
  }
}

/** Renews the sessions and keys that an operation may have ended or replaced. */
async function refresh(): Promise<void> {
  const { app, everyone } = world
  const { email, password, shop } = everyone.merchant
  const { id: _, ...login } = everyone.customer
  // Resets hourly limits.
  app.clock.advance(3_600_000)
  const merchant = await app.call('POST', '/merchant/login', { body: { email, password }, from: '127.1.0.1' })
  const customer = await app.call('POST', '/customer/login', { body: login, from: '127.1.0.1' })
  const { email: operator, password: operators } = everyone.admin
  const admin = await app.call('POST', '/merchant/login', { body: { email: operator, password: operators }, from: '127.1.0.1' })
  const token = merchant.body.data.accessToken
  // Not over HTTP, which allows ten reads and rotations an hour.
  const { secret } = await currentKeys(app.deps, { id: shop.id, mode: 'TEST' })
  const renewed: Partial<Credentials> = {
    merchant: { token },
    customer: { token: customer.body.data.accessToken },
    superAdmin: { token: admin.body.data.accessToken },
    secret: { key: secret },
  }
  Object.assign(everyone.credentials, renewed)
  world.byName.set('refreshToken', [merchant.body.data.refreshToken, customer.body.data.refreshToken])
}

/** Creates sessions of the merchant, other than the session of the run. */
async function otherSessions(): Promise<string[]> {
  const { app, everyone } = world
  const { email, password } = everyone.merchant
  for (let nth = 0; nth < 5; nth++) await app.call('POST', '/merchant/login', { body: { email, password }, from: '127.1.0.1' })
  const { body } = await app.call('GET', '/auth/sessions', everyone.credentials.merchant)
  return body.data.flatMap(({ id, current }: { id: string; current: boolean }) => (current ? [] : [id]))
}

/** Deletes all webhook endpoints of the shop, because their number is limited. */
async function noEndpoints(): Promise<PreparedValues> {
  const { data } = await bySecret('GET', '/webhook-endpoints?limit=100')
  for (const { id } of data) await bySecret('DELETE', `/webhook-endpoints/${id}`)
  return {}
}

/** Creates a delivery that has failed for good. */
async function failedDelivery(): Promise<PreparedValues> {
  const { app, everyone } = world
  const { endpointId, id } = await insertFailedDelivery(app, everyone.merchant)
  return { id: [endpointId], deliveryId: [id] }
}

/** Saves a processor account of the shop. */
async function processorAccount(): Promise<PreparedValues> {
  const { app, everyone } = world
  const { merchant } = everyone.credentials
  const { status } = await app.call('PUT', '/shops/v2/processor-accounts/stripe', { ...merchant, body: { secretKey: 'sk_test_own' } })
  if (status !== 200) throw new Error(`an account answered ${status}`)
  return {}
}

/** Returns addresses without a wallet. */
const freeWallets = (): string[] => Array.from({ length: 30 }, () => walletOf(++wallets))
let wallets = 1_000_000

async function platformWallets(): Promise<PreparedValues> {
  const [first = '', ...address] = freeWallets()
  const { id } = await createPlatformWallet(world.app.deps, { actor: system }, { address: first })
  return { id: [id], address }
}

let hosts = 0
/** Removes all hosts of the shop, because their number is limited. Returns new host names. */
async function freeHosts(): Promise<string[]> {
  const { app, everyone } = world
  const { merchant } = everyone.credentials
  const { data } = (await app.call('GET', '/shops/v2/hosts', merchant)).body
  for (const { host } of data) await app.call('DELETE', `/shops/v2/hosts/${host}`, merchant)
  return Array.from({ length: 20 }, () => `shop${++hosts}.example.com`)
}

/** Adds hosts to the shop, with their proofs in the DNS. */
async function listedHosts(): Promise<string[]> {
  const { app, dns, everyone } = world
  const names = await freeHosts()
  for (const host of names) {
    const { txtName, txtValue } = (await app.call('POST', '/shops/v2/hosts', { ...everyone.credentials.merchant, body: { host } })).body
    dns.setRecords(txtName, txtValue)
  }
  // Resets the limit per minute, which the previous operation used up.
  app.clock.advance(60_000)
  return names
}

/** Rejects all records, because a merchant can file again only after a rejection. */
async function noLiveRecord(): Promise<PreparedValues> {
  await world.app.deps.db.write(async (tx) => void (await tx.update(kybRecords).set({ status: 'REJECTED' })))
  return {}
}

/** Approves the merchant's business. Returns the merchant's id. */
async function approveRunBusiness(): Promise<PreparedValues> {
  const { app, everyone } = world
  const { merchant, admin } = everyone
  const merchantSession = { ...merchant, token: everyone.credentials.merchant.token ?? '' }
  const kyb = await app.call('GET', '/kyb', merchantSession)
  if (kyb.body.status !== 'APPROVED') {
    await noLiveRecord()
    await approveBusiness(app, merchantSession, { ...admin, token: everyone.credentials.superAdmin.token ?? '' })
  }
  return { merchantId: [merchant.id] }
}

/** Creates applications of the merchant. */
async function loans(make: typeof createDraft): Promise<string[]> {
  await approveRunBusiness()
  const { app, everyone } = world
  const token = everyone.credentials.merchant.token ?? ''
  const ids: string[] = []
  // The number of drafts is limited, so those of other operations are withdrawn.
  await app.deps.db.write((tx) =>
    tx.update(lendingApplications).set({ status: 'WITHDRAWN' }).where(eq(lendingApplications.status, 'DRAFT')),
  )
  for (let nth = 0; nth < 10; nth++) ids.push((await make(app, { token })).id)
  return ids
}

const documentKeys = ['ein_letter', 'operating_agreement']
/** Creates a draft with a file for each key. */
const withDocuments: typeof createDraft = async (app, by) => {
  const application = await createDraft(app, by)
  for (const key of documentKeys)
    ok(
      await app.call('PUT', `/lending-application/${application.id}/documents/${key}`, {
        token: by.token,
        raw: '%PDF-1.7\n',
        headers: { 'content-type': 'application/pdf' },
      }),
    )
  return application
}

async function recordsToDecide(): Promise<string[]> {
  const merchants = await Promise.all(Array.from({ length: 10 }, () => world.app.merchant()))
  return Promise.all(merchants.map(async (merchant) => (await fileBusiness(world.app, merchant)).id))
}

/** Creates a cart with so many lines that some remain after deletions. */
async function filledCart(): Promise<PreparedValues> {
  const cart = await newCart({})
  const variantIds = await newVariants(cart.currency, 20)
  for (const variantId of variantIds) await bySecret('POST', `/cart/${cart.id}/items`, { variantId, quantity: 1 })
  const { lines } = await bySecret('GET', `/cart/${cart.id}`)
  return { id: [cart.id], lineId: lines.map(({ id }: { id: string }) => id) }
}

let erasable = 0
/** Creates customers without orders. */
async function customersToErase(): Promise<unknown[]> {
  const { app, everyone } = world
  const emails = Array.from({ length: 10 }, () => `erasable${++erasable}@example.com`)
  const created = emails.map((email) => app.call('POST', '/customer', { ...everyone.credentials.secret, body: { email } }))
  return (await Promise.all(created)).map((answer) => ok(answer).body.id)
}

/** Adds addresses to the customer's address book. */
async function bookAddresses(): Promise<string[]> {
  const { app, everyone } = world
  const body = { name: 'A', line1: '1', city: 'B', countryCode: 'US' }
  const created = Array.from({ length: 10 }, () => app.call('POST', '/customer/me/addresses', { ...everyone.credentials.customer, body }))
  return (await Promise.all(created)).map((answer) => ok(answer).body.id)
}

async function cartsToBuy(): Promise<string[]> {
  // Discounts that the run created could reduce the total to zero.
  await world.app.deps.db.write((tx) => disableDiscounts(tx, world.app.deps, world.everyone.merchant.shop.id))
  // Without shipping methods, an order needs no address.
  await world.app.call('PUT', '/shops/v2/shipping-methods', { ...world.everyone.credentials.merchant, body: { data: [] } })
  const carts = await Promise.all(Array.from({ length: 10 }, () => newCart({ email: 'buyer@example.com' })))
  const [variantId] = await newVariants(carts[0]?.currency ?? 'USD', 1)
  for (const { id } of carts) await bySecret('POST', `/cart/${id}/items`, { variantId, quantity: 1 })
  return carts.map(({ id }) => id)
}

async function boughtCarts(): Promise<string[]> {
  const ids = await cartsToBuy()
  for (const id of ids) await bySecret('POST', `/cart/${id}/checkout`, { method: 'card' }, { 'idempotency-key': id })
  return ids
}

async function orderTokens(): Promise<string[]> {
  const links = await world.app.deps.orderLinks.ready()
  const ids = await boughtCarts()
  const checkouts = ids.map((id) => bySecret('POST', `/cart/${id}/checkout`, { method: 'card' }, { 'idempotency-key': id }))
  return (await Promise.all(checkouts)).map(({ order }) => links.tokenOf(order.id))
}

/** Creates an order with many refunds to be paid by hand. */
async function manualRefunds(): Promise<PreparedValues> {
  const processors = world.app.deps.processors as Map<string, Processor>
  const sandbox = processors.get('sandbox')
  const [cartId = ''] = await boughtCarts()
  changeProcessor(world.app, () => ({
    refund: async () => {
      throw new ProcessorRefused('refund_not_supported')
    },
  }))
  const { order } = await bySecret('POST', `/cart/${cartId}/checkout`, { method: 'card' }, { 'idempotency-key': cartId })
  const refundId: string[] = []
  for (let nth = 0; nth < 40; nth++) {
    const refundBody = { amount: { amount: 1, currency: order.currency } }
    const refund = await bySecret('POST', `/v2/orders/${order.id}/refunds`, refundBody, { 'idempotency-key': `${cartId}-${nth}` })
    refundId.push(refund.id)
  }
  if (sandbox) processors.set('sandbox', sandbox)
  return { orderId: [order.id], refundId }
}

/** Enables agents. They find the shop at every host name. */
async function enableAgents(): Promise<PreparedValues> {
  await bySecret('PUT', '/shops/v2/agents', { enabled: true, access: 'OPEN' })
  return {}
}

/** Creates an order of many units. */
async function ordersToSend(): Promise<PreparedValues> {
  const [cartId = ''] = await boughtCarts()
  const { order } = await bySecret('POST', `/cart/${cartId}/checkout`, { method: 'card' }, { 'idempotency-key': cartId })
  return { orderId: [order.id], lineId: order.lines.map(({ id }: { id: string }) => id) }
}

/** Creates an order with a refund. */
async function creditedRefunds(): Promise<PreparedValues> {
  const { orderId = [] } = await ordersToSend()
  const { currency } = await bySecret('GET', `/v2/orders/${orderId[0]}`)
  const refundBody = { amount: { amount: 1, currency } }
  const refund = await bySecret('POST', `/v2/orders/${orderId[0]}/refunds`, refundBody, { 'idempotency-key': String(orderId[0]) })
  return { orderId, refundId: [refund.id] }
}

/** Creates an order with a fulfilment. */
async function sentFulfilments(): Promise<PreparedValues> {
  const { orderId = [] } = await ordersToSend()
  const parcel = await bySecret('POST', `/v2/orders/${orderId[0]}/fulfilments`, {})
  return { orderId, fulfilmentId: [parcel.id] }
}

/** Creates a fulfilled order, whose lines can be returned. */
async function returnableOrders(): Promise<PreparedValues> {
  const { orderId = [], lineId = [] } = await ordersToSend()
  await bySecret('POST', `/v2/orders/${orderId[0]}/fulfil`, {})
  const links = await world.app.deps.orderLinks.ready()
  return { orderId, lineId, quantity: [1], token: [links.tokenOf(String(orderId[0]))] }
}

/** Requests a return of a fulfilled order, and also approves it if `step` says so. */
async function requestedReturns(step?: 'approve'): Promise<PreparedValues> {
  const { orderId = [], lineId = [] } = await returnableOrders()
  const lines = [{ lineId: lineId[0], quantity: 1, reason: 'Too small' }]
  const { id } = await bySecret('POST', `/v2/orders/${orderId[0]}/returns`, { lines })
  if (step) await bySecret('POST', `/v2/orders/${orderId[0]}/returns/${id}/${step}`, {})
  return { orderId, returnId: [id] }
}

/** Creates orders that wait for a manual payment. */
async function manualOrders(): Promise<PreparedValues> {
  const manual = [{ code: 'transfer', title: 'Bank transfer', instructions: 'Pay by transfer.', expiresAfterDays: 7 }]
  const { app, everyone } = world
  ok(await app.call('PUT', '/shops/v2/payment-methods', { ...everyone.credentials.merchant, body: { manual } }))
  const orderId: string[] = []
  for (const id of await cartsToBuy()) {
    const { order } = await bySecret(
      'POST',
      `/cart/${id}/checkout`,
      { method: 'manual', manualCode: 'transfer' },
      { 'idempotency-key': id },
    )
    orderId.push(order.id)
  }
  return { orderId }
}

const newCart = (body: object): Promise<{ id: string; currency: string }> => bySecret('POST', '/cart', body)

/** Creates a public product. */
async function publicHandle(): Promise<PreparedValues> {
  const { handle } = await bySecret('POST', '/product-v2', { title: 'Public', handle: 'public-product', status: 'ACTIVE' })
  return { handle: [handle] }
}

/** Creates a product with so many variants that some remain after deletions. */
async function productWithVariants(): Promise<PreparedValues> {
  const variantId = await newVariants(world.everyone.merchant.shop.currency, 60)
  const { data } = await bySecret('GET', '/product-v2?limit=1')
  return { id: [data[0].id], variantId }
}

async function newVariants(currency: string, count: number): Promise<string[]> {
  const values = Array.from({ length: count }, (_, nth) => `v${nth}`)
  const { variants } = await bySecret('POST', '/product-v2', {
    title: 'Made to be bought',
    status: 'ACTIVE',
    options: [{ name: 'Kind', values }],
    variants: values.map((value) => ({ optionValues: [value], price: { amount: 100, currency } })),
  })
  return variants.map(({ id }: { id: string }) => id)
}

/** Calls a route with the secret key and returns the body. Fails if the request fails. */
async function bySecret(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Json> {
  const { app, everyone } = world
  const answer = await app.call(method, path, { ...everyone.credentials.secret, headers, ...(body ? { body } : {}) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

function hintsFor({ path }: Target, prepared: PreparedValues = {}): Hints {
  const { document, everyone, byPrefix, byName } = world
  const { merchant, customer } = everyone
  const fixed: Record<string, readonly unknown[]> = {
    email: [merchant.email, customer.email],
    // With the right password the customer's address would change, and the run could not log in again.
    password: path === '/customer/me' ? ['another password'] : [merchant.password, customer.password],
    shopName: [merchant.shop.name],
    shopUrl: [merchant.shop.name],
    currency: ['USD', merchant.shop.currency],
    country: ['US'],
    countryCode: ['US', 'KW'],
    status: ['ACTIVE', 'PUBLISHED', 'DRAFT'],
    imageId: [null],
    processor: [/^\/admin\/|processor-accounts/.test(path) ? 'stripe' : 'sandbox'],
    paymentToken: ['tok_success', 'tok_decline'],
    dueAt: ['2025-06-01T00:00:00.000Z', '2025-07-01T00:00:00.000Z'],
    settledAt: ['2025-07-02T00:00:00.000Z'],
    publishedAt: ['2025-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z'],
    share: [0.5, 1.25],
    'if-none-match': ['*', '"none"'],
    'if-match': ['*', '"v1"'],
  }
  return {
    resolve: (ref) => document.components.schemas[ref.split('/').at(-1) ?? ''] ?? {},
    examples(name) {
      if (prepared[name]) return { values: prepared[name], weight: 12 }
      const prefix = idsNamed[name] ?? (name === 'id' ? idsOf.find(([pattern]) => pattern.test(path))?.[1] : undefined)
      if (prefix) return { values: byPrefix.get(prefix) ?? [], weight: 6 }
      const values = fixed[name]
      if (!values) return { values: byName.get(name) ?? [], weight: 2 }
      return { values, weight: mayBeTaken.has(name) ? 1 : 12 }
    },
  }
}

/** Stores the ids and values of a response for later requests. */
function harvest(value: unknown, name = ''): void {
  if (typeof value === 'string') {
    const prefix = /^([a-z]+)_[0-9a-z]{26}$/.exec(value)?.[1]
    if (prefix) store(world.byPrefix, prefix, value)
  }
  if (Array.isArray(value)) for (const item of value) harvest(item, name)
  else if (typeof value === 'object' && value !== null) for (const [key, item] of Object.entries(value)) harvest(item, key)
  else if (name !== '') store(world.byName, name, value)
}

function store<Value>(stored: Map<string, Value[]>, name: string, value: Value): void {
  const values = stored.get(name) ?? []
  if (values.includes(value)) return
  stored.set(name, [...values, value].slice(-valuesPerName))
}

type Validators = (target: Target, status: number, value: unknown) => string | undefined

/** Returns a function that describes how a response differs from its schema, including undocumented fields. */
function createValidators(document: OpenApi): Validators {
  const formats = {
    'date-time': isInstant,
    date: /^\d{4}-\d\d-\d\d$/,
    email: /@/,
    uri: (text: string) => URL.canParse(text),
    binary: true as const,
  }
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    formats,
    keywords: ['x-roles', 'x-extensible-enum'],
  })
  for (const [name, schema] of Object.entries(document.components.schemas)) ajv.addSchema(closeSchema(schema) as object, name)
  const compiled = new Map<unknown, ValidateFunction>()
  return ({ operation }, status, value) => {
    const schema = Object.values(operation.responses[status]?.content ?? {})[0]?.schema
    const validate = compiled.get(schema) ?? ajv.compile(closeSchema(schema) as object)
    compiled.set(schema, validate)
    return validate(value) ? undefined : ajv.errorsText(validate.errors)
  }
}

/** ISO 8601 in UTC, with milliseconds. */
const isInstant = (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text))

/** Closes objects with named fields. The OpenAPI document itself stays open, because its schema is an outline. */
function closeSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeSchema)
  if (typeof value !== 'object' || value === null) return value
  const copy: Schema = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === '$ref' ? String(item).split('/').at(-1) : closeSchema(item)]),
  )
  const { type, properties, additionalProperties } = copy
  const isOutline = typeof properties === 'object' && properties !== null && 'openapi' in properties
  return type === 'object' && properties && Object.keys(properties).length > 0 && additionalProperties === undefined && !isOutline
    ? { ...copy, additionalProperties: false }
    : copy
}
