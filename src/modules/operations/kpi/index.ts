export { fillKpis, recountShops } from './backfill.ts'
export {
  type AskedRanking,
  type Figure,
  readFigure,
  readGmv,
  readRefundRate,
  readTopMerchants,
  readTopProducts,
} from './dashboards.ts'
export { foldKpis, isCounted, noteDeltas, noteErasure, noteProduct, noteSignUp, noteVerified, takeOutTestSales } from './service.ts'
export { readShopFigures } from './shops.ts'
export { kpiFindings, type Rebuilt, rebuildKpis } from './verify.ts'
