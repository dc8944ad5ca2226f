export type { KeyAndShop, Shop } from './domain.ts'
export { liveSince, makeLive } from './go-live.ts'
export { addHost, findPublicShop, findShopByHost, listHosts, recheckHosts, removeHost, shopCacheKey, verifyHost } from './hosts.ts'
export { assertNewShop, hasShopNamed, type NewShop, openAnotherShop, openShop, shopCreation, shopNameTaken } from './open-shop.ts'
export type { ShopDeps } from './providers.ts'
export {
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
