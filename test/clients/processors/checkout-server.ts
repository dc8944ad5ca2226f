import { startCheckoutServer as start } from '../../../src/demo/stand-ins/checkout.ts'
import { watched } from './stand-in.ts'

export { checkoutKeys, checkoutMessage } from '../../../src/demo/stand-ins/checkout.ts'
export const startCheckoutServer = (options: Parameters<typeof start>[0] = {}) => watched((watch) => start({ ...options, watch }))
