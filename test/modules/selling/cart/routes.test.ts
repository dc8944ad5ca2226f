import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { products } from '../../../../db/schema/catalog.ts'
import { carts } from '../../../../db/schema/selling.ts'
import openapi from '../../../../docs/openapi.json'
import { type Json, testApp } from '../../../support/app.ts'
import { cartWith, home, storeIn } from '../../../support/carts.ts'
import { usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const day = 24 * 60 * 60 * 1000
const zero = {
  subtotal: usd(0),
  discount: usd(0),
  shipping: usd(0),
  tax: usd(0),
  taxIncluded: usd(0),
  shippingTax: usd(0),
  giftCards: usd(0),
}

describe('creating and changing a cart', () => {
  test("creates an open, empty cart in the shop's currency that expires in thirty days", async () => {
    await using app = await testApp()
    const { shop, guest } = await storeIn(app)
    const { status, body, headers } = await guest.begin()
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body).toEqual({
      id: expect.stringMatching(/^cart_[0-9a-z]{26}$/),
      shopId: shop.id,
      customerId: null,
      currency: 'USD',
      draftId: null,
      lines: [],
      giftCards: [],
      discountCode: null,
      discounts: [],
      email: null,
      acceptsMarketing: false,
      shippingAddress: null,
      billingAddress: null,
      shippingMethod: null,
      giftCardRecipient: null,
      affiliateCode: null,
      totals: { ...zero, total: usd(0), amountDue: usd(0) },
      notices: [],
      status: 'OPEN',
      expiresAt: '2026-02-05T12:00:00.000Z',
      createdAt: '2026-01-06T12:00:00.000Z',
      updatedAt: '2026-01-06T12:00:00.000Z',
    })
    expect((await guest.cart(body.id)).body).toEqual(body)
  })

  test('takes cart details at creation or later, clears null fields and keeps omitted ones', async () => {
    await using app = await testApp()
    const { guest, ships } = await storeIn(app)
    await ships({ code: 'post', title: 'Post', price: usd(500) })
    const { body: cart } = await guest.begin({ email: 'ada@example.com', shippingAddress: home, affiliateCode: ' Blog-7 ' })
    expect(cart).toMatchObject({
      email: 'ada@example.com',
      shippingAddress: { ...home, company: null, line2: null, province: null, postalCode: null, phone: null },
      affiliateCode: 'blog-7',
    })
    app.clock.advance(day)
    const changed = await guest.change(cart.id, { billingAddress: { ...home, company: 'Engines' }, shippingMethod: 'post', email: null })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({
      email: null,
      shippingAddress: cart.shippingAddress,
      billingAddress: { company: 'Engines' },
      shippingMethod: 'post',
      affiliateCode: 'blog-7',
      totals: { shipping: usd(0), total: usd(0), amountDue: usd(0) },
      expiresAt: '2026-02-06T12:00:00.000Z',
      updatedAt: '2026-01-07T12:00:00.000Z',
    })
    const cleared = await guest.change(cart.id, { shippingAddress: null, billingAddress: null, shippingMethod: null, affiliateCode: null })
    expect(cleared.body).toMatchObject({ shippingAddress: null, billingAddress: null, shippingMethod: null, affiliateCode: null })
    const [row] = await app.deps.db.read.select().from(carts)
    expect(row).toMatchObject({ affiliateCode: null, affiliateAt: null })
  })

  test('stores when an affiliate last referred the shopper to the cart', async () => {
    await using app = await testApp()
    const { guest } = await storeIn(app)
    const { body } = await guest.begin({ affiliateCode: 'nobody-has-this' })
    app.clock.advance(day)
    const stored = async () => (await app.deps.db.read.select().from(carts))[0]
    expect((await stored())?.affiliateAt).toBe(app.clock.now() - day)
    await guest.change(body.id, { email: 'ada@example.com' })
    expect((await stored())?.affiliateAt).toBe(app.clock.now() - day)
    await guest.change(body.id, { affiliateCode: 'nobody-has-this' })
    expect((await stored())?.affiliateAt).toBe(app.clock.now())
  })

  test('rejects an invalid cart field with 400, naming the field but not its value', async () => {
    await using app = await testApp()
    const { guest } = await storeIn(app)
    const { body } = await guest.begin()
    const invalidFields: [Json, string][] = [
      [{ email: 'zq7marker' }, 'email'],
      [{ shippingAddress: { ...home, countryCode: 'ZQ' } }, 'shippingAddress.countryCode'],
      [{ billingAddress: { ...home, countryCode: 'zz' } }, 'billingAddress.countryCode'],
      [{ shippingAddress: { ...home, name: ' ' } }, 'shippingAddress.name'],
      [{ shippingAddress: 'zq7marker' }, 'shippingAddress'],
      [{ shippingMethod: 'zq7marker' }, 'shippingMethod'],
      [{ affiliateCode: 'x'.repeat(65) }, 'affiliateCode'],
      [{ affiliateCode: '  ' }, 'affiliateCode'],
    ]
    for (const [sent, field] of invalidFields) {
      for (const answer of [await guest.begin(sent), await guest.change(body.id, sent)]) {
        expect([sent, answer.status]).toEqual([sent, 400])
        expect(answer.body.message).toStartWith(field)
        expect(answer.text).not.toContain('zq7marker')
      }
    }
    expect((await guest.cart(body.id)).body).toEqual(body)
  })

  test('rejects cart fields that the shopper may not set', async () => {
    await using app = await testApp()
    const { guest } = await storeIn(app)
    for (const forbiddenField of ['id', 'shopId', 'customerId', 'currency', 'status']) {
      const { status, body } = await guest.begin({ [forbiddenField]: 'x' })
      expect([status, body.message]).toEqual([400, `unknown field: ${forbiddenField}`])
    }
  })
})

