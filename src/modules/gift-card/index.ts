export type { GiftCardDeps } from './parts.ts'
export {
  type CardIssuingDeps,
  changeGiftCard,
  giftCardsByIds,
  holdGiftCards,
  issueGiftCard,
  listGiftCards,
  refundGiftCards,
  releaseGiftCards,
  tryCode,
} from './service.ts'
