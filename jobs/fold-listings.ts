import type { AppDeps } from '../src/app.ts'

/** Fewer than these cost a reader next to nothing. */
const changesMax = 64

/** Folds the listings of shops whose changes piled up, also those that another process or a crash left. */
export async function foldListings({ catalogStore, folds }: Pick<AppDeps, 'catalogStore' | 'folds'>): Promise<void> {
  for (const shopId of await catalogStore.shopsWithChanges(changesMax)) await folds.foldAll(shopId)
}