describe('cart lines', () => {
  test('adds lines with price and image, and sums their totals', async () => {
    await using app = await testApp()
    const { guest, add } = await storeIn(app)
    const product = await add({
      title: 'Shirt',
      options: [{ name: 'Size', values: ['S', 'M'] }],
      images: [{ url: 'https://img.example/a.jpg' }, { url: 'https://img.example/m.jpg' }],
      variants: [
        { optionValues: ['S'], sku: 'S-1', price: usd(4_200) },
        { optionValues: ['M'], price: usd(4_300), imageUrl: 'https://img.example/m.jpg' },
      ],
    })
    const [small = '', medium = ''] = product.variants.map(({ id }) => id)
    const { body: cart } = await guest.begin()
    expect((await guest.add(cart.id, small, 2)).status).toBe(201)
    const { status, body } = await guest.add(cart.id, medium, 1)
    expect(status).toBe(201)
    expect(body.lines).toEqual([
      {
        id: expect.stringMatching(/^line_/),
        variantId: small,
        productId: product.id,
        title: 'Shirt',
        variantTitle: 'S',
        sku: 'S-1',
        imageUrl: 'https://img.example/a.jpg',
        quantity: 2,
        giftCard: false,
        unitPrice: usd(4_200),
        total: usd(8_400),
        discount: usd(0),
        available: true,
      },
      expect.objectContaining({ variantId: medium, sku: null, imageUrl: 'https://img.example/m.jpg', total: usd(4_300) }),
    ])
    expect(body.totals).toMatchObject({ subtotal: usd(12_700), total: usd(12_700), amountDue: usd(12_700) })
    expect((await guest.cart(cart.id)).body).toEqual(body)
  })

  test('merges lines of one variant, changes their quantity and removes them', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { guest } = store
    const { id, variantId, lineId } = await cartWith(store)
    const merged = await guest.add(id, variantId, 4)
    expect([merged.status, merged.body.lines.length, merged.body.lines[0].quantity]).toEqual([201, 1, 5])
    const changed = await guest.changeLine(id, lineId, 3)
    expect([changed.status, changed.body.lines[0].quantity, changed.body.totals.total]).toEqual([200, 3, usd(3_000)])
    const removed = await guest.removeLine(id, lineId)
    expect([removed.status, removed.body.lines, removed.body.totals.total]).toEqual([200, [], usd(0)])
    expect((await guest.removeLine(id, lineId)).status).toBe(404)
    expect((await guest.changeLine(id, lineId, 1)).status).toBe(404)
  })

  test('accepts integer quantities from 1 to 9,999 per variant, also in sum', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id, variantId, lineId } = await cartWith(store)
    for (const quantity of [0, -1, 1.5, 10_000, '2', null]) {
      const sent = { variantId, quantity }
      expect([quantity, (await store.guest.call('POST', `/cart/${id}/items`, sent)).status]).toEqual([quantity, 400])
      expect([quantity, (await store.guest.call('PATCH', `/cart/${id}/items/${lineId}`, sent)).status]).toEqual([quantity, 400])
    }
    expect((await store.guest.add(id, variantId, 9_998)).body.lines[0].quantity).toBe(9_999)
    const beyond = await store.guest.add(id, variantId, 1)
    expect([beyond.status, beyond.body.message]).toEqual([400, 'quantity: must be at most 9999'])
    expect((await store.guest.cart(id)).body.lines[0].quantity).toBe(9_999)
  })

  test("answers 404 alike for variants that the shop's shoppers cannot see", async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id } = await cartWith(store)
    const other = await storeIn(app)
    const draft = await store.add({ title: 'Draft', status: 'DRAFT', variants: [{ price: usd(1) }] })
    const archived = await store.add({ title: 'Old', status: 'ARCHIVED', variants: [{ price: usd(1) }] })
    const later = await store.add({ title: 'Later', publishedAt: app.clock.now() + day, variants: [{ price: usd(1) }] })
    const hidden = [draft, archived, later].map(({ variants }) => variants[0]?.id ?? '')
    const answers = await Promise.all(
      ['var_00000000000000000000000000', 'x', await other.variant('Vase', 100), ...hidden].map((variantId) =>
        store.guest.add(id, variantId),
      ),
    )
    expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual(Array(6).fill(`404 ${answers[0]?.text}`))
    app.clock.advance(day)
    expect((await store.guest.add(id, hidden[2] ?? '')).status).toBe(201)
    expect((await store.guest.cart(id)).body.lines.length).toBe(2)
  })

  test('rejects a variant in another currency than the cart', async () => {
    await using app = await testApp()
    const { guest, add } = await storeIn(app)
    const { id, variants } = await add({ title: 'Import', variants: [{ price: usd(900) }] })
    // The API no longer creates such products, but older rows may exist.
    await app.deps.db.write((tx) => tx.update(products).set({ currency: 'EUR' }).where(eq(products.id, id)))
    const { body } = await guest.begin()
    const answer = await guest.add(body.id, variants[0]?.id ?? '')
    expect([answer.status, answer.body.message]).toEqual([400, 'variantId: must be sold in USD, the currency of the cart'])
  })

  test('rejects more units than are in stock with 409, and states how many are left', async () => {
    await using app = await testApp()
    const { guest, variant } = await storeIn(app)
    const three = await variant('Vase', 100, { onHand: 3 })
    const single = await variant('Bowl', 100, { onHand: 1 })
    const soldOut = await variant('Jug', 100, { onHand: 0 })
    const backorder = await variant('Pot', 100, { onHand: 0, allowBackorder: true })
    const { body } = await guest.begin()
    const added = await guest.add(body.id, three, 2)
    const refusals = [
      await guest.add(body.id, three, 2),
      await guest.changeLine(body.id, added.body.lines[0].id, 4),
      await guest.add(body.id, single, 2),
      await guest.add(body.id, soldOut),
    ]
    expect(refusals.map(({ status, body: { message } }) => [status, message])).toEqual([
      [409, 'Only 3 of Vase are left'],
      [409, 'Only 3 of Vase are left'],
      [409, 'Only 1 of Bowl is left'],
      [409, 'Jug is sold out'],
    ])
    const { description } = openapi.paths['/cart/{id}/items'].post
    expect(description).toContain('409 if the stock is too low (the message says how many are left)')
    expect((await guest.add(body.id, backorder, 500)).status).toBe(201)
    expect((await guest.changeLine(body.id, added.body.lines[0].id, 3)).status).toBe(200)
    // A cart does not reserve stock.
    expect((await guest.cart(body.id)).body.lines.map(({ available }: Json) => available)).toEqual([true, true])
  })

  test('accepts at most a hundred lines in a cart', async () => {
    await using app = await testApp()
    const { guest, add } = await storeIn(app)
    const values = Array.from({ length: 100 }, (_, nth) => `v${nth}`)
    const { variants } = await add({
      title: 'Beads',
      options: [{ name: 'Colour', values }],
      variants: values.map((value) => ({ optionValues: [value], price: usd(1) })),
    })
    const { body } = await guest.begin()
    for (const { id } of variants) expect((await guest.add(body.id, id)).status).toBe(201)
    const extra = await add({ title: 'One more', variants: [{ price: usd(1) }] })
    const answer = await guest.add(body.id, extra.variants[0]?.id ?? '')
    expect([answer.status, answer.body.message]).toEqual([409, 'A cart can have at most 100 lines'])
    expect((await guest.add(body.id, variants[7]?.id ?? '')).status).toBe(201)
    expect((await guest.cart(body.id)).body.totals.total).toEqual(usd(101))
  })

  test('keeps the price that the shopper saw until the line is changed', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id, lineId, cart } = await cartWith(store)
    const { productId } = cart.lines[0]
    const { body: product } = await store.get(`/product-v2/${productId}`)
    await store.patch(`/product-v2/${productId}`, { variants: [{ id: product.variants[0].id, price: usd(1_300) }] })
    expect((await store.guest.cart(id)).body).toMatchObject({ lines: [{ unitPrice: usd(1_000) }], totals: { total: usd(1_000) } })
    expect((await store.guest.changeLine(id, lineId, 2)).body).toMatchObject({
      lines: [{ unitPrice: usd(1_300), total: usd(2_600) }],
      totals: { total: usd(2_600) },
    })
  })

  test('keeps lines that are no longer available, and marks them as unavailable', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { guest, patch } = store
    const { id, cart } = await cartWith(store)
    const vase = await store.add({ title: 'Vase', variants: [{ price: usd(100), onHand: 5 }] })
    const mug = await store.add({
      title: 'Mug',
      options: [{ name: 'Size', values: ['S', 'M'] }],
      variants: [
        { optionValues: ['S'], price: usd(100) },
        { optionValues: ['M'], price: usd(90) },
      ],
    })
    await guest.add(id, vase.variants[0]?.id ?? '', 5)
    await guest.add(id, mug.variants[0]?.id ?? '')
    await patch(`/product-v2/${cart.lines[0].productId}`, { status: 'ARCHIVED' })
    await store.count(vase.id, vase.variants[0]?.id ?? '', { counted: 4 })
    await store.delete(`/product-v2/${mug.id}/variants/${mug.variants[0]?.id}`)
    const { body } = await guest.cart(id)
    expect(body.lines.map(({ title, available }: Json) => [title, available])).toEqual([
      ['Lamp', false],
      ['Vase', false],
      [null, false],
    ])
    expect(body.lines[2]).toMatchObject({ productId: null, variantTitle: null, sku: null, imageUrl: null, unitPrice: usd(100) })
    expect((await guest.changeLine(id, body.lines[2].id, 2)).status).toBe(404)
    expect((await guest.removeLine(id, body.lines[2].id)).body.lines.length).toBe(2)
  })

  test('rejects lines beyond the largest order total, and keeps the cart unchanged', async () => {
    await using app = await testApp()
    const { guest, variant } = await storeIn(app)
    const expensive = await variant('Palace', 100_000_000_000_000)
    const { body } = await guest.begin()
    const { body: before } = await guest.add(body.id, expensive)
    expect(before.totals.total).toEqual(usd(100_000_000_000_000))
    for (const refused of [await guest.add(body.id, expensive), await guest.add(body.id, await variant('Nail', 1))])
      expect([refused.status, refused.body.message]).toEqual([409, 'The total of the cart would exceed the largest total of an order'])
    expect((await guest.changeLine(body.id, before.lines[0].id, 9_999)).status).toBe(409)
    expect((await guest.cart(body.id)).body.lines).toEqual(before.lines)
  })
})

