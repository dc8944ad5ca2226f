export type { KnownKey, Shop } from './domain.ts'
export type { ShopDeps } from './parts.ts'
export {
  assertNewShop,
  changeShop,
  contextOf,
  currentKeys,
  custodyWallet,
  keyAndShop,
  keyAndShopNow,
  type NewShop,
  openShop,
  publicIdentityOf,
  readPrivateKey,
  readShop,
  rotatePrivateKey,
  setShippingMethods,
  setTaxRates,
  shopContext,
  shopContextNamed,
  shopContextOf,
  shopNamed,
  shopsOf,
} from './service.ts'
