/** Tests that management reads have the version of their record and that changes honour `If-Match`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { variants } from '../../db/schema/catalog.ts'
import { AppError } from '../../src/core/errors.ts'
import { staffRoles } from '../../src/core/roles.ts'
import { accessRules } from '../../src/http/access-rules.ts'
import { expectedVersionOf } from '../../src/http/versions.ts'
import { startStripe } from '../clients/processors/stripe-server.ts'
import { type Answer, testApp } from '../support/app.ts'
import { declaredAccess } from '../support/credentials.ts'
import { approveBusiness } from '../support/kyb.ts'
import { createDraft, applicationPath as lendingPath } from '../support/lending.ts'
import { drawPng } from '../support/pictures.ts'
import { lenderIn } from '../support/repayments.ts'
import { fulfilledOrderOf, ok, type Selling, sellingIn } from '../support/selling.ts'
import { invitePerson } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { methodology, providerIn, walletOf } from '../support/trust.ts'

setDefaultTimeout(longTestMs)

type Subject = {
  /** Reads the record that is changed; undefined where it can only be read in a list. */
  read?: string
  path: string
  body?: (nth: number) => unknown
  /** The content of the PDF, for a route that takes one. */
  file?: (nth: number) => string
  /** False if the change removes the record or does not change its version. */
  raises?: false
  /** The token of a caller with access. The merchant's by default. */
  token?: string
}

const create = async (shop: Selling, path: string, body: unknown): Promise<string> => ok(await shop.post(path, body)).body.id
const collection = (shop: Selling) => create(shop, '/collection-v2', { title: 'Summer' })
const blog = (shop: Selling) => create(shop, '/blogs', { title: 'News', bodyHtml: '' })
const titleBody = (nth: number) => ({ title: `Title ${nth}` })
const partner = { name: 'Partner', code: 'partner', rateBps: 500 }
const draftOf = ({ variantId }: Selling) => ({ lines: [{ variantId, quantity: 1 }] })
const discount = { title: 'Spring', kind: 'PERCENT', valueBps: 1_000 }
const mailTexts = '/shops/v2/mail/templates/order-confirmed/en'
const endpoint = { url: 'https://hooks.example/souk', events: ['order.confirmed'] }

/** A stand-in for a processor that has one account. */
const stripe = await startStripe()
afterAll(() => stripe.close())
const accountPath = '/shops/v2/processor-accounts/stripe'
const account = (nth: number) => ({ secretKey: 'sk_test_standin', publishableKey: `pk_test_${nth}` })
async function withAccount({ app, token }: Selling): Promise<{ read: string; path: string }> {
  ok(await app.call('PUT', accountPath, { token, body: account(0) }))
  return { read: accountPath, path: accountPath }
}

