/** The routes with which a merchant reads and changes a shop, and the public look-up of a shop. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { system } from '../../../../src/core/command-context.ts'
import { openShop } from '../../../../src/modules/shop/shop/open-shop.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const secondShop = ({ deps }: TestApp, merchantId: string, name = 'second-shop') =>
  deps.db.write((tx) => openShop(tx, deps, { merchantId, name, country: 'AE', currency: 'AED' }))

const stored = async ({ deps }: TestApp, id: string) => (await deps.db.read.select().from(shops).where(eq(shops.id, id)).limit(1))[0]

describe("the caller's shop", () => {
  test("the caller's shop is their first one, or the one that x-shop-id names, otherwise 404", async () => {
    await using app = await testApp()
    const { id, token, shop } = await app.merchant()
    const other = await app.merchant()
    const second = await secondShop(app, id)
    const get = (shopId?: string) => app.call('GET', '/shops/v2', { token, headers: shopId === undefined ? {} : { 'x-shop-id': shopId } })
    expect((await get()).body.id).toBe(shop.id)
    expect((await get(second.id)).body.id).toBe(second.id)
    const refusals = [await get(other.shop.id), await get('shop_00000000000000000000000000'), await get('nonsense'), await get('')]
    expect(refusals.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    // Another merchant's shop gets the same 404 as an absent one.
    expect(new Set(refusals.map(({ text }) => text)).size).toBe(1)
    expect((await app.call('GET', '/merchant/me', { token })).body.shops.map((one: { id: string }) => one.id)).toEqual([shop.id, second.id])
  })

  test("the caller's shop has exactly the documented fields, without keys and owner", async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const { body, headers } = await app.call('GET', '/shops/v2', { token })
    expect(Object.keys(body).sort()).toEqual([
      'address',
      'contact',
      'country',
      'createdAt',
      'currency',
      'description',
      'id',
      'invoiceNote',
      'legalName',
      'logoUrl',
      'mode',
      'name',
      'pages',
      'returnDays',
      'showQuantity',
      'status',
      'storefrontOrigins',
      'strictProvinces',
      'taxNumber',
      'timeZone',
      'title',
      'updatedAt',
    ])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('a merchant without a shop gets 404', async () => {
    await using app = await testApp()
    const { createMerchant } = await import('../../../../src/modules/identity/merchant/service.ts')
    const { startSession } = await import('../../../../src/modules/identity/auth/service.ts')
    expect(createMerchant).toBeFunction()
    const { data } = await startSession(app.deps, { id: 'mer_without', role: 'MERCHANT' }, system)
    expect((await app.call('GET', '/shops/v2', { token: data.accessToken })).status).toBe(404)
  })
})

describe('changing the shop', () => {
  const address = { line1: '1 Street', line2: 'Floor 2', city: 'Dubai', province: 'DU', postalCode: '00000', countryCode: 'AE' }
  const changes: [field: string, value: unknown][] = [
    ['title', 'A new title'],
    ['description', 'Words\nand words'],
    ['description', ''],
    ['currency', 'KWD'],
    ['logoUrl', 'https://cdn.example/logo.png'],
    ['logoUrl', null],
    ['contact', { email: 'shop@example.com', phone: '+971 4 000' }],
    ['contact', { email: null, phone: null }],
    ['address', address],
    ['storefrontOrigins', ['https://a.example', 'http://localhost:5173']],
    ['storefrontOrigins', []],
    ['timeZone', 'Asia/Kuwait'],
    ['timeZone', 'America/Argentina/Buenos_Aires'],
    ['timeZone', 'UTC'],
    ['strictProvinces', true],
    ['strictProvinces', false],
    ['legalName', 'Tea & Cups GmbH'],
    ['legalName', null],
    ['taxNumber', 'DE 123 456 789'],
    ['taxNumber', null],
    ['invoiceNote', 'Thank you\nIBAN DE00'],
    ['invoiceNote', ''],
    ['returnDays', 0],
    ['returnDays', 365],
  ]

  test('a time zone is stored in the spelling of IANA, without replacing an alias', async () => {
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const { token } = await app.merchant()
    for (const [sent, stored] of [
      ['asia/dubai', 'Asia/Dubai'],
      ['AMERICA/PORT-AU-PRINCE', 'America/Port-au-Prince'],
      ['us/eastern', 'US/Eastern'],
      ['asia/calcutta', 'Asia/Calcutta'],
      ['utc', 'UTC'],
    ]) {
      const changed = await app.call('PATCH', '/shops/v2', { token, body: { timeZone: sent } })
      expect([changed.status, changed.body.timeZone]).toEqual([200, stored ?? ''])
    }
    const body = { shopName: 'second-shop', title: 'Second', country: 'AE', currency: 'AED', timeZone: 'asia/dubai' }
    expect((await app.call('POST', '/shops/v2', { token, body })).body.timeZone).toBe('Asia/Dubai')
  })

  test('the currency of a shop can change until it has a product, a shipping method or a gift card', async () => {
    await using app = await testApp()
    for (const [path, method, body] of [
      ['/product-v2', 'POST', { title: 'Tea' }],
      ['/shops/v2/shipping-methods', 'PUT', { data: [{ code: 'post', title: 'Post', price: { amount: 1, currency: 'EUR' } }] }],
      ['/giftcard', 'POST', { amount: { amount: 1, currency: 'EUR' } }],
    ] as const) {
      const { token } = await app.merchant()
      const change = (currency: string) => app.call('PATCH', '/shops/v2', { token, body: { currency, title: currency } })
      expect((await change('EUR')).status).toBe(200)
      expect([path, (await app.call(method, path, { token, body })).status < 300]).toEqual([path, true])
      const refused = await change('USD')
      expect([path, refused.status, refused.body.message]).toEqual([path, 409, expect.stringContaining('currency:')])
      expect((await app.call('GET', '/shops/v2', { token })).body).toMatchObject({ currency: 'EUR', title: 'EUR' })
      expect((await change('EUR')).status).toBe(200)
    }
  })

  test('changing one field of the shop keeps the others, and adds an audit row', async () => {
    await using app = await testApp()
    const { id, token, shop } = await app.merchant()
    let before = (await app.call('GET', '/shops/v2', { token })).body
    for (const [field, value] of changes) {
      app.clock.advance(1_000)
      const { status, body } = await app.call('PATCH', '/shops/v2', { token, body: { [field]: value } })
      expect([field, status]).toEqual([field, 200])
      expect(body).toEqual({ ...before, [field]: value, updatedAt: new Date(app.clock.now()).toISOString() })
      expect((await app.call('GET', '/shops/v2', { token })).body).toEqual(body)
      before = body
    }
    const trail = await app.deps.db.read
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.action, 'shop.changed'), eq(auditLog.subject, shop.id)))
    expect(trail).toHaveLength(changes.length)
    expect(trail.every(({ actor, shopId, requestId }) => actor === id && shopId === shop.id && requestId !== null)).toBe(true)
  })

  test('changing contact or address keeps their omitted fields, and null clears a field', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const change = async (body: unknown) => {
      const answer = await app.call('PATCH', '/shops/v2', { token, body })
      expect(answer.status).toBe(200)
      return [answer.body.contact, answer.body.address]
    }
    const contact = { email: 'shop@example.com', phone: '+971 4 000' }
    await change({ contact, address })
    expect(await change({ contact: { phone: '1' } })).toEqual([{ ...contact, phone: '1' }, address])
    expect(await change({ contact: { email: null }, address: { line2: null } })).toEqual([
      { email: null, phone: '1' },
      { ...address, line2: null },
    ])
    expect(await change({ contact: {}, address: { city: 'Sharjah' } })).toEqual([
      { email: null, phone: '1' },
      { ...address, line2: null, city: 'Sharjah' },
    ])
    expect(await change({ title: 'Only a title' })).toEqual([
      { email: null, phone: '1' },
      { ...address, line2: null, city: 'Sharjah' },
    ])
    const before = await stored(app, shop.id)
    const refused = await app.call('PATCH', '/shops/v2', { token, body: { contact: { phone: '2' }, address: { countryCode: 'QQ' } } })
    expect(refused.status).toBe(400)
    expect(await stored(app, shop.id)).toEqual(before)
  })

  test('two parallel changes of different contact fields are both kept', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const changes = [{ email: 'shop@example.com' }, { phone: '1' }]
    const answers = await Promise.all(changes.map((contact) => app.call('PATCH', '/shops/v2', { token, body: { contact } })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect((await app.call('GET', '/shops/v2', { token })).body.contact).toEqual({ email: 'shop@example.com', phone: '1' })
  })

  test("changing the shop refuses fields that are not the merchant's to set, and stores nothing", async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const before = await stored(app, shop.id)
    const forbiddenFields = {
      id: 'shop_mine',
      name: 'other',
      merchantId: 'mer_x',
      mode: 'LIVE',
      status: 'KYB_VERIFIED',
      country: 'MN',
      constructor: 1,
    }
    for (const [field, sent] of [
      ...Object.entries(forbiddenFields).map(([name, value]) => [name, JSON.stringify({ title: 'Mine', [name]: value })] as const),
      ['contact.extra', '{"title":"Mine","contact":{"email":"a@example.com","extra":"x"}}'],
      ['__proto__', '{"title":"Mine","__proto__":{"mode":"LIVE","polluted":true}}'],
    ] as const) {
      const answer = await app.call('PATCH', '/shops/v2', { token, raw: sent, headers: { 'content-type': 'application/json' } })
      expect([answer.status, answer.body.message]).toEqual([400, `unknown field: ${field}`])
    }
    expect(await stored(app, shop.id)).toEqual(before)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('an empty change of the shop changes nothing', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const before = (await app.call('GET', '/shops/v2', { token })).body
    expect((await app.call('PATCH', '/shops/v2', { token, body: {} })).body).toEqual(before)
    expect((await app.call('PATCH', '/shops/v2', { token })).body).toEqual(before)
  })

  test('an invalid change of the shop gets 400 with the field but not the value, and stores nothing', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const before = await stored(app, shop.id)
    const broken: [field: string, value: unknown][] = [
      ['title', ''],
      ['title', 'x'.repeat(201)],
      ['title', null],
      ['title', 5],
      ['description', 'x'.repeat(5_001)],
      ['currency', 'usd'],
      ['currency', 'XAU'],
      ['currency', 'ZZZ'],
      ['logoUrl', 'javascript:alert(1)'],
      ['logoUrl', 'ftp://cdn.example/logo'],
      ['logoUrl', 'not a url at all'],
      ['logoUrl', `https://cdn.example/${'x'.repeat(2_048)}`],
      ['contact', { email: 'not-an-address' }],
      ['contact', 'shop@example.com'],
      ['contact', [{ email: 'a@example.com' }]],
      ['address', { countryCode: 'QQ' }],
      ['address', { countryCode: 'are' }],
      ['address', { line1: 'x'.repeat(201) }],
      ['storefrontOrigins', 'https://a.example'],
      ['storefrontOrigins', ['https://a.example/path']],
      ['storefrontOrigins', ['a.example']],
      ['storefrontOrigins', ['*']],
      ['storefrontOrigins', ['https://*.a.b']],
      ['storefrontOrigins', ['https://a.example', 'https://shop-*.a.b:8443']],
      ['logoUrl', 'https://'],
      ['logoUrl', 'https:///logo.png'],
      ['storefrontOrigins', ['https://user:pw@a.example']],
      ['storefrontOrigins', ['javascript:alert(1)']],
      ['storefrontOrigins', Array(51).fill('https://a.example')],
      ['timeZone', 'Mars/Olympus'],
      ['timeZone', '+03:00'],
      ['timeZone', ''],
      ['timeZone', null],
      ['timeZone', 'x'.repeat(65)],
    ]
    for (const [field, value] of broken) {
      const answer = await app.call('PATCH', '/shops/v2', { token, body: { description: 'half a change', ...{ [field]: value } } })
      expect([field, value, answer.status]).toEqual([field, value, 400])
      expect(answer.body.message).toStartWith(field)
      for (const sent of ['not-an-address', 'javascript', 'not a url', 'xxxx', 'user:pw']) expect(answer.body.message).not.toContain(sent)
    }
    expect(await stored(app, shop.id)).toEqual(before)
  })

  test('storefront origins are stored as browsers send them, without duplicates', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const { body } = await app.call('PATCH', '/shops/v2', {
      token,
      body: { storefrontOrigins: ['HTTPS://A.Example/', 'https://a.example:443', 'https://a.example', 'http://a.example'] },
    })
    expect(body.storefrontOrigins).toEqual(['https://a.example', 'http://a.example'])
  })
})

describe('the currency of a shop', () => {
  test('the currency of a shop can change back and forth until it has prices of any kind, then gets 409', async () => {
    await using app = await testApp()
    const money = { amount: 500, currency: 'USD' }
    for (const [method, path, body] of [
      ['POST', '/product-v2', { title: 'Mug', variants: [{ price: money }] }],
      ['PUT', '/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', price: money }] }],
      ['POST', '/giftcard', { amount: money }],
    ] as const) {
      const { token } = await app.merchant()
      const change = (currency: string) => app.call('PATCH', '/shops/v2', { token, body: { title: 'Shop', currency } })
      expect((await change('EUR')).body.currency).toBe('EUR')
      expect((await change('USD')).body.currency).toBe('USD')
      expect((await app.call(method, path, { token, body })).status).toBeLessThan(300)
      const refused = await change('EUR')
      expect(refused.status).toBe(409)
      expect(refused.body.message).toStartWith('currency: ')
      expect((await change('USD')).status).toBe(200)
      expect((await app.call('GET', '/shops/v2', { token })).body.currency).toBe('USD')
    }
  })

  test('shipping prices have the currency of the shop, also after a parallel change of the currency', async () => {
    await using app = await testApp()
    const { token, secretKey } = await app.merchant()
    const put = (currency: string) => {
      const data = [{ code: 'post', title: 'Post', price: { amount: 500, currency } }]
      return app.call('PUT', '/shops/v2/shipping-methods', { key: secretKey, body: { data } })
    }
    const [changed, ...answers] = await Promise.all([
      app.call('PATCH', '/shops/v2', { token, body: { currency: 'EUR' } }),
      put('USD'),
      put('EUR'),
    ])
    const currency = (await app.call('GET', '/shops/v2', { token })).body.currency
    expect([changed.status, currency]).toEqual(currency === 'EUR' ? [200, 'EUR'] : [409, 'USD'])
    const { data } = (await app.call('GET', '/shops/v2/shipping-methods', { token })).body
    // Both lists may have been checked against the other currency. Then both are refused and none is stored.
    const isPut = answers.some(({ status }) => status === 200)
    expect(data.map(({ price }: { price: { currency: string } }) => price.currency)).toEqual(isPut ? [currency] : [])
    for (const { status, body } of answers)
      if (status !== 200) expect([status, body.message]).toEqual([400, "data.0.price.currency: must be the shop's currency"])
  })
})

describe('tax rates and shipping methods', () => {
  const tax = { country: 'US', region: 'CA', rateBps: 725, inclusive: false, shipping: true }
  const method = { code: 'standard', title: 'Standard', countries: ['US'], price: { amount: 500, currency: 'USD' } }

  test('tax rates and shipping methods are empty at first, and are replaced as a whole by the merchant or a secret key', async () => {
    await using app = await testApp()
    const { token, secretKey, shop } = await app.merchant()
    for (const [path, item] of [
      ['tax-rates', tax],
      ['shipping-methods', method],
    ] as const) {
      expect((await app.call('GET', `/shops/v2/${path}`, { token })).body).toEqual({ data: [] })
      const refused = await app.call('PUT', `/shops/v2/${path}`, { key: secretKey, body: { data: [{ ...item, rogue: 'x' }] } })
      expect([refused.status, refused.body.message]).toEqual([400, 'unknown field: data.0.rogue'])
      const put = await app.call('PUT', `/shops/v2/${path}`, { key: secretKey, body: { data: [item] } })
      expect([put.status, put.body]).toEqual([200, { data: [item] }])
      expect((await app.call('GET', `/shops/v2/${path}`, { key: secretKey })).body).toEqual({ data: [item] })
      expect((await app.call('PUT', `/shops/v2/${path}`, { token, body: { data: [] } })).body).toEqual({ data: [] })
    }
    const trail = await app.deps.db.read.select({ action: auditLog.action }).from(auditLog).where(eq(auditLog.shopId, shop.id))
    expect(trail.filter(({ action }) => action === 'shop.tax_rates_set')).toHaveLength(2)
    expect(trail.filter(({ action }) => action === 'shop.shipping_methods_set')).toHaveLength(2)
  })

  test('tax rates accept only regions of their country, and each region once, by code or by name', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const put = (...data: object[]) => app.call('PUT', '/shops/v2/tax-rates', { token, body: { data } })
    const rate = (country: string, region: string) => ({ country, region, rateBps: 500 })
    for (const [country, region] of [
      ['US', 'ZZ'],
      ['US', 'Kalifornia'],
      ['US', 'DE-BY'],
      ['US', ' '],
      ['CA', 'California'],
    ] as const) {
      const refused = await put(rate(country, region))
      expect([refused.status, refused.body.message]).toEqual([
        400,
        'data.0.region: must be an ISO 3166-2 code or a name of a province of its country',
      ])
    }
    for (const [one, other] of [
      ['CA', 'California'],
      ['us-ca', 'CA'],
      ['New York', 'new  york'],
    ] as const)
      expect((await put(rate('US', one), rate('US', other))).body.message).toBe(
        'data.1.region: a country and region can have only one rate',
      )
    const rates = [rate('US', 'California'), rate('US', 'NY'), rate('CA', 'Québec'), { country: 'US', region: null, rateBps: 1 }]
    expect((await put(...rates)).body.data).toEqual(rates.map((one) => ({ ...one, inclusive: false, shipping: false })))
  })

  test('a refused list of tax rates or shipping methods names the invalid row', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const refusal = async (path: string, ...data: object[]) =>
      (await app.call('PUT', `/shops/v2/${path}`, { token, body: { data } })).body.message
    const everywhere = { ...tax, region: null }
    for (const [row, message] of [
      [{ ...tax, rateBps: 10_001 }, 'data.1.rateBps: '],
      [{ ...tax, rateBps: 887.555 }, 'data.1.rateBps: must have at most two decimals'],
      [{ ...tax, country: 'XX' }, 'data.1.country: '],
      [{ ...tax, region: 'ZZ' }, 'data.1.region: '],
      [everywhere, 'data.1.country: a country and region can have only one rate'],
    ] as const)
      expect(await refusal('tax-rates', everywhere, row)).toStartWith(message)
    for (const [row, message] of [
      [{ ...method, code: 'Ä' }, 'data.1.code: '],
      [method, 'data.1.code: must not be repeated'],
      [{ ...method, code: 'far', countries: ['DE', 'XX'] }, 'data.1.countries.1: '],
      [{ ...method, code: 'far', price: { amount: 1, currency: 'EUR' } }, "data.1.price.currency: must be the shop's currency"],
    ] as const)
      expect(await refusal('shipping-methods', method, row)).toStartWith(message)
  })

  test('omitted fields of tax rates and shipping methods get their defaults', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    expect((await app.call('PUT', '/shops/v2/tax-rates', { token, body: { data: [{ country: 'AE', rateBps: 500 }] } })).body).toEqual({
      data: [{ country: 'AE', region: null, rateBps: 500, inclusive: false, shipping: false }],
    })
    const { countries: _, ...everywhere } = method
    expect((await app.call('PUT', '/shops/v2/shipping-methods', { token, body: { data: [everywhere] } })).body.data[0].countries).toEqual(
      [],
    )
  })

  test('invalid tax rates and shipping methods get 400 and change nothing', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const wrongTaxes = [
      [{ ...tax, rateBps: -1 }],
      [{ ...tax, rateBps: 10_001 }],
      [{ ...tax, rateBps: 887.555 }],
      [{ ...tax, rateBps: 0.001 }],
      [{ ...tax, rateBps: '725' }],
      [{ ...tax, shipping: 'yes' }],
      [{ ...tax, country: 'QQ' }],
      [tax, tax],
      [
        { ...tax, region: null },
        { country: 'US', rateBps: 1 },
      ],
      'none',
      [null],
    ]
    for (const data of wrongTaxes)
      expect([data, (await app.call('PUT', '/shops/v2/tax-rates', { token, body: { data } })).status]).toEqual([data, 400])
    const wrongMethods = [
      [{ ...method, code: 'With Space' }],
      [{ ...method, code: '' }],
      [{ ...method, title: '' }],
      [{ ...method, countries: ['QQ'] }],
      [{ ...method, price: { amount: -1, currency: 'USD' } }],
      [{ ...method, price: { amount: 1.5, currency: 'USD' } }],
      [{ ...method, price: { amount: '500', currency: 'USD' } }],
      [{ ...method, price: { amount: 500, currency: 'XXX' } }],
      [{ ...method, price: { amount: 500, currency: 'EUR' } }],
      [{ ...method, price: 500 }],
      [method, method],
    ]
    for (const data of wrongMethods)
      expect([data, (await app.call('PUT', '/shops/v2/shipping-methods', { token, body: { data } })).status]).toEqual([data, 400])
    expect((await app.call('PUT', '/shops/v2/tax-rates', { token, body: {} })).status).toBe(400)
    expect((await app.call('GET', '/shops/v2/tax-rates', { token })).body).toEqual({ data: [] })
    expect((await app.call('GET', '/shops/v2/shipping-methods', { token })).body).toEqual({ data: [] })
  })

  test('a secret key sets the tax rates of its own shop and ignores x-shop-id', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const other = await app.merchant()
    await app.call('PUT', '/shops/v2/tax-rates', {
      key: merchant.secretKey,
      headers: { 'x-shop-id': other.shop.id },
      body: { data: [{ country: 'AE', rateBps: 500 }] },
    })
    expect((await app.call('GET', '/shops/v2/tax-rates', { token: other.token })).body).toEqual({ data: [] })
    expect((await app.call('GET', '/shops/v2/tax-rates', { token: merchant.token })).body.data).toHaveLength(1)
  })
})

describe('the public look-up', () => {
  test('the public look-up returns only the fields that a storefront needs', async () => {
    await using app = await testApp()
    const { shop, publishableKey, token } = await app.merchant()
    await app.call('PATCH', '/shops/v2', { token, body: { contact: { email: 'private@example.com' }, storefrontOrigins: [] } })
    for (const path of [`/shops/v2/public/name/${shop.name}`, `/api/v3/shops/v2/public/name/${shop.name}`]) {
      const { status, body, text, headers } = await app.call('GET', path)
      expect(status).toBe(200)
      expect(body).toEqual({
        id: shop.id,
        name: shop.name,
        title: shop.name,
        description: '',
        logoUrl: null,
        currency: 'USD',
        country: 'US',
        publishableKey,
        walletAddress: null,
        verified: false,
        language: 'en',
      })
      for (const hidden of ['private@example.com', 'sk_', 'merchant', 'address":{', 'mode']) expect(text).not.toContain(hidden)
      expect(headers.get('cache-control')).toBe('public, max-age=0, s-maxage=60')
      expect(headers.get('etag')).toMatch(/^"[^"]+"$/)
    }
  })

  test('the public look-up answers every unknown name with the same 404, and matches names exactly', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const answers = []
    for (const name of ['nobody', shop.name.toUpperCase(), `${shop.name}x`, '%27%20or%201=1--', 'constructor'])
      answers.push(await app.call('GET', `/shops/v2/public/name/${name}`))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('the public look-up answers a current ETag with 304, until the shop changes', async () => {
    await using app = await testApp()
    const { shop, token } = await app.merchant()
    const get = (etag?: string) =>
      app.call('GET', `/shops/v2/public/name/${shop.name}`, { headers: etag === undefined ? {} : { 'if-none-match': etag } })
    const etag = (await get()).headers.get('etag') ?? ''
    for (const ifNoneMatch of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get(ifNoneMatch)
      expect([ifNoneMatch, answer.status, answer.text]).toEqual([ifNoneMatch, 304, ''])
      expect([answer.headers.get('etag'), answer.headers.get('cache-control')]).toEqual([etag, 'public, max-age=0, s-maxage=60'])
    }
    for (const ifNoneMatch of ['"other"', etag.slice(1, -1), ''])
      expect([ifNoneMatch, (await get(ifNoneMatch)).status]).toEqual([ifNoneMatch, 200])
    await app.call('PATCH', '/shops/v2', { token, body: { title: 'Changed' } })
    const changed = await get(etag)
    expect([changed.status, changed.body.title]).toEqual([200, 'Changed'])
    expect(changed.headers.get('etag')).not.toBe(etag)
  })

  test('the public look-up has the language of the shop at once after a change', async () => {
    await using app = await testApp()
    const { shop, token } = await app.merchant()
    const language = async () => (await app.call('GET', `/shops/v2/public/name/${shop.name}`)).body.language
    expect(await language()).toBe('en')
    expect((await app.call('PUT', '/shops/v2/mail', { token, body: { language: 'ar' } })).status).toBe(200)
    expect(await language()).toBe('ar')
  })

  test('the public look-up shows the wallet and the verification at once after they change', async () => {
    await using app = await testApp()
    const { shop, token } = await app.merchant()
    const get = async () => (await app.call('GET', `/shops/v2/public/name/${shop.name}`)).body
    expect((await get()).walletAddress).toBeNull()
    const { body } = await app.call('POST', '/shops/v2/custody/wallet', { token })
    expect((await get()).walletAddress).toBe(body.address)
    await app.deps.db.write(async (tx) => void (await tx.update(shops).set({ status: 'KYB_VERIFIED' }).where(eq(shops.id, shop.id))))
    expect((await get()).verified).toBe(true)
  })

  test.skipIf(engine !== 'sqlite')('the public look-up returns the same response while the database does not change', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const first = await app.call('GET', `/shops/v2/public/name/${shop.name}`)
    const version = app.deps.db.version()
    const second = await app.call('GET', `/shops/v2/public/name/${shop.name}`)
    expect(second.text).toBe(first.text)
    expect(app.deps.db.version()).toBe(version)
  })
})

test('the currency of a shop with prices of variants, shipping or gift cards cannot change, and the message says why', async () => {
  await using app = await testApp()
  const change = (token: string, currency: string) => app.call('PATCH', '/shops/v2', { token, body: { currency, title: 'Changed' } })
  const price = (currency: string) => ({ amount: 500, currency })
  const createPrice = [
    (token: string) => app.call('POST', '/product-v2', { token, body: { title: 'Mug', variants: [{ price: price('EUR') }] } }),
    (token: string) =>
      app.call('PUT', '/shops/v2/shipping-methods', { token, body: { data: [{ code: 'post', title: 'By post', price: price('EUR') }] } }),
    (token: string) => app.call('POST', '/giftcard', { token, body: { amount: price('EUR') } }),
  ]
  for (const create of createPrice) {
    const { token } = await app.merchant()
    expect((await change(token, 'EUR')).status).toBe(200)
    expect((await create(token)).status).toBeOneOf([200, 201])
    const refused = await change(token, 'USD')
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'currency: cannot change while products, shipping, gift cards or discounts have prices in it',
    ])
    expect((await change(token, 'EUR')).body).toMatchObject({ currency: 'EUR', title: 'Changed' })
  }
})
