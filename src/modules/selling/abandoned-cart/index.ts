export { openUnsubscribePage, unsubscribe } from './consent.ts'
export {
  type AbandonedCartDeps,
  exportKeyOf,
  findLinkedCart,
  listAbandonedCarts,
  mailAbandonedCarts,
  noteRestored,
  pieceOfAbandonedCarts,
  restoreCart,
} from './service.ts'
