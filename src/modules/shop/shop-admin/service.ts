import type { CommandContext } from '../../../core/command-context.ts'
import { type CatalogDeps, invalidateShopDocuments } from '../../catalog/products/index.ts'
import { audited } from '../../operations/audit/index.ts'
import type { Shop, ShopStatus } from '../shop/domain.ts'
import { changeShopStatus, type ShopDeps } from '../shop/index.ts'

export type ShopAdminDeps = ShopDeps & Pick<CatalogDeps, 'documents'>

/**
 * Suspends a shop (hidden, no new purchases) or restores it.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for any other change of its status
 */
export const setShopStatus = (
  deps: ShopAdminDeps,
  { actor, expected }: Pick<CommandContext, 'actor' | 'expected'>,
  id: string,
  status: ShopStatus,
): Promise<Shop> =>
  audited(
    deps,
    { actor, shop: { id } },
    { action: status === 'SUSPENDED' ? 'shop.suspended' : 'shop.restored', subject: id },
    async (tx, setDifference) => {
      const { shop, difference } = await changeShopStatus(tx, deps, { id, requested: status, expected })
      invalidateShopDocuments(tx, deps, id)
      setDifference(difference)
      return shop
    },
  )
