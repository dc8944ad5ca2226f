export { type AgentCartInput, type AgentCartResult, updatedAgentCart } from './agent-carts.ts'
export { addItem, changeCart, changeItem, createCart, removeItem } from './change-cart.ts'
export { changeDiscountCode } from './discount-code.ts'
export { type DraftInput, emptyCart, insertCart, removeDraftCart, saveCart, updatedDraftCart } from './draft-carts.ts'
export { applyGiftCard, removeGiftCards } from './gift-cards.ts'
export { chargesAt, hasMoved } from './order-charges.ts'
export {
  type CartItem,
  type CartSnapshot,
  hasUnusableContent as holdsUnusable,
  isCardItem,
  isOutdated,
  isStillSellable,
  listChanges as changedSince,
  needsShipping,
  noticesIn,
  offersFor,
  type Priced,
  priced,
} from './pricing.ts'
export type { CartDeps } from './providers.ts'
export {
  type CartCaller,
  cartOf,
  convertCart,
  expireCarts,
  findCart,
  forgetCarts,
  isConvertible,
  isServer,
  type LoadedCart,
  loadCart,
  lockCart,
  notOpen,
  provincesFor,
  readCart,
  referCart,
  refreshPrices,
  reopenCart,
  snapshotOf,
  viewCart,
  viewSoldCart,
} from './service.ts'
export { shippingOptions } from './shipping.ts'
export { assertProvinces, strictlyUnknown } from './strict-provinces.ts'
export type { CartView } from './view.ts'
