/** Tests reads of a storefront: by handle, with filters, and with quantities. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('public reads show current quantities while the shop enables it: by id, handle, list, search, collection', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 5 })
  ok(await shop.post('/product-v2', { title: 'Mug song', status: 'ACTIVE', variants: [{ price: usd(1) }] }))
  const { id: collection } = ok(await shop.post('/collection-v2', { title: 'Kitchen' })).body
  ok(await shop.put(`/collection-v2/${collection}/products`, { productIds: [shop.productId] }))
  const paths = [
    `/product-v2/public/${shop.productId}`,
    `${shop.list}/handle/mug`,
    shop.list,
    `${shop.list}?q=mug`,
    `${shop.list}?available=true`,
    `/collection-v2/published/${shop.shop.name}`,
    `/collection-v2/published/${shop.shop.name}/kitchen`,
  ]
  const readQuantities = async () => {
    const found: unknown[] = []
    for (const path of paths) {
      const { text } = ok(await app.call('GET', path))
      found.push([...text.matchAll(/"quantityAvailable":(\w+)/g)].map(([, quantity]) => quantity))
    }
    return found
  }
  const none = paths.map(() => [])
  expect(await readQuantities()).toEqual(none)
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { showQuantity: true } }))
  const bothQuantities = ['null', '5']
  expect(await readQuantities()).toEqual([['5'], ['5'], bothQuantities, bothQuantities, bothQuantities, ['5'], ['5']])
  const etag = (await app.call('GET', paths[0] as string)).headers.get('etag') ?? ''
  const revalidate = () => app.call('GET', paths[0] as string, { headers: { 'if-none-match': etag } })
  expect((await revalidate()).status).toBe(304)
  // A reservation lowers the quantity at once. Its sale lowers it no further.
  const id = await shop.cart({ quantity: 2 })
  ok(await shop.checkout(id, { paymentToken: 'tok_action' }))
  expect((await readQuantities())[0]).toEqual(['3'])
  expect((await revalidate()).status).toBe(200)
  ok(await app.call('DELETE', `/cart/${id}/checkout`, { key: shop.publishableKey }))
  expect((await readQuantities())[1]).toEqual(['5'])
  await shop.placeOrder({ quantity: 5 })
  const { body } = await app.call('GET', paths[0] as string)
  expect([body.available, body.variants[0].available, body.variants[0].quantityAvailable]).toEqual([false, false, 0])
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { showQuantity: false } }))
  expect(await readQuantities()).toEqual([...none.slice(0, 4), [], ...none.slice(5)])
})

test('a product is the same record by handle as by id, and a hidden one is 404 by either', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Crème Brûlée' })
  await shop.add({ title: 'Draft', status: 'DRAFT' })
  const get = (path: string): Promise<Answer> => app.call('GET', path)
  const [one, other] = [await get(`/product-v2/public/${id}`), await get(`${shop.list}/handle/creme-brulee`)]
  expect([other.status, other.text, other.headers.get('etag')]).toEqual([200, one.text, one.headers.get('etag')])
  expect((await get(`/api/v3${shop.list}/handle/creme-brulee`)).text).toBe(one.text)
  const otherShop = await shopIn(app)
  for (const path of [`${shop.list}/handle/draft`, `${shop.list}/handle/none`, `${otherShop.list}/handle/creme-brulee`])
    expect([path, (await get(path)).status]).toEqual([path, 404])
})

test('filters by vendor, type, price and availability combine with all others, also after changes, and have exact totals', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const expectedProducts: {
    title: string
    vendor: string
    type: string
    tag: string
    price: number
    other: number
    inStock: boolean
    at: number
  }[] = []
  const { id: collection } = ok(await shop.post('/collection-v2', { title: 'All' })).body
  const ids: string[] = []
  for (let nth = 0; nth < 24; nth++) {
    const one = {
      title: `${nth % 5 === 0 ? 'lamp' : 'rug'} ${nth}`,
      vendor: ['Kiln', 'Mill', 'O\'Neil, "x"'][nth % 3] as string,
      type: ['A', 'B'][nth % 2] as string,
      tag: nth % 4 === 0 ? 'Sale' : 'new',
      price: (nth * 700) % 5_000,
      other: (nth * 900) % 8_000,
      inStock: nth % 7 !== 0,
      at: nth,
    }
    expectedProducts.push(one)
    const isChanged = nth % 2 === 1
    const { id, variants } = await shop.add({
      ...{ title: one.title, vendor: isChanged ? 'Before' : one.vendor, type: one.type, tags: [one.tag] },
      publishedAt: app.clock.now() - 100_000 + nth * 1_000,
      // Neither the lowest nor the highest price comes first.
      variants: [one.other, one.price, 9_999].map((price, at) => ({
        ...{ price: usd(isChanged ? price + 1 : price), optionValues: [['S', 'M', 'L'][at] as string] },
        onHand: one.inStock !== isChanged && at === 1 ? 1 : 0,
      })),
      options: [{ name: 'Size', values: ['S', 'M', 'L'] }],
    })
    ids.push(id)
    ok(await shop.put(`/collection-v2/${collection}/products`, { productIds: ids }))
    if (!isChanged) continue
    const prices = [one.other, one.price, 9_999].map((price, at) => ({ id: variants[at]?.id, price: usd(price) }))
    ok(await shop.patch(`/product-v2/${id}`, { vendor: one.vendor, variants: prices }))
    ok(await shop.count(id, variants[1]?.id ?? '', { counted: one.inStock ? 1 : 0 }))
  }
  const lowest = ({ price, other }: { price: number; other: number }) => Math.min(price, other)
  const queries: Record<string, string>[] = [{}]
  for (const vendor of [undefined, 'Kiln', 'O\'Neil, "x"', 'kiln'])
    for (const type of [undefined, 'B'])
      for (const [minPrice, maxPrice] of [
        [],
        ['700'],
        [undefined, '2100'],
        ['700', '2100'],
        ['2101', '2100'],
        ['5000', '9998'],
        ['9999'],
        ['0', '999999999999999'],
      ])
        for (const available of [undefined, 'true', 'false'])
          for (const more of [{}, { tag: 'sale' }, { q: 'lamp' }, { sort: 'price' }, { tag: 'new', sort: '-price' }, { collection }])
            queries.push(
              Object.fromEntries(
                Object.entries({ vendor, type, minPrice, maxPrice, available, ...more }).filter(([, value]) => value !== undefined),
              ) as Record<string, string>,
            )
  for (const query of queries) {
    const { vendor, type, minPrice, maxPrice, available, tag, q, sort } = query
    const expected = expectedProducts
      .filter((one) => vendor === undefined || one.vendor === vendor)
      .filter((one) => type === undefined || one.type === type)
      .filter((one) =>
        [one.price, one.other, 9_999].some(
          (price) => price >= Number(minPrice ?? 0) && price <= Number(maxPrice ?? Number.MAX_SAFE_INTEGER),
        ),
      )
      .filter((one) => available === undefined || one.inStock === (available === 'true'))
      .filter((one) => tag === undefined || one.tag.toLowerCase() === tag)
      .filter((one) => q === undefined || one.title.startsWith('lamp'))
      .sort((a, b) => {
        if (query['collection']) return a.at - b.at
        const byPrice = lowest(a) - lowest(b) || a.at - b.at
        return sort === undefined ? b.at - a.at : sort === 'price' ? byPrice : -byPrice
      })
      .map(({ title }) => title)
    const { body } = ok(await app.call('GET', `${shop.list}?${new URLSearchParams({ ...query, limit: '100' })}`))
    expect([query, body.total, body.data.map(({ title }: { title: string }) => title)]).toEqual([query, expected.length, expected])
  }
  for (const bad of ['minPrice=-1', 'maxPrice=1.5', 'minPrice=1e3', 'available=yes', 'minPrice=9999999999999999'])
    expect([bad, (await app.call('GET', `${shop.list}?${bad}`)).status]).toEqual([bad, 400])
})

test('a sold-out product leaves the list of available products, and returns when it is restocked', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 1 })
  const countAvailable = async () => ok(await app.call('GET', `${shop.list}?available=true`)).body.total
  expect(await countAvailable()).toBe(1)
  await shop.placeOrder()
  expect(await countAvailable()).toBe(0)
  ok(await shop.count(shop.productId, shop.variantId, { delta: 1 }))
  expect(await countAvailable()).toBe(1)
})
