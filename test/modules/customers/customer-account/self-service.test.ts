/** Tests that customers read and change only their own data. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { auditLog } from '../../../../db/schema/people.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { customerIn } from '../../../support/customers.ts'
import { address, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function createCustomerOfShop(app: TestApp) {
  const shop = await shopIn(app)
  const customer = await customerIn(app, shop.shop)
  const call = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token: customer.token, ...(body === undefined ? {} : { body }) })
  return { shop, customer, call }
}
const login = (app: TestApp, shopName: string, email: string, password: string) =>
  app.call('POST', '/customer/login', { body: { shopName, email, password } })

describe('customer self-service', () => {
  test('lets customers read and change their account, keeps omitted fields and redacts the audit trail', async () => {
    await using app = await testApp()
    const { customer, call } = await createCustomerOfShop(app)
    const before = (await call('GET', '/customer/me')).body
    expect(before).toMatchObject({ id: customer.id, email: customer.email, emailVerified: false, name: '', phone: null })
    const changed = await call('PATCH', '/customer/me', { name: 'Zq9 Ann', phone: '+1 555 0199', acceptsMarketing: true })
    expect([changed.status, changed.body]).toEqual([200, { ...before, name: 'Zq9 Ann', phone: '+1 555 0199', acceptsMarketing: true }])
    expect((await call('PATCH', '/customer/me', { phone: null })).body).toEqual({ ...changed.body, phone: null })
    expect((await call('GET', '/customer/me')).body).toEqual({ ...changed.body, phone: null })
    const rows = (await app.deps.db.read.select().from(auditLog).orderBy(auditLog.id)).filter(({ action }) => action === 'customer.changed')
    expect(rows.map(({ actor, before: previous, after }) => [actor, previous, after])).toEqual([
      [
        customer.id,
        { name: '[redacted]', phone: null, acceptsMarketing: false },
        { name: '[redacted]', phone: '[redacted]', acceptsMarketing: true },
      ],
      [customer.id, { phone: '[redacted]' }, { phone: null }],
    ])
    expect((await call('PATCH', '/customer/me', { passwordHash: 'x' })).body.message).toBe('unknown field: passwordHash')
  })

  test('requires the current password to change the email address, and rejects a taken address like a signup', async () => {
    await using app = await testApp()
    const { shop, customer, call } = await createCustomerOfShop(app)
    const other = await customerIn(app, shop.shop)
    const change = (body: object) => call('PATCH', '/customer/me', body)
    const { password } = customer
    expect((await change({ email: 'new@example.com' })).body.message).toContain('password:')
    expect((await change({ email: 'new@example.com', password: 'not this one' })).status).toBe(401)
    expect((await change({ email: other.email.toUpperCase(), password })).body).toEqual(
      (await app.call('POST', '/customer/signup', { body: { shopName: shop.shop.name, email: other.email, password } })).body,
    )
    expect((await change({ email: ' bad', password })).status).toBe(400)
    // The same address in another letter case is no change and needs no password.
    expect((await change({ email: customer.email.toUpperCase() })).body).toMatchObject({ email: customer.email })
    const changed = await change({ email: 'New@Example.com', password })
    expect([changed.status, changed.body.email, changed.body.emailVerified]).toEqual([200, 'new@example.com', false])
    expect((await login(app, shop.shop.name, customer.email, password)).status).toBe(401)
    expect((await login(app, shop.shop.name, 'new@example.com', password)).status).toBe(200)
  })

  test('lets only one of two customers change to the same email address at the same time', async () => {
    await using app = await testApp()
    const { shop, customer, call } = await createCustomerOfShop(app)
    const other = await customerIn(app, shop.shop)
    const [one, two] = await Promise.all([
      call('PATCH', '/customer/me', { email: 'same@example.com', password: customer.password }),
      app.call('PATCH', '/customer/me', { token: other.token, body: { email: 'same@example.com', password: other.password } }),
    ])
    expect([one?.status, two?.status].sort()).toEqual([200, 409])
  })

  test("lists only the customer's own orders, newest first and in pages", async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 10 })
    const [one, other] = [await customerIn(app, shop.shop), await customerIn(app, shop.shop)]
    const ids: string[] = []
    for (let nth = 0; nth < 3; nth++) ids.push((await shop.placeOrder({ token: one.token })).id)
    await shop.placeOrder({ token: other.token })
    await shop.placeOrder()
    const read = (query: string) => one.get(`/customer/me/orders${query}`)
    const all = (await read('')).body
    expect([all.total, all.data.map(({ id }: { id: string }) => id)]).toEqual([3, ids.toReversed()])
    expect(all.data[0]).toEqual((await one.get(`/v2/orders/${ids[2]}`)).body)
    const second = (await read('?page=2&limit=2')).body
    expect([second.pages, second.data.map(({ id }: { id: string }) => id)]).toEqual([2, [ids[0]]])
    expect((await read('?page=9')).body.data).toEqual([])
    expect((await read('?limt=2')).status).toBe(400)
  })

  test('lets customers list their sessions and change their password by the auth routes, which ends other sessions', async () => {
    await using app = await testApp()
    const { shop, customer, call } = await createCustomerOfShop(app)
    const second = (await login(app, shop.shop.name, customer.email, customer.password)).body.data.accessToken
    expect((await call('GET', '/auth/sessions')).body.total).toBe(2)
    expect((await call('POST', '/auth/password', { current: customer.password, password: 'another one of mine' })).status).toBe(204)
    expect((await app.call('GET', '/customer/me', { token: second })).status).toBe(401)
    expect((await call('GET', '/customer/me')).status).toBe(200)
  })
})

describe('the address book of a customer', () => {
  test('lets customers add, list, change and delete addresses, and moves the default flag', async () => {
    await using app = await testApp()
    const { call } = await createCustomerOfShop(app)
    const one = (await call('POST', '/customer/me/addresses', { ...address, isDefaultShipping: true })).body
    const two = (await call('POST', '/customer/me/addresses', { ...address, name: 'Office' })).body
    expect((await call('GET', '/customer/me/addresses')).body).toMatchObject({ data: [one, two], total: 2 })
    const path = (id: string) => `/customer/me/addresses/${id}`
    const changed = await call('PATCH', path(two.id), { city: 'Bath', province: null, isDefaultShipping: true })
    expect([changed.status, changed.body]).toEqual([200, { ...two, city: 'Bath', province: null, isDefaultShipping: true }])
    expect((await call('GET', '/customer/me/addresses?limit=1')).body.data).toEqual([{ ...one, isDefaultShipping: false }])
    for (const invalid of [{ countryCode: 'ZZ' }, { name: ' ' }, { name: null }, { customerId: 'x' }, { line1: 'a\0b' }])
      expect([invalid, (await call('PATCH', path(two.id), invalid)).status]).toEqual([invalid, 400])
    expect((await call('DELETE', path(one.id))).status).toBe(204)
    expect((await call('DELETE', path(one.id))).status).toBe(404)
    expect((await call('GET', '/customer/me')).body.addressIds).toEqual([two.id])
  })

  test("rejects changes to another customer's address and to an address outside the book", async () => {
    await using app = await testApp()
    const { shop, customer, call } = await createCustomerOfShop(app)
    const other = await customerIn(app, shop.shop)
    const theirs = (await other.post('/customer/me/addresses', address)).body
    const unassigned = (await customer.post('/addresses', address)).body
    for (const { id } of [theirs, unassigned])
      for (const answer of [
        await call('PATCH', `/customer/me/addresses/${id}`, { city: 'Bath' }),
        await call('DELETE', `/customer/me/addresses/${id}`),
      ])
        expect([answer.status, answer.body.message]).toEqual([404, 'No such address'])
    expect((await other.get('/customer/me/addresses')).body.data).toEqual([theirs])
  })

  test('keeps one default address of each kind when several are set at once', async () => {
    await using app = await testApp()
    const { call } = await createCustomerOfShop(app)
    const ids: string[] = []
    for (let nth = 0; nth < 4; nth++) ids.push((await call('POST', '/customer/me/addresses', address)).body.id)
    const answers = await Promise.all(ids.map((id) => call('PATCH', `/customer/me/addresses/${id}`, { isDefaultBilling: true })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { data } = (await call('GET', '/customer/me/addresses')).body
    expect(data.filter((one: { isDefaultBilling: boolean }) => one.isDefaultBilling).length).toBe(1)
  })
})

describe('the customer list of a shop', () => {
  test('lists customers newest first and finds them by prefix of email or name, full email or id', async () => {
    await using app = await testApp()
    const [shop, other] = [await shopIn(app), await shopIn(app)]
    const createCustomer = async (target: typeof shop, email: string, name: string) =>
      String((await target.post('/customer', { email, name })).body.id)
    const ann = await createCustomer(shop, 'ann@example.com', 'Ann Lee')
    const bob = await createCustomer(shop, 'bob@example.com', 'Anton B_%')
    const eve = await createCustomer(shop, 'x100%@example.com', 'Ева')
    await createCustomer(other, 'ann@example.com', 'Ann Lee')
    const found = async (query: string, caller: object = { key: shop.secretKey }) => {
      const { body } = await app.call('GET', `/customer${query}`, caller)
      expect(body.total).toBe(body.data.length)
      return body.data.map(({ id }: { id: string }) => id)
    }
    expect(await found('')).toEqual([eve, bob, ann])
    expect(await found('', { token: shop.token })).toEqual([eve, bob, ann])
    expect(await found('?q=AN')).toEqual([bob, ann])
    expect(await found('?q=ann%20')).toEqual([ann])
    expect(await found('?q=bob')).toEqual([bob])
    expect(await found('?q=%D0%95%D0%B2')).toEqual([eve])
    expect(await found(`?q=${eve}`)).toEqual([eve])
    expect(await found('?q=x100%25')).toEqual([eve])
    expect(await found('?q=%25')).toEqual([])
    expect(await found('?q=_nn')).toEqual([])
    expect(await found('?email=Ann@example.com')).toEqual([ann])
    expect(await found('?email=ann')).toEqual([])
    expect(await found('?email=ann@example.com&q=bob')).toEqual([])
    const page = (await shop.get('/customer?page=2&limit=2')).body
    expect([page.total, page.pages, page.data]).toEqual([3, 2, [(await shop.get(`/customer/${ann}`)).body]])
    expect((await shop.get('/customer?q=')).body.total).toBe(3)
  })
})