/** The request of each route that changes a record. */
const subjects: Record<string, (shop: Selling) => Promise<Subject> | Subject> = {
  'PATCH /shops/v2': () => ({ read: '/shops/v2', path: '/shops/v2', body: titleBody }),
  'PUT /shops/v2/tax-rates': () => ({
    read: '/shops/v2/tax-rates',
    path: '/shops/v2/tax-rates',
    body: (nth) => ({ data: [{ country: 'US', rateBps: nth }] }),
  }),
  'PUT /shops/v2/shipping-methods': ({ money }) => ({
    read: '/shops/v2/shipping-methods',
    path: '/shops/v2/shipping-methods',
    body: (nth) => ({ data: [{ code: 'post', title: 'Post', price: money(nth) }] }),
  }),
  'PUT /shops/v2/mail': () => ({
    read: '/shops/v2/mail',
    path: '/shops/v2/mail',
    body: (nth) => ({ senderName: `Sender ${nth}` }),
  }),
  'PUT /shops/v2/mail/templates/:template/:language': () => ({
    read: mailTexts,
    path: mailTexts,
    body: (nth) => ({ intro: `Text ${nth}` }),
  }),
  'DELETE /shops/v2/mail/templates/:template/:language': () => ({ read: mailTexts, path: mailTexts }),
  'PATCH /shops/v2/staff/:id': async (shop) => {
    const path = `/shops/v2/staff/${(await invitePerson(shop.app, shop, 'MANAGER')).id}`
    return { read: path, path, body: (nth) => ({ role: staffRoles[nth % staffRoles.length] }) }
  },
  'DELETE /shops/v2/staff/:id': async (shop) => {
    const path = `/shops/v2/staff/${(await invitePerson(shop.app, shop, 'MANAGER')).id}`
    return { read: path, path, raises: false }
  },
  'PUT /shops/v2/agents': () => ({
    read: '/shops/v2/agents',
    path: '/shops/v2/agents',
    body: (nth) => ({ enabled: nth % 2 === 0 }),
  }),
  'PUT /shops/v2/payment-methods': () => ({
    read: '/shops/v2/payment-methods',
    path: '/shops/v2/payment-methods',
    body: (nth) => ({ paypal: { enabled: true, clientId: `client-${nth}` } }),
  }),
  'PUT /shops/v2/processor-accounts/:processor': async (shop) => ({ ...(await withAccount(shop)), body: account }),
  'DELETE /shops/v2/processor-accounts/:processor': async (shop) => ({ ...(await withAccount(shop)), raises: false }),
  'PUT /admin/partnerships': async ({ app, shop }) => {
    const { token } = await app.superAdmin()
    const path = '/admin/partnerships'
    return {
      read: path,
      path,
      body: (nth) => ({ data: [{ name: `Chain ${nth}`, defaultCardProcessor: 'tap', shopIds: [shop.id] }] }),
      token,
    }
  },
  'PATCH /product-v2/:id': ({ productId }) => ({ read: `/product-v2/${productId}`, path: `/product-v2/${productId}`, body: titleBody }),
  // Ordered, so that it is archived and still has a version.
  'DELETE /product-v2/:id': async (shop) => {
    await shop.placeOrder()
    return { read: `/product-v2/${shop.productId}`, path: `/product-v2/${shop.productId}` }
  },
  'DELETE /product-v2/:id/variants/:variantId': async (shop) => {
    const options = [{ name: 'Size', values: ['S', 'M'] }]
    const sizes = ['S', 'M'].map((size) => ({ optionValues: [size], price: shop.money(1) }))
    const { body } = ok(await shop.post('/product-v2', { title: 'Shirt', options, variants: sizes }))
    return { read: `/product-v2/${body.id}`, path: `/product-v2/${body.id}/variants/${body.variants[0].id}` }
  },
  'POST /product-v2/:id/variants/:variantId/stock': ({ productId, variantId }) => ({
    read: `/product-v2/${productId}`,
    path: `/product-v2/${productId}/variants/${variantId}/stock`,
    body: (nth) => ({ delta: nth }),
    raises: false,
  }),
  'PATCH /collection-v2/:id': async (shop) => {
    const path = `/collection-v2/${await collection(shop)}`
    return { read: path, path, body: titleBody }
  },
  'DELETE /collection-v2/:id': async (shop) => {
    const path = `/collection-v2/${await collection(shop)}`
    return { read: path, path, raises: false }
  },
  'PUT /collection-v2/:id/products': async (shop) => {
    const path = `/collection-v2/${await collection(shop)}`
    return { read: path, path: `${path}/products`, body: () => ({ productIds: [shop.productId] }) }
  },
  'PATCH /blogs/:id': async (shop) => {
    const path = `/blogs/${await blog(shop)}`
    return { read: path, path, body: titleBody }
  },
  'DELETE /blogs/:id': async (shop) => {
    const path = `/blogs/${await blog(shop)}`
    return { read: path, path, raises: false }
  },
  'PATCH /affiliates/:id': async (shop) => {
    const path = `/affiliates/${await create(shop, '/affiliates', partner)}`
    return { read: path, path, body: (nth) => ({ rateBps: nth }) }
  },
  'PATCH /discounts/:id': async (shop) => {
    const path = `/discounts/${await create(shop, '/discounts', discount)}`
    return { read: path, path, body: (nth) => ({ valueBps: nth + 1 }) }
  },
  'DELETE /discounts/:id': async (shop) => {
    const path = `/discounts/${await create(shop, '/discounts', discount)}`
    return { read: path, path, raises: false }
  },
  'PATCH /giftcard/:id': async (shop) => ({
    path: `/giftcard/${(await shop.giftCard(5_000)).id}`,
    body: (nth) => ({ note: `Note ${nth}` }),
  }),
  'DELETE /media/:name': async ({ app, token }) => ({
    path: `/media/${ok(await app.call('POST', '/media', { token, raw: drawPng() }), 201).body.id}`,
    raises: false,
  }),
  'PATCH /v2/orders/drafts/:id': async (shop) => {
    const path = `/v2/orders/drafts/${await create(shop, '/v2/orders/drafts', draftOf(shop))}`
    return { read: path, path, body: (nth) => ({ note: `Note ${nth}` }) }
  },
  'DELETE /v2/orders/drafts/:id': async (shop) => {
    const path = `/v2/orders/drafts/${await create(shop, '/v2/orders/drafts', draftOf(shop))}`
    return { read: path, path, raises: false }
  },
  'PATCH /customer/:customerId': async (shop) => {
    const path = `/customer/${await create(shop, '/customer', { email: 'ann@example.com' })}`
    return { read: path, path, body: (nth) => ({ note: `Note ${nth}` }) }
  },
  'PATCH /v2/orders/:orderId': async (shop) => {
    const path = `/v2/orders/${(await shop.placeOrder()).id}`
    return { read: path, path, body: (nth) => ({ tags: [`tag ${nth}`] }) }
  },
  'PATCH /v2/orders/:orderId/fulfilments/:fulfilmentId': async (shop) => {
    const { path } = await fulfilledOrderOf(shop)
    return { read: path, path, body: (nth) => ({ trackingNumber: `T ${nth}` }) }
  },
  'DELETE /webhook-endpoints/:id': async (shop) => {
    const path = `/webhook-endpoints/${await create(shop, '/webhook-endpoints', endpoint)}`
    return { read: path, path, raises: false }
  },
  'DELETE /shops/v2/hosts/:host': async ({ app, token }) => {
    ok(await app.call('POST', '/shops/v2/hosts', { token, body: { host: 'shop.example.com' } }), 201)
    return { path: '/shops/v2/hosts/shop.example.com', raises: false }
  },
  'PATCH /lending-application/:id': async (shop) => {
    await approveBusiness(shop.app, shop, await shop.app.superAdmin())
    const path = lendingPath((await createDraft(shop.app, shop)).id)
    return { read: path, path, body: (nth) => ({ requestedTermMonths: nth }) }
  },
  'PATCH /admin/lenders/:id': async ({ app }) => {
    const operator = await app.superAdmin()
    const path = `/admin/lenders/${await lenderIn(app, operator)}`
    return { read: path, path, body: (nth) => ({ displayName: `Bank ${nth}` }), token: operator.token }
  },
  'PATCH /admin/methodologies/:id': async ({ app }) => {
    const operator = await app.superAdmin()
    const lenderId = await lenderIn(app, operator)
    const body = methodology(lenderId)
    const { id } = ok(await app.call('POST', '/admin/methodologies', { token: operator.token, body }), 201).body
    const path = `/admin/methodologies/${id}`
    return { read: path, path, body: () => ({ status: 'REVOKED' }), token: operator.token }
  },
  'PATCH /admin/platform-wallets/:id': async ({ app }) => {
    const { token } = await app.superAdmin()
    const { id } = ok(await app.call('POST', '/admin/platform-wallets', { token, body: { address: walletOf(100) } }), 201).body
    const path = `/admin/platform-wallets/${id}`
    return { read: path, path, body: (nth) => ({ address: walletOf(nth) }), token }
  },
  'PATCH /admin/service-providers/:id': async ({ app }) => {
    const { token } = await app.superAdmin()
    const path = `/admin/service-providers/${await providerIn(app, token)}`
    return { read: path, path, body: (nth) => ({ displayName: `Depot ${nth}` }), token }
  },
  'PUT /lending-application/:id/documents/:key': async (shop) => {
    await approveBusiness(shop.app, shop, await shop.app.superAdmin())
    const read = lendingPath((await createDraft(shop.app, shop)).id)
    return { read, path: `${read}/documents/ein_letter`, file: (nth) => `%PDF-1.7 ${nth}` }
  },
  'DELETE /lending-application/:id/documents/:key': async (shop) => {
    await approveBusiness(shop.app, shop, await shop.app.superAdmin())
    const read = lendingPath((await createDraft(shop.app, shop)).id)
    const path = `${read}/documents/ein_letter`
    ok(await shop.app.call('PUT', path, { token: shop.token, raw: '%PDF-1.7', headers: { 'content-type': 'application/pdf' } }))
    return { read, path, raises: false }
  },
  'PATCH /admin/shops/:id': async ({ app, shop: { id } }) => {
    const { token } = await app.superAdmin()
    const path = `/admin/shops/${id}`
    return { read: path, path, body: () => ({ status: 'SUSPENDED' }), token }
  },
}

