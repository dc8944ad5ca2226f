/** Folds pending changes of shops' listings. */
export { foldListings } from '../src/modules/catalog/products/index.ts'
