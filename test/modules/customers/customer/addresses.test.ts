import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { addresses } from '../../../../db/schema/selling.ts'
import { addressesByCustomer, addressesPerCustomerMax, addressOf } from '../../../../src/modules/customers/customer/domain.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { customerIn } from '../../../support/customers.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const requiredFields = { name: 'A Buyer', line1: '1 High St', city: 'Springfield', countryCode: 'US' }
const fullAddress = { ...requiredFields, company: 'Acme', line2: 'Floor 2', province: 'IL', postalCode: '62701', phone: '+1 555 0100' }
const noSuchAddress = { statusCode: 404, message: 'No such address', error: 'Not Found', code: 'not_found' }

async function createShopWithCustomer(app: TestApp) {
  const shop = await shopIn(app)
  const customer = await customerIn(app, shop.shop)
  return { ...shop, customer, bookPath: `/customer/${customer.id}/addresses`, addPath: `/customer/${customer.id}/addresses/add` }
}

/** Returns the names in a customer's default addresses, by kind. */
async function defaultsOf(app: TestApp, customerId: string) {
  const rows = await app.deps.db.read.select().from(addresses).where(eq(addresses.customerId, customerId))
  const names = (kind: 'isDefaultShipping' | 'isDefaultBilling') => rows.filter((row) => row[kind]).map(({ address }) => address.name)
  return { shipping: names('isDefaultShipping'), billing: names('isDefaultBilling') }
}

