import type { processorAccounts } from '../../../../db/schema/processor-accounts.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { modeOfKey } from '../../../lib/processor-keys.ts'
import type { ProcessorName } from '../../../lib/processors.ts'
import type { Limit } from '../../identity/auth/domain.ts'

export type { ProcessorName }
export type AccountRow = typeof processorAccounts.$inferSelect
export type Mode = AccountRow['mode']
/** The settings of an account, in camelCase. */
export type AccountSettings = Readonly<Record<string, string>>

/** The id of the instance's own accounts. */
export const instanceId = 'instance'

/** Returns the host and port of an API, which identify its breaker. */
export const apiHost = (apiUrl: string): string => URL.parse(apiUrl)?.host ?? ''

/** Every PUT calls the processor. */
export const putsByShop: Limit = { name: 'processor-account:shop', most: 10, windowMs: 60 * 60 * 1000 }

/** Every connection test calls the processor; nothing is stored, so a merchant may try more often. */
export const testsByShop: Limit = { name: 'processor-account-test:shop', most: 20, windowMs: 60 * 60 * 1000 }

/** Returns the context that the sealed settings are bound to. */
export const accountSeal = ({ id, shopId, processor }: { id: string; shopId: string; processor: string }): string =>
  `${shopId}/processor-account/${processor}/${id}`

/** Returns whether two keys of an account have different modes. */
export const haveMixedModes = ({ publishableKey, secretKey }: AccountSettings): boolean =>
  publishableKey !== undefined && secretKey !== undefined && modeOfKey(publishableKey) !== modeOfKey(secretKey)

/** Renders an account as its shop sees it: the names of its fields, never the values. */
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
