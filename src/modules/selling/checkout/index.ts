export { cancelCheckout, checkOut, returnFromProcessor } from './service.ts'
