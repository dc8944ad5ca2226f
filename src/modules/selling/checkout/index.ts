export { checkOut, returnToOrder, takeCheckoutBack } from './service.ts'
