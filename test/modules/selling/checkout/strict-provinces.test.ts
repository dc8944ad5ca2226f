/** A shop with strictProvinces sells to no stored address with an unknown province. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, testApp } from '../../../support/app.ts'
import { browserOn, draftsOf, formOf } from '../../../support/drafts.ts'
import { address, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const unknownProvince = { ...address, province: 'Calif.' }

/** Turns strictProvinces on, in a shop that has a tax rate by province. */
async function makeStrict(shop: Selling): Promise<void> {
  const data = [
    { country: 'US', rateBps: 0 },
    { country: 'US', region: 'CA', rateBps: 1_000 },
  ]
  await shop.put('/shops/v2/tax-rates', { data })
  ok(await shop.app.call('PATCH', '/shops/v2', { token: shop.token, body: { strictProvinces: true } }))
}

const refusal = (field: string) => ({
  statusCode: 400,
  message: `cart.${field}.province: must be an ISO 3166-2 code or a name of a province of US`,
  error: 'Bad Request',
  code: 'UNKNOWN_PROVINCE',
  field: `cart.${field}.province`,
})
const statusAndBody = ({ status, body }: Answer) => [status, body]

test('rejects a checkout with a stored address in an unknown province, and holds nothing', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { publishableKey: key } = shop
  const { id: card, code } = await shop.giftCard(300)
  const stored = {
    shippingAddress: await shop.cart({ shippingAddress: unknownProvince }),
    billingAddress: await shop.cart({ billingAddress: unknownProvince }),
  }
  ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId: stored.shippingAddress } }))
  await makeStrict(shop)
  for (const [field, cartId] of Object.entries(stored)) {
    const attempt = crypto.randomUUID()
    for (let nth = 0; nth < 2; nth++) expect(statusAndBody(await shop.checkout(cartId, {}, attempt))).toEqual([400, refusal(field)])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    const { data: cards } = ok(await shop.get('/giftcard')).body
    expect(cards.find(({ id }: { id: string }) => id === card).balance).toEqual(shop.money(300))
    expect(ok(await shop.get('/v2/orders')).body.total).toBe(0)
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key })).body.status).toBe('OPEN')
  }
  for (const [field, cartId] of Object.entries(stored)) {
    ok(await app.call('PATCH', `/cart/${cartId}`, { key, body: { [field]: { ...address, province: 'California' } } }))
    expect(ok(await shop.checkout(cartId), 201).body.order.status).toBe('CONFIRMED')
  }
})

test('rejects a cart with an unknown province by the same code, unless the shop has no rates by province', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart({ shippingAddress: unknownProvince })
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { strictProvinces: true } }))
  expect((await shop.checkout(cartId)).status).toBe(201)
  await makeStrict(shop)
  const refused = await app.call('POST', '/cart', { key: shop.publishableKey, body: { shippingAddress: unknownProvince } })
  expect([refused.status, refused.body.code]).toEqual([400, 'UNKNOWN_PROVINCE'])
})

test('asks for another address on the pay page if the payer may set it, else shows that the draft cannot be paid', async () => {
  await using app = await testApp({ PUBLIC_URL: 'https://souk.example' })
  const shop = await sellingIn(app)
  const post = { code: 'post', title: 'Post', zones: [{ countries: ['US'] }], rates: [{ amount: shop.money(500) }] }
  await shop.put('/shops/v2/shipping-methods', { data: [post] })
  const settled = ok(
    await draftsOf(shop).create({ email: 'ann@example.com', shippingAddress: unknownProvince, shippingMethod: 'post' }),
    201,
  ).body
  const open = ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201).body
  const page = browserOn(app, open.payUrl)
  expect((await page.send({ ...formOf(await page.look(), 'details'), ...unknownProvince })).status).toBe(303)
  const before = formOf(await page.look(), 'pay')
  await makeStrict(shop)
  const closed = await browserOn(app, settled.payUrl).look()
  expect(closed.text).toContain('This order can’t be paid right now')
  expect(() => formOf(closed, 'pay')).toThrow()
  const reopened = await page.look()
  expect(reopened.text).toContain('Check your details and try again')
  expect(() => formOf(reopened, 'pay')).toThrow()
  expect((await page.send(before)).text).toContain('Check your details and try again')
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  expect((await page.send({ ...formOf(await page.look(), 'details'), ...address, province: 'California' })).status).toBe(303)
  expect((await page.send(formOf(await page.look(), 'pay'))).status).toBe(303)
  expect((await page.look()).text).toContain('Payment received')
})
