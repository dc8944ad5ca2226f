import type { Deps } from '../../../core/deps.ts'
import type { CatalogDeps } from '../../catalog/products/index.ts'
import type { CustomerDeps } from '../../customers/customer/index.ts'
import type { DiscountDeps } from '../discount/index.ts'
import type { GiftCardDeps } from '../gift-card/index.ts'
import { createCartStore } from './store.ts'

export const cartProviders = ({ db }: Deps) => ({ cartStore: createCartStore(db) })
export type CartDeps = CatalogDeps & CustomerDeps & GiftCardDeps & DiscountDeps & ReturnType<typeof cartProviders>
