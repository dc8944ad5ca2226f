/** The instance's own accounts with processors, as its settings have them. */
import type { Config } from '../../config.ts'
import { modeOfHost, modeOfKey } from '../../lib/processor-keys.ts'
import type { ProcessorName } from './domain.ts'
import type { PublicAccount } from './resolver.ts'

type Mode = PublicAccount['mode']
/** What the resolver and the breakers have to know of an account: nothing secret. */
export type InstanceAccount = {
  readonly account: PublicAccount
  /** Where its API is, with the port where it has one: what breakers go by. */
  readonly host: string
  /** Whether there is a secret key besides, so that a payment can be made through it. */
  readonly canPay: boolean
}
export type InstanceAccounts = Readonly<Partial<Record<ProcessorName, InstanceAccount>>>

/** Of the common hosts of Checkout.com, the one that a key asks for. */
const checkoutUrlOf = (key: string | undefined): string =>
  modeOfKey(key ?? '') === 'TEST' ? 'https://api.sandbox.checkout.com' : 'https://api.checkout.com'

/**
 * The accounts of which a payment page could be told something.
 * @param mode of the shop that asks: a BTCPay server says nothing of what its coins are worth, and is taken for the shop's
 */
export function instanceAccountsOf(config: Config, mode: Mode): InstanceAccounts {
  const { btcpayApiUrl, paypalClientId } = config
  const accounts: InstanceAccounts = {
    ...byKeys('stripe', config.stripePublishableKey, config.stripeSecretKey, config.stripeApiUrl),
    ...byKeys('tap', config.tapPublishableKey, config.tapSecretKey, config.tapApiUrl, config.tapMerchantId),
    ...byKeys(
      'checkout',
      config.checkoutPublishableKey,
      config.checkoutSecretKey,
      config.checkoutApiUrl ?? checkoutUrlOf(config.checkoutPublishableKey ?? config.checkoutSecretKey),
    ),
    ...(config.qpayInvoiceCode === undefined
      ? {}
      : {
          qpay: {
            account: { mode: modeOfHost(config.qpayApiUrl), publishableKey: config.qpayInvoiceCode },
            host: new URL(config.qpayApiUrl).host,
            canPay: config.qpayUsername !== undefined && config.qpayPassword !== undefined,
          },
        }),
    // A button without credentials behind it would be worse than none.
    ...(paypalClientId !== undefined && config.paypalSecret !== undefined
      ? {
          paypal: {
            account: { mode: modeOfHost(config.paypalApiUrl), publishableKey: paypalClientId },
            host: new URL(config.paypalApiUrl).host,
            canPay: true,
          },
        }
      : {}),
    ...(btcpayApiUrl !== undefined && config.btcpayStoreId !== undefined && config.btcpayApiKey !== undefined
      ? { btcpay: { account: { mode, publishableKey: undefined }, host: new URL(btcpayApiUrl).host, canPay: true } }
      : {}),
  }
  return accounts
}

function byKeys(
  name: ProcessorName,
  publishableKey: string | undefined,
  secretKey: string | undefined,
  apiUrl: string,
  merchantId?: string | undefined,
): InstanceAccounts {
  const key = publishableKey ?? secretKey
  if (key === undefined) return {}
  const account = { mode: modeOfKey(key) ?? modeOfHost(apiUrl), publishableKey, merchantId }
  return { [name]: { account, host: new URL(apiUrl).host, canPay: secretKey !== undefined } }
}

/** What a payment page may be told of the instance's own accounts. */
export const publicAccountsOf = (config: Config, mode: Mode): Readonly<Partial<Record<ProcessorName, PublicAccount>>> =>
  Object.fromEntries(Object.entries(instanceAccountsOf(config, mode)).map(([name, { account }]) => [name, account]))
