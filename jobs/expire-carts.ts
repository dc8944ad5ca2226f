/** Ends the carts that nobody touched for their time, and clears what they know of a person. */
export { expireCarts } from '../src/modules/selling/cart/index.ts'
