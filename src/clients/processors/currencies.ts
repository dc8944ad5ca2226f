/** The currencies that each processor supports, from its client, without an account. */
import { btcpayCapabilities } from './btcpay/client.ts'
import { saysCurrency as checkoutSaysCurrency } from './checkout/states.ts'
import { paypalSaysCurrency } from './paypal/amounts.ts'
import { qpayCapabilities } from './qpay/client.ts'
import { stripeSaysCurrency } from './stripe/amounts.ts'
import { saysCurrency as tapSaysCurrency } from './tap/states.ts'

export const saysCurrency = {
  stripe: stripeSaysCurrency,
  tap: tapSaysCurrency,
  qpay: qpayCapabilities.supportsCurrency,
  checkout: checkoutSaysCurrency,
  paypal: paypalSaysCurrency,
  btcpay: btcpayCapabilities.supportsCurrency,
} as const
