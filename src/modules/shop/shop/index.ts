export type { KeyAndShop, Shop } from './domain.ts'
export { makeLive } from './go-live.ts'
export { addHost, findPublicShop, listHosts, recheckHosts, removeHost, shopCacheKey, verifyHost } from './hosts.ts'
export type { ShopDeps } from './providers.ts'
export {
  assertNewShop,
  auditRepeatedKeyReading,
  changeShop,
  contextOf,
  currentKeys,
  deleteExpiredKeys,
  ensureCustodyWallet,
  findKeyAndShop,
  findKeyAndShopSync,
  findPublicShopByName,
  findPublicShopContextByName,
  findShopByName,
  findShopContext,
  findShopContextByName,
  type NewShop,
  openShop,
  readPrivateKey,
  readPublicIdentity,
  readShop,
  rotatePrivateKey,
  setShippingMethods,
  setTaxRates,
  shopAndRoleOf,
  shopOf,
} from './service.ts'
export { changeShopStatus, listShops, verifyShops } from './status.ts'
