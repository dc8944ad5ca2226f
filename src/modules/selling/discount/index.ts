export { offerOfCode, offersOfCart, offersWith, tryDiscountCode } from './offers.ts'
export type { DiscountDeps } from './providers.ts'
export { discountCustomerOf, giveBackDiscounts, takeDiscounts } from './redemption.ts'
export {
  changeDiscount,
  createDiscount,
  disableDiscounts,
  forgetDiscounts,
  listDiscounts,
  type NewDiscount,
  readDiscount,
  removeDiscount,
} from './service.ts'
