import { api, ok } from '../../lib/api/api.ts'
import { type Money, money, number } from '../../lib/format/format.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { variantDetail } from './draft.domain.ts'
import { t } from './i18n.ts'

/** A variant that a search found. `available`: units that can be sold; infinite if stock does not limit them. */
export type FoundVariant = Choice & {
  readonly title: string
  readonly variantName: string
  readonly price: Money
  readonly available: number
}

const productsMax = 8
const shownMax = 40

/** Finds variants of products that are not ARCHIVED; the best matches of a product first. */
export async function findVariants(q: string, signal: AbortSignal): Promise<readonly FoundVariant[]> {
  const { data } = await ok(api.GET('/product-v2', { params: { query: { ...(q && { q }), limit: productsMax } }, signal }))
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const countMatches = (text: string) => words.filter((word) => text.toLowerCase().includes(word)).length
  return data
    .filter(({ status }) => status !== 'ARCHIVED')
    .flatMap(({ title, variants }) =>
      variants
        .map(({ id, title: variantTitle, sku, price, trackInventory, allowBackorder, onHand, reserved }) => {
          const variantName = variantDetail({ variantTitle, sku })
          const stock = trackInventory ? t('available', { n: number(onHand - reserved) }) : undefined
          const available = trackInventory && !allowBackorder ? onHand - reserved : Number.POSITIVE_INFINITY
          return {
            id,
            text: title,
            title,
            variantName,
            price,
            available,
            detail: [variantName, money(price), stock].filter(Boolean).join(' · '),
          }
        })
        .sort((a, b) => countMatches(b.variantName) - countMatches(a.variantName)),
    )
    .slice(0, shownMax)
}
