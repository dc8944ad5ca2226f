import { type BtcpayServerOptions, startBtcpayServer as start } from '../../../src/demo/stand-ins/btcpay.ts'
import { watched } from './stand-in.ts'

export { signed } from '../../../src/demo/stand-ins/btcpay.ts'
export type { BtcpayServerOptions }
export type BtcpayServer = Awaited<ReturnType<typeof startBtcpayServer>>
export const startBtcpayServer = (options: BtcpayServerOptions = {}) => watched((watch) => start({ ...options, watch }))
