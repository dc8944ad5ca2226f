/** Looks again, once a day, whether the host names of storefronts are still their shops'. */
export { recheckHosts } from '../src/modules/shop/shop/index.ts'
