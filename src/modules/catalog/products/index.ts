export { findUnknownReference } from '../collections/collection-membership.ts'
export {
  type CollectionView,
  changeCollection,
  createCollection,
  findPublishedCollection,
  listCollections,
  listPublishedCollections,
  readCollection,
  readPublishedCollection,
  removeCollection,
  setCollectionProducts,
} from '../collections/collections.ts'
export { type FetchReport, fetchImages } from '../import-export/image-download.ts'
export { type ImportReport, importProducts, importStoppedError } from '../import-export/import.ts'
export { countLowStock, listLowStock, listStockHistory } from '../stock/low-stock.ts'
export { changeStock } from '../stock/manual-stock.ts'
export {
  commitPromisedStock,
  commitStock,
  findSellables,
  findSellablesInCart,
  releaseStock,
  reserveKnownStock,
  reserveStock,
  restock,
} from '../stock/stock.ts'
export {
  backfillProductSearch,
  backfillProductSummaries,
  indexUnindexedProducts,
  listProducts,
  readProductChunk,
} from './admin-products.ts'
export { findCatalogInconsistencies } from './check-store.ts'
export type { CatalogDeps } from './providers.ts'
export { findPublicProductIds, listPublicProducts } from './public-reads.ts'
export {
  changeProduct,
  createProduct,
  deleteProduct,
  duplicateProduct,
  findProductByHandle,
  foldListings,
  invalidateShopDocuments,
  readProduct,
  readPublicProduct,
  readPublicProductByHandle,
  removeVariant,
} from './service.ts'
export type { PublicView as PublicProduct } from './view.ts'
