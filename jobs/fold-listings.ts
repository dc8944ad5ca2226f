/** Folds the listings of shops whose changes piled up. */
export { foldListings } from '../src/modules/catalog/products/index.ts'
