/** Verifies storefront host names again, once a day. */
export { recheckHosts } from '../src/modules/shop/shop/index.ts'
