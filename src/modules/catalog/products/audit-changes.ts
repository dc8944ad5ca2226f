import { type Difference, differenceOf, limitLength } from '../../operations/audit/domain.ts'
import type { Product, ProductWithVariants, Variant } from './domain.ts'

const auditedProductFields = ['handle', 'title', 'vendor', 'type', 'tags', 'status', 'kind', 'currency', 'options', 'publishedAt'] as const
const auditedVariantFields: readonly (keyof Variant)[] = [
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
/** Per audit row. */
const variantsPerRowMax = 10

/**
 * Returns the audited difference: product fields, and changed variants by id. Long texts and images are named without
 * values.
 */
export function productDifference(before: ProductWithVariants | undefined, after: ProductWithVariants): Difference {
  const product = differenceOf<Product>(before?.product, after.product, auditedProductFields)
  if (!before) return { before: null, after: { ...product.after, variants: after.variants.length } }
  const variantsBefore = new Map(before.variants.map((variant) => [variant.id, variant]))
  const variantsAfter = new Map(after.variants.map((variant) => [variant.id, variant]))
  const changed = [...new Map([...variantsBefore, ...variantsAfter]).keys()]
    .map((id) => ({ id, ...differenceOf<Variant>(variantsBefore.get(id), variantsAfter.get(id), auditedVariantFields) }))
    .filter((variant) => variant.before !== null || variant.after !== null)
  if (changed.length === 0) return product
  const changedVariantsOf = (side: 'before' | 'after') => ({
    variantsChanged: changed.length,
    variants: limitLength(Object.fromEntries(changed.slice(0, variantsPerRowMax).map((variant) => [variant.id, variant[side]]))),
  })
  return { before: { ...product.before, ...changedVariantsOf('before') }, after: { ...product.after, ...changedVariantsOf('after') } }
}
