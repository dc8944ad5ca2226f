import { foldListings as fold } from '../src/modules/catalog/index.ts'
import type { AppDeps } from '../src/parts.ts'

/** Folds the listings of shops whose changes piled up. */
export const foldListings = (deps: AppDeps): Promise<void> => fold(deps)
