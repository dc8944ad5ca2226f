export { backfillKpis, recountShops } from './backfill.ts'
export { type Figure, readFigure, readGmv, readRefundRate, readTopMerchants, readTopProducts } from './dashboards.ts'
export {
  appendDeltas,
  foldKpis,
  isCounted,
  recordErasure,
  recordProduct,
  recordProductRemoval,
  recordSignUp,
  recordVerifiedShops,
  removeTestSales,
} from './service.ts'
export { readShopFigures } from './shops.ts'
export { checkKpis, rebuildKpis } from './verify.ts'