describe("an address in a customer's address book", () => {
  test('stores an address in the book with an audit row, readable by the shop and the customer', async () => {
    await using app = await testApp()
    const { shop, secretKey, customer, bookPath, post, get } = await createShopWithCustomer(app)
    for (const rogue of ['id', 'customerId', 'enteredBy'])
      expect((await post(bookPath, { ...fullAddress, [rogue]: 'zq9' })).body.message).toBe(`unknown field: ${rogue}`)
    const created = await post(bookPath, { ...fullAddress, isDefaultBilling: true })
    expect(created.status).toBe(201)
    const { id, ...rest } = created.body
    expect(id).toMatch(/^addr_[0-9a-z]{26}$/)
    expect(rest).toEqual({
      ...fullAddress,
      shopId: shop.id,
      customerId: customer.id,
      isDefaultShipping: false,
      isDefaultBilling: true,
      createdAt: '2026-01-06T12:00:00.000Z',
      updatedAt: '2026-01-06T12:00:00.000Z',
    })
    for (const read of [await get(`/addresses/${id}`), await customer.get(`/addresses/${id}`)])
      expect(read).toMatchObject({ status: 200, text: created.text })
    expect((await get(`/customer/${customer.id}`)).body.addressIds).toEqual([id])
    const key = await app.deps.identity.ofKey(secretKey)
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, id))
    expect(rows).toMatchObject([{ action: 'address.created', actor: key?.id, shopId: shop.id }])
  })

  test('requires name, line1, city and country of an address, and stores omitted or blank fields as null', async () => {
    await using app = await testApp()
    const { bookPath, post } = await createShopWithCustomer(app)
    const { body } = await post(bookPath, { ...requiredFields, company: '', line2: null, phone: '  ' })
    expect(body).toMatchObject({ ...requiredFields, company: null, line2: null, province: null, postalCode: null, phone: null })
  })

  test('rejects an invalid address field with 400 on every route, naming the field but not its value', async () => {
    await using app = await testApp()
    const { customer, bookPath, addPath, post } = await createShopWithCustomer(app)
    const long = 'zq9'.repeat(70)
    const invalidFields: [string, object][] = [
      ...['name', 'line1', 'city', 'countryCode'].map((field): [string, object] => [field, { [field]: undefined }]),
      ...['name', 'line1', 'city'].map((field): [string, object] => [field, { [field]: ' \t' }]),
      ...Object.keys(fullAddress).map((field): [string, object] => [field, { [field]: long }]),
      ['countryCode', { countryCode: 'ZZ' }],
      ['countryCode', { countryCode: 'us' }],
      ['countryCode', { countryCode: 'XK' }],
    ]
    for (const [field, body] of invalidFields) {
      for (const answer of [
        await post(bookPath, { ...fullAddress, ...body }),
        await post('/addresses', { ...fullAddress, ...body }),
        await customer.post('/addresses', { ...fullAddress, ...body }),
      ]) {
        expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(`${field}:`)])
        expect(answer.text).not.toContain('zq9')
      }
    }
    expect((await post(bookPath, { ...fullAddress, isDefaultShipping: 1 })).body.message).toContain('isDefaultShipping:')
    expect((await post(addPath, {})).body.message).toContain('addressId:')
    expect((await post(addPath, { addressId: 'x', isDefaultBilling: 'yes' })).body.message).toContain('isDefaultBilling:')
    expect(await app.deps.db.read.select().from(addresses)).toEqual([])
  })

  test('unsets the previous default address of the same kind when a new one is set', async () => {
    await using app = await testApp()
    const { shop, customer, bookPath, addPath, post, get } = await createShopWithCustomer(app)
    const other = await customerIn(app, shop)
    await post(`/customer/${other.id}/addresses`, { ...requiredFields, name: 'Other', isDefaultShipping: true, isDefaultBilling: true })
    const first = await post(bookPath, { ...requiredFields, name: 'First', isDefaultShipping: true, isDefaultBilling: true })
    app.clock.advance(1_000)
    await post(bookPath, { ...requiredFields, name: 'Second', isDefaultShipping: true })
    expect(await defaultsOf(app, customer.id)).toEqual({ shipping: ['Second'], billing: ['First'] })
    expect((await get(`/addresses/${first.body.id}`)).body.updatedAt).toBe('2026-01-06T12:00:01.000Z')
    const { body: entered } = await post('/addresses', { ...requiredFields, name: 'Third' })
    await post(addPath, { addressId: entered.id, isDefaultShipping: true, isDefaultBilling: true })
    expect(await defaultsOf(app, customer.id)).toEqual({ shipping: ['Third'], billing: ['Third'] })
    expect(await defaultsOf(app, other.id)).toEqual({ shipping: ['Other'], billing: ['Other'] })
  })

  test('leaves one default address of each kind after many are added at once', async () => {
    await using app = await testApp()
    const { customer, bookPath, post } = await createShopWithCustomer(app)
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, nth) =>
        post(bookPath, { ...requiredFields, name: `N${nth}`, isDefaultShipping: true, isDefaultBilling: true }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201))
    const { shipping, billing } = await defaultsOf(app, customer.id)
    expect([shipping.length, billing.length]).toEqual([1, 1])
  })

  test('creates an address once per idempotency key, replays the response, and rejects another body with 422', async () => {
    await using app = await testApp()
    const { customer, bookPath, post } = await createShopWithCustomer(app)
    const key = { 'idempotency-key': 'k' }
    for (const [send, path] of [
      [post, bookPath],
      [post, '/addresses'],
      [customer.post, '/addresses'],
    ] as const) {
      const first = await send(path, requiredFields, key)
      app.clock.advance(5_000)
      expect(await send(path, requiredFields, key)).toMatchObject({ status: 201, text: first.text })
      expect((await send(path, fullAddress, key)).status).toBe(422)
    }
    expect(await app.deps.db.read.select().from(addresses)).toHaveLength(3)
  })
})

