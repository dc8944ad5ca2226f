import { type QpayServerOptions, startQpayServer as start } from '../../../src/demo/stand-ins/qpay.ts'
import { watched } from './stand-in.ts'

export type { QpayServerOptions }
export type QpayServer = Awaited<ReturnType<typeof startQpayServer>>
export const startQpayServer = (options: QpayServerOptions = {}) => watched((watch) => start({ ...options, watch }))
