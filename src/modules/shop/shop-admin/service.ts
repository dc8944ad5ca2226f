import type { Change } from '../../../core/command-context.ts'
import { type CatalogDeps, forgetDocumentsOf } from '../../catalog/products/index.ts'
import { audited } from '../../operations/audit/index.ts'
import type { Shop, ShopStatus } from '../shop/domain.ts'
import { moveShop, type ShopDeps } from '../shop/index.ts'

export type ShopAdminDeps = ShopDeps & Pick<CatalogDeps, 'documents'>

/**
 * Suspends a shop, so that nobody finds it and nothing new is bought in it, or restores it.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for any other change of its status
 */
export const setShopStatus = (
  deps: ShopAdminDeps,
  { actor, expected }: Pick<Change, 'actor' | 'expected'>,
  id: string,
  asked: ShopStatus,
): Promise<Shop> =>
  audited(
    deps,
    { actor, shop: { id } },
    { action: asked === 'SUSPENDED' ? 'shop.suspended' : 'shop.restored', subject: id },
    async (tx, tell) => {
      const { shop, difference } = await moveShop(tx, deps, { id, asked, expected })
      forgetDocumentsOf(tx, deps, id)
      tell(difference)
      return shop
    },
  )
