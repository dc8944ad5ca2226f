/**
 * Tests that every change by a merchant, a secret key or an operator writes an audit entry with actor, request, address
 * and changes, and without personal data.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { auditLog } from '../../db/schema/people.ts'
import { system } from '../../src/core/command-context.ts'
import { accessRules } from '../../src/http/access-rules.ts'
import { createLender } from '../../src/modules/lending/lender/index.ts'
import { recordRepayment } from '../../src/modules/lending/repayment/index.ts'
import { decideKyb } from '../../src/modules/shop/kyb/index.ts'
import { createPlatformWallet } from '../../src/modules/trust/fabric/index.ts'
import { registerMethodology } from '../../src/modules/trust/methodology/index.ts'
import { createProvider } from '../../src/modules/trust/service-provider/index.ts'
import { startStripe } from '../clients/processors/stripe-server.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { declaredAccess } from '../support/credentials.ts'
import { nameServer } from '../support/dns.ts'
import { approveBusiness, business, fileBusiness } from '../support/kyb.ts'
import { createCompleteDraft, createDraft, createSubmitted, applicationPath as lendingPath } from '../support/lending.ts'
import { manualOrderOf } from '../support/manual-payments.ts'
import { drawPng } from '../support/pictures.ts'
import { instalmentBody } from '../support/repayments.ts'
import { requestedReturnOf, returnableOf } from '../support/returns.ts'
import { manualRefundOf } from '../support/sandbox.ts'
import { fulfilledOrderOf, ok, type Selling, sellingIn } from '../support/selling.ts'
import { invitePerson } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { beginTotp, codeAt, enableTotp } from '../support/totp.ts'
import { methodology, provider, walletOf } from '../support/trust.ts'
import { insertFailedDelivery } from '../support/webhooks.ts'

setDefaultTimeout(longTestMs)

type RouteRequest = { path: string; body?: unknown; contentType?: string; shopId?: null | 'created' }
/** Creates what a route needs, and returns a request that succeeds. */
type Prepare = (shop: Selling) => Promise<RouteRequest> | RouteRequest

const create = async (shop: Selling, path: string, body: unknown): Promise<string> => ok(await shop.post(path, body)).body.id
/** A marker in all personal data and secrets. No audit entry may contain it. */
const planted = 'Planted'
const address = {
  name: `${planted} Haddad`,
  line1: `1 ${planted} Street`,
  city: `${planted}ville`,
  postalCode: `${planted}`,
  phone: `${planted} 555`,
  countryCode: 'US',
}
const blog = { title: 'News', bodyHtml: `<p>${planted}</p>`, author: `${planted} Writer`, excerpt: planted }
const partner = { name: `${planted} Partner`, code: 'partner', rateBps: 500 }
const draftOf = async (shop: Selling): Promise<string> => {
  const lines = [{ variantId: shop.variantId, quantity: 1 }]
  return `/v2/orders/drafts/${await create(shop, '/v2/orders/drafts', { lines, email: `${planted}@example.com`, note: planted })}`
}
const discount = { title: 'Spring', kind: 'PERCENT', valueBps: 1_000 }
const mailTexts = '/shops/v2/mail/templates/order-confirmed/en'
const customer = { email: `${planted}@example.com`, name: `${planted} Customer`, phone: `${planted} 1` }
const endpoint = { url: `https://hooks.example/${planted}?token=${planted}`, events: ['order.confirmed'] }
const shipping = { code: 'post', title: 'By post', price: { amount: 500, currency: 'USD' } }

/** A stand-in for a processor that has one account. */
const stripe = await startStripe()
afterAll(() => stripe.close())
const account = { secretKey: 'sk_test_standin', webhookSecret: planted }
const accountPath = '/shops/v2/processor-accounts/stripe'
const host = 'shop.example.com'
const addHost = async ({ app, token }: Selling) => ok(await app.call('POST', '/shops/v2/hosts', { token, body: { host } }), 201).body
const dns = await nameServer()
afterAll(() => dns.close())
const lender = async ({ deps }: TestApp) => (await createLender(deps, { actor: system }, { displayName: 'Harbour Bank' })).id

