/** The rules of a copy of a product. */
import type { ProductWithVariants } from './domain.ts'

const copySuffix = { title: ' (copy)', handle: '-copy' } as const
const [titleLengthMax, handleLengthMax] = [255, 120]

/** Cuts a text so that the suffix still fits, without half a surrogate pair. */
const withSuffix = (text: string, suffix: string, lengthMax: number): string =>
  text.slice(0, lengthMax - suffix.length).replace(/[\ud800-\udbff]$/, '') + suffix

/** Returns the wanted handle of a copy. It gets a number if another product has it. */
export const handleOfCopy = (handle: string): string => withSuffix(handle, copySuffix.handle, handleLengthMax)

/** Values that are fixed before the write. */
type CopyContext = {
  readonly productId: string
  readonly handle: string
  readonly newId: (kind: 'variant' | 'image') => string
  readonly now: number
}

/**
 * Returns a draft copy of a product. SKUs, barcodes and stock are left out: they belong to the goods of the original.
 */
export function copyProduct(
  { product, variants }: ProductWithVariants,
  { productId, handle, newId, now }: CopyContext,
): ProductWithVariants {
  const imageIds = new Map(product.images.map(({ id }) => [id, newId('image')]))
  return {
    product: {
      ...product,
      id: productId,
      handle,
      title: withSuffix(product.title, copySuffix.title, titleLengthMax),
      images: product.images.map((image) => ({ ...image, id: imageIds.get(image.id) ?? image.id })),
      status: 'DRAFT',
      createdAs: 'DRAFT',
      publishedAt: null,
      createdAt: now,
      updatedAt: now,
      version: 1,
    },
    variants: variants.map((variant) => ({
      ...variant,
      id: newId('variant'),
      productId,
      sku: null,
      barcode: null,
      onHand: 0,
      reserved: 0,
      imageId: variant.imageId === null ? null : (imageIds.get(variant.imageId) ?? null),
    })),
  }
}
