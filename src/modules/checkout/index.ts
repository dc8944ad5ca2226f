export { checkOut, handleWebhook, returnToOrder, takeCheckoutBack } from './service.ts'
