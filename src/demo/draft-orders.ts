import { createDraft, type DraftDeps, listDrafts } from '../modules/selling/draft-order/index.ts'
import type { Market } from './orders.ts'
import { addressAt } from './shop.ts'

const quantity = 2

/** Creates one draft order of a customer on the telephone, with items in stock, so that its link can be paid. */
export async function makeDraft(deps: DraftDeps, { plan, shop, variantIds, customerIds }: Market): Promise<void> {
  const { total } = await listDrafts(deps, { shopId: shop.id }, { page: 1, limit: 1, offset: 0 })
  const inStock = plan.products.flatMap(({ handle, status, variants }) => {
    const nth = variants.findIndex(({ onHand }) => onHand > 2 * quantity)
    const variantId = variantIds.get(handle)?.[nth]
    return status === 'ACTIVE' && variantId !== undefined ? [variantId] : []
  })
  const customer = plan.customers[1]
  if (total > 0 || inStock.length < 2 || !customer) return
  const address = addressAt(customer, customer.place)
  await createDraft(
    deps,
    { shop, actor: { id: shop.merchantId } },
    {
      lines: inStock.slice(0, 2).map((variantId) => ({ variantId, quantity })),
      customerId: customerIds.get(customer.email),
      email: customer.email,
      shippingAddress: address,
      billingAddress: address,
      shippingMethod: customer.place.ships,
      note: 'Ordered by telephone, as a present. Prices were promised until the end of the month.',
    },
  )
}
