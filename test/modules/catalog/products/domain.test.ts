import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../../src/core/errors.ts'
import {
  applyProductChange,
  applyStockChange,
  assertNoStockCounts,
  availableCount,
  buildProduct,
  isAvailable,
  isListed,
  isSellable,
  labelOf,
  newestKeyAt,
  type ProductInput,
  type ProductWithVariants,
  type ProductWriteContext,
  removeVariantFrom,
  searchWords,
  shortageMessage,
  sortKeys,
  type Variant,
} from '../../../../src/modules/catalog/products/domain.ts'
import { renderProduct } from '../../../../src/modules/catalog/products/summary.ts'
import { managementView, publicView } from '../../../../src/modules/catalog/products/view.ts'

const now = Date.UTC(2026, 0, 6)
const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}_${at}`)
const contextFor = (productId = 'prod_1'): ProductWriteContext => ({
  productId,
  variantIds: ids('var', 251),
  imageIds: ids('img', 251),
  currency: 'USD',
  now,
})
const usd = (amount: number) => ({ amount, currency: 'USD' })
const buildTestProduct = (input: Omit<ProductInput, 'title'> & { title?: string }, productId?: string): ProductWithVariants =>
  buildProduct({ title: 'Tea', ...input }, 'shop_1', contextFor(productId))
const base = buildTestProduct({
  options: [{ name: 'Size', values: ['S', 'M'] }],
  variants: [
    { price: usd(1), optionValues: ['S'] },
    { price: usd(2), optionValues: ['M'] },
  ],
  images: [{ url: 'https://i.example/a' }],
})

const marker = 'zq9leak'
const invalidChanges: [field: string, rule: string, input: ProductInput][] = [
  ['options', 'must have at most 3 entries', { options: ids('o', 4).map((name) => ({ name, values: ['x'] })) }],
  [
    'options',
    'must not repeat a name',
    {
      options: [
        { name: marker, values: [] },
        { name: marker.toUpperCase(), values: [] },
      ],
    },
  ],
  ['options.0.values', 'must not repeat a value', { options: [{ name: 'Size', values: [marker, marker] }] }],
  ['variants', 'must have at least one entry; variants that are not named stay as they are', { variants: [] }],
  ['variants', 'must have at most 250 entries', { variants: ids('v', 249).map(() => ({ price: usd(1) })) }],
  ['variants.0.id', 'must be a variant of this product, or left out', { variants: [{ id: marker, price: usd(1) }] }],
  [
    'variants.1.id',
    'must not be repeated',
    {
      variants: [
        { id: 'var_0', price: usd(1) },
        { id: 'var_0', price: usd(1) },
      ],
    },
  ],
  ['variants.0.price.currency', "must be the shop's currency", { variants: [{ price: { amount: 1, currency: marker } }] }],
  [
    'variants.1.price.currency',
    "must be the shop's currency",
    { variants: [{ price: usd(1) }, { price: { amount: 1, currency: 'EUR' } }] },
  ],
  [
    'variants.0.compareAtPrice.currency',
    "must be the shop's currency",
    { variants: [{ price: usd(1), compareAtPrice: { amount: 1, currency: 'EUR' } }] },
  ],
  ['variants.0.cost.currency', "must be the shop's currency", { variants: [{ price: usd(1), cost: { amount: 1, currency: 'EUR' } }] }],
  ['variants.0.imageId', 'must be an image of this product', { variants: [{ price: usd(1), imageId: marker }] }],
  ['variants.0.optionValues', 'must have one value for each option of the product', { variants: [{ price: usd(1) }] }],
  ['options', 'some variants lack values for these options: send them with new optionValues, or delete them first', { options: [] }],
  [
    'options',
    'some variants lack values for these options: send them with new optionValues, or delete them first',
    { options: [{ name: 'Size', values: ['M'] }], variants: [{ price: usd(1), optionValues: ['M'] }] },
  ],
  ['variants.0.optionValues.0', "must be one of the option's values", { variants: [{ price: usd(1), optionValues: [marker] }] }],
  [
    'variants.0.optionValues',
    'must not repeat a combination',
    {
      variants: [
        { price: usd(1), optionValues: ['S'] },
        { price: usd(1), optionValues: ['S'] },
      ],
    },
  ],
  ['images.0.id', 'must be an image of this product, or left out', { images: [{ id: marker, url: 'https://i.example/b' }] }],
  [
    'images.1.id',
    'must not be repeated',
    {
      images: [
        { id: 'img_0', url: 'https://i.example/b' },
        { id: 'img_0', url: 'https://i.example/c' },
      ],
    },
  ],
  ['publishedAt', 'must be a time between 1970 and 2199', { publishedAt: Number.NaN }],
  ['publishedAt', 'must be a time between 1970 and 2199', { publishedAt: Date.UTC(2200, 0, 1) }],
  ['publishedAt', 'must be a time between 1970 and 2199', { publishedAt: -1 }],
  ['variants.1.price', 'required for a new variant', { variants: [{ price: usd(1), optionValues: ['S'] }, { optionValues: ['M'] }] }],
]

test.each(invalidChanges)(
  'a change with an invalid %s (%s) is INVALID, names the field and does not repeat the value',
  (field, rule, input) => {
    let failure: unknown
    try {
      applyProductChange(base, input, contextFor())
    } catch (error) {
      failure = error
    }
    expect(failure).toBeInstanceOf(AppError)
    const { code, field: namedField, message } = failure as AppError
    expect([code, namedField, message]).toEqual(['invalid_field', field, `${field}: ${rule}`])
    expect(message.toLowerCase()).not.toContain(marker)
  },
)

test('an empty change updates only the time of change and the version', () => {
  const laterContext = { ...contextFor(), now: now + 1 }
  expect(applyProductChange(base, {}, laterContext)).toEqual({ ...base, product: { ...base.product, updatedAt: now + 1, version: 2 } })
})

test('publishedAt is set when a product becomes ACTIVE, is kept afterwards, and can be cleared', () => {
  const draft = buildTestProduct({ variants: [{ price: usd(0) }] })
  expect(draft.product.publishedAt).toBeNull()
  const active = applyProductChange(draft, { status: 'ACTIVE' }, { ...contextFor(), now: 5 })
  expect([active.product.publishedAt, isListed(active.product)]).toEqual([5, true])
  const archived = applyProductChange(active, { status: 'ARCHIVED' }, { ...contextFor(), now: 6 })
  expect([archived.product.publishedAt, isListed(archived.product)]).toEqual([5, false])
  expect(applyProductChange(archived, { status: 'ACTIVE' }, { ...contextFor(), now: 7 }).product.publishedAt).toBe(5)
  const hidden = applyProductChange(active, { publishedAt: null }, contextFor())
  expect([hidden.product.publishedAt, isListed(hidden.product)]).toEqual([null, false])
  expect(applyProductChange(hidden, { title: 'x' }, contextFor()).product.publishedAt).toBeNull()
})

const title = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => !/\p{Cc}/u.test(text))
const amount = fc.oneof(fc.nat(1000), fc.constant(100_000_000_000_000))
const item = fc.record({
  title,
  prices: fc.array(amount, { minLength: 1, maxLength: 3 }),
  publishedAt: fc.oneof(fc.nat(), fc.constantFrom(now, now + 1, Date.UTC(2199, 11, 31))),
})
const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const normalizeTitle = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

test('sort keys order products by date, title and price, with ties by id', () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 2, maxLength: 12 }), (items) => {
      const all = items.map(({ title: text, prices, publishedAt }, at) => {
        const options = [{ name: 'n', values: prices.map((_, nth) => `${nth}`) }]
        const variants = prices.map((price, nth) => ({ price: usd(price), optionValues: [`${nth}`] }))
        const product = buildTestProduct(
          { title: text, status: 'ACTIVE', publishedAt, options, variants },
          `prod_${String(at).padStart(26, '0')}`,
        )
        return { id: product.product.id, text: normalizeTitle(text), price: Math.min(...prices), publishedAt, keys: sortKeys(product) }
      })
      const naive = {
        newestKey: [...all].sort((a, b) => a.publishedAt - b.publishedAt || bytes(a.id, b.id)),
        titleKey: [...all].sort((a, b) => bytes(a.text, b.text) || bytes(a.id, b.id)),
        priceKey: [...all].sort((a, b) => a.price - b.price || bytes(a.id, b.id)),
      }
      for (const [key, expected] of Object.entries(naive) as [keyof typeof naive, typeof all][]) {
        expect([...all].sort((a, b) => bytes(a.keys[key], b.keys[key])).map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
      }
      for (const { keys, publishedAt } of all) {
        expect(bytes(newestKeyAt(publishedAt), keys.newestKey)).toBe(-1)
        expect(bytes(keys.newestKey, newestKeyAt(publishedAt + 1))).toBe(-1)
      }
    }),
  )
})

test('a sort key of a long title is bounded and does not split a character', () => {
  const { titleKey } = sortKeys(buildTestProduct({ title: `x${'\u{1f600}'.repeat(200)}` }))
  expect(titleKey.isWellFormed()).toBe(true)
  expect(titleKey.length).toBeLessThan(120)
})

test('the public view has neither cost nor stock, and the view of the shop has both', () => {
  const variant = fc.record({
    price: amount,
    cost: fc.option(fc.integer({ min: 1, max: 1e9 })),
    onHand: fc.nat(1e6),
    allowBackorder: fc.boolean(),
    trackInventory: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(variant, { minLength: 1, maxLength: 4 }), (variantInputs) => {
      const options = [{ name: 'n', values: variantInputs.map((_, nth) => `${nth}`) }]
      const variants = variantInputs.map(({ price, cost, ...rest }, nth) => ({
        ...rest,
        price: usd(price),
        cost: cost === null ? null : usd(cost),
        optionValues: [`${nth}`],
      }))
      const product = buildTestProduct({ options, variants })
      const keys: string[] = []
      const view = JSON.parse(JSON.stringify(publicView(product)), (key, value) => {
        keys.push(key)
        return value
      })
      expect(keys).not.toContain('cost')
      expect(keys).not.toContain('onHand')
      expect(view.available).toBe(
        variantInputs.some(({ trackInventory, allowBackorder, onHand }) => !trackInventory || allowBackorder || onHand > 0),
      )
      expect(view.priceRange).toEqual({
        min: usd(Math.min(...variantInputs.map(({ price }) => price))),
        max: usd(Math.max(...variantInputs.map(({ price }) => price))),
      })
      expect(managementView(product).variants.map(({ cost, onHand }) => [cost?.amount ?? null, onHand])).toEqual(
        variantInputs.map(({ cost, onHand }) => [cost, onHand]),
      )
    }),
  )
})

test('a product with only a title is a draft with one free variant whose stock is not tracked', () => {
  const { product, variants } = buildTestProduct({ title: 'Green Tea' })
  expect(product).toEqual({
    id: 'prod_1',
    shopId: 'shop_1',
    handle: 'green-tea',
    title: 'Green Tea',
    descriptionHtml: '',
    vendor: '',
    type: '',
    tags: [],
    status: 'DRAFT',
    currency: 'USD',
    options: [],
    images: [],
    seoTitle: null,
    seoDescription: null,
    publishedAt: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
    createdAs: 'DRAFT' as const,
    kind: 'STANDARD' as const,
  })
  expect(variants).toEqual([
    {
      id: 'var_0',
      productId: 'prod_1',
      position: 1,
      sku: null,
      barcode: null,
      title: 'Default Title',
      optionValues: [],
      price: 0,
      hasPrice: false,
      compareAtPrice: null,
      cost: null,
      weightGrams: 0,
      requiresShipping: true,
      taxable: true,
      taxClass: null,
      trackInventory: false,
      allowBackorder: false,
      onHand: 0,
      reserved: 0,
      imageId: null,
      lowStockAt: null,
    },
  ])
  expect(buildTestProduct({ title: '!' }).product.handle).toBe('product')
})

test('a variant keeps omitted fields, and loses compare-at price and cost when the currency changes', () => {
  const one = buildTestProduct({ variants: [{ price: usd(5), compareAtPrice: usd(9), cost: usd(2), sku: 'A', onHand: 3 }] })
  const unchanged = applyProductChange(one, { variants: [{ id: 'var_0' }] }, contextFor())
  expect(unchanged.variants).toEqual(one.variants)
  expect(one.variants[0]).toMatchObject({ price: 5, compareAtPrice: 9, cost: 2, sku: 'A', onHand: 3, trackInventory: true })
  const inEuros = { ...contextFor(), currency: 'EUR' }
  const euros = applyProductChange(one, { variants: [{ id: 'var_0', price: { amount: 4, currency: 'EUR' } }] }, inEuros)
  expect(euros.product.currency).toBe('EUR')
  expect(euros.variants).toEqual([{ ...one.variants[0], price: 4, compareAtPrice: null, cost: null } as (typeof one.variants)[0]])
  const cleared = applyProductChange(one, { variants: [{ id: 'var_0', compareAtPrice: null, cost: null, sku: null }] }, contextFor())
  expect(cleared.variants[0]).toMatchObject({ price: 5, compareAtPrice: null, cost: null, sku: null })
})

test('a change merges variants by id: unnamed ones stay, new ones come last, and naming all sets the order', () => {
  const options = [{ name: 'Size', values: ['S', 'M', 'L'] }]
  const merge = (...changes: NonNullable<ProductInput['variants']>) =>
    applyProductChange(base, { options, variants: changes }, { ...contextFor(), variantIds: ids('new', 3) }).variants.map(
      ({ id, price, position }) => `${position} ${id} ${price}`,
    )
  const large = { price: usd(9), optionValues: ['L'] }
  expect(merge({ id: 'var_1', price: usd(7) })).toEqual(['1 var_0 1', '2 var_1 7'])
  expect(merge(large, { id: 'var_1' })).toEqual(['1 var_0 1', '2 var_1 2', '3 new_0 9'])
  expect(merge({ id: 'var_1' }, large, { id: 'var_0' })).toEqual(['1 var_1 2', '2 new_1 9', '3 var_0 1'])
})

test('option names and values are stored composed and without outer white space, also where a variant was stored otherwise', () => {
  const options = [{ name: ' Size ', values: [' e\u0301', 'M\t'] }]
  const changed = applyProductChange(base, { options, variants: [{ id: 'var_0', optionValues: ['\u00e9 '] }] }, contextFor())
  expect([changed.product.options, changed.variants.map(({ title, optionValues }) => [title, optionValues])]).toEqual([
    [{ name: 'Size', values: ['\u00e9', 'M'] }],
    [
      ['\u00e9', ['\u00e9']],
      ['M', ['M']],
    ],
  ])
  for (const values of [
    ['S', 'S '],
    ['\u00e9', 'e\u0301'],
  ])
    expect(() => applyProductChange(base, { options: [{ name: 'Size', values }] }, contextFor())).toThrow(
      'options.0.values: must not repeat a value',
    )
  // Early versions stored values as sent.
  const early: ProductWithVariants = {
    product: { ...base.product, options: [{ name: 'Size', values: [' S', 'M'] }] },
    variants: base.variants.map((variant, at) => (at === 0 ? { ...variant, optionValues: [' S'] } : variant)),
  }
  const valuesOf = (input: ProductInput) =>
    applyProductChange(early, input, contextFor()).variants.map(({ optionValues }) => optionValues[0])
  expect(valuesOf({ title: 'x' })).toEqual([' S', 'M'])
  expect(valuesOf({ variants: [{ id: 'var_0', optionValues: ['S'] }] })).toEqual([' S', 'M'])
  expect(valuesOf({ options: [{ name: 'Size', values: [' S', 'M'] }] })).toEqual(['S', 'M'])
})

test('a change accepts a stock count only for new variants, and names the route for known ones', () => {
  expect(() => assertNoStockCounts({ variants: [{ onHand: 3 }, { id: 'var_0', title: 'x' }] })).not.toThrow()
  expect(() => assertNoStockCounts({})).not.toThrow()
  expect(() => assertNoStockCounts({ variants: [{ id: 'var_1' }, { id: 'var_0', onHand: 3 }] })).toThrow(
    'variants.1.onHand: only for a new variant; change the stock of this one by POST /product-v2/{id}/variants/{variantId}/stock',
  )
})

test('a variant can be removed if it is not the last one and has no reservations; positions close up', () => {
  const [small, medium] = base.variants as [Variant, Variant]
  const { product, variants } = removeVariantFrom(base, small, 9)
  expect([variants, product]).toEqual([[{ ...medium, position: 1 }], { ...base.product, updatedAt: 9, version: base.product.version + 1 }])
  expect(() => removeVariantFrom({ product, variants }, medium, 9)).toThrow(
    'A product must keep at least one variant. Archive the product instead',
  )
  expect(() => removeVariantFrom(base, { ...small, reserved: 1 }, 9)).toThrow('The variant cannot be deleted: unfinished orders reserve 1')
})

test('a stock change leaves reserved units in stock and does not go below zero, unless backorders are allowed', () => {
  const after = (more: object, delta: number) => () => applyStockChange({ ...stock(5, 3), ...more }, delta).onHand
  expect([after({}, -2)(), after({}, 4)(), after({ allowBackorder: true }, -9)(), after({ trackInventory: false }, -5)()]).toEqual([
    3, 9, -4, 0,
  ])
  expect(after({}, -3)).toThrow('The stock cannot fall below the reserved units: unfinished orders reserve 3')
  expect(after({ trackInventory: false }, -6)).toThrow('The stock cannot fall below zero, because the variant does not allow backorders')
  expect([after({ onHand: -2 }, 1)(), after({ onHand: 1 }, 1)(), after({ onHand: -2 }, 0)()]).toEqual([-1, 2, -2])
  expect(after({ onHand: -2, reserved: 0 }, -1)).toThrow('The stock cannot fall below zero, because the variant does not allow backorders')
  expect(after({}, 1_000_000_000)).toThrow('The stock must be between -1000000 and 1000000000')
  expect(after({ allowBackorder: true }, -1_000_006)).toThrow('The stock must be between')
})

test('a variant loses its image when the product does, and can name an image by URL', () => {
  const images = [{ url: 'https://i.example/a', alt: 'A', width: 2, height: 3 }, { url: 'https://i.example/b' }]
  const one = buildTestProduct({ images, variants: [{ price: usd(1), imageUrl: 'https://i.example/b' }] })
  expect(one.product.images).toEqual([
    { id: 'img_0', url: 'https://i.example/a', alt: 'A', position: 1, width: 2, height: 3 },
    { id: 'img_1', url: 'https://i.example/b', alt: null, position: 2, width: null, height: null },
  ])
  const imageOf = (input: ProductInput) => applyProductChange(one, input, contextFor()).variants[0]?.imageId
  expect(imageOf({})).toBe('img_1')
  expect(imageOf({ images: [{ id: 'img_0', url: 'https://i.example/a' }] })).toBeNull()
  expect(imageOf({ variants: [{ id: 'var_0', imageUrl: null }] })).toBeNull()
  expect(imageOf({ variants: [{ id: 'var_0', imageUrl: 'https://i.example/none' }] })).toBe('img_1')
  expect(imageOf({ variants: [{ id: 'var_0', imageId: 'img_0' }] })).toBe('img_0')
})

const stock = (onHand: number, reserved: number) => ({ trackInventory: true, allowBackorder: false, onHand, reserved })

test('available is the stock minus reservations, and unlimited for backorders and untracked stock', () => {
  expect(availableCount(stock(5, 2))).toBe(3)
  expect(availableCount(stock(2, 5))).toBe(0)
  expect(availableCount({ ...stock(0, 0), allowBackorder: true })).toBe(Number.POSITIVE_INFINITY)
  expect(availableCount({ ...stock(0, 0), trackInventory: false })).toBe(Number.POSITIVE_INFINITY)
  expect([stock(1, 0), stock(1, 1), stock(0, 0)].map(isAvailable)).toEqual([true, false, false])
})

test('a change cannot set a tracked stock below the reservations, unless the variant takes backorders', () => {
  const withReservations = (fields: object): ProductWithVariants => {
    const one = buildTestProduct({ variants: [{ price: usd(1), onHand: 3 }] })
    return { ...one, variants: one.variants.map((variant) => ({ ...variant, reserved: 2, ...fields })) }
  }
  const applyTo = (product: ProductWithVariants, fields: object) => () =>
    applyProductChange(product, { variants: [{ id: 'var_0', ...fields }] }, contextFor())
  const conflict = expect.objectContaining({
    kind: 'CONFLICT',
    message: 'variants.0: cannot be deleted: unfinished orders reserve 2',
  })
  expect(applyTo(withReservations({}), { onHand: 2 })).not.toThrow()
  expect(applyTo(withReservations({}), { onHand: 1 })).toThrow(conflict)
  expect(applyTo(withReservations({}), { onHand: 1, allowBackorder: true })).not.toThrow()
  expect(applyTo(withReservations({ trackInventory: false, onHand: 0 }), { title: 'One' })).not.toThrow()
  expect(applyTo(withReservations({ trackInventory: false, onHand: 0 }), { trackInventory: true })).not.toThrow()
  for (const onHand of [-2, 1]) {
    const oversold = { allowBackorder: true, onHand }
    expect(applyTo(withReservations(oversold), { allowBackorder: false })).not.toThrow()
    expect(applyTo(withReservations({ onHand }), { onHand: 2 })).not.toThrow()
    expect(applyTo(withReservations({ onHand }), { onHand })).not.toThrow()
    expect(applyTo(withReservations({ onHand }), { onHand: onHand - 1 })).toThrow(conflict)
  }
  expect(applyTo(withReservations({ reserved: 0 }), { onHand: -2 })).not.toThrow()
})

test('a shortage message names product and variant', () => {
  const tea = { title: 'Tea' }
  expect(labelOf({ product: tea, variant: { title: 'Default Title' } })).toBe('Tea')
  expect(labelOf({ product: tea, variant: { title: 'Green' } })).toBe('Tea (Green)')
  expect(shortageMessage({ product: tea, variant: { title: 'Green', ...stock(1, 1) } })).toBe('Tea (Green) is sold out')
  expect(shortageMessage({ product: tea, variant: { title: 'Green', ...stock(2, 1) } })).toBe('Only 1 of Tea (Green) is left')
})

test('shoppers can buy an active product from its publication date on', () => {
  const active = { status: 'ACTIVE' as const, publishedAt: 5 }
  expect([4, 5, 6].map((at) => isSellable(active, at))).toEqual([false, true, true])
  expect(isSellable({ ...active, publishedAt: null }, 6)).toBe(false)
  for (const status of ['DRAFT', 'ARCHIVED'] as const) expect(isSellable({ ...active, status }, 6)).toBe(false)
})

test('the public document is the public view, searchable by every text that a shopper reads', () => {
  const product = buildTestProduct({
    status: 'ACTIVE',
    publishedAt: 5,
    title: 'Green Tea',
    vendor: 'Ann',
    type: 'drink',
    tags: ['Hot'],
    descriptionHtml: '<p>From <b>Uji</b></p>',
    options: [{ name: 'Size', values: ['S', 'M'] }],
    variants: [
      { price: usd(3), sku: 'T1', optionValues: ['S'] },
      { price: usd(2), optionValues: ['M'], onHand: 0 },
    ],
    seo: { title: 'Best', description: 'Tea' },
  })
  const { document, ...rest } = renderProduct(product).document
  expect(rest).toMatchObject({ productId: 'prod_1', shopId: 'shop_1', visibleFrom: 5, ...sortKeys(product) })
  expect(JSON.parse(document)).toMatchObject({
    id: 'prod_1',
    seo: { title: 'Best', description: 'Tea' },
    available: true,
    publishedAt: '1970-01-01T00:00:00.005Z',
    createdAt: '2026-01-06T00:00:00.000Z',
    variants: [
      { id: 'var_0', sku: 'T1', title: 'S', price: usd(3), compareAtPrice: null, available: true, position: 1 },
      { id: 'var_1', sku: null, title: 'M', price: usd(2), available: false, position: 2 },
    ],
  })
  expect(publicView(buildTestProduct({})).publishedAt).toBeNull()
  expect(searchWords(product)).toEqual(['green', 'tea', 'ann', 'drink', 'hot', 's', 'm', 't1', 'from', 'uji'])
})

test('a product accepts three options and 250 variants', () => {
  const options = ['Size', 'Colour', 'Cut'].map((name) => ({ name, values: ids('v', 250) }))
  const variants = ids('v', 250).map((value) => ({ price: usd(1), optionValues: [value, 'v_0', 'v_0'] }))
  expect(buildTestProduct({ options, variants }).variants).toHaveLength(250)
})

test('a variant keeps its given title until its option values change', () => {
  const green = { id: 'var_0', price: usd(1), optionValues: ['S'] }
  const options = [{ name: 'Size', values: ['S', 'M', 'L'] }]
  const titled = applyProductChange(base, { options, variants: [{ ...green, title: 'Small' }] }, contextFor())
  const titleAfter = (input: ProductInput) => applyProductChange(titled, input, contextFor()).variants[0]?.title
  expect(titleAfter({ variants: [green] })).toBe('Small')
  expect(titleAfter({ variants: [{ ...green, optionValues: ['L'] }] })).toBe('L')
})

test('sort keys are the date, the normalized title and the lowest price, each followed by the end of the id', () => {
  const product = buildTestProduct({ title: 'Café', publishedAt: 36, variants: [{ price: usd(12) }] })
  expect(sortKeys(product)).toEqual({ newestKey: '000000010.1', titleKey: 'cafe\u00011', priceKey: '000000000000012.1' })
})
