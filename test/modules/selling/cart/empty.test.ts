/** All totals of an empty cart are zero, whatever is applied to it. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Json, testApp } from '../../../support/app.ts'
import { address, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const amountsOf = ({ totals }: Json): Record<string, number> =>
  Object.fromEntries(Object.entries(totals as Json).map(([name, { amount }]: [string, Json]) => [name, amount]))
const zeroAmounts = { subtotal: 0, discount: 0, shipping: 0, tax: 0, taxIncluded: 0, shippingTax: 0, giftCards: 0, total: 0, amountDue: 0 }

async function setShipping(shop: Selling, method: Json): Promise<void> {
  ok(await shop.put('/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', ...method }] }))
}

for (const [form, method] of [
  ['a flat price', { price: { amount: 1_200, currency: 'USD' }, countries: ['US'] }],
  ['bands of weight', { zones: [{}], rates: [{ amount: { amount: 1_200, currency: 'USD' } }] }],
] as const)
  test(`charges shipping by ${form} while the cart has items to ship, and nothing when it is empty`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    await setShipping(shop, method)
    ok(await shop.post('/discounts', { title: 'Off', kind: 'FIXED', amount: shop.money(300) }), 201)
    ok(await shop.post('/discounts', { title: 'Free', code: 'FREE', kind: 'FREE_SHIPPING' }), 201)
    const { code } = await shop.giftCard(500)
    const file = await shop.add({ title: 'File', variants: [{ price: shop.money(400), requiresShipping: false }] })
    const key = shop.publishableKey
    const cartId = await shop.cart({ variants: [], shippingAddress: address })
    const call = async (verb: string, path: string, body?: Json) =>
      ok(await app.call(verb, `/cart/${cartId}${path}`, { key, ...(body ? { body } : {}) })).body
    ok(await app.call('PATCH', '/giftcard/apply', { key, body: { code, cartId } }))
    const chosen = await call('PATCH', '', { shippingMethod: 'post' })
    expect([chosen.shippingMethod, amountsOf(chosen)]).toEqual(['post', zeroAmounts])
    const filled = await call('POST', '/items', { variantId: shop.variantId, quantity: 1 })
    expect(amountsOf(filled)).toMatchObject({
      subtotal: 1_000,
      discount: 300,
      shipping: 1_200,
      giftCards: 500,
      total: 1_900,
      amountDue: 1_400,
    })
    const bothItems = await call('POST', '/items', { variantId: file.variants[0]?.id, quantity: 1 })
    expect(amountsOf(bothItems)['shipping']).toBe(1_200)
    const download = await call('DELETE', `/items/${filled.lines[0].id}`)
    expect(amountsOf(download)).toMatchObject({ subtotal: 400, discount: 300, shipping: 0, total: 100 })
    const empty = await call('DELETE', `/items/${bothItems.lines[1].id}`)
    expect([empty.lines, amountsOf(empty), empty.discounts]).toEqual([[], zeroAmounts, []])
    expect(amountsOf(await call('GET', ''))).toEqual(zeroAmounts)
    expect(amountsOf(await call('PATCH', '/discount', { code: 'FREE' }))).toEqual(zeroAmounts)
    // The shipping method stays selected and applies to items that are added later.
    const refilled = await call('POST', '/items', { variantId: shop.variantId, quantity: 1 })
    expect(amountsOf(refilled)).toMatchObject({ discount: 300, shipping: 0, total: 700 })
    expect(amountsOf(await call('PATCH', '/discount', { code: null }))).toMatchObject({ shipping: 1_200, total: 1_900 })
  })
