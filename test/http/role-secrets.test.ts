/** Tests that links and tokens that let their holder act are shown only to OWNER, MANAGER and secret keys. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { refunds } from '../../db/schema/payments.ts'
import { carts, orders } from '../../db/schema/selling.ts'
import { type StaffRole, staffRoles } from '../../src/core/roles.ts'
import { hidesSecrets, omitSecrets, roleFieldsOf } from '../../src/http/role-fields.ts'
import { webhookEvents } from '../../src/modules/messaging/webhook/domain.ts'
import { DraftOrders } from '../../src/modules/selling/draft-order/model.ts'
import { Orders } from '../../src/modules/selling/order/model.ts'
import { souk } from '../cli/souk.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { acceptedCredentials } from '../support/credentials.ts'
import { customerIn } from '../support/customers.ts'
import { temporaryDir, testDatabase } from '../support/database.ts'
import { draftsOf } from '../support/drafts.ts'
import { type Stream, streamIn } from '../support/events.ts'
import { sellingThrough } from '../support/processor-shops.ts'
import { ok, type Selling, sellingIn } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { deliver, loopbackAllowed, receiver, registerEndpoint } from '../support/webhooks.ts'
import { accessManifest } from './access-manifest.ts'

setDefaultTimeout(longTestMs)

const claimUrl = 'https://pay.example.com/claims/planted-claim'

/** Creates a shop with one of each secret. Returns the secrets, and a function that fills the paths of reads. */
async function createSecrets(app: TestApp, existing?: Selling) {
  const shop = existing ?? (await sellingIn(app))
  const customer = await customerIn(app, shop.shop)
  const order = await shop.placeOrder()
  const refund = ok(await shop.refund(order.id, { amount: { amount: 100, currency: 'USD' } }), 201).body
  await app.deps.db.write(async (tx) => {
    await tx.update(refunds).set({ status: 'CLAIMABLE', claimUrl }).where(eq(refunds.id, refund.id))
  })
  const fulfilment = ok(await shop.post(`/v2/orders/${order.id}/fulfilments`, {}), 201).body
  const draft = ok(await draftsOf(shop).create(), 201).body
  const [{ cartId = '' } = {}] = await app.deps.db.read.select({ cartId: orders.cartId }).from(orders).where(eq(orders.id, order.id))
  const open = await shop.cart()
  const { publicUrl } = await shop.order(order.id)
  const secrets = [claimUrl, draft.payUrl, new URL(draft.payUrl).pathname.split('/').at(-1), draft.cartId, cartId, open]
  secrets.push(publicUrl, new URL(publicUrl).pathname.split('/').at(-1))
  const params: Record<string, string> = { customerId: customer.id, fulfilmentId: fulfilment.id, variantId: shop.variantId }
  const ids: [RegExp, string][] = [
    [/^\/v2\/orders\/drafts\//, draft.id],
    [/^\/v2\/orders\//, order.id],
    [/^\/product-v2\//, shop.productId],
  ]
  const pathOf = (route: string) =>
    route.replace(/:(\w+)/g, (_, name: string) => params[name] ?? ids.find(([of]) => of.test(route))?.[1] ?? 'none_1')
  return { shop, order, draft, secrets: secrets.map(String), pathOf }
}

const reads = Object.entries(accessManifest)
  .filter(([route, access]) => route.startsWith('GET ') && acceptedCredentials(access).includes('merchant'))
  .map(([route]) => route.slice('GET '.length))

test('no JSON or CSV read of FULFILMENT and READ_ONLY has secrets; OWNER, MANAGER and secret keys see them', async () => {
  await using app = await testApp({ LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' })
  const { shop, secrets, pathOf } = await createSecrets(app)
  const secretsByRole = new Map<string, Set<string>>()
  const ask = async (who: string, credentials: { token?: string; key?: string }) => {
    const shownSecrets = new Set<string>()
    secretsByRole.set(who, shownSecrets)
    let read = 0
    for (const route of reads) {
      for (const accept of ['application/json', 'text/csv']) {
        const { status, text } = await app.call('GET', pathOf(route), { ...credentials, headers: { accept } })
        if (status === 200) read++
        for (const [nth, secret] of secrets.entries()) if (text.includes(secret)) shownSecrets.add(`${route} ${nth}`)
      }
    }
    return read
  }
  for (const role of staffRoles) {
    const { token } = await staffOf(app, shop, role)
    expect([role, (await ask(role, { token })) > 5]).toEqual([role, true])
  }
  await ask('key', { key: shop.secretKey })
  const seenByOwner = [...(secretsByRole.get('OWNER') ?? [])]
  // Owners see the claim, the pay page and cart of the draft, and the page of the order. No read has carts of shoppers.
  for (const nth of [0, 1, 2, 3, 6, 7]) expect([nth, seenByOwner.some((one) => one.endsWith(` ${nth}`))]).toEqual([nth, true])
  for (const nth of [4, 5]) expect([nth, seenByOwner.some((one) => one.endsWith(` ${nth}`))]).toEqual([nth, false])
  expect([...(secretsByRole.get('MANAGER') ?? [])]).toEqual(seenByOwner)
  expect([...(secretsByRole.get('key') ?? [])]).toEqual(seenByOwner)
  for (const role of ['FULFILMENT', 'READ_ONLY']) expect([role, [...(secretsByRole.get(role) ?? [])]]).toEqual([role, []])
})

test('responses to changes by FULFILMENT have no secrets, and replays neither', async () => {
  await using app = await testApp()
  const { shop, secrets } = await createSecrets(app)
  const { token } = await staffOf(app, shop, 'FULFILMENT')
  const { id } = await shop.placeOrder()
  const { publicUrl } = await shop.order(id)
  const headers = { 'idempotency-key': crypto.randomUUID() }
  for (let nth = 0; nth < 2; nth++) {
    const answer = await app.call('POST', `/v2/orders/${id}/fulfil`, { token, body: {}, headers })
    expect([answer.status, answer.body.status]).toEqual([200, 'FULFILLED'])
    for (const secret of [...secrets, publicUrl]) expect(answer.text).not.toContain(secret)
    expect(answer.headers.get('etag')).toBeNull()
  }
  const other = await shop.placeOrder()
  const fulfilmentsPath = `/v2/orders/${other.id}/fulfilments`
  const fulfilment = await app.call('POST', fulfilmentsPath, { token, body: {} })
  const corrected = await app.call('PATCH', `${fulfilmentsPath}/${fulfilment.body.id}`, { token, body: { carrier: 'Post' } })
  expect([fulfilment.status, corrected.status]).toEqual([201, 200])
  for (const { text } of [fulfilment, corrected])
    for (const secret of [...secrets, (await shop.order(other.id)).publicUrl]) expect(text).not.toContain(secret)
  expect((await app.call('POST', `/v2/orders/${id}/fulfil`, { token: shop.token, body: {}, headers })).status).toBe(409)
})

test('single records keep their version for roles that do not see all fields', async () => {
  await using app = await testApp()
  const { shop, draft } = await createSecrets(app)
  const path = `/v2/orders/drafts/${draft.id}`
  const tags = await Promise.all(
    [shop.token, (await staffOf(app, shop, 'READ_ONLY')).token].map(async (token) => {
      const { headers, body } = await app.call('GET', path, { token })
      return [headers.get('etag'), 'payUrl' in body, 'cartId' in body, body.id]
    }),
  )
  expect(tags).toEqual([
    ['"v1"', true, true, draft.id],
    ['"v1"', false, false, draft.id],
  ])
})

test('secret fields are removed at any position in a response', () => {
  const fields = roleFieldsOf(Orders)
  const order = (refund: object) => ({ data: [{ id: 'order_1', refunds: [refund], publicUrl: 'x' }], page: 1 })
  expect(fields && omitSecrets(order({ id: 'ref_1', claimUrl: 'x' }), fields)).toEqual({
    data: [{ id: 'order_1', refunds: [{ id: 'ref_1' }] }],
    page: 1,
  })
  expect(roleFieldsOf(DraftOrders)).toBeDefined()
  const as = (role: StaffRole) => hidesSecrets({ kind: 'merchant', id: 'mer_1', sessionId: 'ses_1', role })
  expect(staffRoles.filter(as)).toEqual(['FULFILMENT', 'READ_ONLY'])
})

test('events, audit trail and log of a shop have no secrets', async () => {
  await using app = await testApp()
  const { shop, order, secrets } = await createSecrets(app)
  ok(await shop.post(`/v2/orders/${order.id}/notes`, { text: 'Called' }), 201)
  const { liveEvents } = await import('../../db/schema/live.ts')
  const eventsAndLog = JSON.stringify([await app.deps.db.read.select().from(liveEvents), app.logged])
  const { auditLog } = await import('../../db/schema/people.ts')
  const auditRows = JSON.stringify(await app.deps.db.read.select().from(auditLog))
  expect(await app.deps.db.read.select({ id: carts.id }).from(carts)).not.toEqual([])
  for (const secret of secrets) expect([eventsAndLog.includes(secret), auditRows.includes(secret)]).toEqual([false, false])
})

test('the live stream of every role has no secrets', async () => {
  await using app = await testApp()
  const { shop, secrets } = await createSecrets(app)
  const streams = new Map<string, Stream>()
  for (const role of staffRoles) {
    const { token } = await staffOf(app, shop, role)
    streams.set(role, await streamIn(app, '/v2/events', { token }))
  }
  streams.set('key', await streamIn(app, '/v2/events', { key: shop.secretKey }))
  const draft = ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201).body
  ok(await draftsOf(shop).change(draft.id, { note: 'Called' }))
  const order = await shop.placeOrder()
  ok(await shop.post(`/v2/orders/${order.id}/fulfilments`, {}), 201)
  const refund = ok(await shop.refund(order.id), 201).body
  const { publicUrl } = await shop.order(order.id)
  const newSecrets = [draft.payUrl, draft.cartId, publicUrl].flatMap((secret: string) => [secret, secret.split('/').at(-1) ?? ''])
  for (const [who, stream] of streams) {
    await stream.until(() => stream.events.some(({ data }) => data['refundId'] === refund.id))
    const text = JSON.stringify(stream.events)
    expect([who, stream.events.length > 3, [...secrets, ...newSecrets].filter((secret) => text.includes(secret))]).toEqual([who, true, []])
    await stream.close()
  }
})

test('webhooks have one secret, the claimUrl of a refund, and only OWNER and secret keys may resend them', async () => {
  await using hooks = receiver()
  await using seller = await sellingThrough('btcpay', loopbackAllowed)
  const { app } = seller
  const shop = await createSecrets(app, seller)
  const endpoint = await registerEndpoint(app, seller, hooks.url, webhookEvents)
  const order = await seller.begin()
  seller.pay(order.reference)
  ok(await seller.complete(order.cartId))
  ok(await seller.post(`/v2/orders/${order.id}/fulfilments`, {}), 201)
  const refund = ok(await seller.refund(order.id), 201).body
  expect([refund.status, typeof refund.claimUrl]).toEqual(['CLAIMABLE', 'string'])
  const { publicUrl } = await seller.order(order.id)
  await app.jobs.resume()
  await deliver(app)
  const messages = hooks.received.map(({ body }) => body)
  expect(messages.map((body) => JSON.parse(body).type).sort()).toEqual([
    ...['order.confirmed', 'order.confirmed', 'order.fulfilled', 'order.fulfilled'],
    ...['order.refund_claimable', 'order.refunded'],
  ])
  const secrets = [...shop.secrets, order.cartId, publicUrl, publicUrl.split('/').at(-1), refund.claimUrl]
  const secretsByRole = messages.flatMap((body) =>
    secrets.filter((secret) => body.includes(secret)).map((secret) => [JSON.parse(body).type, secret]),
  )
  expect(secretsByRole).toEqual([['order.refund_claimable', refund.claimUrl]])
  const deliveries = await app.call('GET', `/webhook-endpoints/${endpoint.id}/deliveries`, { token: seller.token })
  expect([deliveries.status, deliveries.body.data.length, secrets.some((secret) => deliveries.text.includes(secret))]).toEqual([
    200,
    messages.length,
    false,
  ])
  for (const role of ['MANAGER', 'FULFILMENT', 'READ_ONLY'] as const) {
    const { token } = await staffOf(app, seller, role)
    const resends = [
      await app.call('GET', '/webhook-endpoints', { token }),
      await app.call('GET', `/webhook-endpoints/${endpoint.id}/deliveries`, { token }),
      await app.call('POST', '/webhook-endpoints', { token, body: { url: hooks.url, events: ['order.refund_claimable'] } }),
    ]
    expect([role, ...resends.map(({ status }) => status)]).toEqual([role, 403, 403, 403])
  }
})

test('the support bundle has no secrets', async () => {
  const database = await testDatabase()
  const app = await testApp({}, { database })
  const { shop, secrets } = await createSecrets(app)
  for (const secret of secrets) app.deps.log.error('request.failed', { error: new Error(`no such thing: ${secret}`), route: '/cart/:id' })
  await app.close()
  const file = join(temporaryDir(), 'bundle.json')
  const keys = {
    JWT_SECRET: 'a-secret-of-thirty-two-characters!',
    ENCRYPTION_KEY: '0'.repeat(64),
    INTEGRATION_API_KEY: 'integration-key-of-the-test',
  }
  const settings = { ...keys, DATABASE_URL: database.url }
  expect((await souk(['support-bundle', file], database.dataDir, { settings })).status).toBe(0)
  const text = readFileSync(file, 'utf8')
  expect(JSON.parse(text).rows).toMatchObject({ draft_orders: 1 })
  expect([...secrets, shop.secretKey].filter((secret) => text.includes(secret))).toEqual([])
})
