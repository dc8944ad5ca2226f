/** The kinds of products, and what is special about gift cards. */
import type { products, variants } from '../../../../db/schema/catalog.ts'
import { invalidField } from '../../../core/errors.ts'

type Product = typeof products.$inferSelect
type Variant = typeof variants.$inferSelect

/** STANDARD: goods and services. GIFT_CARD: each unit that is paid issues a gift card over its price. */
export const productKinds = ['STANDARD', 'GIFT_CARD'] as const
/** Returns whether each paid unit issues a gift card. */
export const isGiftCard = ({ kind }: Pick<Product, 'kind'>): boolean => kind === 'GIFT_CARD'

/** A gift card is money: it is taxed when it is spent, and mailed. */
const giftCardVariant = { requiresShipping: false, taxable: false, taxClass: null } as const

/**
 * Applies the rules of the product's kind to its variants.
 * @param merged `at`: the index in the input
 * @throws AppError INVALID for a gift card over nothing
 */
export function variantsOfKind<One extends { readonly variant: Variant; readonly at?: number }>(
  product: Pick<Product, 'kind'>,
  merged: readonly One[],
): One[] {
  if (!isGiftCard(product)) return [...merged]
  return merged.map((one) => {
    const { at, variant } = one
    if (variant.hasPrice && variant.price === 0)
      throw at === undefined
        ? invalidField('kind', 'a gift card needs prices above 0')
        : invalidField(`variants.${at}.price.amount`, 'must be above 0, because it is the amount of a gift card')
    return { ...one, variant: { ...variant, ...giftCardVariant } }
  })
}
