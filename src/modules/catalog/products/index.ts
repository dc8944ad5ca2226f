export { firstUnknown } from '../collections/collection-membership.ts'
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
} from '../collections/collections.ts'
export { type FetchReport, fetchImages } from '../import-export/image-download.ts'
export { type ImportReport, importProducts, importStopped } from '../import-export/import.ts'
export { countLowStock, lowStock, stockHistoryOf } from '../stock/low-stock.ts'
export { changeStock } from '../stock/manual-stock.ts'
export {
  commitPromisedStock,
  commitStock,
  releaseStock,
  reserveKnownStock,
  reserveStock,
  restock,
  sellables,
  sellablesInCart,
} from '../stock/stock.ts'
export { fillProductSearch, fillProductSummaries, fillUnknownProducts, listProducts, pieceOfProducts } from './admin-products.ts'
export { filterFindings } from './check-store.ts'
export type { CatalogDeps } from './providers.ts'
export { publicProducts } from './public-reads.ts'
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
