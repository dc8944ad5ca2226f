export { addItem, type CartInput, changeCart, changeItem, createCart, removeItem } from './change-cart.ts'
export { changeDiscountCode } from './discount-code.ts'
export { type DraftInput, emptyDraftCart, insertDraftCart, removeDraftCart, saveDraftCart, updatedDraftCart } from './draft-carts.ts'
export { applyGiftCard, removeGiftCards } from './gift-cards.ts'
export { type CartSnapshot, changedSince, holdsLost, isSentAtAll, noticesIn, type Priced, priced } from './pricing.ts'
export type { CartDeps } from './providers.ts'
export {
  type CartCaller,
  cartOf,
  convertCart,
  expireCarts,
  forgetCarts,
  isServer,
  type LoadedCart,
  loadCart,
  lockCart,
  notOpen,
  readCart,
  referCart,
  refreshPrices,
  reopenCart,
  snapshotOf,
  viewCart,
} from './service.ts'
export { shippingOptions } from './shipping.ts'
export { assertProvinces, strictlyUnknown } from './strict-provinces.ts'
export type { CartView } from './view.ts'