describe('shipping of a cart', () => {
  const methods = [
    { code: 'post', title: 'Post', price: usd(700) },
    { code: 'bike', title: 'Bike', countries: ['US', 'CA'], price: usd(900) },
  ]

  test('accepts only a shipping method that the shop offers to the address', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    await store.ships(...methods)
    const { id } = await cartWith(store)
    const choose = (body: Json) => store.guest.change(id, body)
    expect((await choose({ shippingMethod: 'bike' })).body.totals).toMatchObject({ shipping: usd(900), total: usd(1_900) })
    expect((await choose({ shippingMethod: 'plane' })).status).toBe(400)
    const otherAddress = { ...home, countryCode: 'FR' }
    const refused = await choose({ shippingAddress: otherAddress, shippingMethod: 'bike' })
    expect([refused.status, refused.body.message]).toEqual([400, 'shippingMethod: not offered for this cart and its shipping address'])
    expect((await store.guest.cart(id)).body).toMatchObject({ shippingAddress: null, shippingMethod: 'bike' })
    expect((await choose({ shippingAddress: home })).body.shippingMethod).toBe('bike')
    const afterMove = await choose({ shippingAddress: otherAddress })
    expect(afterMove.body).toMatchObject({ shippingMethod: null, totals: { shipping: usd(0), total: usd(1_000) } })
    expect((await choose({ shippingMethod: 'post' })).body.totals.shipping).toEqual(usd(700))
    expect((await choose({ shippingAddress: home })).body.shippingMethod).toBe('post')
  })

  test('drops a shipping method that the shop has removed', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    await store.ships(...methods)
    const { id } = await cartWith(store)
    await store.guest.change(id, { shippingMethod: 'post' })
    await store.ships()
    expect((await store.guest.cart(id)).body).toMatchObject({ shippingMethod: null, totals: { shipping: usd(0), total: usd(1_000) } })
  })
})