const management = new Set([
  'superAdmin',
  ...Object.entries(accessRules).flatMap(([name, { roles = 'account', browsers }]) => (roles !== 'account' && !browsers ? [name] : [])),
])

test('every route that manages a record has a case in this test', async () => {
  await using app = await testApp()
  const changing = [...declaredAccess(app)].filter(
    ([route, access]) => /^(PATCH|PUT|DELETE) /.test(route) && management.has(access ?? '') && !route.includes(' /api/v3/'),
  )
  expect(Object.keys(subjects)).toEqual(expect.arrayContaining(changing.map(([route]) => route)))
})

const etagOf = ({ headers }: Answer): string => headers.get('etag') ?? ''

for (const [route, prepare] of Object.entries(subjects))
  describe(route, () => {
    const [method = ''] = route.split(' ')
    async function subject() {
      const app = await testApp({ STRIPE_API_URL: stripe.url, LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' })
      const shop = await sellingIn(app)
      const { read, path, body, file, raises, token = shop.token } = await prepare(shop)
      const change = (nth: number, headers: Record<string, string>) =>
        app.call(method, path, {
          token,
          headers: file ? { ...headers, 'content-type': 'application/pdf' } : headers,
          ...(body ? { body: body(nth) } : {}),
          ...(file ? { raw: file(nth) } : {}),
        })
      const readRecord = async () => (read ? ok(await app.call('GET', read, { token })) : undefined)
      return {
        [Symbol.asyncDispose]: () => app.close(),
        app,
        token,
        path,
        change,
        readRecord,
        raises,
        /** Returns the ETag of the record, or that of the first version if it can only be listed. */
        etag: async () => etagOf((await readRecord()) ?? ({ headers: new Headers({ etag: '"v1"' }) } as Answer)),
        body,
        file,
      }
    }

    // The tests share a record. Tests that change nothing come first.
    let one: Awaited<ReturnType<typeof subject>>
    beforeAll(async () => {
      one = await subject()
    })
    afterAll(() => one[Symbol.asyncDispose]())
    const key = 'one-key'

    test(`${route} responds 400 to an invalid If-Match, and 404 for a missing record before 412`, async () => {
      for (const invalid of ['v1', '"v1', '"v1" "v2"', ',', 'W/*', ''])
        expect([invalid, (await one.change(1, { 'if-match': invalid })).status]).toEqual([invalid, 400])
      const { app, token, path } = one
      const missing = path.replace(/_[0-9a-z]{26}/g, `_${'0'.repeat(26)}`)
      if (missing === path) return
      const body = one.file ? { raw: one.file(1) } : one.body ? { body: one.body(1) } : {}
      const type: Record<string, string> = one.file ? { 'content-type': 'application/pdf' } : {}
      for (const tag of ['"v0"', '*'])
        expect((await app.call(method, missing, { token, headers: { 'if-match': tag, ...type }, ...body })).status).toBe(404)
    })

    test(`${route} refuses another version with 412 and changes nothing, also with an idempotency key`, async () => {
      const before = await one.readRecord()
      for (const other of ['"v0"', '"v99"', 'W/"v0"', '"a", W/"b"']) {
        const refused = await one.change(1, { 'if-match': other, 'idempotency-key': key })
        expect([other, refused.status, refused.body]).toEqual([
          other,
          412,
          {
            statusCode: 412,
            message: 'if-match: the record has changed: read it again',
            error: 'Precondition Failed',
            code: 'version_mismatch',
            field: 'if-match',
          },
        ])
      }
      const after = await one.readRecord()
      expect([after?.text, after && etagOf(after)]).toEqual([before?.text, before && etagOf(before)])
    })

    test(`${route} changes the matched version and returns the new one; the refused idempotency key is still free`, async () => {
      const etag = await one.etag()
      expect(etag).toMatch(/^"[^"]+"$/)
      expect(await one.etag()).toBe(etag)
      const answer = ok(await one.change(1, { 'if-match': `"other", W/${etag}`, 'idempotency-key': key }), 200, 204)
      if (answer.status === 204) return
      expect(etagOf(answer) !== etag).toBe(one.raises !== false)
      // A methodology has a version that its lender names.
      expect([undefined, 'string']).toContain(answer.body.version && typeof answer.body.version)
      const record = await one.readRecord()
      if (record) expect(etagOf(record)).toBe(etagOf(answer))
      ok(await one.change(2, { 'if-match': '*' }), 200, 404)
    })

    test(`${route} by two clients with the same version has exactly one winner`, async () => {
      await using one = await subject()
      const headers = { 'if-match': await one.etag() }
      const answers = await Promise.all([1, 2].map((nth) => one.change(nth, headers)))
      // A removed record is 404. Stock does not change the version.
      const expected = one.raises !== false ? [200, 412] : method === 'DELETE' ? [204, 404] : [200, 200]
      // The second request finds the variant removed, or another version of the product.
      const accepted = one.path.includes('/variants/') && method === 'DELETE' ? [[200, 404], expected] : [expected]
      expect(accepted).toContainEqual(answers.map(({ status }) => status).sort())
    })
  })

test('404 precedes 412 for a variant that the product does not have', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const none = `/product-v2/${shop.productId}/variants/var_${'0'.repeat(26)}`
  const staleRequest = { token: shop.token, headers: { 'if-match': '"v99"' } }
  const removed = await app.call('DELETE', none, staleRequest)
  const restocked = await app.call('POST', `${none}/stock`, { ...staleRequest, body: { delta: 1 } })
  for (const { status, body } of [removed, restocked]) expect([status, body.message]).toEqual([404, 'The product has no such variant'])
})

test('412 precedes 409: an old version is reported before a taken handle', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  ok(await shop.post('/product-v2', { title: 'Taken', handle: 'taken' }))
  const change = (tag: string) => shop.patch(`/product-v2/${shop.productId}`, { handle: 'taken' }, { 'if-match': tag })
  expect((await change('"v99"')).status).toBe(412)
  expect((await change('*')).status).toBe(409)
})

