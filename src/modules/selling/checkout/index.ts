export { type CheckoutAnswer, cancelCheckout, checkOut, returnFromProcessor } from './service.ts'
