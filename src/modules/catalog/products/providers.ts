import { createCollectionStore } from '../collections/collections-store.ts'
import type { MediaDeps } from '../media/index.ts'
import { createDocumentCache } from './document-cache.ts'
import { createListingCounts } from './listing-counts.ts'
import { createListingCache } from './public-reads.ts'
import { createCatalogStore } from './store.ts'

export function catalogProviders(deps: MediaDeps) {
  const catalogStore = createCatalogStore(deps.db)
  return {
    catalogStore,
    collectionStore: createCollectionStore(deps.db),
    documents: createDocumentCache({ ...deps, catalogStore }),
    listingCounts: createListingCounts({ ...deps, catalogStore }),
    listings: createListingCache({ ...deps, catalogStore }),
  }
}
export type CatalogDeps = MediaDeps & ReturnType<typeof catalogProviders>
