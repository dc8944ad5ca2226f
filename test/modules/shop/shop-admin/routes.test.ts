/** Operators find, suspend and restore shops; a suspended shop is closed to the public. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { openShop } from '../../../../src/modules/shop/shop/index.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness, fileBusiness } from '../../../support/kyb.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Opens a selling shop and creates an operator, with functions that read and set the status of the shop. */
async function openWorld() {
  const app = await testApp()
  const operator = await app.superAdmin()
  const shop = await sellingIn(app)
  const path = `/admin/shops/${shop.shop.id}`
  const set = (status: string, headers: Record<string, string> = {}): Promise<Answer> =>
    app.call('PATCH', path, { token: operator.token, body: { status }, headers })
  const read = () => app.call('GET', path, { token: operator.token })
  return { [Symbol.asyncDispose]: () => app.close(), app, operator, shop, path, set, read }
}

test('shops are found by part of their handle or title in any case, or by their id or merchant id, without wildcards', async () => {
  await using world = await openWorld()
  const { app, operator, shop } = world
  const other = await app.merchant()
  const title = '100% Мод_Ceramics'
  ok(await app.call('PATCH', '/shops/v2', { token: other.token, body: { title } }))
  const findShops = async (query: string) =>
    ok(await app.call('GET', `/admin/shops?${query}`, { token: operator.token })).body.data.map(({ id }: { id: string }) => id)
  const search = (q: string) => findShops(`q=${encodeURIComponent(q)}`)
  expect(await findShops('')).toEqual([other.shop.id, shop.shop.id])
  for (const q of ['ceRAmics', '100%', 'Мод_', other.shop.name.toUpperCase(), other.shop.id, other.id])
    expect([q, await search(q)]).toEqual([q, [other.shop.id]])
  for (const q of ['%', '_']) expect([q, await search(q)]).toEqual([q, [other.shop.id]])
  for (const q of ['must be a shop of this instance', '\\', shop.shop.id.slice(0, -1), shop.id.slice(0, -1)])
    expect([q, await search(q)]).toEqual([q, []])
  expect(await findShops(`status=SUSPENDED&q=${other.shop.name}`)).toEqual([])
  expect(await findShops(`status=ACTIVE&q=${other.shop.name}`)).toEqual([other.shop.id])
  expect((await app.call('GET', '/admin/shops?q=', { token: operator.token })).status).toBe(200)
})

test('the complete id of a merchant finds only their shops', async () => {
  await using world = await openWorld()
  const { app, operator, shop } = world
  const other = await app.merchant()
  const branch = { merchantId: other.id, name: 'second-of-two', country: 'US', currency: 'USD' }
  const second = await app.deps.db.write((tx) => openShop(tx, app.deps, branch))
  // Another shop has the id in its title, which must not match.
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { title: `Not ${other.id}` } }))
  const findShops = async (query: string) =>
    ok(await app.call('GET', `/admin/shops?${query}`, { token: operator.token })).body.data.map(({ id }: { id: string }) => id)
  expect(await findShops(`q=${other.id}`)).toEqual([second.id, other.shop.id])
  expect(await findShops(`q=${other.id}&status=SUSPENDED`)).toEqual([])
  expect(await findShops(`q=${other.id.slice(0, -1)}`)).toEqual([shop.shop.id])
  expect(await findShops('q=mer_00000000000000000000000000')).toEqual([])
})

