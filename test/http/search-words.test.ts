/** Tests the number of words that a search uses. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { address, ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('a search uses the first ten words of q, in every list that has one', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const words = Array.from({ length: 10 }, (_, nth) => `word${'abcdefghij'[nth]}`)
  const title = words.join(' ')
  ok(await shop.post('/product-v2', { title, status: 'ACTIVE', variants: [{ price: shop.money(100) }] }), 201)
  ok(await shop.post('/blogs', { title, slug: 'words', bodyHtml: '<p>x</p>', status: 'PUBLISHED' }), 201)
  ok(await shop.post('/customer', { email: 'words@example.com', name: title }), 201)
  await shop.placeOrder({ email: 'words@example.com', shippingAddress: { ...address, name: title } })
  for (const path of [`/product-v2/public/shop/${shop.shop.name}`, '/product-v2', '/blogs', '/customer', '/v2/orders']) {
    const totalOf = async (...terms: string[]) => ok(await shop.get(`${path}?q=${encodeURIComponent(terms.join(' '))}`)).body.total
    expect([path, await totalOf(...words)]).toEqual([path, 1])
    expect([path, await totalOf(...words, 'unknown')]).toEqual([path, 1])
    expect([path, await totalOf(...words.slice(1), 'unknown')]).toEqual([path, 0])
  }
})