describe('adding an existing address to a book', () => {
  test('adds addresses that the shop or a customer entered with an audit row; a repeat updates the flags', async () => {
    await using app = await testApp()
    const { shop, secretKey, customer, addPath, post, get } = await createShopWithCustomer(app)
    const { body: byShop } = await post('/addresses', requiredFields)
    const { body: byCustomer } = await customer.post('/addresses', fullAddress)
    await post(addPath, { addressId: byCustomer.id })
    app.clock.advance(1_000)
    const added = await post(addPath, { addressId: byShop.id, isDefaultShipping: true })
    expect(added).toMatchObject({ status: 200, body: { id: customer.id, addressIds: [byShop.id, byCustomer.id] } })
    expect(added.text).toBe((await get(`/customer/${customer.id}`)).text)
    const inBook = { ...byShop, customerId: customer.id, isDefaultShipping: true, updatedAt: '2026-01-06T12:00:01.000Z' }
    expect((await get(`/addresses/${byShop.id}`)).body).toEqual(inBook)

    expect(await post(addPath, { addressId: byShop.id })).toMatchObject({ status: 200, text: added.text })
    expect((await get(`/addresses/${byShop.id}`)).body).toEqual(inBook)
    await post(addPath, { addressId: byShop.id, isDefaultShipping: false, isDefaultBilling: true })
    expect((await get(`/addresses/${byShop.id}`)).body).toMatchObject({ isDefaultShipping: false, isDefaultBilling: true })

    const key = await app.deps.identity.ofKey(secretKey)
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, byCustomer.id))
    expect(rows.map(({ action, actor, shopId }) => [action, actor, shopId]).sort()).toEqual([
      ['address.added', String(key?.id), shop.id],
      ['address.created', customer.id, shop.id],
    ])
  })

  test("rejects adding another customer's address to a book with 409", async () => {
    await using app = await testApp()
    const { shop, addPath, post, get } = await createShopWithCustomer(app)
    const other = await customerIn(app, shop)
    const { body: theirs } = await post(`/customer/${other.id}/addresses`, { ...fullAddress, isDefaultShipping: true })
    const answer = await post(addPath, { addressId: theirs.id, isDefaultShipping: true })
    expect([answer.status, answer.body.message]).toEqual([409, 'Another customer has this address'])
    expect((await get(`/addresses/${theirs.id}`)).body).toEqual(theirs)
  })

  test("returns the same 404 when an unknown address or another shop's address is added to a book", async () => {
    await using app = await testApp()
    const { addPath, post } = await createShopWithCustomer(app)
    const { body: foreign } = await (await shopIn(app)).post('/addresses', fullAddress)
    const [absent, hidden] = await Promise.all(
      ['addr_00000000000000000000000000', foreign.id].map((addressId) => post(addPath, { addressId })),
    )
    expect([absent?.status, absent?.body]).toEqual([404, noSuchAddress])
    expect([hidden?.status, hidden?.text]).toEqual([404, absent?.text])
  })

  test(`rejects more than ${addressesPerCustomerMax} addresses in a book with 409, but still updates one in it`, async () => {
    await using app = await testApp()
    const { shop, customer, bookPath, addPath, post, get } = await createShopWithCustomer(app)
    const { body: entered } = await post('/addresses', requiredFields)
    const { body: first } = await post(bookPath, requiredFields)
    const rows = Array.from({ length: addressesPerCustomerMax - 2 }, () => ({
      id: app.deps.newId('address'),
      shopId: shop.id,
      customerId: customer.id,
      enteredBy: null,
      address: addressOf(requiredFields),
      isDefaultShipping: false,
      isDefaultBilling: false,
      createdAt: 0,
      updatedAt: 0,
    }))
    await app.deps.db.write(async (tx) => {
      await tx.insert(addresses).values(rows)
    })
    expect((await post(bookPath, requiredFields)).status).toBe(201)
    for (const answer of [await post(bookPath, requiredFields), await post(addPath, { addressId: entered.id })])
      expect([answer.status, answer.body.message]).toEqual([409, `A customer has at most ${addressesPerCustomerMax} addresses`])
    expect((await post(addPath, { addressId: first.id, isDefaultBilling: true })).status).toBe(200)
    expect((await get(`/customer/${customer.id}`)).body.addressIds).toHaveLength(addressesPerCustomerMax)
    expect((await get(`/addresses/${entered.id}`)).body.customerId).toBeNull()
  })
})

