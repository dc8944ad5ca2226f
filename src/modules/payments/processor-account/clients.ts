/** The clients of accounts: one for each set of keys, so that all users share its access token. */
import { processors } from '../../../clients/processors/index.ts'
import type { Processor } from '../../../clients/processors/processor.ts'
import type { Config } from '../../../config.ts'
import type { Keyring } from '../../../core/keyring.ts'
import type { ProcessorName } from '../payment-method/domain.ts'
import { type AccountSettings, accountSeal, type Mode, type ProcessorAccount } from './domain.ts'
import { settingsIn } from './instance.ts'

/** All that a call to a processor needs. */
type Opened = {
  readonly processor: ProcessorName
  readonly mode: Mode
  readonly settings: AccountSettings
  readonly apiUrl: string
  /** The operator chose the URL. */
  readonly trusted: boolean
  /** Replaced keys that may still sign messages, where the call key signs them. */
  readonly formerSecretKeys?: readonly string[]
  /** Of one call; default: the longest that a call may take. */
  readonly timeoutMs?: number
}
/** Creates a new client. */
export type OpenClient = (opened: Opened) => Processor

type Clients = {
  /** Returns the same client every time, while it is cached. */
  of(account: ProcessorAccount): Processor
  /**
   * Returns the client that verifies messages signed with one set of keys.
   * @param newest the keys of calls: where the call key also signs messages, the processor no longer accepts an old
   *   one
   */
  verifierOf(account: ProcessorAccount, newest: ProcessorAccount): Processor
  /** Creates a client of its own with this timeout for each call. */
  openWithTimeout(account: ProcessorAccount, timeoutMs: number): Processor
  readonly open: OpenClient
}

/** Clients to cache. A dropped one costs another token. */
const keptMax = 1_000

/** Creates the clients of a process. Each opens its keys and calls nothing before its first use. */
export function createClients({ config, keyring }: { config: Config; keyring: Pick<Keyring, 'unseal'> }, open: OpenClient): Clients {
  /** The last used one comes last. */
  const cached = new Map<string, Processor>()

  function settingsOf({ keysId: id, shopId, processor, sealedSettings, publishable }: ProcessorAccount): AccountSettings {
    if (shopId === null || sealedSettings === undefined) return settingsIn(config, processor)?.settings ?? {}
    return { ...publishable, ...JSON.parse(keyring.unseal(sealedSettings, accountSeal({ id, shopId, processor }))) }
  }

  const openedAccount = (account: ProcessorAccount): Opened => {
    const { processor, mode, apiUrl, isOwnUrl } = account
    return { processor, mode, settings: settingsOf(account), apiUrl, trusted: !isOwnUrl }
  }

  const clients: Clients = {
    open,
    verifierOf(account, newest) {
      const { secretKey } = processors[account.processor].callsSign && account.keysId !== newest.keysId ? settingsOf(account) : {}
      return secretKey === undefined ? clients.of(account) : open({ ...openedAccount(newest), formerSecretKeys: [secretKey] })
    },
    openWithTimeout: (account, timeoutMs) => open({ ...openedAccount(account), timeoutMs }),
    of(account) {
      const { keysId, processor, mode } = account
      const key = `${keysId} ${processor} ${mode}`
      const client = cached.get(key) ?? open(openedAccount(account))
      cached.delete(key)
      cached.set(key, client)
      const [oldest] = cached.keys()
      if (cached.size > keptMax && oldest !== undefined) cached.delete(oldest)
      return client
    },
  }
  return clients
}
