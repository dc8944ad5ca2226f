export { backfillKpis, recountShops } from './backfill.ts'
export {
  type Figure,
  type RankingQuery,
  readFigure,
  readGmv,
  readRefundRate,
  readTopMerchants,
  readTopProducts,
} from './dashboards.ts'
export {
  appendDeltas,
  foldKpis,
  isCounted,
  recordErasure,
  recordProduct,
  recordSignUp,
  recordVerifiedShops,
  removeTestSales,
} from './service.ts'
export { readShopFigures } from './shops.ts'
export { checkKpis, type RebuildResult, rebuildKpis } from './verify.ts'
