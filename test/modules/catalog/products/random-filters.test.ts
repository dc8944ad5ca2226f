/** Tests lists of products against a plain filter of the records, for random products, changes and conditions. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { system } from '../../../../src/core/command-context.ts'
import { type Sort, sortNames, sorts } from '../../../../src/modules/catalog/products/domain.ts'
import { tagBitsOf } from '../../../../src/modules/catalog/products/listing.ts'
import { listPublicProducts } from '../../../../src/modules/catalog/products/public-reads.ts'
import { changeProduct } from '../../../../src/modules/catalog/products/service.ts'
import { testApp } from '../../../support/app.ts'
import { pageSlice, shopIn, usd } from '../../../support/catalog.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const vendors = ['Kiln', 'Mill', 'Forge'] as const
const types = ['A', 'B'] as const
const tags = ['linen', 'wide', 'sale'] as const
const priceMax = 3_000
/** Of several magnitudes, so that products have spreads of different numbers of digits. */
const price = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: priceMax }))

type Product = {
  readonly at: number
  readonly vendor: string
  readonly type: string
  readonly tags: readonly string[]
  readonly prices: readonly number[]
  readonly isAvailable: boolean
}

/** Few products of Forge, so that lists are read by vendor as well as by price. */
const product = fc.record({
  vendor: fc.oneof({ weight: 9, arbitrary: fc.constantFrom('Kiln', 'Mill') }, { weight: 1, arbitrary: fc.constant('Forge') }),
  type: fc.constantFrom(...types),
  tags: fc.subarray([...tags]),
  prices: fc.array(price, { minLength: 1, maxLength: 5 }),
  isAvailable: fc.boolean(),
})

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const query = fc.record({
  vendor: optional(fc.constantFrom(...vendors)),
  type: optional(fc.constantFrom(...types)),
  tag: optional(fc.constantFrom('linen', 'Wide', 'none')),
  minPrice: optional(price),
  maxPrice: optional(price),
  available: optional(fc.boolean()),
  isInCollection: fc.boolean(),
  sort: optional(fc.constantFrom<Sort>(...sortNames)),
  // Small limits, so that 100 products are too many to sort.
  limits: fc.record({ end: fc.integer({ min: 0, max: 5 }), totalMax: fc.integer({ min: 5, max: 12 }) }),
})
type Query = typeof query extends fc.Arbitrary<infer T> ? T : never

const nameOf = ({ at }: Pick<Product, 'at'>): string => `p${String((at * 37) % 101).padStart(3, '0')}`

/** Returns the names of the products that match, in the order of the list. */
function matchesOf(products: readonly Product[], collection: readonly number[], testedQuery: Omit<Query, 'limits'>): string[] {
  const { vendor, type, tag, minPrice = 0, maxPrice = priceMax, available, isInCollection, sort } = testedQuery
  const lowest = ({ prices }: Product) => Math.min(...prices)
  const orders: Record<Sort, (a: Product, b: Product) => number> = {
    newest: (a, b) => b.at - a.at,
    title: (a, b) => (nameOf(a) < nameOf(b) ? -1 : 1),
    price: (a, b) => lowest(a) - lowest(b) || a.at - b.at,
    '-price': (a, b) => lowest(b) - lowest(a) || b.at - a.at,
  }
  const byPosition = (a: Product, b: Product) => collection.indexOf(a.at) - collection.indexOf(b.at)
  return products
    .filter((one) => !isInCollection || collection.includes(one.at))
    .filter((one) => vendor === undefined || one.vendor === vendor)
    .filter((one) => type === undefined || one.type === type)
    .filter((one) => tag === undefined || one.tags.includes(tag.toLowerCase()))
    .filter((one) => available === undefined || one.isAvailable === available)
    .filter((one) => one.prices.some((amount) => amount >= minPrice && amount <= maxPrice))
    .sort(isInCollection && sort === undefined ? byPosition : orders[sort ?? 'newest'])
    .map(nameOf)
}