test('a replay ignores If-Match and returns the stored response with its ETag', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const path = `/product-v2/${shop.productId}`
  const etag = etagOf(await shop.get(path))
  const headers = { 'if-match': etag, 'idempotency-key': randomUUID() }
  const first = ok(await shop.patch(path, { title: 'Once' }, headers))
  ok(await shop.patch(path, { title: 'Later' }))
  const publicAfter = await shop.patch(path, { title: 'Once' }, headers)
  expect([publicAfter.status, publicAfter.text, etagOf(publicAfter), publicAfter.headers.get('idempotent-replayed')]).toEqual([
    200,
    first.text,
    etagOf(first),
    'true',
  ])
})

test('sales, returns and stock do not change the version, and public reads do not show versions', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const path = `/product-v2/${shop.productId}`
  const etag = etagOf(await shop.get(path))
  const record = await app.call('GET', `/product-v2/public/${shop.productId}`)
  const order = await shop.placeOrder()
  ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}, { 'idempotency-key': randomUUID() }))
  ok(await shop.count(shop.productId, shop.variantId, { delta: 5 }))
  expect(etagOf(await shop.get(path))).toBe(etag)
  // A change without fields raises only the version.
  ok(await shop.patch(path, {}))
  const [row] = await app.deps.db.read.select().from(variants).where(eq(variants.id, shop.variantId))
  expect(row?.onHand).toBe(15)
  expect(etagOf(await shop.get(path))).not.toBe(etag)
  const publicAfter = await app.call('GET', `/product-v2/public/${shop.productId}`)
  expect([publicAfter.text, etagOf(publicAfter)]).toEqual([record.text, etagOf(record)])
})

