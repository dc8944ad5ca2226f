import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../src/core/errors.ts'
import {
  changedProduct,
  createdProduct,
  type Given,
  isListed,
  managementView,
  newestKeyAt,
  type ProductInput,
  publicView,
  sortKeys,
  type Whole,
} from '../../../src/modules/catalog/domain.ts'

const now = Date.UTC(2026, 0, 6)
const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}_${at}`)
const given = (productId = 'prod_1'): Given => ({ productId, variantIds: ids('var', 101), imageIds: ids('img', 101), now })
const usd = (amount: number) => ({ amount, currency: 'USD' })
const made = (input: Omit<ProductInput, 'title'> & { title?: string }, productId?: string): Whole =>
  createdProduct({ title: 'Tea', ...input }, { id: 'shop_1', currency: 'USD' }, given(productId))
const base = made({
  options: [{ name: 'Size', values: ['S', 'M'] }],
  variants: [
    { price: usd(1), optionValues: ['S'] },
    { price: usd(2), optionValues: ['M'] },
  ],
  images: [{ url: 'https://i.example/a' }],
})

const mark = 'zq9leak'
const broken: [field: string, input: ProductInput][] = [
  ['options', { options: ids('o', 4).map((name) => ({ name, values: ['x'] })) }],
  [
    'options',
    {
      options: [
        { name: mark, values: [] },
        { name: mark.toUpperCase(), values: [] },
      ],
    },
  ],
  ['options.0.values', { options: [{ name: 'Size', values: [mark, mark] }] }],
  ['variants', { variants: [] }],
  ['variants', { variants: ids('v', 101).map(() => ({ price: usd(1) })) }],
  ['variants.0.id', { variants: [{ id: mark, price: usd(1) }] }],
  [
    'variants.1.id',
    {
      variants: [
        { id: 'var_0', price: usd(1) },
        { id: 'var_0', price: usd(1) },
      ],
    },
  ],
  ['variants.0.price.currency', { variants: [{ price: { amount: 1, currency: mark } }] }],
  ['variants.1.price.currency', { variants: [{ price: usd(1) }, { price: { amount: 1, currency: 'EUR' } }] }],
  ['variants.0.compareAtPrice.currency', { variants: [{ price: usd(1), compareAtPrice: { amount: 1, currency: 'EUR' } }] }],
  ['variants.0.cost.currency', { variants: [{ price: usd(1), cost: { amount: 1, currency: 'EUR' } }] }],
  ['variants.0.imageId', { variants: [{ price: usd(1), imageId: mark }] }],
  ['variants.0.optionValues', { variants: [{ price: usd(1) }] }],
  ['variants.0.optionValues', { options: [] }],
  ['variants.0.optionValues.0', { variants: [{ price: usd(1), optionValues: [mark] }] }],
  [
    'variants.1.optionValues',
    {
      variants: [
        { price: usd(1), optionValues: ['S'] },
        { price: usd(1), optionValues: ['S'] },
      ],
    },
  ],
  ['variants.0.onHand', { variants: [{ price: usd(1), optionValues: ['S'], onHand: -1 }] }],
  ['images.0.id', { images: [{ id: mark, url: 'https://i.example/b' }] }],
  [
    'images.1.id',
    {
      images: [
        { id: 'img_0', url: 'https://i.example/b' },
        { id: 'img_0', url: 'https://i.example/c' },
      ],
    },
  ],
  ['publishedAt', { publishedAt: Number.NaN }],
  ['publishedAt', { publishedAt: Date.UTC(2200, 0, 1) }],
  ['publishedAt', { publishedAt: -1 }],
]

test.each(broken)('a change that breaks the rule of %s is INVALID, names it and repeats nothing', (field, input) => {
  let failure: unknown
  try {
    changedProduct(base, input, given())
  } catch (error) {
    failure = error
  }
  expect(failure).toBeInstanceOf(AppError)
  const { code, message } = failure as AppError
  expect([code, message.startsWith(`${field} (body): `)]).toEqual(['INVALID', true])
  expect(message.toLowerCase()).not.toContain(mark)
})

test('an empty change changes the time of change and no more', () => {
  const later = { ...given(), now: now + 1 }
  expect(changedProduct(base, {}, later)).toEqual({ ...base, product: { ...base.product, updatedAt: now + 1 } })
})

test('publication: now on becoming ACTIVE, kept afterwards, and whatever is asked for', () => {
  const draft = made({})
  expect(draft.product.publishedAt).toBeNull()
  const active = changedProduct(draft, { status: 'ACTIVE' }, { ...given(), now: 5 })
  expect([active.product.publishedAt, isListed(active.product)]).toEqual([5, true])
  const archived = changedProduct(active, { status: 'ARCHIVED' }, { ...given(), now: 6 })
  expect([archived.product.publishedAt, isListed(archived.product)]).toEqual([5, false])
  expect(changedProduct(archived, { status: 'ACTIVE' }, { ...given(), now: 7 }).product.publishedAt).toBe(5)
  const hidden = changedProduct(active, { publishedAt: null }, given())
  expect([hidden.product.publishedAt, isListed(hidden.product)]).toEqual([null, false])
  expect(changedProduct(hidden, { title: 'x' }, given()).product.publishedAt).toBeNull()
})

const title = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => !/\p{Cc}/u.test(text))
const amount = fc.oneof(fc.nat(1000), fc.constant(100_000_000_000_000))
const item = fc.record({
  title,
  prices: fc.array(amount, { minLength: 1, maxLength: 3 }),
  publishedAt: fc.oneof(fc.nat(), fc.constantFrom(now, now + 1, Date.UTC(2199, 11, 31))),
})
const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

test('sorting by a key is sorting by what it stands for, ties by id', () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 2, maxLength: 12 }), (items) => {
      const all = items.map(({ title: text, prices, publishedAt }, at) => {
        const options = [{ name: 'n', values: prices.map((_, nth) => `${nth}`) }]
        const variants = prices.map((price, nth) => ({ price: usd(price), optionValues: [`${nth}`] }))
        const whole = made({ title: text, status: 'ACTIVE', publishedAt, options, variants }, `prod_${String(at).padStart(26, '0')}`)
        return { id: whole.product.id, text: plain(text), price: Math.min(...prices), publishedAt, keys: sortKeys(whole) }
      })
      const naive = {
        newestKey: [...all].sort((a, b) => a.publishedAt - b.publishedAt || bytes(a.id, b.id)),
        titleKey: [...all].sort((a, b) => bytes(a.text, b.text) || bytes(a.id, b.id)),
        priceKey: [...all].sort((a, b) => a.price - b.price || bytes(a.id, b.id)),
      }
      for (const [key, wanted] of Object.entries(naive) as [keyof typeof naive, typeof all][]) {
        expect([...all].sort((a, b) => bytes(a.keys[key], b.keys[key])).map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
      }
      for (const { keys, publishedAt } of all) {
        expect(bytes(newestKeyAt(publishedAt), keys.newestKey)).toBe(-1)
        expect(bytes(keys.newestKey, newestKeyAt(publishedAt + 1))).toBe(-1)
      }
    }),
  )
})

test('a key is whole characters, however long the title', () => {
  const { titleKey } = sortKeys(made({ title: `x${'\u{1f600}'.repeat(200)}` }))
  expect(titleKey.isWellFormed()).toBe(true)
  expect(titleKey.length).toBeLessThan(120)
})

test('the public view holds neither cost nor stock, whatever the product; the shop sees both', () => {
  const variant = fc.record({
    price: amount,
    cost: fc.option(fc.integer({ min: 1, max: 1e9 })),
    onHand: fc.nat(1e6),
    allowBackorder: fc.boolean(),
    trackInventory: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(variant, { minLength: 1, maxLength: 4 }), (parts) => {
      const options = [{ name: 'n', values: parts.map((_, nth) => `${nth}`) }]
      const variants = parts.map(({ price, cost, ...rest }, nth) => ({
        ...rest,
        price: usd(price),
        cost: cost === null ? null : usd(cost),
        optionValues: [`${nth}`],
      }))
      const whole = made({ options, variants })
      const keys: string[] = []
      const view = JSON.parse(JSON.stringify(publicView(whole)), (key, value) => {
        keys.push(key)
        return value
      })
      expect(keys).not.toContain('cost')
      expect(keys).not.toContain('onHand')
      expect(view.available).toBe(
        parts.some(({ trackInventory, allowBackorder, onHand }) => !trackInventory || allowBackorder || onHand > 0),
      )
      expect(view.priceRange).toEqual({
        min: usd(Math.min(...parts.map(({ price }) => price))),
        max: usd(Math.max(...parts.map(({ price }) => price))),
      })
      expect(managementView(whole).variants.map(({ cost, onHand }) => [cost?.amount ?? null, onHand])).toEqual(
        parts.map(({ cost, onHand }) => [cost, onHand]),
      )
    }),
  )
})
