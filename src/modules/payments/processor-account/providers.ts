import { type BtcpayAccount, createBtcpay } from '../../../clients/processors/btcpay/client.ts'
import { type CheckoutAccount, createCheckout } from '../../../clients/processors/checkout/client.ts'
import { createPaypal, type PaypalAccount } from '../../../clients/processors/paypal/client.ts'
import type { Processor } from '../../../clients/processors/processor.ts'
import { createQpay, type QpayAccount } from '../../../clients/processors/qpay/client.ts'
import { createStripe, type StripeAccount } from '../../../clients/processors/stripe/client.ts'
import { createTap, type TapAccount } from '../../../clients/processors/tap/client.ts'
import type { Deps } from '../../../core/deps.ts'
import type { AuthDeps } from '../../identity/auth/index.ts'
import type { ShopDeps } from '../../shop/shop/index.ts'
import { createClients, type OpenClient } from './clients.ts'
import type { ProcessorName } from './domain.ts'
import { createProcessorAccountStore } from './store.ts'

type Port = Parameters<typeof createStripe>[1]
/** Accounts were checked when saved or read, so they have the fields of their client. */
type Fields = StripeAccount & TapAccount & QpayAccount & CheckoutAccount & PaypalAccount & BtcpayAccount

const makers: Readonly<Record<ProcessorName, (account: Fields, port: Port) => Processor>> = {
  stripe: createStripe,
  tap: createTap,
  qpay: createQpay,
  checkout: createCheckout,
  paypal: createPaypal,
  btcpay: createBtcpay,
}

export function processorAccountProviders({ db, config, keyring, clock, safeFetch }: Deps) {
  const open: OpenClient = ({ processor, mode, settings, apiUrl, trusted, timeoutMs, formerSecretKeys }) =>
    makers[processor]({ ...settings, apiUrl, mode, formerSecretKeys } as Fields, {
      fetch: safeFetch,
      now: clock.now,
      trusted,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
  return {
    processorAccountStore: createProcessorAccountStore(db),
    processorClients: createClients({ config, keyring }, open),
  }
}
export type ProcessorAccountDeps = AuthDeps & ShopDeps & ReturnType<typeof processorAccountProviders>
