/** Tests that an exported catalog is the same after an import into another shop. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { system } from '../../../../src/core/command-context.ts'
import { importProducts } from '../../../../src/modules/catalog/import-export/import.ts'
import type { ProductInput } from '../../../../src/modules/catalog/products/domain.ts'
import { createProduct } from '../../../../src/modules/catalog/products/service.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Removes ids, timestamps and other fields that the shop assigns. */
function catalogOf(products: Json[]): Json[] {
  return products.map(({ id: _, shopId: __, createdAt: ___, updatedAt: ____, publishedAt, images, variants, ...rest }) => ({
    ...rest,
    isPublished: publishedAt !== null,
    images: images.map(({ id: _, ...image }: Json) => image),
    variants: variants.map(({ id: _, imageId, reserved: __, ...variant }: Json) => ({
      ...variant,
      image: images.find(({ id }: Json) => id === imageId)?.url ?? null,
    })),
  }))
}

const word = fc.oneof(
  fc.constantFrom(
    'Lamp',
    '=1+1',
    "'=quoted",
    "''-twice",
    '-50% off',
    '+1',
    '@home',
    '＝1',
    'a, -5%',
    "b;'=c",
    'a, "b"',
    'тавилга',
    'سوق',
    '1',
    'TRUE',
    'Title x',
  ),
  fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
)
// Names have no control characters. Files do not preserve white space around them.
const name = word.map((text) => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Co}]/gu, '').trim()).filter((text) => /[\p{L}\p{N}]/u.test(text))
/** Composed, because `assertShape` converts requests to this Unicode normal form. */
const code = name.map((text) => text.normalize('NFC'))
const tag = code.map((text) => text.replaceAll(',', '').trim()).filter((text) => text !== '')
const amount = fc.integer({ min: 0, max: 10_000_000 })
const url = fc.integer({ min: 1, max: 9 }).map((nth) => `https://pictures.example.com/${nth}.jpg`)

const product = fc
  .record({
    title: name,
    descriptionHtml: fc.constantFrom('', '<p>=x</p>', '-list', 'Of wool;\n- warm\n=x', 'a "quote", and\na line'),
    vendor: fc.oneof(fc.constant(''), code),
    type: fc.oneof(fc.constant(''), code),
    tags: fc.uniqueArray(tag, { maxLength: 3, selector: (text) => text.toLowerCase() }),
    status: fc.constantFrom('ACTIVE', 'DRAFT', 'ARCHIVED'),
    optionNames: fc.uniqueArray(fc.constantFrom('Size', 'Colour', '=Fit'), { maxLength: 3 }),
    images: fc.uniqueArray(fc.record({ url, alt: fc.oneof(fc.constant(null), name) }), { maxLength: 4, selector: (image) => image.url }),
    seo: fc.record({ title: fc.oneof(fc.constant(null), name), description: fc.oneof(fc.constant(null), name) }),
    variants: fc.array(
      fc.record({
        sku: fc.oneof(fc.constant(null), code),
        barcode: fc.oneof(fc.constant(null), code),
        price: amount,
        compareAtPrice: fc.oneof(fc.constant(null), amount),
        cost: fc.oneof(fc.constant(null), amount),
        weightGrams: fc.integer({ min: 0, max: 5_000 }),
        requiresShipping: fc.boolean(),
        taxable: fc.boolean(),
        taxClass: fc.constantFrom(null, 'reduced', 'digital'),
        trackInventory: fc.boolean(),
        allowBackorder: fc.boolean(),
        onHand: fc.integer({ min: -50, max: 1_000 }),
        lowStockAt: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 50 })),
        picture: fc.nat({ max: 8 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ optionNames, variants, ...rest }) => {
    const money = (value: number | null) => (value === null ? null : { amount: value, currency: 'USD' })
    const usedVariants = optionNames.length === 0 ? variants.slice(0, 1) : variants
    return {
      ...rest,
      ...(optionNames.length === 0
        ? {}
        : { options: optionNames.map((option) => ({ name: option, values: usedVariants.map((_, nth) => `-${nth}`) })) }),
      variants: usedVariants.map(({ price, compareAtPrice, cost, picture, ...variant }, nth) => ({
        ...variant,
        price: money(price),
        compareAtPrice: money(compareAtPrice),
        cost: money(cost),
        ...(optionNames.length === 0 ? {} : { optionValues: optionNames.map(() => `-${nth}`) }),
        ...(rest.images[picture] ? { imageUrl: rest.images[picture].url } : {}),
      })),
    }
  })

test('an exported catalog imports into another shop unchanged, and a second import changes nothing', async () => {
  await using app = await testApp()
  await fc.assert(
    fc.asyncProperty(fc.array(product, { minLength: 1, maxLength: 5 }), async (products) => {
      const [from, to] = [await app.merchant(), await app.merchant()]
      for (const one of products) await createProduct(app.deps, { shop: from.shop, actor: system }, one as ProductInput & { title: string })
      const file = await app.call('GET', '/product-v2', { token: from.token, headers: { accept: 'text/csv' } })
      const send = (query: string) =>
        app.call('POST', `/product-v2/import${query}`, { token: to.token, raw: file.text, headers: { 'content-type': 'text/csv' } })
      const report = await send('')
      expect(report.body.errors).toEqual([])
      expect(report.body.created).toBe(products.length)
      const listOf = async (token: string) => (await app.call('GET', '/product-v2?limit=100', { token })).body.data as Json[]
      const before = catalogOf(await listOf(from.token))
      expect(catalogOf(await listOf(to.token))).toEqual(before)
      const repeated = await send('?overwrite=true&stock=true')
      expect([repeated.body.failed, repeated.body.variantsKept, repeated.body.stock.counts]).toEqual([0, 0, 0])
      expect(catalogOf(await listOf(to.token))).toEqual(before)
    }),
    { numRuns: 25 },
  )
})

test('importing an export does not publish a scheduled product', async () => {
  await using app = await testApp()
  const [from, to] = [await app.merchant(), await app.merchant()]
  const publishedAt = new Date(app.clock.now() + 86_400_000).toISOString()
  const body = { title: 'Soon', status: 'ACTIVE', publishedAt, variants: [{ price: { amount: 0, currency: 'USD' } }] }
  expect((await app.call('POST', '/product-v2', { token: from.token, body })).status).toBe(201)
  const { text } = await app.call('GET', '/product-v2', { token: from.token, headers: { accept: 'text/csv' } })
  const shop = { ...to.shop, origins: [] }
  await importProducts(
    app.deps,
    { shop, actor: system },
    async function* () {
      yield Buffer.from(text)
    },
    { dryRun: false, overwrite: false, currency: 'USD' },
  )
  expect((await app.call('GET', `/product-v2/public/shop/${to.shop.name}`)).body.data).toEqual([])
})
