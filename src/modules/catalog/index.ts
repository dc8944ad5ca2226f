export { firstUnknown } from './belonging.ts'
export { filterFindings } from './check-store.ts'
export {
  type CollectionView,
  changeCollection,
  createCollection,
  listCollections,
  publishedCollection,
  publishedCollectionPage,
  publishedCollections,
  readCollection,
  removeCollection,
  setCollectionProducts,
} from './collections.ts'
export { type FetchReport, fetchImages } from './fetching.ts'
export { type ImportReport, importProducts, importStopped } from './import.ts'
export { countLowStock, lowStock, stockHistoryOf } from './low-stock.ts'
export { fillProductSearch, fillProductSummaries, fillUnknownProducts, listProducts, pieceOfProducts } from './managed.ts'
export type { CatalogDeps } from './parts.ts'
export { publicProducts } from './reads.ts'
export {
  archiveProduct,
  changeProduct,
  createProduct,
  foldListings,
  forgetDocumentsOf,
  productWithHandle,
  readProduct,
  readPublicProduct,
  readPublicProductNamed,
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
