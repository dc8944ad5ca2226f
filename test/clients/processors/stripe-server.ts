import { startStripe as start } from '../../../src/demo/stand-ins/stripe.ts'
import { watched } from './stand-in.ts'

export { signature } from '../../../src/demo/stand-ins/stripe-rules.ts'
export type StripeServer = Awaited<ReturnType<typeof startStripe>>
export const startStripe = (options: Parameters<typeof start>[0] = {}) => watched((watch) => start({ ...options, watch }))

const zeroDecimals = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ')

/** Converts an amount in Stripe's units to thousandths of a major unit. Tests compare clients with it. */
export const thousandthsOf = (units: number, currency: string): number =>
  units * (zeroDecimals.includes(currency) ? 1000 : ['bhd', 'jod', 'kwd', 'omr', 'tnd'].includes(currency) ? 1 : 10)
