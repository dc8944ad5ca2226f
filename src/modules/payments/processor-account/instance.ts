/** The instance's own accounts and the URLs of APIs, from the settings. */
import type { Config } from '../../../config.ts'
import { withoutUndefined } from '../../../lib/objects.ts'
import { modeOfHost, modeOfKey } from '../../../lib/processor-keys.ts'
import { type ProcessorName, processorNames } from '../payment-method/domain.ts'
import { type AccountSettings, accountFields, apiHost, instanceId, type Mode, modeIn, type ProcessorAccount } from './domain.ts'

/** Processors with separate hosts for test and live. */
const hostsByMode = {
  qpay: { TEST: 'https://merchant-sandbox.qpay.mn/v2', LIVE: 'https://merchant.qpay.mn/v2' },
  checkout: { TEST: 'https://api.sandbox.checkout.com', LIVE: 'https://api.checkout.com' },
  paypal: { TEST: 'https://api-m.sandbox.paypal.com', LIVE: 'https://api-m.paypal.com' },
} as const

/** Without a setting, the Checkout.com host that fits the keys. */
const checkoutUrlIn = ({ checkoutApiUrl, checkoutPublishableKey, checkoutSecretKey }: Config): string =>
  checkoutApiUrl ?? hostsByMode.checkout[modeOfKey(checkoutPublishableKey ?? checkoutSecretKey ?? '') ?? 'LIVE']

/** Returns an account's settings, complete or not; undefined if it is not configured. */
export function settingsIn(
  config: Config,
  processor: ProcessorName,
): { readonly settings: AccountSettings; readonly apiUrl: string } | undefined {
  const { settings, apiUrl } = all[processor](config)
  const given: AccountSettings = withoutUndefined(settings) as AccountSettings
  return Object.keys(given).length === 0 || apiUrl === undefined ? undefined : { settings: given, apiUrl }
}

type Told = { readonly settings: Readonly<Record<string, string | undefined>>; readonly apiUrl: string | undefined }

const all: Readonly<Record<ProcessorName, (config: Config) => Told>> = {
  stripe: ({
    stripePublishableKey: publishableKey,
    stripeSecretKey: secretKey,
    stripeWebhookSecret: webhookSecret,
    stripeApiUrl: apiUrl,
  }) => ({
    settings: { publishableKey, secretKey, webhookSecret },
    apiUrl,
  }),
  tap: ({ tapPublishableKey: publishableKey, tapSecretKey: secretKey, tapMerchantId: merchantId, tapApiUrl: apiUrl }) => ({
    settings: { publishableKey, secretKey, merchantId },
    apiUrl,
  }),
  qpay: ({ qpayUsername: username, qpayPassword: password, qpayInvoiceCode: invoiceCode, qpayApiUrl: apiUrl }) => ({
    settings: { username, password, invoiceCode },
    apiUrl,
  }),
  checkout: (config) => ({
    settings: {
      publishableKey: config.checkoutPublishableKey,
      secretKey: config.checkoutSecretKey,
      webhookSecret: config.checkoutWebhookSecret,
      channelId: config.checkoutChannelId,
    },
    apiUrl: checkoutUrlIn(config),
  }),
  paypal: ({ paypalClientId: clientId, paypalSecret: secret, paypalWebhookId: webhookId, paypalApiUrl: apiUrl }) => ({
    settings: { clientId, secret, webhookId },
    apiUrl,
  }),
  btcpay: ({ btcpayStoreId: storeId, btcpayApiKey: apiKey, btcpayWebhookSecret: webhookSecret, btcpayApiUrl: apiUrl }) => ({
    settings: { storeId, apiKey, webhookSecret },
    apiUrl,
  }),
}

/** Whether these settings, with `apiUrl`, can take payments. */
export const isComplete = (processor: ProcessorName, settings: AccountSettings): boolean =>
  accountFields[processor].required.every((name) => name === 'apiUrl' || settings[name] !== undefined)

/** Returns the missing settings of a configured account; none if it is complete or not configured. */
export function missingIn(config: Config, processor: ProcessorName): string[] {
  const { settings } = all[processor](config)
  const isNamed = Object.values(settings).some((value) => value !== undefined)
  const known = { ...settings, apiUrl: all[processor](config).apiUrl }
  return isNamed ? accountFields[processor].required.filter((name) => known[name as keyof typeof known] === undefined) : []
}

/** Returns the instance's account if it is complete and of this mode. A BTCPay server has no mode and fits any. */
export function instanceAccount(config: Config, processor: ProcessorName, mode: Mode): ProcessorAccount | undefined {
  const known = settingsIn(config, processor)
  if (!known || !isComplete(processor, known.settings)) return undefined
  const { settings, apiUrl } = known
  if ((modeIn(processor, settings, apiUrl) ?? mode) !== mode) return undefined
  return {
    id: instanceId,
    keysId: instanceId,
    shopId: null,
    processor,
    mode,
    apiUrl,
    host: apiHost(apiUrl),
    isOwnUrl: false,
    publishable: publishableOf(processor, settings),
    sealedSettings: undefined,
    isRetired: false,
  }
}

/** Returns the settings that payment pages may see. */
export const publishableOf = (processor: ProcessorName, settings: AccountSettings): AccountSettings =>
  Object.fromEntries(accountFields[processor].publishable.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]])))

/**
 * Returns the API URL for accounts of shops: the setting's, if its mode fits or only the keys decide the mode.
 * Undefined for BTCPay: the merchant gives it.
 */
export function apiUrlFor(config: Config, processor: ProcessorName, mode: Mode): string | undefined {
  if (processor === 'btcpay') return undefined
  if (processor === 'stripe') return config.stripeApiUrl
  if (processor === 'tap') return config.tapApiUrl
  const set = { qpay: config.qpayApiUrl, paypal: config.paypalApiUrl, checkout: config.checkoutApiUrl }[processor]
  // A host of Checkout.com contains the prefix of the instance's own account.
  if (processor === 'checkout' && /(^|\.)checkout\.com$/.test(URL.parse(set ?? '')?.hostname ?? '')) return hostsByMode.checkout[mode]
  return set !== undefined && modeOfHost(set) === mode ? set : hostsByMode[processor][mode]
}

/** The API hosts and ports of the instance's accounts, for their breakers. */
export const hostsIn = (config: Config): Readonly<Partial<Record<ProcessorName, string>>> =>
  Object.fromEntries(
    processorNames.flatMap((processor) => {
      const { apiUrl } = all[processor](config)
      return apiUrl === undefined ? [] : [[processor, apiHost(apiUrl)]]
    }),
  )
