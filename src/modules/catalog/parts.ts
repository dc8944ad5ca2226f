import type { MediaDeps } from '../media/index.ts'
import { createCollectionStore } from './collections-store.ts'
import { createDocuments } from './documents.ts'
import { createFolds } from './folds.ts'
import { createListings } from './reads.ts'
import { createCatalogStore } from './store.ts'

export function catalogParts(deps: MediaDeps) {
  const catalogStore = createCatalogStore(deps.db)
  return {
    catalogStore,
    collectionStore: createCollectionStore(deps.db),
    documents: createDocuments({ ...deps, catalogStore }),
    folds: createFolds({ ...deps, catalogStore }),
    listings: createListings({ ...deps, catalogStore }),
  }
}
export type CatalogDeps = MediaDeps & ReturnType<typeof catalogParts>
