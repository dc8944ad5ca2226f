/** What is shown of a product, to whom. */

import type { Money } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { isAvailable, type Stock, type Variant, type Whole } from './domain.ts'

const money = (amount: number, currency: string): Money => ({ amount, currency })
const maybeMoney = (amount: number | null, currency: string): Money | null => (amount === null ? null : money(amount, currency))

/** A product as everybody may see it: neither cost nor the number in stock. */
export function publicView({ product, variants }: Whole) {
  const { currency } = product
  const prices = variants.map(({ price }) => price)
  return {
    ...pick(product, 'id', 'shopId', 'handle', 'title', 'descriptionHtml', 'vendor', 'type', 'tags', 'status', 'options'),
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

/** The variants that a public record or a summary shows, by their ids. */
export const variantIdsOf = (document: string): string[] => (JSON.parse(document) as PublicView).variants.map(({ id }) => id)

/** How many of a variant are there and promised to nobody; null where they are not counted. */
export const quantityOf = ({ trackInventory, onHand, reserved }: Stock): number | null =>
  trackInventory ? Math.max(0, onHand - reserved) : null

/**
 * A public document with the quantities of its variants, of a shop that shows them. They change with every order, and so are no part of what
 * is kept.
 * @param stocks of its variants, by their ids
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

/** A product as its shop sees it: the public view, with cost and stock, and the version that changes go by. */
export function managementView(whole: Whole) {
  const { currency, version } = whole.product
  return { ...publicView(whole), variants: whole.variants.map((variant) => managementVariantView(variant, currency)), version }
}

/** A variant as its shop sees it. */
export const managementVariantView = (variant: Variant, currency: string) => ({
  ...publicVariantView(variant, currency),
  hasPrice: variant.hasPrice,
  cost: maybeMoney(variant.cost, currency),
  onHand: variant.onHand,
  reserved: variant.reserved,
  lowStockAt: variant.lowStockAt,
})
