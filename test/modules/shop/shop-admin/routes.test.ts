/** Suspending and restoring a shop, and what that means for those who look for it and buy in it. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { openShop } from '../../../../src/modules/shop/shop/index.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { approved, filed } from '../../../support/kyb.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** A shop that sells, and an operator who sets its status. */
async function operated() {
  const app = await testApp()
  const operator = await app.superAdmin()
  const shop = await sellingIn(app)
  const path = `/admin/shops/${shop.shop.id}`
  const set = (status: string, headers: Record<string, string> = {}): Promise<Answer> =>
    app.call('PATCH', path, { token: operator.token, body: { status }, headers })
  const read = () => app.call('GET', path, { token: operator.token })
  return { [Symbol.asyncDispose]: () => app.close(), app, operator, shop, path, set, read }
}

test('shops are found by a part of their handle or title, in either case of a to z, or by the id of them or their merchant; what a pattern means, means nothing', async () => {
  await using one = await operated()
  const { app, operator, shop } = one
  const other = await app.merchant()
  const title = '100% Мод_Ceramics'
  ok(await app.call('PATCH', '/shops/v2', { token: other.token, body: { title } }))
  const found = async (query: string) =>
    ok(await app.call('GET', `/admin/shops?${query}`, { token: operator.token })).body.data.map(({ id }: { id: string }) => id)
  const asked = (q: string) => found(`q=${encodeURIComponent(q)}`)
  expect(await found('')).toEqual([other.shop.id, shop.shop.id])
  for (const q of ['ceRAmics', '100%', 'Мод_', other.shop.name.toUpperCase(), other.shop.id, other.id])
    expect([q, await asked(q)]).toEqual([q, [other.shop.id]])
  for (const q of ['%', '_']) expect([q, await asked(q)]).toEqual([q, [other.shop.id]])
  for (const q of ['must be a shop of this instance', '\\', shop.shop.id.slice(0, -1), shop.id.slice(0, -1)])
    expect([q, await asked(q)]).toEqual([q, []])
  expect(await found(`status=SUSPENDED&q=${other.shop.name}`)).toEqual([])
  expect(await found(`status=ACTIVE&q=${other.shop.name}`)).toEqual([other.shop.id])
  expect((await app.call('GET', '/admin/shops?q=', { token: operator.token })).status).toBe(200)
})

test('the whole id of a merchant finds their shops and nothing else', async () => {
  await using one = await operated()
  const { app, operator, shop } = one
  const other = await app.merchant()
  const branch = { merchantId: other.id, name: 'second-of-two', country: 'US', currency: 'USD' }
  const second = await app.deps.db.write((tx) => openShop(tx, app.deps, branch))
  // Somebody's title says the id too: it is not what was asked for.
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { title: `Not ${other.id}` } }))
  const found = async (query: string) =>
    ok(await app.call('GET', `/admin/shops?${query}`, { token: operator.token })).body.data.map(({ id }: { id: string }) => id)
  expect(await found(`q=${other.id}`)).toEqual([second.id, other.shop.id])
  expect(await found(`q=${other.id}&status=SUSPENDED`)).toEqual([])
  expect(await found(`q=${other.id.slice(0, -1)}`)).toEqual([shop.shop.id])
  expect(await found('q=mer_00000000000000000000000000')).toEqual([])
})

