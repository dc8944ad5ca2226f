export { checkOut, handleWebhook, returnToOrder } from './service.ts'
