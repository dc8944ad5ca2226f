import type { Deps } from '../../core/deps.ts'
import type { AuthDeps } from '../auth/index.ts'
import type { CatalogDeps } from '../catalog/index.ts'
import type { InstanceKeyDeps } from '../instance-key/index.ts'
import { createDiscountStore } from './store.ts'

export const discountParts = ({ db }: Deps) => ({ discountStore: createDiscountStore(db) })
export type DiscountDeps = InstanceKeyDeps & CatalogDeps & AuthDeps & ReturnType<typeof discountParts>