describe('the status of a shop', () => {
  test('a shop is suspended and restored to what it was: ACTIVE without KYB, KYB_VERIFIED with it', async () => {
    await using one = await operated()
    const { app, operator, shop, set, read } = one
    expect(ok(await read()).body).toMatchObject({ id: shop.shop.id, merchantId: shop.id, status: 'ACTIVE', verifiedAt: null })
    expect(ok(await set('SUSPENDED')).body.status).toBe('SUSPENDED')
    expect(ok(await app.call('GET', '/shops/v2', { token: shop.token })).body.status).toBe('SUSPENDED')
    expect(ok(await set('ACTIVE')).body.status).toBe('ACTIVE')
    await approved(app, shop, operator)
    const verifiedAt = '2026-01-06T12:00:00.000Z'
    app.clock.advance(1_000)
    expect(ok(await set('SUSPENDED')).body).toMatchObject({ status: 'SUSPENDED', verifiedAt })
    expect(ok(await set('KYB_VERIFIED')).body).toMatchObject({ status: 'KYB_VERIFIED', verifiedAt })
  })

  test('a shop that is restored is KYB_VERIFIED when its merchant was approved, whichever of the two was asked for', async () => {
    await using one = await operated()
    const { app, operator, shop, set } = one
    await approved(app, shop, operator)
    ok(await set('SUSPENDED'))
    expect(ok(await set('ACTIVE')).body.status).toBe('KYB_VERIFIED')
  })

  test('an approval while a shop is suspended leaves it so, and it is verified from its restoring on', async () => {
    await using one = await operated()
    const { app, operator, shop, set, read } = one
    ok(await set('SUSPENDED'))
    await approved(app, shop, operator)
    expect(ok(await read()).body).toMatchObject({ status: 'SUSPENDED', verifiedAt: null })
    app.clock.advance(60_000)
    expect(ok(await set('ACTIVE')).body).toMatchObject({ status: 'KYB_VERIFIED', verifiedAt: '2026-01-06T12:01:00.000Z' })
  })

  test('a shop that is restored while its merchant is approved is verified by one of the two', async () => {
    await using one = await operated()
    const { app, operator } = one
    for (let round = 0; round < 5; round++) {
      const merchant = await app.merchant()
      const path = `/admin/shops/${merchant.shop.id}`
      const { id } = await filed(app, merchant)
      const set = (status: string) => app.call('PATCH', path, { token: operator.token, body: { status } })
      ok(await set('SUSPENDED'))
      const decide = () => app.call('POST', `/admin/kyb/${id}/decision`, { token: operator.token, body: { decision: 'APPROVED' } })
      const both = round % 2 === 0 ? [decide(), set('ACTIVE')] : [set('ACTIVE'), decide()]
      for (const answer of await Promise.all(both)) ok(answer)
      expect(ok(await app.call('GET', path, { token: operator.token })).body.status).toBe('KYB_VERIFIED')
    }
  })

  test('nothing but an approval verifies a shop, and nothing takes that back: 409', async () => {
    await using one = await operated()
    const { app, operator, shop, set, read } = one
    const before = ok(await read())
    expect((await set('KYB_VERIFIED')).status).toBe(409)
    ok(await set('SUSPENDED'))
    expect((await set('KYB_VERIFIED')).body.message).toBe('The merchant has no approved KYB record. Set the status to ACTIVE')
    const { id } = await filed(app, shop)
    expect((await set('KYB_VERIFIED')).status).toBe(409)
    ok(await app.call('POST', `/admin/kyb/${id}/decision`, { token: operator.token, body: { decision: 'REJECTED' } }))
    expect((await set('KYB_VERIFIED')).status).toBe(409)
    ok(await set('ACTIVE'))
    expect({ ...ok(await read()).body, updatedAt: '' }).toEqual({ ...before.body, updatedAt: '' })
    await approved(app, shop, operator)
    expect((await set('ACTIVE')).status).toBe(409)
    expect(ok(await read()).body.status).toBe('KYB_VERIFIED')
  })

  test('asked for the status that it has, a shop stays as it is, version and all', async () => {
    await using one = await operated()
    ok(await one.set('SUSPENDED'))
    const before = await one.read()
    one.app.clock.advance(1_000)
    const again = ok(await one.set('SUSPENDED'))
    expect([again.text, again.headers.get('etag')]).toEqual([before.text, before.headers.get('etag')])
  })

  test('suspended and restored at once by many, a shop ends as one of them left it, with a row of the audit trail for each change', async () => {
    await using one = await operated()
    const { app, shop, set, read } = one
    const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => set(nth % 2 === 0 ? 'SUSPENDED' : 'ACTIVE')))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const { status } = ok(await read()).body
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, shop.shop.id))
    const moved = rows.filter(({ action, after }) => /^shop\.(suspended|restored)$/.test(action) && after !== null)
    // Those that changed anything make a chain: each begins where another ended.
    const to = moved.map(({ after }) => after?.['status']).sort()
    const from = moved.map(({ before }) => before?.['status']).sort()
    expect([...from, status].sort()).toEqual(['ACTIVE', ...to].sort())
    expect(rows.filter(({ action }) => /^shop\.(suspended|restored)$/.test(action))).toHaveLength(moved.length)
  })

  test('a shop refuses statuses that there are not, fields that are not the operator’s to set, and a path that leads nowhere', async () => {
    await using one = await operated()
    const { app, operator, path } = one
    for (const body of [{}, { status: 'CLOSED' }, { status: null }, { status: 'SUSPENDED', title: 'x' }])
      expect([body, (await app.call('PATCH', path, { token: operator.token, body })).status]).toEqual([body, 400])
    const nowhere = '/admin/shops/shop_00000000000000000000000000'
    for (const [method, sent] of [
      ['GET', {}],
      ['PATCH', { body: { status: 'SUSPENDED' } }],
    ] as const)
      expect((await app.call(method, nowhere, { token: operator.token, ...sent })).status).toBe(404)
    expect(ok(await one.read()).body.status).toBe('ACTIVE')
  })

  test('operators list shops newest first, by status and by page', async () => {
    await using one = await operated()
    const { app, operator, shop, set } = one
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

/** What anybody may ask of a shop. */
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

const statuses = async (app: TestApp, paths: readonly string[], headers: Record<string, string> = {}) =>
  Promise.all(paths.map(async (path) => [path, (await app.call('GET', path, { headers })).status]))

describe('a suspended shop', () => {
  test('a suspended shop is not there for anybody, from the answer on, whatever was read before; restored, it is there again', async () => {
    await using one = await operated()
    const { app, shop, set } = one
    const paths = await publicPaths(shop)
    const etag = ok(await app.call('GET', `/product-v2/public/${shop.productId}`)).headers.get('etag') ?? ''
    const other = await sellingIn(app)
    const theirs = await publicPaths(other)
    expect(await statuses(app, paths)).toEqual(paths.map((path) => [path, 200]))
    ok(await set('SUSPENDED'))
    // From a page as well, and to whoever holds the answer of before.
    for (const headers of [{}, { origin: 'https://shop.example' }, { 'if-none-match': etag }, { 'if-none-match': '*' }] as Record<
      string,
      string
    >[])
      expect(await statuses(app, paths, headers)).toEqual(paths.map((path) => [path, 404]))
    for (const path of paths) expect(await statuses(app, [`/api/v3${path}`])).toEqual([[`/api/v3${path}`, 404]])
    const unknown = await app.call('GET', '/shops/v2/public/name/no-such-shop')
    expect((await app.call('GET', `/shops/v2/public/name/${shop.shop.name}`)).text).toBe(unknown.text)
    expect(await statuses(app, theirs)).toEqual(theirs.map((path) => [path, 200]))
    ok(await set('ACTIVE'))
    expect(await statuses(app, paths)).toEqual(paths.map((path) => [path, 200]))
  })

  test('in a suspended shop nothing new is bought, with either key, and a declined order is not paid by another payment: 409', async () => {
    await using one = await operated()
    const { app, shop, set } = one
    const [ready, declined] = [await shop.cart(), await shop.cart()]
    expect(ok(await shop.checkout(declined, { paymentToken: 'tok_decline' })).body.order.paymentStatus).toBe('FAILED')
    const stock = await shop.stock()
    ok(await set('SUSPENDED'))
    const bySecret = await app.call('POST', `/cart/${ready}/checkout`, {
      key: shop.secretKey,
      body: { method: 'card' },
      headers: { 'idempotency-key': randomUUID() },
    })
    const refused = [await shop.checkout(ready), bySecret, await shop.checkout(declined)]
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual(
      refused.map(() => [409, 'The shop is suspended and takes no orders']),
    )
    expect(await shop.stock()).toEqual(stock)
    ok(await set('ACTIVE'))
    expect(ok(await shop.checkout(ready)).body.order.status).toBe('CONFIRMED')
    expect(ok(await shop.checkout(declined)).body.order.status).toBe('CONFIRMED')
  })

  test('what has begun in a shop before it is suspended goes on: a payment under way is completed, orders are refunded and sent', async () => {
    await using one = await operated()
    const { app, shop, set } = one
    const [sold, sent] = [await shop.bought(), await shop.bought()]
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
    ok(await shop.post(`/v2/orders/${sent.id}/fulfil`, {}, { 'idempotency-key': randomUUID() }))
  })

  test('a suspended shop is managed on by its merchant and its keys; its customers log in and read their orders, and nobody becomes one', async () => {
    await using one = await operated()
    const { app, shop, set } = one
    const customer = await customerOf(app, shop.shop.name)
    const order = await shop.bought({ token: customer.token, email: 'shopper@example.com' })
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
