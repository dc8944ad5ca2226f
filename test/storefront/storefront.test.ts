/** The storefront of docs/ in a real browser, on a telephone's and a desk's width: what a reader copies works, and breaks no policy. */
import { afterAll, describe, expect, test } from 'bun:test'
import { engine } from '../../db/columns.ts'
import { chromium } from '../support/chromium.ts'
import { ok } from '../support/selling.ts'
import { closeBrowser, type Shopper, shopper } from '../support/shopper.ts'
import { hostile, type OpenShop, openShop } from '../support/storefront.ts'

const hasBrowser = chromium !== undefined
if (!hasBrowser) process.stderr.write('skipped: the storefront in a real browser, because there is no chromium on this machine\n')
const inBrowser = test.skipIf(!hasBrowser)
afterAll(closeBrowser)

/** Nothing to complain about, and nobody asked but the storefront and souk. */
function expectPeace(visitor: Shopper, { origin, souk }: OpenShop): void {
  expect(visitor.complaints()).toEqual([])
  expect([...visitor.origins()].sort()).toEqual([origin, souk].sort())
}

async function fillAddress(visitor: Shopper, email?: string): Promise<void> {
  await visitor.heading('Checkout')
  if (email) await visitor.fill('E-mail', email)
  await visitor.fill('Name', 'Noor Haddad')
  await visitor.fill('Country', 'United States')
  await visitor.fill('Street and number', '1 Quay Street')
  await visitor.fill('Town', 'Portland')
  await visitor.fill('State or province', 'Maine')
  await visitor.fill('Postal code', '04101')
}

describe('a guest on a telephone', () => {
  inBrowser('finds something, is declined, pays with another card, a discount and a gift card, and sees the order', async () => {
    await using shop = await openShop()
    const card = ok(await shop.shop.post('/giftcard', { amount: { amount: 1_000, currency: 'USD' } })).body
    await using visitor = await shopper(shop.origin, 'phone')
    await visitor.go('index.html')
    await visitor.heading('Souk & Söhne')
    await visitor.text(hostile)
    expect(await visitor.breaches()).toEqual([])
    await visitor.fill('Search', 'lamp')
    await visitor.fill('Collection', 'Light')
    await visitor.fill('Price to (USD)', '20.50')
    await visitor.press('Search')
    await visitor.heading('Light')
    await visitor.text('1 item found')
    await visitor.press('Brass Lampfrom $20.00')
    await visitor.heading('Brass Lamp')
    await visitor.text('$20.00 · 5 left')
    await visitor.fill('Size', 'Large')
    await visitor.text('$35.00 · 3 left')
    await visitor.fill('Quantity', '2')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Add to the basket')
    await visitor.press('Basket (2)')
    await visitor.heading('Your basket')
    await visitor.fill('Discount code', 'ten')
    await visitor.press('Apply', 'Discount')
    await visitor.text('Ten off −$7.00')
    await visitor.fill('Gift card code', card.code)
    await visitor.press('Apply', 'Gift cards')
    await visitor.text('To pay $53.00')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Go to the checkout')
    await fillAddress(visitor, 'guest@example.com')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Continue')
    await visitor.press('By courier · $12.00')
    await visitor.press('Continue')
    await visitor.press('Test card that is declined')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Pay $65.00')
    await visitor.text('The payment was declined.')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Test card that pays')
    await visitor.press('Pay $65.00')
    await visitor.heading('Order 1')
    await visitor.text('Thank you for your order')
    expect(await visitor.breaches()).toEqual([])
    expectPeace(visitor, shop)
    const { data } = ok(await shop.shop.get('/v2/orders')).body
    expect(data).toMatchObject([{ status: 'CONFIRMED', email: 'guest@example.com', discountTotal: { amount: 700 }, giftCardTotal: { amount: 1_000 } }])
    await visitor.go('cart.html')
    await visitor.text('Your basket is empty.')
  })
})
