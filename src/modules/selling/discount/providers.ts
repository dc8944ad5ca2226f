import type { Deps } from '../../../core/deps.ts'
import type { CatalogDeps } from '../../catalog/products/index.ts'
import type { AuthDeps } from '../../identity/auth/index.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'
import { createDiscountStore } from './store.ts'

export const discountProviders = ({ db }: Deps) => ({ discountStore: createDiscountStore(db) })
export type DiscountDeps = InstanceKeyDeps & CatalogDeps & AuthDeps & ReturnType<typeof discountProviders>
