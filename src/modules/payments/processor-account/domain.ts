/** The fields and modes of processor accounts. Names and tables, without clients. */
import type { processorAccounts } from '../../../../db/schema/processor-accounts.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { modeOf, modeOfKey } from '../../../lib/processor-keys.ts'
import { sha256 } from '../../../lib/seal.ts'
import type { Limit } from '../../identity/auth/domain.ts'
import type { ProcessorName } from '../payment-method/domain.ts'

export type { ProcessorName }
export type AccountRow = typeof processorAccounts.$inferSelect
export type Mode = AccountRow['mode']
/** The settings of an account, in camelCase. */
export type AccountSettings = Readonly<Record<string, string>>

/** The id of the instance's own accounts. */
export const instanceId = 'instance'

/** The fields of an account. Payment pages may see `publishable` ones; all others are sealed. */
type Fields = {
  readonly publishable: readonly string[]
  readonly sealed: readonly string[]
  /** Required to take payments. */
  readonly required: readonly string[]
  /** Fields that identify the account when its other keys change. */
  readonly identity: readonly string[]
  /** The error when the processor does not know the keys, as far as it can tell. */
  readonly proof: { readonly names: string; readonly why: string }
  /** The field that a payment page starts with. */
  readonly pageKey?: string
  /** The secret key of calls also signs its messages. */
  readonly callsSign?: true
}

export const accountFields: Readonly<Record<ProcessorName, Fields>> = {
  stripe: {
    publishable: ['publishableKey'],
    sealed: ['secretKey', 'webhookSecret'],
    required: ['secretKey'],
    identity: ['publishableKey'],
    proof: { names: 'secretKey', why: 'Stripe does not know this key, or does not let it read the balance' },
    pageKey: 'publishableKey',
  },
  tap: {
    publishable: ['publishableKey', 'merchantId'],
    sealed: ['secretKey'],
    required: ['secretKey'],
    identity: ['publishableKey'],
    proof: { names: 'secretKey', why: 'Tap does not know this key' },
    pageKey: 'publishableKey',
    callsSign: true,
  },
  qpay: {
    publishable: ['invoiceCode'],
    sealed: ['username', 'password'],
    required: ['username', 'password', 'invoiceCode'],
    identity: ['username', 'invoiceCode'],
    proof: { names: 'username, password', why: 'QPay does not know these' },
    pageKey: 'invoiceCode',
  },
  checkout: {
    publishable: ['publishableKey'],
    sealed: ['secretKey', 'webhookSecret', 'channelId'],
    required: ['secretKey'],
    identity: ['publishableKey'],
    proof: { names: 'secretKey', why: 'Checkout.com does not know this key at this address, or does not let it read payments' },
    pageKey: 'publishableKey',
  },
  paypal: {
    publishable: ['clientId'],
    sealed: ['secret', 'webhookId'],
    required: ['clientId', 'secret'],
    identity: ['clientId'],
    proof: { names: 'clientId, secret', why: 'PayPal does not know these in this mode' },
    pageKey: 'clientId',
  },
  btcpay: {
    publishable: [],
    sealed: ['storeId', 'apiKey', 'webhookSecret'],
    required: ['storeId', 'apiKey', 'apiUrl'],
    identity: ['apiUrl', 'storeId'],
    proof: { names: 'storeId, apiKey', why: 'the server does not know this store, or does not let this key see its invoices' },
  },
}

/** Whether a merchant gives the URL: of their own server, or the account's own host. */
export const takesUrl = (processor: ProcessorName): boolean => processor === 'btcpay' || processor === 'checkout'

/** Whether the mode must be given, because neither keys nor host show it. */
export const modeIsAsked = (processor: ProcessorName): boolean => processor === 'paypal' || processor === 'qpay' || processor === 'btcpay'

/** The host and port of an API, which identify its breaker. */
export const apiHost = (apiUrl: string): string => URL.parse(apiUrl)?.host ?? ''

/** Every PUT calls the processor. */
export const putsByShop: Limit = { name: 'processor-account:shop', most: 10, windowMs: 60 * 60 * 1000 }

/** The context that the sealed settings are bound to. */
export const accountSeal = ({ id, shopId, processor }: { id: string; shopId: string; processor: string }): string =>
  `${shopId}/processor-account/${processor}/${id}`

/** Returns the identity of an account across changes of its keys; null if none of its fields is given. */
export function identityOf(processor: ProcessorName, settings: AccountSettings): string | null {
  const parts = accountFields[processor].identity.map((name) => settings[name])
  return parts.some((part) => part === undefined) ? null : sha256(JSON.stringify([processor, ...parts]))
}

/**
 * Returns the mode of an account by its keys, else by its host; undefined for BTCPay, which has none.
 * @param apiUrl the URL of its API
 */
export function modeIn(processor: ProcessorName, { secretKey, publishableKey }: AccountSettings, apiUrl: string): Mode | undefined {
  return processor === 'btcpay' ? undefined : modeOf(apiUrl, secretKey ?? publishableKey)
}

/** Whether two keys of an account have different modes. */
export const areMixed = ({ publishableKey, secretKey }: AccountSettings): boolean =>
  publishableKey !== undefined && secretKey !== undefined && modeOfKey(publishableKey) !== modeOfKey(secretKey)

/** An account as its shop sees it: the names of its fields, never the values. */
export const accountView = ({ processor, mode, names, checkedAt, version }: AccountRow) => ({
  processor,
  mode,
  set: names,
  ...isoTimes({ checkedAt }),
  version,
})
export type AccountView = ReturnType<typeof accountView>

/** An account that can take payments. Its secrets stay sealed until `clientOf`. */
export type ProcessorAccount = {
  /** The id that payments store. It stays when the keys change; `instance` for the instance's own. */
  readonly id: string
  /** The id of this set of keys. */
  readonly keysId: string
  /** Null: the instance's own. */
  readonly shopId: string | null
  readonly processor: ProcessorName
  readonly mode: Mode
  /** The URL of its API, and its host and port for the breaker. */
  readonly apiUrl: string
  readonly host: string
  /** A merchant chose the URL: it is called through the guarded fetch. */
  readonly isOwnUrl: boolean
  /** The fields that payment pages may see. */
  readonly publishable: AccountSettings
  /** Of a shop's account; the instance's secrets are in its settings. */
  readonly sealedSettings: string | undefined
  /** Replaced or removed: it takes no new payments. */
  readonly isRetired: boolean
}
