export type { GiftCardDeps } from './parts.ts'
export {
  type CardIssuingDeps,
  changeGiftCard,
  giftCardsByIds,
  holdGiftCards,
  issueGiftCard,
  listGiftCards,
  readGiftCard,
  refundGiftCards,
  releaseGiftCards,
  tryCode,
} from './service.ts'
