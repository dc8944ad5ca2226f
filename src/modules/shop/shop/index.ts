export type { KnownKey, Shop } from './domain.ts'
export { makeLive } from './go-live.ts'
export { addHost, listHosts, publicShopAt, recheckHosts, removeHost, shopKeyOf, verifyHost } from './hosts.ts'
export type { ShopDeps } from './providers.ts'
export {
  assertNewShop,
  changeShop,
  contextOf,
  currentKeys,
  custodyWallet,
  forgetEndedKeys,
  keyAndShop,
  keyAndShopNow,
  type NewShop,
  noteToldAgain,
  openShop,
  placeOf,
  publicIdentityOf,
  publicShopContextNamed,
  publicShopNamed,
  readPrivateKey,
  readShop,
  rotatePrivateKey,
  setShippingMethods,
  setTaxRates,
  shopContext,
  shopContextNamed,
  shopNamed,
  shopOf,
} from './service.ts'
export { listShops, moveShop, verifyShops } from './status.ts'
