/** Expires untouched carts and removes their personal data. */
export { expireCarts } from '../src/modules/selling/cart/index.ts'
