import { type Difference, differenceOf, limitLength } from '../../operations/audit/domain.ts'
import type { Product, Variant, Whole } from './domain.ts'

const openOfProduct = ['handle', 'title', 'vendor', 'type', 'tags', 'status', 'currency', 'options', 'publishedAt'] as const
const openOfVariant: readonly (keyof Variant)[] = [
  'productId',
  'sku',
  'barcode',
  'title',
  'optionValues',
  'price',
  'hasPrice',
  'compareAtPrice',
  'cost',
  'weightGrams',
  'requiresShipping',
  'taxable',
  'taxClass',
  'trackInventory',
  'allowBackorder',
  'onHand',
  'reserved',
  'imageId',
  'lowStockAt',
  'position',
]
/** Of one row. */
const variantsMax = 10

/** What of a product is on record when it changes: with it the variants that did, by their ids; long texts and pictures by their names alone. */
export function productDifference(before: Whole | undefined, after: Whole): Difference {
  const product = differenceOf<Product>(before?.product, after.product, openOfProduct)
  if (!before) return { before: null, after: { ...product.after, variants: after.variants.length } }
  const was = new Map(before.variants.map((variant) => [variant.id, variant]))
  const is = new Map(after.variants.map((variant) => [variant.id, variant]))
  const changed = [...new Map([...was, ...is]).keys()]
    .map((id) => ({ id, ...differenceOf<Variant>(was.get(id), is.get(id), openOfVariant) }))
    .filter((variant) => variant.before !== null || variant.after !== null)
  if (changed.length === 0) return product
  const told = (side: 'before' | 'after') => ({
    variantsChanged: changed.length,
    variants: limitLength(Object.fromEntries(changed.slice(0, variantsMax).map((variant) => [variant.id, variant[side]]))),
  })
  return { before: { ...product.before, ...told('before') }, after: { ...product.after, ...told('after') } }
}
