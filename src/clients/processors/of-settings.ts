/** The clients of the instance's own accounts, as its settings have them. */
import type { Deps } from '../../core/deps.ts'
import { OutgoingError } from '../../core/outgoing.ts'
import { isThisMachine } from '../../lib/processor-keys.ts'
import { createBtcpay } from './btcpay.ts'
import { callTimeoutMs, type ProcessorPort } from './call.ts'
import { createCheckout } from './checkout.ts'
import type { OutsideProcessor } from './outside.ts'
import { createPaypal } from './paypal.ts'
import { ProcessorUnavailable } from './processor.ts'
import { createQpay } from './qpay.ts'
import { createStripe } from './stripe.ts'
import { createTap } from './tap.ts'

type Name = 'stripe' | 'tap' | 'qpay' | 'checkout' | 'paypal' | 'btcpay'

/**
 * A client of the instance's own account with a processor; undefined without credentials for one.
 * @param apiUrl of Checkout.com, where its setting leaves it to the keys
 */
export function clientOfSettings(
  name: Name,
  config: Deps['config'],
  checkoutApiUrl: string,
  port: ProcessorPort & { now(): number },
): OutsideProcessor | undefined {
  const { stripeSecretKey, tapSecretKey, checkoutSecretKey, qpayUsername, qpayPassword, qpayInvoiceCode } = config
  const { paypalClientId, paypalSecret, btcpayApiUrl, btcpayStoreId, btcpayApiKey } = config
  const makers: Record<Name, () => OutsideProcessor | undefined> = {
    stripe: () => when(stripeSecretKey, (secretKey) => createStripe({ secretKey, apiUrl: config.stripeApiUrl }, port)),
    tap: () => when(tapSecretKey, (secretKey) => createTap({ secretKey, apiUrl: config.tapApiUrl }, port)),
    qpay: () =>
      qpayUsername !== undefined && qpayPassword !== undefined && qpayInvoiceCode !== undefined
        ? createQpay({ username: qpayUsername, password: qpayPassword, invoiceCode: qpayInvoiceCode, apiUrl: config.qpayApiUrl }, port)
        : undefined,
    checkout: () => when(checkoutSecretKey, (secretKey) => createCheckout({ secretKey, apiUrl: checkoutApiUrl }, port)),
    paypal: () =>
      paypalClientId !== undefined && paypalSecret !== undefined
        ? createPaypal({ clientId: paypalClientId, secret: paypalSecret, apiUrl: config.paypalApiUrl }, port)
        : undefined,
    btcpay: () =>
      btcpayApiUrl !== undefined && btcpayStoreId !== undefined && btcpayApiKey !== undefined
        ? createBtcpay({ apiUrl: btcpayApiUrl, storeId: btcpayStoreId, apiKey: btcpayApiKey, mode: 'LIVE' }, port)
        : undefined,
  }
  return makers[name]()
}

const when = <T>(key: string | undefined, make: (key: string) => T): T | undefined => (key === undefined ? undefined : make(key))

/**
 * Whether anybody answers at a host of which we have no account: whatever is said below 500 is an answer.
 * @throws ProcessorUnavailable
 */
export async function reach(host: string, { fetch, trusted, timeoutMs = callTimeoutMs }: ProcessorPort): Promise<void> {
  const scheme = isThisMachine(host.replace(/:\d+$/, '')) ? 'http' : 'https'
  const status = await fetch(`${scheme}://${host}/`, { timeoutMs, bytesMax: 100_000, trusted }).then(
    (answer) => answer.status,
    // Where it would send us, or how much it has to say, is no matter.
    (error: unknown) => (error instanceof OutgoingError ? error.status : undefined),
  )
  if (status === undefined || status >= 500) throw new ProcessorUnavailable(`the host answered ${status ?? 'nothing'}`)
}
