/** Queues the mails about abandoned carts. */
export { mailAbandonedCarts } from '../src/modules/selling/abandoned-cart/index.ts'
