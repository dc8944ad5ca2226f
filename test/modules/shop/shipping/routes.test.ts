/** Shipping options and prices of a cart, as a storefront with the publishable key sees them. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type TestApp, testApp } from '../../../support/app.ts'
import { usd } from '../../../support/catalog.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const countryCodes = [
  ...['AE', 'AT', 'AU', 'BE', 'BG', 'BR', 'CA', 'CH', 'CL', 'CN', 'CO', 'CY', 'CZ', 'DE', 'DK', 'EE', 'EG', 'ES', 'FI', 'FR'],
  ...['GB', 'GR', 'HR', 'HU', 'IE', 'IL', 'IN', 'IS', 'IT', 'JP', 'KE', 'KR', 'KW', 'LT', 'LU', 'LV', 'MA', 'MN', 'MT', 'MX'],
  ...['MY', 'NG', 'NL', 'NO', 'NZ', 'OM', 'PE', 'PH', 'PL', 'PT', 'QA', 'RO', 'SA', 'SE', 'SG'],
]
const methodsPath = '/shops/v2/shipping-methods'
const post = {
  code: 'post',
  title: 'Post',
  zones: [{ countries: ['US'], provinces: ['ME', 'California'] }, { countries: ['CA'] }],
  rates: [
    { upToGrams: 1_000, amount: usd(500) },
    { upToGrams: 5_000, amount: usd(900) },
  ],
  freeOver: usd(10_000),
}
const world = {
  code: 'world',
  title: 'World',
  zones: [{}],
  rates: [{ upToAmount: usd(5_000), amount: usd(3_000) }, { amount: usd(2_000) }],
}
const flat = { code: 'flat', title: 'Flat', countries: ['FR'], price: usd(700) }

async function openShopWith(app: TestApp, methods: readonly unknown[]) {
  const shop = await sellingIn(app)
  ok(await shop.put(methodsPath, { data: methods }))
  const addProduct = async (title: string, variant: Record<string, unknown>): Promise<string> =>
    ok(await shop.post('/product-v2', { title, status: 'ACTIVE', variants: [{ price: usd(1_000), ...variant }] })).body.variants[0].id
  const key = shop.publishableKey
  const callAsStorefront = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { key, ...(body === undefined ? {} : { body }) })
  return { ...shop, addProduct, callAsStorefront, getOptions: (id: string) => callAsStorefront('GET', `/cart/${id}/shipping-options`) }
}

test('shipping methods are returned in the form in which they were stored', async () => {
  await using app = await testApp()
  const shop = await openShopWith(app, [post, world, flat])
  expect((await shop.get(methodsPath)).body).toEqual({ data: [post, world, flat] })
  expect((await shop.put(methodsPath, { data: [{ code: 'a', title: 'A', price: usd(1) }] })).body).toEqual({
    data: [{ code: 'a', title: 'A', countries: [], price: usd(1) }],
  })
  const refused = await shop.put(methodsPath, { data: [{ ...post, rates: [] }] })
  expect([refused.status, refused.body.message]).toEqual([400, 'data.0.rates: must have at least 1 entry'])
})

test('a cart is offered the methods for its address and weight, pays their price, and gets a notice when it is too heavy', async () => {
  await using app = await testApp()
  const shop = await openShopWith(app, [post, world, flat])
  const crate = await shop.addProduct('Crate', { weightGrams: 600 })
  const { body: cart } = ok(await shop.callAsStorefront('POST', '/cart', { email: 'a@example.com' }))
  const path = `/cart/${cart.id}`
  expect((await shop.getOptions(cart.id)).body).toEqual({ data: [], reason: 'EMPTY_CART' })
  const lineId = ok(await shop.callAsStorefront('POST', `${path}/items`, { variantId: crate, quantity: 1 })).body.lines[0].id
  expect((await shop.getOptions(cart.id)).body).toEqual({ data: [], reason: 'NO_ADDRESS' })
  ok(await shop.callAsStorefront('PATCH', path, { shippingAddress: address }))
  expect((await shop.getOptions(cart.id)).body).toEqual({ data: [{ code: 'post', title: 'Post', amount: usd(500) }] })
  expect((await shop.callAsStorefront('PATCH', path, { shippingMethod: 'world' })).body.message).toBe(
    'shippingMethod: not offered for this cart and its shipping address',
  )
  expect(ok(await shop.callAsStorefront('PATCH', path, { shippingMethod: 'post' })).body.totals.shipping).toEqual(usd(500))
  expect(ok(await shop.callAsStorefront('PATCH', `${path}/items/${lineId}`, { quantity: 2 })).body.totals.shipping).toEqual(usd(900))
  const tooHeavy = ok(await shop.callAsStorefront('PATCH', `${path}/items/${lineId}`, { quantity: 9 })).body
  expect([tooHeavy.shippingMethod, tooHeavy.totals.shipping, tooHeavy.notices.map(({ code }: { code: string }) => code)]).toEqual([
    null,
    usd(0),
    ['NO_SHIPPING_METHOD'],
  ])
  expect((await shop.getOptions(cart.id)).body).toEqual({ data: [], reason: 'TOO_LARGE' })
  const refused = await shop.checkout(cart.id)
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'The cart cannot be checked out: no shipping method of the shop covers its content and shipping address',
  ])
  ok(await shop.callAsStorefront('PATCH', `${path}/items/${lineId}`, { quantity: 1 }))
  ok(await shop.callAsStorefront('PATCH', path, { shippingAddress: { ...address, province: 'TX' } }))
  expect((await shop.getOptions(cart.id)).body).toEqual({ data: [], reason: 'NOT_REACHED' })
  ok(await shop.callAsStorefront('PATCH', path, { shippingAddress: { ...address, countryCode: 'JP', province: null } }))
  expect((await shop.getOptions(cart.id)).body).toEqual({ data: [{ code: 'world', title: 'World', amount: usd(3_000) }] })
  ok(await shop.callAsStorefront('PATCH', path, { shippingMethod: 'world' }))
  const { order } = ok(await shop.checkout(cart.id)).body
  expect([order.shippingTotal, order.shippingMethod]).toEqual([usd(3_000), { code: 'world', title: 'World' }])
  expect((await shop.getOptions(cart.id)).status).toBe(409)
})

test('shipping is free from the threshold on, if a rate covers the weight', async () => {
  await using app = await testApp()
  const shop = await openShopWith(app, [post])
  const light = await shop.addProduct('Feather', { weightGrams: 1 })
  const id = await shop.cart({ shippingAddress: address, shippingMethod: 'post', variants: [light], quantity: 9 })
  expect((await shop.callAsStorefront('GET', `/cart/${id}`)).body.totals.shipping).toEqual(usd(500))
  const freeCart = await shop.cart({ shippingAddress: address, shippingMethod: 'post', variants: [light], quantity: 10 })
  expect((await shop.callAsStorefront('GET', `/cart/${freeCart}`)).body.totals.shipping).toEqual(usd(0))
  expect((await shop.getOptions(freeCart)).body.data).toEqual([{ code: 'post', title: 'Post', amount: usd(0) }])
})

test('digital goods need no address and no shipping method, and add no weight', async () => {
  await using app = await testApp()
  const shop = await openShopWith(app, [post])
  const song = await shop.addProduct('Song', { weightGrams: 9_000, requiresShipping: false })
  const id = await shop.cart({ variants: [song] })
  expect((await shop.getOptions(id)).body).toEqual({ data: [], reason: 'NOTHING_TO_SHIP' })
  const { order } = ok(await shop.checkout(id)).body
  expect([order.shippingTotal, order.shippingMethod, order.status]).toEqual([usd(0), null, 'CONFIRMED'])
  const mixedCart = await shop.cart({ variants: [song, shop.variantId] })
  expect((await shop.checkout(mixedCart)).body.message).toBe(
    'The cart cannot be checked out: it has no shipping address, it has no shipping method',
  )
  ok(await shop.callAsStorefront('PATCH', `/cart/${mixedCart}`, { shippingAddress: address, shippingMethod: 'post' }))
  expect(ok(await shop.checkout(mixedCart)).body.order.shippingTotal).toEqual(usd(500))
})

test('lines are taxed by the most specific rate of their class, which the order stores', async () => {
  await using app = await testApp()
  const shop = await openShopWith(app, [])
  const rates = [
    { country: 'US', region: null, rateBps: 1_000, inclusive: false },
    { country: 'US', region: null, rateBps: 0, inclusive: false, class: 'books' },
    { country: 'US', region: 'ME', rateBps: 250, inclusive: false, class: 'books' },
  ]
  expect(ok(await shop.put('/shops/v2/tax-rates', { data: rates })).body.data).toEqual(rates.map((rate) => ({ ...rate, shipping: false })))
  expect((await shop.put('/shops/v2/tax-rates', { data: [rates[1], rates[1]] })).body.message).toBe(
    'data.1.country: a country and region can have only one rate of a class',
  )
  const book = await shop.addProduct('Book', { taxClass: 'books' })
  const cake = await shop.addProduct('Cake', { taxClass: 'food' })
  const id = await shop.cart({ variants: [book, cake], shippingAddress: address })
  const { order } = ok(await shop.checkout(id)).body
  expect(order.lines.map(({ tax }: { tax: { rateBps: number; amount: unknown } }) => [tax.rateBps, tax.amount])).toEqual([
    [250, usd(25)],
    [1_000, usd(100)],
  ])
  expect(order.taxTotal).toEqual(usd(125))
  expect((await shop.post('/product-v2', { title: 'Bad', variants: [{ price: usd(1), taxClass: 'Not One' }] })).body.message).toContain(
    'variants.0.taxClass:',
  )
})

test("the public list of a shop's destinations has provinces for countries that it reaches in part", async () => {
  await using app = await testApp()
  const shop = await openShopWith(app, [post, flat])
  const path = `/shops/v2/public/name/${shop.shop.name}/countries`
  const origin = { origin: 'https://storefront.example' }
  const { body, headers } = ok(await app.call('GET', path, { headers: origin }))
  expect(body.data.map(({ code }: { code: string }) => code)).toEqual(['CA', 'FR', 'US'])
  expect(body.data[2]).toEqual({
    code: 'US',
    name: 'United States',
    provinces: [
      { code: 'CA', name: 'California' },
      { code: 'ME', name: 'Maine' },
    ],
  })
  expect(body.data[0].provinces).toContainEqual({ code: 'ON', name: 'Ontario' })
  expect([headers.get('access-control-allow-origin'), headers.get('etag') !== null]).toEqual(['*', true])
  ok(await shop.put(methodsPath, { data: [] }))
  expect(ok(await app.call('GET', path)).body.data).toHaveLength(249)
  expect((await app.call('GET', '/shops/v2/public/name/nobody/countries')).status).toBe(404)
})

test('a shop has at most 100 methods, a method 50 zones and 50 rates, and a zone 250 provinces', async () => {
  await using app = await testApp()
  const shop = await openShopWith(app, [flat])
  const put = (data: readonly unknown[]) => shop.put(methodsPath, { data })
  const list = <Item>(length: number, itemAt: (nth: number) => Item) => Array.from({ length }, (_, nth) => itemAt(nth))
  const withRates = (count: number) => ({ ...world, rates: list(count, (nth) => ({ upToAmount: usd(100 * (nth + 1)), amount: usd(500) })) })
  const withZones = (count: number) => ({ ...post, zones: list(count, (nth) => ({ countries: [countryCodes[nth]] })) })
  const withProvinces = (count: number) => ({ ...post, zones: [{ countries: ['US'], provinces: list(count, () => 'ME') }] })
  const methods = (count: number) => list(count, (nth) => ({ ...flat, code: `flat-${nth}` }))
  for (const [allowed, tooMany, field] of [
    [methods(100), methods(101), 'data'],
    [[withZones(50)], [withZones(51)], 'data.0.zones'],
    [[withRates(50)], [withRates(51)], 'data.0.rates'],
  ] as const) {
    expect([field, (await put(allowed)).status]).toEqual([field, 200])
    const refused = await put(tooMany)
    expect([refused.status, refused.body.field]).toEqual([400, field])
  }
  const messages = await Promise.all([250, 251].map(async (count) => (await put([withProvinces(count)])).body.message as string))
  // A list of 250 passes this check, and is refused because it repeats a province.
  expect(messages.map((message) => message.includes('at most 250'))).toEqual([false, true])
})