describe('the status of a shop', () => {
  test('a suspended shop is restored to ACTIVE, or to KYB_VERIFIED if its merchant is approved', async () => {
    await using world = await openWorld()
    const { app, operator, shop, set, read } = world
    expect(ok(await read()).body).toMatchObject({ id: shop.shop.id, merchantId: shop.id, status: 'ACTIVE', verifiedAt: null })
    expect(ok(await set('SUSPENDED')).body.status).toBe('SUSPENDED')
    expect(ok(await app.call('GET', '/shops/v2', { token: shop.token })).body.status).toBe('SUSPENDED')
    expect(ok(await set('ACTIVE')).body.status).toBe('ACTIVE')
    await approveBusiness(app, shop, operator)
    const verifiedAt = '2026-01-06T12:00:00.000Z'
    app.clock.advance(1_000)
    expect(ok(await set('SUSPENDED')).body).toMatchObject({ status: 'SUSPENDED', verifiedAt })
    expect(ok(await set('KYB_VERIFIED')).body).toMatchObject({ status: 'KYB_VERIFIED', verifiedAt })
  })

  test('restoring the shop of an approved merchant to ACTIVE makes it KYB_VERIFIED', async () => {
    await using world = await openWorld()
    const { app, operator, shop, set } = world
    await approveBusiness(app, shop, operator)
    ok(await set('SUSPENDED'))
    expect(ok(await set('ACTIVE')).body.status).toBe('KYB_VERIFIED')
  })

  test('an approval does not restore a suspended shop, which is verified when it is restored', async () => {
    await using world = await openWorld()
    const { app, operator, shop, set, read } = world
    ok(await set('SUSPENDED'))
    await approveBusiness(app, shop, operator)
    expect(ok(await read()).body).toMatchObject({ status: 'SUSPENDED', verifiedAt: null })
    app.clock.advance(60_000)
    expect(ok(await set('ACTIVE')).body).toMatchObject({ status: 'KYB_VERIFIED', verifiedAt: '2026-01-06T12:01:00.000Z' })
  })

  test('a shop that is restored in parallel with the approval of its merchant becomes verified', async () => {
    await using world = await openWorld()
    const { app, operator } = world
    for (let round = 0; round < 5; round++) {
      const merchant = await app.merchant()
      const path = `/admin/shops/${merchant.shop.id}`
      const { id } = await fileBusiness(app, merchant)
      const set = (status: string) => app.call('PATCH', path, { token: operator.token, body: { status } })
      ok(await set('SUSPENDED'))
      const decide = () => app.call('POST', `/admin/kyb/${id}/decision`, { token: operator.token, body: { decision: 'APPROVED' } })
      const requests = round % 2 === 0 ? [decide(), set('ACTIVE')] : [set('ACTIVE'), decide()]
      for (const answer of await Promise.all(requests)) ok(answer)
      expect(ok(await app.call('GET', path, { token: operator.token })).body.status).toBe('KYB_VERIFIED')
    }
  })

  test('an operator can neither verify a shop without an approval nor undo its verification: 409', async () => {
    await using world = await openWorld()
    const { app, operator, shop, set, read } = world
    const before = ok(await read())
    expect((await set('KYB_VERIFIED')).status).toBe(409)
    ok(await set('SUSPENDED'))
    expect((await set('KYB_VERIFIED')).body.message).toBe('The merchant has no approved KYB record. Set the status to ACTIVE')
    const { id } = await fileBusiness(app, shop)
    expect((await set('KYB_VERIFIED')).status).toBe(409)
    ok(await app.call('POST', `/admin/kyb/${id}/decision`, { token: operator.token, body: { decision: 'REJECTED' } }))
    expect((await set('KYB_VERIFIED')).status).toBe(409)
    ok(await set('ACTIVE'))
    expect({ ...ok(await read()).body, updatedAt: '' }).toEqual({ ...before.body, updatedAt: '' })
    await approveBusiness(app, shop, operator)
    expect((await set('ACTIVE')).status).toBe(409)
    expect(ok(await read()).body.status).toBe('KYB_VERIFIED')
  })

  test('setting the status that a shop already has changes nothing, not even its version', async () => {
    await using world = await openWorld()
    ok(await world.set('SUSPENDED'))
    const before = await world.read()
    world.app.clock.advance(1_000)
    const repeated = ok(await world.set('SUSPENDED'))
    expect([repeated.text, repeated.headers.get('etag')]).toEqual([before.text, before.headers.get('etag')])
  })

  test('parallel status changes of a shop end in one of the statuses, with an audit row for each change', async () => {
    await using world = await openWorld()
    const { app, shop, set, read } = world
    const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => set(nth % 2 === 0 ? 'SUSPENDED' : 'ACTIVE')))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const { status } = ok(await read()).body
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, shop.shop.id))
    const changes = rows.filter(({ action, after }) => /^shop\.(suspended|restored)$/.test(action) && after !== null)
    // The changes form a chain: each starts with the status in which another ended.
    const to = changes.map(({ after }) => after?.['status']).sort()
    const from = changes.map(({ before }) => before?.['status']).sort()
    expect([...from, status].sort()).toEqual(['ACTIVE', ...to].sort())
    expect(rows.filter(({ action }) => /^shop\.(suspended|restored)$/.test(action))).toHaveLength(changes.length)
  })

  test('unknown statuses and other fields get 400, and an unknown shop gets 404', async () => {
    await using world = await openWorld()
    const { app, operator, path } = world
    for (const body of [{}, { status: 'CLOSED' }, { status: null }, { status: 'SUSPENDED', title: 'x' }])
      expect([body, (await app.call('PATCH', path, { token: operator.token, body })).status]).toEqual([body, 400])
    const unknownPath = '/admin/shops/shop_00000000000000000000000000'
    for (const [method, options] of [
      ['GET', {}],
      ['PATCH', { body: { status: 'SUSPENDED' } }],
    ] as const)
      expect((await app.call(method, unknownPath, { token: operator.token, ...options })).status).toBe(404)
    expect(ok(await world.read()).body.status).toBe('ACTIVE')
  })

  test('operators list shops newest first, by status and by page', async () => {
    await using world = await openWorld()
    const { app, operator, shop, set } = world
    const other = await app.merchant()
    const list = async (query: string) => ok(await app.call('GET', `/admin/shops${query}`, { token: operator.token })).body
    const idsOf = ({ data }: Answer['body']) => data.map(({ id }: { id: string }) => id)
    ok(await set('SUSPENDED'))
    expect(idsOf(await list(''))).toEqual([other.shop.id, shop.shop.id])
    expect(await list('?limit=1')).toMatchObject({ data: [{ id: other.shop.id, merchantId: other.id }], total: 2, pages: 2 })
    expect(idsOf(await list('?status=SUSPENDED'))).toEqual([shop.shop.id])
    expect(await list('?status=KYB_VERIFIED')).toMatchObject({ data: [], total: 0 })
    expect((await app.call('GET', '/admin/shops?status=CLOSED', { token: operator.token })).status).toBe(400)
    expect(JSON.stringify(await list(''))).not.toMatch(/sk_test|pk_test|password/i)
  })
})

