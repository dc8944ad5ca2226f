export { openUnsubscribePage, unsubscribe } from './consent.ts'
export {
  type AbandonedCartDeps,
  abandonedCartsPage as pieceOfAbandonedCarts,
  exportKeyOf,
  findLinkedCart,
  listAbandonedCarts,
  mailAbandonedCarts,
  noteRestored,
  restoreCart,
} from './service.ts'
