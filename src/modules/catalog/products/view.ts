/** Views of a product for the public and for its shop. */

import type { Money } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { isAvailable, type ProductWithVariants, type Stock, type Variant } from './domain.ts'

const money = (amount: number, currency: string): Money => ({ amount, currency })
const maybeMoney = (amount: number | null, currency: string): Money | null => (amount === null ? null : money(amount, currency))

/** Renders the public view, without cost and stock. */
export function publicView({ product, variants }: ProductWithVariants) {
  const { currency } = product
  const prices = variants.map(({ price }) => price)
  return {
    ...pick(product, 'id', 'shopId', 'handle', 'title', 'descriptionHtml', 'vendor', 'type', 'tags', 'status', 'kind', 'options'),
    variants: variants.map((variant) => publicVariantView(variant, currency)),
    images: product.images,
    seo: { title: product.seoTitle, description: product.seoDescription },
    priceRange: { min: money(Math.min(...prices), currency), max: money(Math.max(...prices), currency) },
    available: variants.some(isAvailable),
    ...isoTimes(pick(product, 'publishedAt', 'createdAt', 'updatedAt')),
  }
}

export type PublicView = ReturnType<typeof publicView>

const publicVariantView = (variant: Variant, currency: string) => ({
  ...pick(variant, 'id', 'sku', 'barcode', 'title', 'optionValues'),
  price: money(variant.price, currency),
  compareAtPrice: maybeMoney(variant.compareAtPrice, currency),
  ...pick(variant, 'weightGrams', 'requiresShipping', 'taxClass', 'taxable', 'trackInventory', 'allowBackorder'),
  available: isAvailable(variant),
  ...pick(variant, 'imageId', 'position'),
})

/** Returns the ids of the variants in a public record or summary. */
export const variantIdsOf = (document: string): string[] => (JSON.parse(document) as PublicView).variants.map(({ id }) => id)

/** Returns the units that are not reserved; null if stock is not tracked. */
const quantityOf = ({ trackInventory, onHand, reserved }: Stock): number | null => (trackInventory ? Math.max(0, onHand - reserved) : null)

/**
 * Adds quantities to a public document of a shop that shows them. They are not stored with it, because they change with
 * every order.
 * @param stocks by variant id
 */
export function withQuantities(document: string, stocks: ReadonlyMap<string, Stock>): string {
  const product = JSON.parse(document) as PublicView & { variantsCount?: number }
  const variants = product.variants.map((variant) => {
    const stock = stocks.get(variant.id)
    return stock ? { ...variant, available: isAvailable(stock), quantityAvailable: quantityOf(stock) } : variant
  })
  const isCut = product.variantsCount !== undefined && product.variantsCount > variants.length
  return JSON.stringify({ ...product, variants, available: isCut ? product.available : variants.some(({ available }) => available) })
}

/** Renders the shop's view: the public view with cost, stock and version. */
export function managementView(record: ProductWithVariants) {
  const { currency, version } = record.product
  return { ...publicView(record), variants: record.variants.map((variant) => managementVariantView(variant, currency)), version }
}

/**
 * Renders the shop's view of a variant: the public one with cost and stock.
 * @param currency of the product
 */
export const managementVariantView = (variant: Variant, currency: string) => ({
  ...publicVariantView(variant, currency),
  hasPrice: variant.hasPrice,
  cost: maybeMoney(variant.cost, currency),
  onHand: variant.onHand,
  reserved: variant.reserved,
  lowStockAt: variant.lowStockAt,
})
