export { type CheckoutAnswer, cancelCheckout, checkOut, checkOutAs, returnFromProcessor } from './service.ts'