/** Creates a blog post and a collection, and returns all public paths of the shop. */
async function publicPaths({ app, shop, productId, post }: Selling): Promise<string[]> {
  const { id, slug } = ok(await post('/blogs', { title: 'News', bodyHtml: '<p>Hello</p>', status: 'PUBLISHED' })).body
  expect(id).toStartWith('blog_')
  const collection = ok(await post('/collection-v2', { title: 'Summer', publishedAt: '2025-01-01T00:00:00.000Z' })).body
  expect(collection.id).toStartWith('coll_')
  expect(app).toBeDefined()
  return [
    `/shops/v2/public/name/${shop.name}`,
    `/product-v2/public/shop/${shop.name}`,
    `/product-v2/public/shop/${shop.name}?q=mug`,
    `/product-v2/public/shop/${shop.name}?collection=${collection.handle}`,
    `/product-v2/public/${productId}`,
    `/collection-v2/published/${shop.name}`,
    `/blogs/public/${slug}`,
  ]
}

const getStatuses = async (app: TestApp, paths: readonly string[], headers: Record<string, string> = {}) =>
  Promise.all(paths.map(async (path) => [path, (await app.call('GET', path, { headers })).status]))

describe('a suspended shop', () => {
  test('a suspended shop gets 404 on all public paths at once, also for cached responses, until it is restored', async () => {
    await using world = await openWorld()
    const { app, shop, set } = world
    const paths = await publicPaths(shop)
    const etag = ok(await app.call('GET', `/product-v2/public/${shop.productId}`)).headers.get('etag') ?? ''
    const other = await sellingIn(app)
    const otherPaths = await publicPaths(other)
    expect(await getStatuses(app, paths)).toEqual(paths.map((path) => [path, 200]))
    ok(await set('SUSPENDED'))
    // Requests from pages and conditional requests get 404, too.
    for (const headers of [{}, { origin: 'https://shop.example' }, { 'if-none-match': etag }, { 'if-none-match': '*' }] as Record<
      string,
      string
    >[])
      expect(await getStatuses(app, paths, headers)).toEqual(paths.map((path) => [path, 404]))
    for (const path of paths) expect(await getStatuses(app, [`/api/v3${path}`])).toEqual([[`/api/v3${path}`, 404]])
    const unknown = await app.call('GET', '/shops/v2/public/name/no-such-shop')
    expect((await app.call('GET', `/shops/v2/public/name/${shop.shop.name}`)).text).toBe(unknown.text)
    expect(await getStatuses(app, otherPaths)).toEqual(otherPaths.map((path) => [path, 200]))
    ok(await set('ACTIVE'))
    expect(await getStatuses(app, paths)).toEqual(paths.map((path) => [path, 200]))
  })

  test('a suspended shop refuses checkouts with either key, and new payments of declined orders, with 409', async () => {
    await using world = await openWorld()
    const { app, shop, set } = world
    const [newCart, declined] = [await shop.cart(), await shop.cart()]
    expect(ok(await shop.checkout(declined, { paymentToken: 'tok_decline' })).body.order.paymentStatus).toBe('FAILED')
    const stock = await shop.stock()
    ok(await set('SUSPENDED'))
    const withSecretKey = await app.call('POST', `/cart/${newCart}/checkout`, {
      key: shop.secretKey,
      body: { method: 'card' },
      headers: { 'idempotency-key': randomUUID() },
    })
    const refused = [await shop.checkout(newCart), withSecretKey, await shop.checkout(declined)]
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual(
      refused.map(() => [409, 'The shop is suspended and takes no orders']),
    )
    expect(await shop.stock()).toEqual(stock)
    ok(await set('ACTIVE'))
    expect(ok(await shop.checkout(newCart)).body.order.status).toBe('CONFIRMED')
    expect(ok(await shop.checkout(declined)).body.order.status).toBe('CONFIRMED')
  })

  test('payments that started before a suspension are completed, and orders can be refunded and fulfilled', async () => {
    await using world = await openWorld()
    const { app, shop, set } = world
    const [sold, soldToFulfil] = [await shop.placeOrder(), await shop.placeOrder()]
    const waiting = await shop.cart()
    const key = randomUUID()
    expect(ok(await shop.checkout(waiting, { paymentToken: 'tok_crash' }, key)).body.order).toBeDefined()
    ok(await set('SUSPENDED'))
    ok(await app.call('POST', `/cart/${waiting}/complete`, { key: shop.publishableKey, body: {} }))
    app.clock.advance(5 * 60_000)
    await app.jobs.resume()
    const { data } = ok(await shop.get('/v2/orders')).body
    expect(data.map(({ status }: { status: string }) => status)).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED'])
    // The same request with its key gets the stored response.
    expect((await shop.checkout(waiting, { paymentToken: 'tok_crash' }, key)).status).toBe(201)
    expect(ok(await shop.refund(sold.id)).body.status).toBeDefined()
    ok(await shop.post(`/v2/orders/${soldToFulfil.id}/fulfil`, {}, { 'idempotency-key': randomUUID() }))
  })

  test('a suspended shop can be managed, and its customers can log in and read orders, but no one can sign up', async () => {
    await using world = await openWorld()
    const { app, shop, set } = world
    const customer = await customerOf(app, shop.shop.name)
    const order = await shop.placeOrder({ token: customer.token, email: 'shopper@example.com' })
    ok(await set('SUSPENDED'))
    const login = { shopName: shop.shop.name, email: 'shopper@example.com', password: 'a password of theirs' }
    const session = ok(await app.call('POST', '/customer/login', { body: login }))
    ok(await app.call('GET', `/v2/orders/${order.id}`, { token: session.body.data.accessToken }))
    expect((await app.call('POST', '/customer/signup', { body: { ...login, email: 'new@example.com' } })).status).toBe(404)
    ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { title: 'Closed for now' } }))
    ok(await shop.patch(`/product-v2/${shop.productId}`, { title: 'Cup' }))
    ok(await app.call('GET', '/shops/v2/private-key', { token: shop.token }))
    expect((await app.call('GET', `/product-v2/public/${shop.productId}`)).status).toBe(404)
    ok(await set('ACTIVE'))
    expect(ok(await app.call('GET', `/product-v2/public/${shop.productId}`)).body.title).toBe('Cup')
  })
})
