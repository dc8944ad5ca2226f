import { startPaypal as start } from '../../../src/demo/stand-ins/paypal.ts'
import { watched } from './stand-in.ts'

export type PaypalServer = Awaited<ReturnType<typeof startPaypal>>
export const startPaypal = (options: Parameters<typeof start>[0] = {}) => watched((watch) => start({ ...options, watch }))