describe('notices of a cart', () => {
  const codes = ({ body }: { body: Json }) => body.notices.map(({ code }: Json) => code)

  test('shows a notice when no tax rate or no shipping method of the shop covers the address', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id, cart } = await cartWith(store)
    expect(cart.notices).toEqual([])
    const otherAddress = { ...home, countryCode: 'FR' }
    expect(codes(await store.guest.change(id, { shippingAddress: otherAddress }))).toEqual([])
    await store.taxes({ country: 'US', region: 'California', rateBps: 725 }, { country: 'CA', rateBps: 0 })
    await store.ships({ code: 'bike', title: 'Bike', countries: ['US'], price: usd(900) })
    const uncovered = await store.guest.cart(id)
    expect(uncovered.body.notices).toEqual([
      { code: 'NO_TAX_RATE', message: 'No tax rate covers the address, so no tax is charged' },
      { code: 'NO_SHIPPING_METHOD', message: 'No shipping method covers the shipping address' },
    ])
    const moveTo = (shippingAddress: Json) => store.guest.change(id, { shippingAddress })
    expect(codes(await moveTo({ ...home, province: 'NV' }))).toEqual(['NO_TAX_RATE'])
    expect(codes(await moveTo({ ...home, province: 'California' }))).toEqual([])
    expect(codes(await moveTo({ ...home, countryCode: 'CA' }))).toEqual(['NO_SHIPPING_METHOD'])
    expect(codes(await store.guest.change(id, { shippingAddress: null }))).toEqual([])
    expect(codes(await store.guest.change(id, { billingAddress: otherAddress }))).toEqual(['NO_TAX_RATE'])
    const newCart = await store.guest.begin({ shippingAddress: otherAddress })
    expect(codes(newCart)).toEqual(['NO_TAX_RATE', 'NO_SHIPPING_METHOD'])
  })

  test('matches provinces by local name or code, stores them as typed, and names an unknown one in a notice', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id } = await cartWith(store)
    const moveTo = (countryCode: string, province: string | null) =>
      store.guest.change(id, { shippingAddress: { ...home, countryCode, province } })
    // The shop has no rate and no zone by province.
    expect(codes(await moveTo('US', 'XX'))).toEqual([])
    await store.taxes(
      { country: 'US', rateBps: 0 },
      { country: 'US', region: 'CA', rateBps: 1_000 },
      { country: 'JP', rateBps: 0 },
      { country: 'JP', region: '東京都', rateBps: 500 },
    )
    const tax = { CA: usd(100), 13: usd(50), none: usd(0) }
    for (const [country, province, expected] of [
      ['US', 'California', tax.CA],
      ['US', 'us-ca', tax.CA],
      ['JP', '東京都', tax[13]],
      ['JP', 'Tokyo', tax[13]],
      ['JP', 'JP-13', tax[13]],
      ['JP', '大阪府', tax.none],
      ['US', null, tax.none],
    ] as const) {
      const { body } = await moveTo(country, province)
      expect([province, body.totals.tax, body.notices]).toEqual([province, expected, []])
      expect(body.shippingAddress.province).toBe(province)
    }
    for (const province of ['Calif.', 'XX', '東京都']) {
      const { body } = await moveTo('US', province)
      expect([body.shippingAddress.province, body.totals.tax]).toEqual([province, tax.none])
      expect(body.notices).toEqual([
        {
          code: 'UNKNOWN_PROVINCE',
          message: `The country US has no province "${province}", so tax rates and shipping zones of provinces do not apply`,
        },
      ])
    }
    const billingAddress = { ...home, province: 'XX' }
    expect(codes(await store.guest.change(id, { shippingAddress: null, billingAddress }))).toEqual(['UNKNOWN_PROVINCE'])
    await store.taxes()
    const zones = [{ countries: ['US'], provinces: ['CA'] }]
    await store.ships({ code: 'bike', title: 'Bike', zones, rates: [{ amount: usd(900) }] })
    expect(codes(await moveTo('US', 'Calif.'))).toEqual(['NO_SHIPPING_METHOD', 'UNKNOWN_PROVINCE'])
    expect(codes(await moveTo('US', 'California'))).toEqual([])
  })

  test('rejects an unknown province in a shop with strictProvinces that has rates or zones by province', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const setStrict = async (strictProvinces: boolean) => {
      const { status, body } = await app.call('PATCH', '/shops/v2', { token: store.token, body: { strictProvinces } })
      expect([status, body.strictProvinces]).toEqual([200, strictProvinces])
      expect((await app.call('GET', '/shops/v2', { token: store.token })).body.strictProvinces).toBe(strictProvinces)
    }
    await setStrict(true)
    const { id } = await cartWith(store)
    const unknown = { ...home, province: 'Calif.' }
    expect((await store.guest.change(id, { shippingAddress: unknown })).status).toBe(200)
    await store.taxes({ country: 'US', rateBps: 0 }, { country: 'US', region: 'CA', rateBps: 1_000 })
    for (const field of ['shippingAddress', 'billingAddress']) {
      const message = `${field}.province: must be an ISO 3166-2 code or a name of a province of US`
      for (const refused of [await store.guest.change(id, { [field]: unknown }), await store.guest.begin({ [field]: unknown })])
        expect([refused.status, refused.body.message]).toEqual([400, message])
    }
    // The address was stored before the rates, so it stays and causes a notice.
    expect(codes(await store.guest.change(id, { email: 'a@example.com' }))).toEqual(['UNKNOWN_PROVINCE'])
    for (const province of ['California', 'US-CA', null])
      expect((await store.guest.change(id, { shippingAddress: { ...home, province } })).status).toBe(200)
    await setStrict(false)
    const accepted = await store.guest.change(id, { shippingAddress: unknown })
    expect([accepted.status, codes(accepted)]).toEqual([200, ['UNKNOWN_PROVINCE']])
  })

  test('rejects the checkout of a cart to an address without a shipping method, and states the reason', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    await store.ships({ code: 'bike', title: 'Bike', countries: ['US'], price: usd(900) })
    const { id } = await cartWith(store)
    await store.guest.change(id, { email: 'a@example.com', shippingAddress: { ...home, countryCode: 'FR' } })
    const refused = await store.guest.call('POST', `/cart/${id}/checkout`, { method: 'card' }, { 'idempotency-key': 'one' })
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'The cart cannot be checked out: no shipping method of the shop covers its content and shipping address',
    ])
    await store.guest.change(id, { shippingAddress: home, shippingMethod: 'bike' })
    const bought = await store.guest.call('POST', `/cart/${id}/checkout`, { method: 'card' }, { 'idempotency-key': 'two' })
    expect(bought.status).toBe(201)
    expect(codes(await store.guest.cart(id))).toEqual([])
  })
})

