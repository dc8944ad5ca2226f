import { createCollectionStore } from '../collections/collections-store.ts'
import type { MediaDeps } from '../media/index.ts'
import { createDocuments } from './document-cache.ts'
import { createFolds } from './listing-counts.ts'
import { createListings } from './public-reads.ts'
import { createCatalogStore } from './store.ts'

export function catalogProviders(deps: MediaDeps) {
  const catalogStore = createCatalogStore(deps.db)
  return {
    catalogStore,
    collectionStore: createCollectionStore(deps.db),
    documents: createDocuments({ ...deps, catalogStore }),
    folds: createFolds({ ...deps, catalogStore }),
    listings: createListings({ ...deps, catalogStore }),
  }
}
export type CatalogDeps = MediaDeps & ReturnType<typeof catalogProviders>
