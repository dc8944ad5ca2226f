export { addItem, type CartInput, changeCart, changeItem, createCart, removeItem } from './change-cart.ts'
export { changeDiscountCode } from './discount-code.ts'
export { blankDraft, type DraftInput, drawnUp, insertDraftCart, removeDraftCart, saveDraftCart } from './draft-carts.ts'
export { applyGiftCard, removeGiftCards } from './gift-cards.ts'
export { type CartSnapshot, changedSince, holdsLost, isSentAtAll, noticesIn, type Priced, priced } from './pricing.ts'
export type { CartDeps } from './providers.ts'
export {
  type CartCaller,
  cartOf,
  convertCart,
  convertCartSurely,
  expireCarts,
  forgetCarts,
  isServer,
  lockCart,
  lookAtCart,
  notOpen,
  readCart,
  referCart,
  refreshPrices,
  reopenCart,
  snapshotOf,
  type WholeCart,
  wholeCart,
} from './service.ts'
export { shippingOptions } from './shipping.ts'
export { assertProvinces, strictlyUnknown } from './strict-provinces.ts'
export type { CartView } from './view.ts'