const changes: Record<string, Prepare> = {
  'POST /auth/password': ({ password }) => ({
    path: '/auth/password',
    body: { current: password, password: `another password ${planted}` },
  }),
  'DELETE /auth/sessions': async ({ app, email, password }) => {
    ok(await app.call('POST', '/merchant/login', { body: { email, password } }))
    return { path: '/auth/sessions' }
  },
  'DELETE /auth/sessions/:id': async ({ app, token }) => ({
    path: `/auth/sessions/${(await app.call('GET', '/auth/sessions', { token })).body.data[0].id}`,
  }),
  'POST /auth/totp': ({ password }) => ({ path: '/auth/totp', body: { password }, shopId: null }),
  'POST /auth/totp/confirm': async (shop) => ({
    path: '/auth/totp/confirm',
    body: { code: codeAt(await beginTotp(shop.app, shop), shop.app.clock.now()) },
    shopId: null,
  }),
  'DELETE /auth/totp': async (shop) => {
    const { secret } = await enableTotp(shop.app, shop)
    const code = codeAt(secret, shop.app.clock.now(), 1)
    return { path: '/auth/totp', body: { password: shop.password, code }, shopId: null }
  },
  'POST /shops/v2': () => ({
    path: '/shops/v2',
    body: { shopName: `second-${randomUUID()}`, title: 'Second', country: 'US', currency: 'USD' },
    shopId: 'created',
  }),
  'PATCH /shops/v2': () => ({
    path: '/shops/v2',
    body: { title: 'Another title', contact: { email: `${planted}@example.com`, phone: planted }, address: { line1: planted } },
  }),
  'PUT /shops/v2/tax-rates': () => ({ path: '/shops/v2/tax-rates', body: { data: [{ country: 'US', rateBps: 500 }] } }),
  'PUT /shops/v2/shipping-methods': () => ({ path: '/shops/v2/shipping-methods', body: { data: [shipping] } }),
  'PUT /shops/v2/mail': () => ({
    path: '/shops/v2/mail',
    body: { senderName: `${planted} Shop`, replyTo: `${planted}@example.com`, language: 'mn', orderMails: [`${planted}2@example.com`] },
  }),
  'PUT /shops/v2/mail/templates/:template/:language': () => ({ path: mailTexts, body: { intro: planted } }),
  'DELETE /shops/v2/mail/templates/:template/:language': async (shop) => {
    ok(await shop.app.call('PUT', mailTexts, { token: shop.token, body: { closing: planted } }))
    return { path: mailTexts }
  },
  'POST /shops/v2/staff': () => ({ path: '/shops/v2/staff', body: { email: `${planted}@example.com`, role: 'MANAGER' } }),
  'PATCH /shops/v2/staff/:id': async (shop) => ({
    path: `/shops/v2/staff/${(await invitePerson(shop.app, shop, 'MANAGER', `${planted}@example.com`)).id}`,
    body: { role: 'OWNER' },
  }),
  'DELETE /shops/v2/staff/:id': async (shop) => ({
    path: `/shops/v2/staff/${(await invitePerson(shop.app, shop, 'MANAGER', `${planted}@example.com`)).id}`,
  }),
  'POST /shops/v2/private-key/rotate': () => ({ path: '/shops/v2/private-key/rotate', body: { graceSeconds: 3_600 } }),
  'PUT /shops/v2/agents': () => ({ path: '/shops/v2/agents', body: { enabled: true } }),
  'POST /shops/v2/agents/keys/rotate': async (shop) => {
    ok(await shop.app.call('PUT', '/shops/v2/agents', { token: shop.token, body: { enabled: true } }))
    return { path: '/shops/v2/agents/keys/rotate' }
  },
  'POST /shops/v2/custody/wallet': () => ({ path: '/shops/v2/custody/wallet' }),
  'POST /product-v2': () => ({ path: '/product-v2', body: { title: 'Lamp' } }),
  'PATCH /product-v2/:id': ({ productId }) => ({ path: `/product-v2/${productId}`, body: { title: 'Cup' } }),
  'POST /product-v2/:id/duplicate': ({ productId }) => ({ path: `/product-v2/${productId}/duplicate` }),
  'DELETE /product-v2/:id': ({ productId }) => ({ path: `/product-v2/${productId}` }),
  'POST /product-v2/:id/variants/:variantId/stock': ({ productId, variantId }) => ({
    path: `/product-v2/${productId}/variants/${variantId}/stock`,
    body: { delta: 3 },
  }),
  'DELETE /product-v2/:id/variants/:variantId': async (shop) => {
    const options = [{ name: 'Size', values: ['S', 'M'] }]
    const variants = ['S', 'M'].map((size) => ({ optionValues: [size], price: shop.money(1) }))
    const { body } = ok(await shop.post('/product-v2', { title: 'Shirt', options, variants }))
    return { path: `/product-v2/${body.id}/variants/${body.variants[0].id}` }
  },
  'POST /product-v2/import': () => ({ path: '/product-v2/import', body: 'Handle,Title\nlamp,Lamp\n', contentType: 'text/csv' }),
  'POST /collection-v2': () => ({ path: '/collection-v2', body: { title: 'Summer' } }),
  'PATCH /collection-v2/:id': async (shop) => ({
    path: `/collection-v2/${await create(shop, '/collection-v2', { title: 'Summer' })}`,
    body: { title: 'Autumn' },
  }),
  'DELETE /collection-v2/:id': async (shop) => ({ path: `/collection-v2/${await create(shop, '/collection-v2', { title: 'Summer' })}` }),
  'PUT /collection-v2/:id/products': async (shop) => ({
    path: `/collection-v2/${await create(shop, '/collection-v2', { title: 'Summer' })}/products`,
    body: { productIds: [shop.productId] },
  }),
  'POST /blogs': () => ({ path: '/blogs', body: blog }),
  'PATCH /blogs/:id': async (shop) => ({ path: `/blogs/${await create(shop, '/blogs', blog)}`, body: { title: 'Old news' } }),
  'DELETE /blogs/:id': async (shop) => ({ path: `/blogs/${await create(shop, '/blogs', blog)}` }),
  'POST /affiliates': () => ({ path: '/affiliates', body: partner }),
  'PATCH /affiliates/:id': async (shop) => ({
    path: `/affiliates/${await create(shop, '/affiliates', partner)}`,
    body: { rateBps: 700 },
  }),
  'POST /discounts': () => ({ path: '/discounts', body: discount }),
  'PATCH /discounts/:id': async (shop) => ({ path: `/discounts/${await create(shop, '/discounts', discount)}`, body: { valueBps: 500 } }),
  'DELETE /discounts/:id': async (shop) => ({ path: `/discounts/${await create(shop, '/discounts', discount)}` }),
  'POST /media': () => ({ path: '/media', body: drawPng(), contentType: 'image/png' }),
  'DELETE /media/:name': async ({ app, token }) => ({
    path: `/media/${ok(await app.call('POST', '/media', { token, raw: drawPng() }), 201).body.id}`,
  }),
  'POST /giftcard': ({ money }) => ({ path: '/giftcard', body: { amount: money(5_000), note: planted } }),
  'PATCH /giftcard/:id': async (shop) => ({
    path: `/giftcard/${(await shop.giftCard(5_000)).id}`,
    body: { status: 'DISABLED', note: planted },
  }),
  'POST /customer': () => ({ path: '/customer', body: customer }),
  'POST /customer/import': () => ({
    path: '/customer/import',
    body: `Email,First Name\n${customer.email},${customer.name}\n`,
    contentType: 'text/csv',
  }),
  'POST /customer/:customerId/erase': async (shop) => ({ path: `/customer/${await create(shop, '/customer', customer)}/erase`, body: {} }),
  'POST /customer/:customerId/addresses': async (shop) => ({
    path: `/customer/${await create(shop, '/customer', customer)}/addresses`,
    body: address,
  }),
  'POST /customer/:customerId/addresses/add': async (shop) => ({
    path: `/customer/${await create(shop, '/customer', customer)}/addresses/add`,
    body: { addressId: await create(shop, '/addresses', address) },
  }),
  'POST /addresses': () => ({ path: '/addresses', body: address }),
  'POST /v2/orders/:orderId/refunds': async (shop) => ({
    path: `/v2/orders/${(await shop.placeOrder()).id}/refunds`,
    body: { all: true, reason: planted },
  }),
  'POST /v2/orders/:orderId/refunds/:refundId/settled': async (shop) => ({
    path: await manualRefundOf(shop),
    body: { reference: planted },
  }),
  'POST /v2/orders/:orderId/cancel': async (shop) => ({
    path: `/v2/orders/${(await shop.placeOrder()).id}/cancel`,
    body: { reason: planted },
  }),
  'POST /v2/orders/:orderId/mark-paid': async (shop) => ({
    path: `/v2/orders/${(await manualOrderOf(shop)).orderId}/mark-paid`,
    body: { reference: planted },
  }),
  'POST /v2/orders/:orderId/fulfil': async (shop) => ({
    path: `/v2/orders/${(await shop.placeOrder()).id}/fulfil`,
    body: { trackingNumber: planted },
  }),
  'POST /v2/orders/:orderId/fulfilments': async (shop) => ({
    path: `/v2/orders/${(await shop.placeOrder()).id}/fulfilments`,
    body: { trackingNumber: planted },
  }),
  'PATCH /customer/:customerId': async (shop) => ({
    path: `/customer/${await create(shop, '/customer', { email: 'ann@example.com' })}`,
    body: { email: `${planted}@example.com`, name: planted, note: planted, tags: [planted] },
  }),
  'PATCH /v2/orders/:orderId': async (shop) => ({
    path: `/v2/orders/${(await shop.placeOrder()).id}`,
    body: { email: `${planted}@example.com`, tags: [planted] },
  }),
  'POST /v2/orders/fulfilments': async (shop) => ({
    path: '/v2/orders/fulfilments',
    body: { orders: [{ orderId: (await shop.placeOrder()).id, trackingNumber: planted }] },
  }),
  'PATCH /v2/orders/:orderId/fulfilments/:fulfilmentId': async (shop) => ({
    path: (await fulfilledOrderOf(shop)).path,
    body: { carrier: planted },
  }),
  'POST /v2/orders/:orderId/returns': async (shop) => {
    const { path, body } = await returnableOf(shop)
    return { path, body: { lines: [{ ...body.lines[0], reason: planted }] } }
  },
  'POST /v2/orders/:orderId/returns/:returnId/approve': async (shop) => ({
    path: `${(await requestedReturnOf(shop)).path}/approve`,
    body: {},
  }),
  'POST /v2/orders/:orderId/returns/:returnId/reject': async (shop) => ({
    path: `${(await requestedReturnOf(shop)).path}/reject`,
    body: {},
  }),
  'POST /v2/orders/:orderId/returns/:returnId/receive': async (shop) => {
    const { path } = await requestedReturnOf(shop)
    ok(await shop.post(`${path}/approve`, {}))
    return { path: `${path}/receive`, body: { restock: true, refund: false } }
  },
  'POST /v2/orders/:orderId/notes': async (shop) => ({ path: `/v2/orders/${(await shop.placeOrder()).id}/notes`, body: { text: planted } }),
  'POST /v2/orders/drafts': (shop) => ({
    path: '/v2/orders/drafts',
    body: {
      lines: [{ variantId: shop.variantId, quantity: 1 }],
      email: `${planted}@example.com`,
      shippingAddress: address,
      billingAddress: address,
      note: planted,
    },
  }),
  'PATCH /v2/orders/drafts/:id': async (shop) => ({
    path: await draftOf(shop),
    body: { email: `${planted}2@example.com`, shippingAddress: address, note: planted },
  }),
  'DELETE /v2/orders/drafts/:id': async (shop) => ({ path: await draftOf(shop) }),
  'POST /v2/orders/drafts/:id/send': async (shop) => ({ path: `${await draftOf(shop)}/send` }),
  'POST /webhook-endpoints': () => ({ path: '/webhook-endpoints', body: endpoint }),
  'DELETE /webhook-endpoints/:id': async (shop) => ({
    path: `/webhook-endpoints/${await create(shop, '/webhook-endpoints', endpoint)}`,
  }),
  'POST /webhook-endpoints/:id/deliveries/:deliveryId/resend': async (shop) => ({
    path: `${(await insertFailedDelivery(shop.app, shop)).path}/resend`,
  }),
  'PUT /shops/v2/payment-methods': () => ({ path: '/shops/v2/payment-methods', body: { paypal: { enabled: false } } }),
  'PUT /shops/v2/processor-accounts/:processor': () => ({ path: accountPath, body: account }),
  'DELETE /shops/v2/processor-accounts/:processor': async ({ app, token }) => {
    ok(await app.call('PUT', accountPath, { token, body: account }))
    return { path: accountPath }
  },
  'POST /shops/v2/go-live': async (shop) => {
    await approveBusiness(shop.app, shop, await shop.app.superAdmin())
    return { path: '/shops/v2/go-live' }
  },
  'POST /shops/v2/hosts': () => ({ path: '/shops/v2/hosts', body: { host } }),
  'POST /shops/v2/hosts/:host/verify': async (shop) => {
    const { txtName, txtValue } = await addHost(shop)
    dns.setRecords(txtName, txtValue)
    return { path: `/shops/v2/hosts/${host}/verify` }
  },
  'DELETE /shops/v2/hosts/:host': async (shop) => ({ path: `/shops/v2/hosts/${(await addHost(shop)).host}` }),
  'POST /kyb': () => ({ path: '/kyb', body: business }),
  'POST /admin/kyb/:id/decision': async (shop) => ({
    path: `/admin/kyb/${(await fileBusiness(shop.app, shop)).id}/decision`,
    body: { decision: 'REJECTED', reason: planted },
    shopId: null,
  }),
  'POST /lending-application': async (shop) => {
    await approveShopBusiness(shop)
    return { path: '/lending-application' }
  },
  'PATCH /lending-application/:id': async (shop) => ({
    path: lendingPath((await createDraft(shop.app, await approveShopBusiness(shop))).id),
    body: { selectedTier2Partner: planted, documentationCompleted: { note: planted } },
  }),
  'POST /lending-application/:id/submit': async (shop) => ({
    path: lendingPath((await createCompleteDraft(shop.app, await approveShopBusiness(shop))).id, '/submit'),
  }),
  'POST /lending-application/:id/withdraw': async (shop) => ({
    path: lendingPath((await createDraft(shop.app, await approveShopBusiness(shop))).id, '/withdraw'),
    body: { reason: planted },
  }),
  'PUT /lending-application/:id/documents/:key': async (shop) => ({
    path: lendingPath((await createDraft(shop.app, await approveShopBusiness(shop))).id, '/documents/ein_letter'),
    body: `%PDF-1.7 ${planted}`,
    contentType: 'application/pdf',
  }),
  'DELETE /lending-application/:id/documents/:key': async (shop) => {
    const path = lendingPath((await createDraft(shop.app, await approveShopBusiness(shop))).id, '/documents/ein_letter')
    const headers = { 'content-type': 'application/pdf', 'content-disposition': `attachment; filename="${planted}.pdf"` }
    ok(await shop.app.call('PUT', path, { token: shop.token, raw: '%PDF-1.7', headers }))
    return { path }
  },
  'POST /admin/lending-application/:id/decision': async (shop) => ({
    path: `/admin${lendingPath((await createSubmitted(shop.app, await approveShopBusiness(shop))).id, '/decision')}`,
    body: { decision: 'APPROVED', reason: planted, partnerExternalRef: planted },
    shopId: null,
  }),
  'PUT /admin/partnerships': ({ shop }) => ({
    path: '/admin/partnerships',
    body: { data: [{ name: 'Malls', defaultCardProcessor: 'tap', shopIds: [shop.id] }] },
    shopId: null,
  }),
  'POST /admin/operations/breakers/:processor': () => ({
    path: '/admin/operations/breakers/stripe',
    body: { action: 'isolate' },
    shopId: null,
  }),
  'POST /admin/lenders': () => ({ path: '/admin/lenders', body: { displayName: 'Harbour Bank' }, shopId: null }),
  'PATCH /admin/lenders/:id': async ({ app }) => ({
    path: `/admin/lenders/${await lender(app)}`,
    body: { status: 'ACTIVE' },
    shopId: null,
  }),
  'POST /admin/methodologies': async ({ app }) => ({
    path: '/admin/methodologies',
    body: methodology(await lender(app)),
    shopId: null,
  }),
  'PATCH /admin/methodologies/:id': async ({ app }) => ({
    path: `/admin/methodologies/${(await registerMethodology(app.deps, { actor: system }, methodology(await lender(app)))).id}`,
    body: { status: 'REVOKED' },
    shopId: null,
  }),
  'POST /admin/platform-wallets': () => ({ path: '/admin/platform-wallets', body: { address: walletOf(1) }, shopId: null }),
  'PATCH /admin/platform-wallets/:id': async ({ app }) => ({
    path: `/admin/platform-wallets/${(await createPlatformWallet(app.deps, { actor: system }, { address: walletOf(2) })).id}`,
    body: { address: walletOf(3) },
    shopId: null,
  }),
  'POST /admin/service-providers': () => ({ path: '/admin/service-providers', body: provider, shopId: null }),
  'PATCH /admin/service-providers/:id': async ({ app }) => ({
    path: `/admin/service-providers/${(await createProvider(app.deps, { actor: system }, provider)).id}`,
    body: { status: 'ACTIVE' },
    shopId: null,
  }),
  'POST /admin/service-providers/:id/webhook-secret': async ({ app }) => ({
    path: `/admin/service-providers/${(await createProvider(app.deps, { actor: system }, provider)).id}/webhook-secret`,
    shopId: null,
  }),
  'POST /admin/repayments': async ({ app, id }) => ({
    path: '/admin/repayments',
    body: instalmentBody({ merchantId: id, lenderId: await lender(app) }),
    shopId: null,
  }),
  'POST /admin/repayments/import': async ({ app, id }) => ({
    path: '/admin/repayments/import',
    body: `merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt\n${id},${await lender(app)},L-1,DEFAULT,1,2025-12-01,\n`,
    contentType: 'text/csv',
    shopId: null,
  }),
  'POST /admin/repayments/:id/reverse': async ({ app, id: merchantId }) => {
    const repayment = {
      merchantId,
      lenderId: await lender(app),
      loanRef: 'L-1',
      outcome: 'DEFAULT',
      amountUsd: 1,
      dueAt: 0,
      settledAt: null,
    } as const
    const { id } = await recordRepayment(app.deps, { actor: system }, repayment)
    return { path: `/admin/repayments/${id}/reverse`, body: { reason: planted }, shopId: null }
  },
  'POST /admin/operations/jobs/:job/run': () => ({ path: '/admin/operations/jobs/forget/run', shopId: null }),
  'PATCH /admin/shops/:id': ({ shop }) => ({ path: `/admin/shops/${shop.id}`, body: { status: 'SUSPENDED' } }),
}

