export {
  changeCollection,
  createCollection,
  listCollections,
  publishedCollection,
  publishedCollections,
  readCollection,
  removeCollection,
  setCollectionProducts,
} from './collections.ts'
export { type FetchReport, fetchImages } from './fetching.ts'
export { type ImportReport, importProducts, importStopped } from './import.ts'
export type { CatalogDeps } from './parts.ts'
export { publicProducts } from './reads.ts'
export {
  archiveProduct,
  changeProduct,
  createProduct,
  foldListings,
  forgetDocumentsOf,
  listProducts,
  productWithHandle,
  readProduct,
  readPublicProduct,
  removeVariant,
} from './service.ts'
export {
  commitPromisedStock,
  commitStock,
  releaseStock,
  reserveKnownStock,
  reserveStock,
  restock,
  sellables,
  sellablesInCart,
} from './stock.ts'
export { changeStock } from './stock-by-hand.ts'
