/** Accounts with payment processors: what each one is made of, and whether its money is real. Names and tables, without a client. */
import type { processorAccounts } from '../../../../db/schema/processor-accounts.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { modeOf, modeOfKey } from '../../../lib/processor-keys.ts'
import { sha256 } from '../../../lib/seal.ts'
import type { Limit } from '../../identity/auth/domain.ts'
import type { ProcessorName } from '../payment-method/domain.ts'

export type { ProcessorName }
export type AccountRow = typeof processorAccounts.$inferSelect
export type Mode = AccountRow['mode']
/** Of an account by the names of its processor's settings in camelCase: what is given by whoever has it. */
export type AccountSettings = Readonly<Record<string, string>>

/** The id of accounts that are the instance's own, from its settings. */
export const instanceId = 'instance'

/** What an account is made of. Whatever a payment page may be told is `publishable`; all else is sealed. */
type Fields = {
  readonly publishable: readonly string[]
  readonly sealed: readonly string[]
  /** Without these nothing can be paid through it. */
  readonly required: readonly string[]
  /** What tells one account from another, of those that are the same with other keys. */
  readonly identity: readonly string[]
  /** What is wrong when the processor does not know the keys, as far as that can be told. */
  readonly proof: { readonly names: string; readonly why: string }
  /** What a payment page begins with. */
  readonly pageKey?: string
  /** Its messages are signed with the secret key of the calls, and not with a secret of their own. */
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

/** Those of which a merchant says where they are: their own server, or the account's own host name. */
export const takesUrl = (processor: ProcessorName): boolean => processor === 'btcpay' || processor === 'checkout'

/** Those of which neither keys nor host say which money it is: whoever gives the account does. */
export const modeIsAsked = (processor: ProcessorName): boolean => processor === 'paypal' || processor === 'qpay' || processor === 'btcpay'

/** What the breaker of an API goes by: its host, with the port where there is one. */
export const apiHost = (apiUrl: string): string => URL.parse(apiUrl)?.host ?? ''

/** A PUT calls out, whatever comes of it. */
export const putsByShop: Limit = { name: 'processor-account:shop', most: 10, windowMs: 60 * 60 * 1000 }

/** What the sealed settings of a row are bound to. */
export const accountSeal = ({ id, shopId, processor }: { id: string; shopId: string; processor: string }): string =>
  `${shopId}/processor-account/${processor}/${id}`

/** What an account is known by when it gets other keys; null where nothing of that was given. */
export function identityOf(processor: ProcessorName, settings: AccountSettings): string | null {
  const parts = accountFields[processor].identity.map((name) => settings[name])
  return parts.some((part) => part === undefined) ? null : sha256(JSON.stringify([processor, ...parts]))
}

/**
 * Whether an account's money is real, by its keys, else by the host where they say nothing; undefined of a BTCPay server, which says nothing.
 * @param apiUrl where its API is
 */
export function modeIn(processor: ProcessorName, { secretKey, publishableKey }: AccountSettings, apiUrl: string): Mode | undefined {
  return processor === 'btcpay' ? undefined : modeOf(apiUrl, secretKey ?? publishableKey)
}

/** Whether two keys of an account say that they are of different modes. */
export const areMixed = ({ publishableKey, secretKey }: AccountSettings): boolean =>
  publishableKey !== undefined && secretKey !== undefined && modeOfKey(publishableKey) !== modeOfKey(secretKey)

/** An account as its shop is told of it: never what was given, but its names. */
export const accountView = ({ processor, mode, names, checkedAt, version }: AccountRow) => ({
  processor,
  mode,
  set: names,
  ...isoTimes({ checkedAt }),
  version,
})
export type AccountView = ReturnType<typeof accountView>

/** An account through which something may be paid. It holds no secret that can be read: `clientOf` opens what is sealed. */
export type ProcessorAccount = {
  /** What payments keep: it stays when the account gets other keys. `instance` of the instance's own. */
  readonly id: string
  /** What stands for this very set of keys. */
  readonly keysId: string
  /** Null: the instance's own. */
  readonly shopId: string | null
  readonly processor: ProcessorName
  readonly mode: Mode
  /** Where its API is, and its host, with the port if there is one: what its breaker goes by. */
  readonly apiUrl: string
  readonly host: string
  /** A merchant chose the address: it is called as everything is that somebody else chose. */
  readonly isOwnUrl: boolean
  /** What payment pages may be told, by its names. */
  readonly publishable: AccountSettings
  /** Of a shop's; the instance's are in its settings. */
  readonly sealedSettings: string | undefined
  /** Other keys took its place, or it was taken away: no new payment goes through it. */
  readonly isRetired: boolean
}
