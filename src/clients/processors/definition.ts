import type { Setting, SettingReader } from '../../settings/kinds.ts'
import type { ProcessorPort } from './call.ts'
import type { Processor } from './processor.ts'

type Mode = Processor['mode']

/** A field of an account in the API. All but public ones are sealed. */
type AccountField = {
  /** Payment pages may see it. */
  readonly isPublic?: true
  /** It may contain spaces and characters beyond ASCII. */
  readonly isText?: true
  readonly description: string
}

/** The parameters of Google Pay's button. */
export type GooglePay =
  | { readonly gateway: string; readonly gatewayMerchantId: string }
  | { readonly gateway: string; readonly parameters: Readonly<Record<string, string>> }

/**
 * How a merchant gets an account's fields, for the payments page. Places are the labels of the processor's dashboard,
 * from menu to page.
 */
type AccountSetup = {
  /** The dashboard's page with the keys; absent where merchants run the server. */
  readonly dashboard?: Readonly<Record<Mode, string>>
  /** Where the keys are; empty: the processor sends them. */
  readonly keys: readonly string[]
  /** Where the webhook is entered, and its events; absent: each request names the URL. */
  readonly webhook?: { readonly at: readonly string[]; readonly events: readonly string[] }
  /** The rights of a restricted key; absent: keys have no rights. */
  readonly rights?: readonly string[]
}

/** All that souk knows of a processor without an account. */
export type ProcessorDefinition = {
  readonly fields: Readonly<Record<string, AccountField>>
  readonly setup: AccountSetup
  /** Fields required to take payments. With `apiUrl` among them, merchants run the server themselves. */
  readonly required: readonly string[]
  /** Fields that identify the account when its other keys change. */
  readonly identity: readonly string[]
  /** The error when the processor does not know the keys, as far as it can tell. */
  readonly proof: { readonly names: string; readonly why: string }
  /** The field that a payment page starts with. */
  readonly pageKey?: string
  /** The secret key of calls also signs its messages. */
  readonly callsSign?: true
  /** It signs no messages: the URL of each payment's messages is a secret. */
  readonly signsNothing?: true
  /** Whether the mode must be given, because neither keys nor host show it. */
  readonly modeIsAsked?: true
  /** The APIs for test and real money, if they differ. */
  readonly hosts?: Readonly<Record<Mode, string>>
  /** Hosts that contain a prefix of the instance's own account, which other accounts cannot use. */
  readonly ownHost?: RegExp
  /** The settings of the instance's account. Their fields are the processor's name and the account's field. */
  readonly settings: Readonly<Record<string, Setting<string, string | undefined, SettingReader>>>
  supportsCurrency(currency: string): boolean
  googlePay?(key: string, account: { readonly merchantId?: string | undefined }): GooglePay | undefined
  /** @param account its fields were checked when it was saved or read */
  create(account: Readonly<Record<string, unknown>>, port: ProcessorPort & { now(): number }): Processor
}
