/** Tests the product form without a browser: variants of options, request bodies and stock. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { wholeNumber } from '../../src/console/lib/forms/number-input.ts'
import {
  addBeforeRemoveBody,
  blankBase,
  blankVariant,
  changeBody,
  createBody,
  type ProductText,
  pendingPictures,
  textOf,
} from '../../src/console/screens/products/draft.domain.ts'
import { createProductEditor } from '../../src/console/screens/products/editor.ts'
import {
  combinationOfTexts,
  combinations,
  missingCombinations,
  type OptionText,
  refitRows,
  rowName,
  toApiOptions,
  toOptionTexts,
  type VariantCombination,
} from '../../src/console/screens/products/options.domain.ts'
import { stockBody, stockOf } from '../../src/console/screens/products/stock.domain.ts'
import { storefrontUrl } from '../../src/console/screens/products/storefront-url.ts'

const options = toOptionTexts([
  { name: 'Size', values: ['S', 'M'] },
  { name: 'Colour', values: ['Red', 'Blue', 'Sand'] },
])
const [size, colour] = options as [OptionText, OptionText]
const row = (key: string, combination: VariantCombination['combination'], id?: string): VariantCombination => ({ key, id, combination })
const all = combinations(options).map((combination, at) => row(`r${at}`, combination, `var_${at}`))
const names = (of: readonly OptionText[], rows: readonly VariantCombination[]) => rows.map((one) => rowName(of, one))

describe('variants of options', () => {
  test('are every combination, the last option changing first', () => {
    expect(names(options, all)).toEqual(['S / Red', 'S / Blue', 'S / Sand', 'M / Red', 'M / Blue', 'M / Sand'])
    expect(combinations([])).toEqual([{}])
    expect(combinations([{ key: 'a', name: 'Empty', values: [] }])).toEqual([{}])
  })

  test('keep their ids when a value is renamed', () => {
    const renamed = [size, { ...colour, values: colour.values.map((one) => (one.text === 'Red' ? { ...one, text: 'Crimson' } : one)) }]
    const { rows, dropped } = refitRows(renamed, all)
    expect(dropped).toEqual([])
    expect(rows.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect(names(renamed, rows)[0]).toBe('S / Crimson')
  })

  test('are removed with their value, and no others are', () => {
    const fewer = [size, { ...colour, values: colour.values.filter(({ text }) => text !== 'Blue') }]
    const { rows, dropped } = refitRows(fewer, all)
    expect(names(fewer, rows)).toEqual(['S / Red', 'S / Sand', 'M / Red', 'M / Sand'])
    expect(dropped.map(({ id }) => id)).toEqual(['var_1', 'var_4'])
  })

  test('that become equal when an option is removed are reduced to one, preferably a stored one', () => {
    const mixed = all.map((one, at) => (at === 0 ? { ...one, id: undefined } : one))
    const { rows, dropped } = refitRows([size], mixed)
    expect(rows.map(({ id }) => id)).toEqual(['var_1', 'var_3'])
    expect(dropped.length).toBe(4)
  })

  test('take the first value of a new option', () => {
    const [cut] = toOptionTexts([{ name: 'Cut', values: ['Slim', 'Wide'] }]) as [OptionText]
    const { rows } = refitRows([...options, cut], all)
    expect(names([...options, cut], rows)[0]).toBe('S / Red / Slim')
    expect(missingCombinations([...options, cut], rows).length).toBe(6)
  })

  test('always keep one, because a product needs a variant', () => {
    const one = [row('a', {}, 'var_a')]
    const other = toOptionTexts([{ name: 'Size', values: ['XL'] }])
    expect(refitRows(other, one)).toMatchObject({ rows: [{ id: 'var_a' }], dropped: [] })
    const replaced = [{ ...size, values: [{ key: 'fresh', text: 'XL' }] }]
    const { rows, dropped } = refitRows(replaced, all)
    expect(names(replaced, rows)).toEqual(['XL'])
    expect(rows.length + dropped.length).toBe(6)
  })

  test('are unique, complete and valid combinations after any change of options', () => {
    const option = fc.record({
      name: fc.string({ maxLength: 5 }),
      values: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 }),
    })
    fc.assert(
      fc.property(fc.array(option, { maxLength: 3 }), fc.infiniteStream(fc.boolean()), (optionList, stays) => {
        const before = toOptionTexts(optionList)
        const rows = combinations(before).map((combination, at) => row(`k${at}`, combination, at % 3 === 0 ? undefined : `var_${at}`))
        const after = before
          .filter(() => stays.next().value)
          .map((one) => ({ ...one, values: one.values.filter(() => stays.next().value) }))
        const { rows: keptRows, dropped } = refitRows(after, rows)
        const combination = keptRows.map(({ combination: at }) => JSON.stringify(after.map(({ key }) => at[key] ?? null)))
        expect(new Set(combination).size).toBe(keptRows.length)
        expect(new Set([...keptRows, ...dropped].map(({ key }) => key)).size).toBe(rows.length)
        expect(keptRows.length + missingCombinations(after, keptRows).length).toBe(combinations(after).length)
        expect(keptRows.length).toBeGreaterThan(0)
      }),
    )
  })
})

const product = {
  id: 'prod_1',
  shopId: 'shop_1',
  handle: 'shirt',
  title: 'Shirt',
  descriptionHtml: '<p>Linen</p>',
  vendor: 'Mill',
  type: 'Clothing',
  tags: ['linen'],
  status: 'ACTIVE' as const,
  options: [{ name: 'Size', values: ['S', 'M'] }],
  variants: ['S', 'M'].map((value, at) => ({
    id: `var_${value}`,
    sku: `SH-${value}`,
    barcode: null,
    title: value,
    optionValues: [value],
    price: { amount: 6800 + at, currency: 'USD' },
    compareAtPrice: null,
    hasPrice: true,
    cost: { amount: 2000, currency: 'USD' },
    weightGrams: 0,
    requiresShipping: true,
    taxClass: null,
    taxable: true,
    trackInventory: true,
    allowBackorder: false,
    available: true,
    imageId: at === 0 ? 'img_1' : null,
    position: at + 1,
    onHand: 3,
    reserved: 1,
    lowStockAt: 2,
  })),
  images: [{ id: 'img_1', url: 'http://127.0.0.1/media/0123456789abcdef0123456789abcdef', alt: null, position: 1, width: 9, height: 9 }],
  seo: { title: null, description: null },
  priceRange: { min: { amount: 6800, currency: 'USD' }, max: { amount: 6801, currency: 'USD' } },
  available: true,
  publishedAt: '2026-01-02T03:04:05.678Z',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}
const now = Date.parse('2026-06-01T00:00:00.000Z')
const terms = { currency: 'USD', zone: 'Asia/Ulaanbaatar', now }
const before = textOf(product, 'Asia/Ulaanbaatar')
const changed = (change: Partial<ProductText>) => changeBody({ ...before, ...change }, before, terms)

describe('the request body of a product', () => {
  test('is empty without edits, even if the publication time has seconds', () => {
    expect(changed({})).toEqual({ body: {}, errors: {} })
  })

  test('has only changed fields', () => {
    expect(changed({ title: 'Shirts', seoTitle: ' Shirts of linen ' }).body).toEqual({
      title: 'Shirts',
      seo: { title: 'Shirts of linen', description: null },
    })
    expect(changed({ publishedAt: '2026-02-03T08:30' }).body).toEqual({ publishedAt: '2026-02-03T00:30:00.000Z' })
    expect(changed({ publication: 'never' }).body).toEqual({ publishedAt: null })
  })

  test('has the current date if an active product is shown at once, and no date for a draft', () => {
    const of = (change: { publishedAt: string | null; status?: 'DRAFT' }, text: Partial<ProductText>) => {
      const stored = textOf({ ...product, ...change }, terms.zone)
      return changeBody({ ...stored, publication: 'auto', ...text }, stored, terms).body
    }
    expect(of({ publishedAt: null }, {})).toEqual({ publishedAt: '2026-06-01T00:00:00.000Z' })
    expect(of({ publishedAt: '2027-01-01T00:00:00.000Z' }, {})).toEqual({ publishedAt: '2026-06-01T00:00:00.000Z' })
    expect(of({ publishedAt: '2027-01-01T00:00:00.000Z', status: 'DRAFT' }, {})).toEqual({ publishedAt: null })
    // A product that is already shown keeps its date.
    expect(of({ publishedAt: '2026-01-02T03:04:05.678Z' }, {})).toEqual({})
    expect(of({ publishedAt: null, status: 'DRAFT' }, { status: 'ACTIVE' })).toEqual({ status: 'ACTIVE' })
  })

  test('has all variants in their order, each with its changed fields', () => {
    const rows = before.rows.map((one, at) => (at === 1 ? { ...one, price: '70,5', lowStockAt: '' } : one))
    expect(changed({ rows: rows.toReversed() }).body).toEqual({
      variants: [{ id: 'var_M', price: { amount: 7050, currency: 'USD' }, lowStockAt: null }, { id: 'var_S' }],
    })
  })

  test('names invalid fields of every row', () => {
    const rows = [
      { ...before.rows[0], price: '1.234', weight: 'much' },
      { ...before.rows[1], price: '', onHand: '-1' },
    ] as ProductText['rows']
    const [first, second] = before.rows
    expect(changed({ title: ' ', handle: '', rows, publication: 'at', publishedAt: '' }).errors).toEqual({
      title: 'required',
      handle: 'required',
      publishedAt: 'notMoment',
      [`rows.${first?.key}.price`]: 'notAmount',
      [`rows.${first?.key}.weight`]: 'notNumber',
      [`rows.${second?.key}.price`]: 'required',
      [`rows.${second?.key}.onHand`]: 'notNumber',
    })
    expect(changed({ rows: [] }).errors).toEqual({ rows: 'required' })
  })

  test('needs no prices for a draft, needs them to activate it, and sends a typed price of 0', () => {
    const [first] = product.variants
    if (!first) throw new Error('no variant')
    const draft = {
      ...product,
      status: 'DRAFT' as const,
      options: [],
      variants: [{ ...first, optionValues: [], hasPrice: false, price: { amount: 0, currency: 'USD' } }],
    }
    const unpriced = textOf(draft, terms.zone)
    const row = unpriced.rows[0]
    if (!row) throw new Error('no row')
    expect(row.price).toBe('')
    expect(changeBody({ ...unpriced, title: 'Other' }, unpriced, terms)).toEqual({ body: { title: 'Other' }, errors: {} })
    const priced = changeBody({ ...unpriced, rows: [{ ...row, price: '0' }] }, unpriced, terms)
    expect(priced).toEqual({ body: { variants: [{ id: 'var_S', price: { amount: 0, currency: 'USD' } }] }, errors: {} })
    expect(changeBody({ ...unpriced, status: 'ACTIVE' }, unpriced, terms).errors).toEqual({ [`rows.${row.key}.price`]: 'required' })
    // An existing price cannot be removed.
    const full = textOf({ ...draft, variants: [first] }, terms.zone)
    const cleared = full.rows.map((one) => ({ ...one, price: '' }))
    expect(Object.values(changeBody({ ...full, rows: cleared }, full, terms).errors)).toContain('required')
  })

  test('refuses equal options, and values without a name', () => {
    const [one] = before.options as [OptionText]
    const duplicate = { ...one, key: 'other', name: ' size ' }
    const unnamed = { ...one, key: 'third', name: '', values: [{ key: 'v', text: ' ' }] }
    expect(changed({ options: [one, duplicate, unnamed] }).errors).toMatchObject({
      'options.other.name': 'twice',
      'options.third.name': 'required',
      'options.third.values': 'empty',
    })
  })

  test('is complete for a new product, and omits stock without a number', () => {
    const text: ProductText = {
      ...blankBase,
      title: 'Mug',
      options: [],
      rows: [{ key: 'a', combination: {}, ...blankVariant, price: '12', onHand: '٤' }],
      pictures: [{ key: 'new-1', url: 'http://127.0.0.1/media/x', alt: ' ', width: 1, height: 1 }],
    }
    const { body, errors } = createBody(text, { ...terms, currency: 'JPY' })
    expect(errors).toEqual({})
    expect(body).toMatchObject({ title: 'Mug', options: [], images: [{ alt: null }] })
    expect(body.variants).toMatchObject([{ price: { amount: 12, currency: 'JPY' }, onHand: 4, optionValues: [], imageId: null }])
    expect('handle' in body || 'publishedAt' in body).toBe(false)
  })

  test('assigns new pictures to variants in a second request, by their ids', () => {
    const pictures = [...before.pictures, { key: 'new-1', url: 'http://127.0.0.1/media/y', alt: '', width: 1, height: 1 }]
    const rows = before.rows.map((one) => ({ ...one, picture: 'new-1' }))
    const text = { ...before, pictures, rows }
    const now = { ...product, images: [...product.images, { ...product.images[0], id: 'img_2' }] } as typeof product
    expect(changeBody(text, before, terms).body.variants).toEqual([{ id: 'var_S', imageId: null }, { id: 'var_M' }])
    expect(pendingPictures(text, now)).toEqual([
      { id: 'var_S', imageId: 'img_2' },
      { id: 'var_M', imageId: 'img_2' },
    ])
  })

  test('has no guessed amounts: texts that may have thousands separators are refused in every field of every row', () => {
    const rows = before.rows.map((one) => ({ ...one, price: '45,000', compareAt: '1,250', cost: '٤٥٬٠٠٠' }))
    const [first, second] = before.rows
    expect(changed({ rows }).errors).toEqual(
      Object.fromEntries(
        [first, second].flatMap((one) => ['price', 'compareAt', 'cost'].map((field) => [`rows.${one?.key}.${field}`, 'notAmount'])),
      ),
    )
  })

  test('first adds new variants with unique names if all stored variants are removed', () => {
    const fresh = (key: string, combination: VariantCombination['combination']) => ({ ...blankVariant, key, combination, price: '9' })
    const [one] = before.options as [OptionText]
    const large = { ...one, values: [{ key: 'l', text: 'L' }] }
    const text = { ...before, options: [large], rows: [fresh('a', { [one.key]: 'l' })] }
    const { body } = changeBody(text, before, terms)
    expect(addBeforeRemoveBody(body, text, before)).toMatchObject({
      options: [{ name: 'Size', values: ['L', 'S', 'M'] }],
      variants: [{ optionValues: ['L'] }, { id: 'var_S', optionValues: ['S'] }, { id: 'var_M', optionValues: ['M'] }],
    })
    // The same with new variants of two options.
    const [, colours] = options as [OptionText, OptionText]
    const twoOptions = [one, colours]
    const rows = combinations(twoOptions).map((combination, at) => fresh(String(at), combination))
    const replacedText = { ...before, options: twoOptions, rows }
    const additions = addBeforeRemoveBody(changeBody(replacedText, before, terms).body, replacedText, before)
    expect(additions?.options?.[0]?.values).toEqual(['S', 'M', 'S –', 'M –'])
    expect(additions?.variants?.slice(-2)).toEqual([
      { id: 'var_S', optionValues: ['S –', 'Red'] },
      { id: 'var_M', optionValues: ['M –', 'Red'] },
    ])
    expect(addBeforeRemoveBody({}, before, before)).toBeUndefined()
    expect(addBeforeRemoveBody({}, { ...text, options: [] }, before)).toBeUndefined()
  })

  test('options without a value are none', () => {
    expect(toApiOptions([{ key: 'a', name: 'Size', values: [] }])).toEqual([])
  })
})

describe('the product editor', () => {
  const variant = (id: string, value: string) =>
    ({ ...product.variants[0], id, title: value, optionValues: [value] }) as (typeof product.variants)[number]

  test('continues after a partly refused save, and knows new variants by their ids', () => {
    const editor = createProductEditor(product, terms.zone)
    const [size] = editor.options.value as [OptionText]
    editor.addValue(size.key, 'L')
    editor.markSaved({
      ...product,
      options: [{ name: 'Size', values: ['S', 'M', 'L'] }],
      variants: [...product.variants, variant('var_L', 'L')],
    })
    expect(editor.rows.value.map(({ id }) => id)).toEqual(['var_S', 'var_M', 'var_L'])
    const { body, errors } = changeBody(editor.text.value, editor.before(), terms)
    expect([body.variants?.map(({ id }) => id), errors]).toEqual([['var_S', 'var_M', 'var_L'], {}])
  })

  test('creates a variant again that another user removed, if it was edited, and drops it otherwise', () => {
    const editor = createProductEditor(product, terms.zone)
    const [, medium] = editor.rows.value
    const concurrent = {
      ...product,
      options: [{ name: 'Size', values: ['S'] }],
      variants: [product.variants[0]] as typeof product.variants,
    }
    if (medium) medium.draft.price.value = '70'
    editor.mergeTheirs(concurrent)
    const { body } = changeBody(editor.text.value, editor.before(), terms)
    expect(body.options).toEqual([{ name: 'Size', values: ['S', 'M'] }])
    expect(body.variants).toMatchObject([{ id: 'var_S' }, { optionValues: ['M'], price: { amount: 7_000 } }])
    expect(body.variants?.[1]).not.toHaveProperty('id')

    const other = createProductEditor(product, terms.zone)
    other.base.title.value = 'Shirts'
    other.mergeTheirs(concurrent)
    expect(other.rows.value.map(({ id }) => id)).toEqual(['var_S'])
  })

  test('restores a removed variant with its value', () => {
    const editor = createProductEditor(product, terms.zone)
    const [size] = editor.options.value as [OptionText]
    editor.setOptions([{ ...size, values: size.values.slice(0, 1) }])
    expect(editor.removed.value.map(({ id }) => id)).toEqual(['var_M'])
    editor.restoreRow('var_M')
    expect([editor.removed.value.length, toApiOptions(editor.options.value)]).toEqual([0, [{ name: 'Size', values: ['S', 'M'] }]])
    expect(editor.rows.value.map(({ id }) => id)).toEqual(['var_S', 'var_M'])
    expect(combinationOfTexts([], ['S'])).toEqual({ options: [], combination: {} })
  })
})

describe('stock', () => {
  test('has the units on hand and the units that are not reserved', () => {
    expect(stockOf(product.variants)).toEqual({ tracked: 2, onHand: 6, available: 4 })
    expect(stockOf([{ trackInventory: false, onHand: 5, reserved: 0 }])).toEqual({ tracked: 0, onHand: 0, available: 0 })
  })

  test('is changed by a count or by a difference', () => {
    expect(stockBody({ kind: 'counted', quantity: ' 0 ', reason: ' ' })).toEqual({ counted: 0 })
    expect(stockBody({ kind: 'more', quantity: '3', reason: 'delivery' })).toEqual({ delta: 3, reason: 'delivery' })
    expect(stockBody({ kind: 'fewer', quantity: '3', reason: '' })).toEqual({ delta: -3 })
    for (const quantity of ['', '-1', '1.5', 'x', '0']) expect(stockBody({ kind: 'fewer', quantity, reason: '' })).toBeUndefined()
  })

  test('is a whole number in any script', () => {
    const read = (text: string) => wholeNumber(text)
    expect(['12', ' ٣٤', '۵', '007'].map(read)).toEqual([12, 34, 5, 7])
    expect(['', '1.0', '1٬000', '12345678901', '1e2'].map(read)).toEqual(Array<undefined>(5).fill(undefined))
  })
})

describe('the URL of a product in the storefront', () => {
  const shop = { pages: { product: null }, storefrontOrigins: [] as string[] }
  const hosts = [
    { host: 'new.example', verifiedAt: null },
    { host: 'tea.example', verifiedAt: '2026-01-01T00:00:00.000Z' },
  ]
  test('is the product page with the handle', () => {
    const pages = { product: 'https://tea.example/product?lang=en' }
    expect(storefrontUrl({ ...shop, pages }, [], 'mug & cup')).toBe('https://tea.example/product?lang=en&handle=mug+%26+cup')
  })
  test('is the first origin or a verified host without a product page', () => {
    expect(storefrontUrl({ ...shop, storefrontOrigins: ['https://a.example', 'https://b.example'] }, hosts, 'mug')).toBe(
      'https://a.example',
    )
    expect(storefrontUrl(shop, hosts, 'mug')).toBe('https://tea.example/')
    expect(storefrontUrl(shop, hosts.slice(0, 1), 'mug')).toBeUndefined()
  })
})