test('a list contains exactly the products that meet all conditions, in its order, also after changes', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const by = { shop: { id: shop.shop.id, currency: 'USD' }, actor: system }
  const [initial, changes] = fc.sample(
    fc.tuple(fc.array(product, { minLength: 100, maxLength: 100 }), fc.array(product, { minLength: 30, maxLength: 30 })),
    {
      numRuns: 1,
      seed: 31,
    },
  )[0] as [Omit<Product, 'at'>[], Omit<Product, 'at'>[]]
  const inputOf = ({ vendor, type, tags, prices, isAvailable }: Omit<Product, 'at'>, variantIds: readonly string[] = []) => ({
    ...{ vendor, type, tags: [...tags] },
    options: [{ name: 'Size', values: prices.map((_, nth) => `S${nth}`) }],
    variants: prices.map((amount, nth) => ({
      ...(variantIds[nth] === undefined ? {} : { id: variantIds[nth] }),
      ...{ price: usd(amount), optionValues: [`S${nth}`], trackInventory: true, allowBackorder: isAvailable },
    })),
  })
  const products: Product[] = []
  const ids: string[] = []
  const variantsOf: string[][] = []
  for (const [at, one] of initial.entries()) {
    const publishedAt = app.clock.now() - 1_000_000 + at * 1_000
    const { id, variants } = await shop.add({ ...inputOf(one), title: nameOf({ at }), publishedAt })
    ids.push(id)
    variantsOf.push(variants.map((variant) => variant.id))
    products.push({ ...one, at })
  }
  const { id: collectionId } = ok(await shop.post('/collection-v2', { title: 'Some' })).body
  const collection = products
    .filter(({ at }) => at % 3 !== 1)
    .map(({ at }) => at)
    .sort((a, b) => ((a * 7) % 101) - ((b * 7) % 101))
  ok(await shop.put(`/collection-v2/${collectionId}/products`, { productIds: collection.map((at) => ids[at]) }))
  for (const [nth, one] of changes.entries()) {
    const at = nth * 3
    const variantIds = variantsOf[at] ?? []
    const changed = { ...one, prices: variantIds.map((_, variant) => one.prices[variant % one.prices.length] ?? 0) }
    await changeProduct(app.deps, by, ids[at] ?? '', inputOf(changed, variantIds))
    products[at] = { ...changed, at }
  }
  await fc.assert(
    fc.asyncProperty(query, async (testedQuery) => {
      const { isInCollection, limits, ...conditions } = testedQuery
      const listQuery = {
        ...conditions,
        shopId: shop.shop.id,
        showQuantity: false,
        q: undefined,
        collectionId: isInCollection ? collectionId : undefined,
      }
      const { summaries, total } = await listPublicProducts(app.deps, listQuery, pageSlice(1, 100))
      const titles = summaries.map((summary) => JSON.parse(summary).title)
      const expected = matchesOf(products, collection, testedQuery)
      expect([titles, total]).toEqual([expected, expected.length])
      const tag = conditions.tag?.toLowerCase()
      const tagBits = tag === undefined ? undefined : tagBitsOf([tag])
      const { showQuantity: _, q: __, sort, ...filter } = { ...listQuery, tag, tagBits, now: app.clock.now() }
      const order = sort === undefined && isInCollection ? 'collection' : sorts[sort ?? 'newest']
      const first = await app.deps.catalogStore.filtered(filter, order, limits)
      const names = first.ids.slice(0, limits.end).map((id) => nameOf({ at: ids.indexOf(id) }))
      const most = limits.totalMax + 1
      expect([names, Math.min(first.total, most)]).toEqual([expected.slice(0, limits.end), Math.min(expected.length, most)])
    }),
    { numRuns: 1_500 },
  )
  const { body } = ok(await shop.get('/product-v2?limit=1'))
  expect(body.total).toBe(100)
})
