/** Tests changes of customers by the shop, with notes and tags that customers never see. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { customerTags } from '../../../../db/schema/tags.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { customerIn } from '../../../support/customers.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function createCustomerOfShop(app: TestApp) {
  const shop = await shopIn(app)
  const customer = await customerIn(app, shop.shop)
  const path = `/customer/${customer.id}`
  const change = (body: object, headers: Record<string, string> = {}) => app.call('PATCH', path, { key: shop.secretKey, body, headers })
  return { shop, customer, path, change }
}
const outboxOf = async (app: TestApp, event: string) =>
  (
    await app.deps.db.read.rows<{ body: string; event: string }>(
      (
        await import('drizzle-orm')
      ).sql`select body, event from outbox order by id`,
    )
  )
    .filter((row) => row.event === event)
    .map(({ body }) => JSON.parse(body).data)

describe('changing a customer', () => {
  test('changes the fields of the request, lists them in a webhook, and keeps values out of the audit log', async () => {
    await using app = await testApp()
    const { shop, customer, path, change } = await createCustomerOfShop(app)
    const before = ok(await shop.get(path)).body
    expect(before).toMatchObject({ note: null, tags: [], name: '' })
    const changed = ok(
      await change({ name: 'Zq9 Ann', phone: '+1 555 0199', note: ' Zq9 pays late\n', tags: ['VIP', ' vip', 'Cafe\u0301', ' '] }),
    )
    expect(changed.body).toEqual({
      ...before,
      name: 'Zq9 Ann',
      phone: '+1 555 0199',
      note: 'Zq9 pays late',
      tags: ['VIP', 'Café'],
    })
    expect(ok(await shop.get(path)).body).toEqual(changed.body)
    expect(ok(await change({ note: ' ', phone: null })).body).toMatchObject({
      note: null,
      phone: null,
      name: 'Zq9 Ann',
      tags: ['VIP', 'Café'],
    })
    expect(await outboxOf(app, 'customer.updated')).toEqual([
      { customerId: customer.id, changed: ['name', 'phone', 'note', 'tags'] },
      { customerId: customer.id, changed: ['phone', 'note'] },
    ])
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, customer.id))
    expect(rows.filter(({ action }) => action === 'customer.changed')).toHaveLength(2)
    expect(JSON.stringify(rows)).not.toMatch(/Zq9|VIP/)
  })

  test('changes nothing and sends no webhook when the values are the same', async () => {
    await using app = await testApp()
    const { change } = await createCustomerOfShop(app)
    const first = ok(await change({ tags: ['a'] }))
    const repeated = ok(await change({ tags: ['a', 'A'] }))
    expect([repeated.text, repeated.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
    expect(await outboxOf(app, 'customer.updated')).toHaveLength(1)
  })

  test('marks a new e-mail address as unverified and moves the login to it, and refuses that of another customer', async () => {
    await using app = await testApp()
    const { shop, customer, change } = await createCustomerOfShop(app)
    const other = await customerIn(app, shop.shop)
    await app.deps.db.write((tx) => app.deps.customerStore.prove(tx, customer.id, app.clock.now()))
    expect((await change({ email: other.email.toUpperCase() })).body).toMatchObject({
      statusCode: 409,
      code: 'already_exists',
      field: 'email',
    })
    expect(ok(await change({ email: customer.email.toUpperCase() })).body).toMatchObject({ email: customer.email, emailVerified: true })
    expect(ok(await change({ email: 'New@Example.com' })).body).toMatchObject({ email: 'new@example.com', emailVerified: false })
    const login = (email: string) =>
      app.call('POST', '/customer/login', { body: { shopName: shop.shop.name, email, password: customer.password } })
    expect([(await login(customer.email)).status, (await login('new@example.com')).status]).toEqual([401, 200])
  })

  test('refuses unknown fields, values beyond their bounds, and unknown and erased customers', async () => {
    await using app = await testApp()
    const { shop, path, change } = await createCustomerOfShop(app)
    const otherShop = await shopIn(app)
    for (const [body, field] of [
      [{ note: 'x'.repeat(5_001) }, 'note'],
      [{ tags: Array.from({ length: 51 }, (_, nth) => `t${nth}`) }, 'tags'],
      [{ tags: ['x'.repeat(41)] }, 'tags.0'],
      [{ tags: ['VIP', 'two\nlines'] }, 'tags.1'],
      [{ tags: ['\u202eright to left'] }, 'tags.0'],
      [{ email: 'no address' }, 'email'],
      [{ version: 3 }, 'version'],
    ] as const)
      expect((await change(body)).body).toMatchObject({ statusCode: 400, field })
    ok(await change({ note: 'x'.repeat(5_000), tags: Array.from({ length: 50 }, (_, nth) => `${nth}`.padStart(40, 'x')) }))
    expect((await app.call('PATCH', path, { key: otherShop.secretKey, body: { name: 'x' } })).status).toBe(404)
    expect((await app.call('PATCH', path, { key: shop.publishableKey, body: { name: 'x' } })).status).toBe(403)
    ok(await shop.post(`${path}/erase`, {}), 200, 204)
    expect((await change({ name: 'x' })).status).toBe(409)
    expect(ok(await shop.get(path)).body).toMatchObject({ note: null, tags: [] })
    expect(await app.deps.db.read.select().from(customerTags)).toEqual([])
  })

  test('accepts one of several concurrent changes of the same version, and refuses the others with 412', async () => {
    await using app = await testApp()
    const { shop, path, change } = await createCustomerOfShop(app)
    const etag = ok(await shop.get(path)).headers.get('etag') ?? ''
    expect(etag).toBe('"v1"')
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => change({ name, tags: [name] }, { 'if-match': etag })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412])
    const accepted = answers.find(({ status }) => status === 200)
    expect(ok(await shop.get(path)).body).toEqual(accepted?.body)
    expect(accepted?.headers.get('etag')).toBe('"v2"')
    expect(await app.deps.db.read.select().from(customerTags)).toMatchObject([{ tag: accepted?.body.name }])
    const unconditional = await Promise.all(['d', 'e'].map((tag) => change({ tags: [tag] })))
    expect(unconditional.map(({ status }) => status)).toEqual([200, 200])
    expect(await app.deps.db.read.select().from(customerTags)).toMatchObject([{ tag: ok(await shop.get(path)).body.tags[0] }])
  })

  test('replays a change under the same key once', async () => {
    await using app = await testApp()
    const { change } = await createCustomerOfShop(app)
    const withKey = { 'idempotency-key': 'k1' }
    const first = ok(await change({ tags: ['a'] }, withKey))
    ok(await change({ tags: ['b'] }))
    expect((await change({ tags: ['a'] }, withKey)).text).toBe(first.text)
    expect((await change({ tags: ['c'] }, withKey)).status).toBe(422)
  })
})

describe('notes and tags of customers', () => {
  test('are in the list and CSV of the shop, but in no response to or export for the customer', async () => {
    await using app = await testApp()
    const { shop, customer, path, change } = await createCustomerOfShop(app)
    ok(await change({ note: '=Zq9secret', tags: ['Zq9tag'] }))
    const ownResponses = await Promise.all([
      customer.get('/customer/me'),
      app.call('PATCH', '/customer/me', { token: customer.token, body: { name: 'Ann' } }),
    ])
    const exported = ok(await shop.get(`${path}/export`))
    for (const answer of [...ownResponses, exported]) expect(ok(answer).text).not.toMatch(/Zq9|"note":"=|"tags":\["/)
    for (const answer of ownResponses) expect(Object.keys(answer.body)).not.toContain('tags')
    expect(ok(await shop.get('/customer')).body.data[0]).toMatchObject({ note: '=Zq9secret', tags: ['Zq9tag'] })
    const csv = ok(await app.call('GET', '/customer', { key: shop.secretKey, headers: { accept: 'text/csv' } })).text
    const [head = '', row = ''] = csv.split('\r\n')
    expect(head).toContain(',note,tags,')
    expect(row).toContain(",'=Zq9secret,Zq9tag")
  })

  test('filter the list by tag, newest first, alone and together with other filters', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const otherShop = await shopIn(app)
    const ids: string[] = []
    for (let nth = 0; nth < 5; nth++) {
      const created = ok(await shop.post('/customer', { email: `c${nth}@example.com`, name: nth % 2 ? 'Odd' : 'Even' })).body
      app.clock.advance(10)
      ids.unshift(created.id)
      if (nth < 4) ok(await app.call('PATCH', `/customer/${created.id}`, { key: shop.secretKey, body: { tags: ['Café', `n${nth}`] } }))
    }
    const foreign = ok(await otherShop.post('/customer', { email: 'c0@example.com' })).body
    ok(await app.call('PATCH', `/customer/${foreign.id}`, { key: otherShop.secretKey, body: { tags: ['café'] } }))
    const found = async (query: string) => {
      const { data, total } = ok(await shop.get(`/customer?${query}`)).body
      return [data.map(({ id }: { id: string }) => ids.indexOf(id)), total]
    }
    const tag = `tag=${encodeURIComponent('CAFE\u0301')}`
    expect(await found(tag)).toEqual([[1, 2, 3, 4], 4])
    expect(await found(`${tag}&limit=2&page=2`)).toEqual([[3, 4], 4])
    expect(await found(`${tag}&q=odd`)).toEqual([[1, 3], 2])
    expect(await found('tag=n1&q=even')).toEqual([[], 0])
    expect(await found(`${tag}&email=c4@example.com`)).toEqual([[], 0])
    expect(await found(`${tag}&email=c3@example.com`)).toEqual([[1], 1])
    expect(await found(`${tag}&q=${ids[1]}`)).toEqual([[1], 1])
    expect(await found('tag=caf')).toEqual([[], 0])
    const csvOf = async (query: string) =>
      ok(await app.call('GET', `/customer?${query}`, { key: shop.secretKey, headers: { accept: 'text/csv' } }))
        .text.trim()
        .split('\r\n').length - 1
    expect([await csvOf(tag), await csvOf(`${tag}&q=odd`), await csvOf('tag=none')]).toEqual([4, 2, 0])
    ok(await app.call('PATCH', `/customer/${ids[1]}`, { key: shop.secretKey, body: { tags: [] } }))
    expect(await found(tag)).toEqual([[2, 3, 4], 3])
    expect(await found(`${tag}&q=odd`)).toEqual([[3], 1])
  })
})
