import type { ProcessorName } from '../../lib/processors.ts'
import { btcpay } from './btcpay/index.ts'
import { checkout } from './checkout/index.ts'
import type { ProcessorDefinition } from './definition.ts'
import { paypal } from './paypal/index.ts'
import { qpay } from './qpay/index.ts'
import { stripe } from './stripe/index.ts'
import { tap } from './tap/index.ts'

/** Every processor, with its settings. */
export const definitions = { stripe, tap, qpay, checkout, paypal, btcpay } as const satisfies Record<ProcessorName, ProcessorDefinition>
export const processors: Readonly<Record<ProcessorName, ProcessorDefinition>> = definitions
export type { GooglePay } from './definition.ts'
