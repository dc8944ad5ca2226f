/** The instance's own accounts with processors, as its settings have them. */
import type { Config } from '../../config.ts'
import { modeOf, modeOfHost, modeOfKey } from '../../lib/processor-keys.ts'
import { type ProcessorName, processorNames, type ShopMethods } from './domain.ts'
import type { PublicAccount } from './resolver.ts'

type Mode = PublicAccount['mode']
/** What has to be known of an account: nothing secret. */
export type InstanceAccount = {
  readonly account: PublicAccount
  /** Whether there is a secret key besides, so that a payment can be made through it. */
  readonly canPay: boolean
}
export type InstanceAccounts = Readonly<Partial<Record<ProcessorName, InstanceAccount>>>

/** Without a setting, of the common hosts of Checkout.com the one that the keys ask for. */
export const checkoutUrlIn = ({ checkoutApiUrl, checkoutPublishableKey, checkoutSecretKey }: Config): string =>
  checkoutApiUrl ??
  (modeOfKey(checkoutPublishableKey ?? checkoutSecretKey ?? '') === 'TEST'
    ? 'https://api.sandbox.checkout.com'
    : 'https://api.checkout.com')

/** Where the processors' APIs are for the instance's own accounts, with the port where there is one: what their breakers go by. */
export const hostsIn = (config: Config): Readonly<Partial<Record<ProcessorName, string>>> => ({
  stripe: new URL(config.stripeApiUrl).host,
  tap: new URL(config.tapApiUrl).host,
  qpay: new URL(config.qpayApiUrl).host,
  checkout: new URL(checkoutUrlIn(config)).host,
  paypal: new URL(config.paypalApiUrl).host,
  ...(config.btcpayApiUrl === undefined ? {} : { btcpay: new URL(config.btcpayApiUrl).host }),
})

/**
 * The accounts of which a payment page could be told something.
 * @param mode of the shop that asks: a BTCPay server says nothing of what its coins are worth, and is taken for the shop's
 */
export function instanceAccountsOf(config: Config, mode: Mode): InstanceAccounts {
  const { btcpayApiUrl, paypalClientId } = config
  const accounts: InstanceAccounts = {
    ...byKeys('stripe', config.stripePublishableKey, config.stripeSecretKey, config.stripeApiUrl),
    ...byKeys('tap', config.tapPublishableKey, config.tapSecretKey, config.tapApiUrl, config.tapMerchantId),
    ...byKeys('checkout', config.checkoutPublishableKey, config.checkoutSecretKey, checkoutUrlIn(config)),
    ...(config.qpayInvoiceCode === undefined
      ? {}
      : {
          qpay: {
            account: { mode: modeOfHost(config.qpayApiUrl), publishableKey: config.qpayInvoiceCode },
            canPay: config.qpayUsername !== undefined && config.qpayPassword !== undefined,
          },
        }),
    // A button without credentials behind it would be worse than none.
    ...(paypalClientId !== undefined && config.paypalSecret !== undefined
      ? {
          paypal: {
            account: { mode: modeOfHost(config.paypalApiUrl), publishableKey: paypalClientId },
            canPay: true,
          },
        }
      : {}),
    ...(btcpayApiUrl !== undefined && config.btcpayStoreId !== undefined && config.btcpayApiKey !== undefined
      ? { btcpay: { account: { mode, publishableKey: undefined }, canPay: true } }
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
  const account = { mode: modeOf(apiUrl, key), publishableKey, merchantId }
  return { [name]: { account, canPay: secretKey !== undefined } }
}

/** What a payment page may be told of the instance's own accounts. */
export const publicAccountsOf = (config: Config, mode: Mode): Readonly<Partial<Record<ProcessorName, PublicAccount>>> =>
  Object.fromEntries(Object.entries(instanceAccountsOf(config, mode)).map(([name, { account }]) => [name, account]))

/**
 * What a shop's payment page may be told of: the instance's own accounts, and the card processor for which the shop has a key of its own.
 * Of that one the key says whether it is of test money; where it does not, it is of the account behind it, or else the shop's.
 */
export function accountsFor(
  { mode, methods: { card } }: { readonly mode: Mode; readonly methods: ShopMethods },
  instance: InstanceAccounts,
): Readonly<Partial<Record<ProcessorName, PublicAccount>>> {
  const accounts = Object.fromEntries(Object.entries(instance).map(([name, { account }]) => [name, account]))
  if (card?.processor === undefined || card.publishableKey === undefined) return accounts
  const { processor, publishableKey } = card
  const behind = instance[processor]?.account
  const own = { mode: modeOfKey(publishableKey) ?? behind?.mode ?? mode, publishableKey, merchantId: behind?.merchantId }
  return { ...accounts, [processor]: own }
}

/** The processors through which the shop's payments can be made: with a secret key behind what the page begins with. */
export function payableFor(
  { mode, methods: { card, paypal } }: { readonly mode: Mode; readonly methods: ShopMethods },
  instance: InstanceAccounts,
): ReadonlySet<ProcessorName> {
  const own = { ...(card?.processor ? { [card.processor]: card.publishableKey } : {}), paypal: paypal?.clientId }
  const isPayable = (name: ProcessorName) => {
    const behind = instance[name]
    const key = own[name as keyof typeof own]
    return behind?.canPay === true && behind.account.mode === mode && (key === undefined || key === behind.account.publishableKey)
  }
  return new Set(processorNames.filter(isPayable))
}
