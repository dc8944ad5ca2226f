import { expect, test } from 'bun:test'
import { productDifference } from '../../../../src/modules/catalog/products/audit-changes.ts'
import {
  applyProductChange,
  buildProduct,
  type ProductInput,
  type ProductWithVariants,
} from '../../../../src/modules/catalog/products/domain.ts'

const usd = (amount: number) => ({ amount, currency: 'USD' })
const contextWith = (prefix: string, now = 0) => {
  const ids = (kind: string) => Array.from({ length: 20 }, (_, nth) => `${kind}_${prefix}${nth}`)
  return { productId: 'prod_1', variantIds: ids('var'), imageIds: ids('img'), now, currency: 'USD' }
}
const sizes = (...values: string[]) => ({
  options: [{ name: 'Size', values }],
  variants: values.map((value) => ({ optionValues: [value], price: usd(1_000), sku: value, onHand: 5 })),
})
const mug = buildProduct({ title: 'Mug', descriptionHtml: '<p>Long</p>', ...sizes('S', 'M') }, 'shop_1', contextWith('a'))
const applyChange = (input: ProductInput, before: ProductWithVariants = mug) => applyProductChange(before, input, contextWith('b', 1))

test('the audit entry of a new product has its fields and variant count, with long texts redacted', () => {
  const { before, after } = productDifference(undefined, mug)
  expect(before).toBeNull()
  expect(after).toMatchObject({ title: 'Mug', handle: 'mug', status: 'DRAFT', variants: 2, descriptionHtml: '[redacted]' })
})

test('the audit entry of a changed product has only the changed fields, before and after', () => {
  expect(productDifference(mug, applyChange({ title: 'Cup', status: 'ACTIVE', descriptionHtml: '<p>Other</p>' }))).toEqual({
    before: { title: 'Mug', status: 'DRAFT', descriptionHtml: '[redacted]', publishedAt: null },
    after: { title: 'Cup', status: 'ACTIVE', descriptionHtml: '[redacted]', publishedAt: 1 },
  })
  expect(productDifference(mug, applyChange({ title: 'Mug' }))).toEqual({ before: null, after: null })
})

test('the audit entry of a changed variant has its changed fields under its id, and the number of such variants', () => {
  const [small, medium] = mug.variants
  const after: ProductWithVariants = {
    ...mug,
    variants: mug.variants.map((one) => (one.id === medium?.id ? { ...one, price: 900, reserved: 3 } : one)),
  }
  expect(productDifference(mug, after)).toEqual({
    before: { variantsChanged: 1, variants: { [medium?.id ?? '']: { price: 1_000, reserved: 0 } } },
    after: { variantsChanged: 1, variants: { [medium?.id ?? '']: { price: 900, reserved: 3 } } },
  })
  const without = productDifference(mug, { ...mug, variants: mug.variants.slice(0, 1) })
  expect(without.after).toEqual({ variantsChanged: 1, variants: { [medium?.id ?? '']: null } })
  expect(without.before?.['variants']).toMatchObject({ [medium?.id ?? '']: { sku: 'M', price: 1_000 } })
  expect(JSON.stringify(without)).not.toContain(small?.id ?? 'none')
})

test('the audit entry of a change to many variants lists the first ten', () => {
  const fifteen = sizes(...Array.from({ length: 15 }, (_, nth) => `size ${nth}`))
  const many = buildProduct({ title: 'Mug', ...fifteen }, 'shop_1', contextWith('c'))
  const dearer: ProductWithVariants = { ...many, variants: many.variants.map((one) => ({ ...one, price: 2_000 })) }
  const { before, after } = productDifference(many, dearer)
  expect(after?.['variantsChanged']).toBe(15)
  expect(Object.keys((after?.['variants'] as object) ?? {})).toEqual(Object.keys((before?.['variants'] as object) ?? {}))
  expect(Object.keys((after?.['variants'] as object) ?? {})).toHaveLength(10)
})