/** Approves the business of a merchant. */
async function approveShopBusiness(shop: Selling): Promise<Selling> {
  const { id } = await fileBusiness(shop.app, shop)
  await decideKyb(shop.app.deps, { actor: system }, id, { decision: 'APPROVED', reason: null })
  return shop
}
/** Routes that store nothing. */
const changesNothing = new Set(['POST /admin/lending-application/credit-tier/preview', 'POST /shops/v2/processor-accounts/:processor/test'])

/** Access rules of merchants whose changes the audit trail records. Changes by shoppers are not recorded. */
const merchantRules = [
  'loggedIn',
  ...Object.entries(accessRules).flatMap(([name, { roles, browsers }]) => (roles !== undefined && !browsers ? [name] : [])),
]
const audited = new Set([...merchantRules, 'order', 'address', 'superAdmin', 'operator'])

const from = '203.0.113.7'

test('every route that changes something as a merchant, key or operator has a case in this test', async () => {
  await using app = await testApp()
  const writing = [...declaredAccess(app)].filter(
    ([route, access]) => !route.startsWith('GET ') && !changesNothing.has(route) && audited.has(access ?? ''),
  )
  expect(
    writing
      .map(([route]) => route)
      .filter((route) => !route.includes(' /api/v3/'))
      .sort(),
  ).toEqual(Object.keys(changes).sort())
})

