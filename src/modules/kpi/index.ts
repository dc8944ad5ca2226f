export { kpiFindings, type Rebuilt, rebuildKpis } from './checking.ts'
export {
  type AskedRanking,
  type Figure,
  readFigure,
  readGmv,
  readRefundRate,
  readTopMerchants,
  readTopProducts,
} from './dashboards.ts'
export { fillKpis, recountShops } from './filling.ts'
export { foldKpis, isCounted, noteDeltas, noteErasure, noteProduct, noteSignUp, noteVerified, takeOutTestSales } from './service.ts'
export { readShopFigures } from './shops.ts'