describe('taxes of a cart', () => {
  test("taxes by the shipping address, else billing address, else shop country, with the region's own rate", async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    await store.taxes(
      { country: 'US', rateBps: 500 },
      { country: 'US', region: 'CA', rateBps: 725 },
      { country: 'DE', rateBps: 1_900, inclusive: true },
      { country: 'FR', region: 'COR', rateBps: 1_000 },
    )
    const { id } = await cartWith(store)
    const taxes = async (change: Json) => {
      const { totals } = (await store.guest.change(id, change)).body
      return [totals.tax.amount, totals.taxIncluded.amount, totals.total.amount]
    }
    expect(await taxes({})).toEqual([50, 0, 1_050])
    expect(await taxes({ billingAddress: { ...home, countryCode: 'DE' } })).toEqual([0, 160, 1_000])
    expect(await taxes({ shippingAddress: { ...home, province: ' ca' } })).toEqual([72, 0, 1_072])
    expect(await taxes({ shippingAddress: { ...home, province: 'NV' } })).toEqual([50, 0, 1_050])
    expect(await taxes({ shippingAddress: { ...home, countryCode: 'FR' } })).toEqual([0, 0, 1_000])
    expect(await taxes({ shippingAddress: null, billingAddress: null })).toEqual([50, 0, 1_050])
  })

  test('finds tax rates of a region by code or name in any spelling', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id } = await cartWith(store)
    const taxed = async (countryCode: string, province: string) =>
      (await store.guest.change(id, { shippingAddress: { ...home, countryCode, province } })).body.totals.tax.amount
    for (const region of ['CA', 'us-ca', 'California', ' CALIFORNIA ']) {
      expect((await store.taxes({ country: 'US', region, rateBps: 725 })).status).toBe(200)
      for (const province of ['CA', 'ca', 'US-CA', 'California', 'california ']) expect(await taxed('US', province)).toBe(72)
      for (const province of ['CO', 'Colorado', 'Californication', '']) expect(await taxed('US', province)).toBe(0)
    }
    for (const [country, region, province] of [
      ['CA', 'Québec', 'QC'],
      ['CA', 'Quebec', 'québec'],
      ['DE', 'Bavaria', 'BY'],
      ['AE', 'DU', 'Dubai'],
      ['US', 'PR', 'Puerto Rico'],
      ['US', 'DC', 'District of Columbia'],
      ['US', 'DC', 'Washington, D.C.'],
      ['MN', 'Ulaanbaatar', '1'],
      ['SA', "Ha'il", '06'],
    ] as const) {
      expect((await store.taxes({ country, region, rateBps: 1_000 })).status, region).toBe(200)
      expect(await taxed(country, province), province).toBe(100)
    }
    await store.taxes({ country: 'US', region: 'CA', rateBps: 725 })
    expect(await taxed('CA', 'CA')).toBe(0)
  })

  test('taxes taxable goods only, not shipping', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    await store.taxes({ country: 'US', rateBps: 1_000 })
    await store.ships({ code: 'post', title: 'Post', price: usd(700) })
    const { id } = await cartWith(store)
    await store.guest.add(id, await store.variant('Bread', 300, { taxable: false }))
    expect((await store.guest.change(id, { shippingMethod: 'post' })).body.totals).toEqual({
      subtotal: usd(1_300),
      discount: usd(0),
      shipping: usd(700),
      tax: usd(100),
      taxIncluded: usd(0),
      shippingTax: usd(0),
      giftCards: usd(0),
      total: usd(2_100),
      amountDue: usd(2_100),
    })
  })
})

describe('carts under an idempotency key', () => {
  test('adds a variant once per idempotency key, but creates a new cart for each publishable-key request', async () => {
    await using app = await testApp()
    const { guest, variant } = await storeIn(app)
    const first = await guest.begin()
    const sent = { variantId: await variant('Lamp', 1_000), quantity: 2 }
    const add = (body: Json) => guest.call('POST', `/cart/${first.body.id}/items`, body, { 'idempotency-key': 'add-1' })
    const [added, replayed] = [await add(sent), await add(sent)]
    expect([added.status, replayed.text === added.text, replayed.headers.get('idempotent-replayed')]).toEqual([201, true, 'true'])
    expect((await add({ ...sent, quantity: 3 })).status).toBe(422)
    expect((await guest.cart(first.body.id)).body.lines[0].quantity).toBe(2)
    // Shoppers share the publishable key, so one shopper's idempotency key must not return another shopper's cart.
    const begin = () => guest.call('POST', '/cart', {}, { 'idempotency-key': 'begin-1' })
    expect((await begin()).body.id).not.toBe((await begin()).body.id)
  })
})