// All cases share an app, each with a new shop. An entry is found by its request id.
let app: TestApp
beforeAll(async () => {
  app = await testApp({
    STRIPE_API_URL: stripe.url,
    DNS_SERVER: dns.address,
    LENDING_PLATFORM_ENABLED: 'true',
    AGENTS_ENABLED: 'true',
    SIGNUP_ENABLED: 'true',
    OPERATOR_IP_ALLOWLIST: from,
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'shop@souk.example',
  })
})
afterAll(() => app.close())

for (const [route, prepare] of Object.entries(changes))
  test(`${route} writes an audit entry with actor, request, address and changes, without personal data`, async () => {
    const [method = ''] = route.split(' ')
    const shop = await sellingIn(app)
    const { path, body, contentType, shopId: about } = await prepare(shop)
    const access = declaredAccess(app).get(route)
    const requestId = `request-${randomUUID()}`
    const headers = {
      'x-request-id': requestId,
      'idempotency-key': randomUUID(),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    }
    const operator = access === 'superAdmin' || access === 'operator' ? await app.superAdmin() : undefined
    const isForMerchants = merchantRules.includes(access ?? '')
    const expectedActor = operator ?? (isForMerchants ? shop : undefined)
    const caller = expectedActor ? { token: expectedActor.token } : { key: shop.secretKey }
    const answer = await app.call(method, path, {
      ...caller,
      from,
      headers,
      ...(body === undefined ? {} : typeof body === 'string' || body instanceof Uint8Array ? { raw: body } : { body }),
    })
    ok(answer, 200, 201, 202, 204)
    const rows = await app.deps.db.read.select().from(auditLog)
    const entries = rows.filter((row) => row.requestId === requestId)
    // Changes of an account belong to no shop, nor does what an operator changes of a merchant's business.
    const shopId = about === 'created' ? answer.body.id : access === 'loggedIn' || about === null ? null : shop.shop.id
    expect(entries.map((row) => [row.shopId, row.address])).toEqual([[shopId, from]])
    expect(entries.map(({ before, after }) => before !== null || after !== null)).toEqual([true])
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(planted, 'i'))
    if (expectedActor) expect(entries.map(({ actor }) => actor)).toEqual([expectedActor.id])
    else expect(entries.every(({ actor }) => actor.startsWith('key_'))).toBe(true)
  })
