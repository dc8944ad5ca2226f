export type { GiftCardDeps } from './providers.ts'
export {
  type CardIssuingDeps,
  changeGiftCard,
  disableGiftCards,
  giftCardsByIds,
  holdGiftCards,
  issueGiftCard,
  listGiftCards,
  readGiftCard,
  readGiftCardWhole,
  refundGiftCards,
  releaseGiftCards,
  tryCode,
} from './service.ts'
export { disableRefundedCards, issueSoldCards, restoreRefundedCards, type SoldCard } from './sold-cards.ts'