describe('an address outside of any book', () => {
  test('shows an address outside of a book to the shop and to the customer who entered it, without naming the latter', async () => {
    await using app = await testApp()
    const { shop, customer, post, get } = await createShopWithCustomer(app)
    for (const [rogue, value] of Object.entries({ isDefaultShipping: true, customerId: customer.id }))
      expect((await customer.post('/addresses', { ...fullAddress, [rogue]: value })).body.message).toBe(`unknown field: ${rogue}`)
    const created = await customer.post('/addresses', fullAddress)
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      ...fullAddress,
      shopId: shop.id,
      customerId: null,
      isDefaultShipping: false,
      isDefaultBilling: false,
    })
    expect(created.body).not.toHaveProperty('enteredBy')
    for (const read of [await customer.get(`/addresses/${created.body.id}`), await get(`/addresses/${created.body.id}`)])
      expect(read).toMatchObject({ status: 200, text: created.text })
    const { body: byShop } = await post('/addresses', requiredFields)
    expect(await customer.get(`/addresses/${byShop.id}`)).toMatchObject({ status: 404, body: noSuchAddress })
  })

  test('hides addresses from other customers and from other shops, no matter who entered them', async () => {
    await using app = await testApp()
    const { shop, customer, post, get } = await createShopWithCustomer(app)
    const neighbour = await customerIn(app, shop)
    const otherShop = await shopIn(app)
    const stranger = await customerIn(app, otherShop.shop)
    const { body: inBook } = await post(`/customer/${neighbour.id}/addresses`, fullAddress)
    const { body: entered } = await neighbour.post('/addresses', fullAddress)
    const { body: addedToNeighbour } = await customer.post('/addresses', fullAddress)
    await post(`/customer/${neighbour.id}/addresses/add`, { addressId: addedToNeighbour.id })
    const absent = await customer.get('/addresses/addr_00000000000000000000000000')
    expect([absent.status, absent.body]).toEqual([404, noSuchAddress])
    for (const { id } of [inBook, entered, addedToNeighbour]) {
      for (const answer of [
        await customer.get(`/addresses/${id}`),
        await stranger.get(`/addresses/${id}`),
        await otherShop.get(`/addresses/${id}`),
      ])
        expect([answer.status, answer.text]).toEqual([404, absent.text])
      expect((await neighbour.get(`/addresses/${id}`)).status).toBe(200)
      expect((await get(`/addresses/${id}`)).status).toBe(200)
    }
  })

  test('requires a shop or customer credential for addresses: 401 without one, 403 with a publishable key', async () => {
    await using app = await testApp()
    const { token, publishableKey, post } = await createShopWithCustomer(app)
    const { body: created, text } = await post('/addresses', fullAddress)
    expect((await app.call('GET', `/addresses/${created.id}`, { token })).text).toBe(text)
    for (const [method, path] of [
      ['POST', '/addresses'],
      ['GET', `/addresses/${created.id}`],
    ] as const) {
      for (const [credential, status] of [
        [{}, 401],
        [{ key: 'sk_nonsense' }, 401],
        [{ key: publishableKey }, 403],
      ] as const) {
        const answer = await app.call(method, path, { ...credential, ...(method === 'POST' ? { body: fullAddress } : {}) })
        expect([method, answer.status]).toEqual([method, status])
        expect(answer.text).not.toContain('Springfield')
      }
    }
  })

  test(`limits each customer to ${addressesByCustomer.most} new addresses an hour, and does not limit the shop`, async () => {
    await using app = await testApp()
    const { shop, customer, post } = await createShopWithCustomer(app)
    for (let nth = 0; nth < addressesByCustomer.most; nth++) expect((await customer.post('/addresses', requiredFields)).status).toBe(201)
    const limited = await customer.post('/addresses', requiredFields)
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3600'])
    expect((await (await customerIn(app, shop)).post('/addresses', requiredFields)).status).toBe(201)
    expect((await post('/addresses', requiredFields)).status).toBe(201)
    app.clock.advance(addressesByCustomer.windowMs)
    const login = { shopName: shop.name, email: customer.email, password: customer.password }
    const token = (await app.call('POST', '/customer/login', { body: login })).body.data.accessToken
    expect((await app.call('POST', '/addresses', { token, body: requiredFields })).status).toBe(201)
  })
})
