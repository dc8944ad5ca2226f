import { createCache } from '../../../core/cache.ts'
import type { Deps } from '../../../core/deps.ts'
import type { CatalogDeps } from '../../catalog/products/index.ts'
import type { ProductView } from './product-view.ts'

const productsMax = 2_000
const searchesMax = 200

export const agentCatalogProviders = ({ db }: Pick<Deps, 'db'>) => ({
  /** Products as lists show them, by the ETag of their record, which a change replaces. */
  agentProducts: createCache<ProductView>({ version: () => 0, entriesMax: productsMax }),
  /** Answers of searches, valid until the database changes. */
  agentSearches: createCache<object>({ version: () => db.version(), entriesMax: searchesMax }),
})
export type AgentCatalogDeps = CatalogDeps & ReturnType<typeof agentCatalogProviders>
