import { api, ok } from '../../lib/api/api.ts'
import { type Money, money, number } from '../../lib/format/format.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { variantDetail } from './draft.domain.ts'
import { t } from './i18n.ts'

/** `left`: units that can be sold; infinite if stock does not limit them. */
export type FoundVariant = Choice & { readonly title: string; readonly named: string; readonly price: Money; readonly left: number }

const productsMax = 8
const shownMax = 40

/** Finds variants of products that are not ARCHIVED; the best matches of a product first. */
export async function findVariants(q: string, signal: AbortSignal): Promise<readonly FoundVariant[]> {
  const { data } = await ok(api.GET('/product-v2', { params: { query: { ...(q && { q }), limit: productsMax } }, signal }))
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = (text: string) => words.filter((word) => text.toLowerCase().includes(word)).length
  return data
    .filter(({ status }) => status !== 'ARCHIVED')
    .flatMap(({ title, variants }) =>
      variants
        .map(({ id, title: variantTitle, sku, price, trackInventory, allowBackorder, onHand, reserved }) => {
          const named = variantDetail({ variantTitle, sku })
          const stock = trackInventory ? t('available', { n: number(onHand - reserved) }) : undefined
          const left = trackInventory && !allowBackorder ? onHand - reserved : Number.POSITIVE_INFINITY
          return { id, text: title, title, named, price, left, detail: [named, money(price), stock].filter(Boolean).join(' · ') }
        })
        .sort((a, b) => fits(b.named) - fits(a.named)),
    )
    .slice(0, shownMax)
}