test('tax rates, shipping methods and the shop have separate versions', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const paths = ['/shops/v2', '/shops/v2/tax-rates', '/shops/v2/shipping-methods']
  const etags = async () => Promise.all(paths.map(async (path) => etagOf(await app.call('GET', path, { token: shop.token }))))
  const before = await etags()
  ok(await shop.put('/shops/v2/tax-rates', { data: [] }))
  const after = await etags()
  expect(after.map((etag, at) => etag === before[at])).toEqual([true, false, true])
})

test('If-Match is `*` or a list of entity tags, which may contain commas', () => {
  const of = (text: string) => expectedVersionOf(new Headers({ 'if-match': text }))
  expect(expectedVersionOf(new Headers())).toBeUndefined()
  expect([of('*'), of(' "a" '), of('"a","b,c" ,\tW/"d"'), of('""')]).toEqual(['*', ['"a"'], ['"a"', '"b,c"', '"d"'], ['""']])
  expect([of('"a",, "b"'), of(', "a" ,'), of(',,W/"a",\t,"b", ,')]).toEqual([['"a"', '"b"'], ['"a"'], ['"a"', '"b"']])
  for (const invalid of ['', ',', 'a', '"a', '"a""b"', '"a";"b"', '**', '"a", *', '*,', 'w/"a"'])
    expect(() => of(invalid), invalid).toThrow(AppError)
})
