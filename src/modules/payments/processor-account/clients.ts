/** The clients of accounts that are in use: one for each set of keys, so that whoever uses an account shares its access token. */
import type { Processor } from '../../../clients/processors/processor.ts'
import type { Config } from '../../../config.ts'
import type { Keyring } from '../../../core/keyring.ts'
import type { ProcessorName } from '../payment-method/domain.ts'
import { type AccountSettings, accountFields, accountSeal, type Mode, type ProcessorAccount } from './domain.ts'
import { settingsIn } from './instance.ts'

/** All that it takes to call a processor. */
export type Opened = {
  readonly processor: ProcessorName
  readonly mode: Mode
  readonly settings: AccountSettings
  readonly apiUrl: string
  /** The operator chose the address. */
  readonly trusted: boolean
  /** Keys that messages may still be signed with, where those are what calls are made with. */
  readonly formerSecretKeys?: readonly string[]
  /** Of one call; by default as long as a call may take. */
  readonly timeoutMs?: number
}
/** Makes a client that nobody else has. */
export type OpenClient = (opened: Opened) => Processor

export type Clients = {
  /** The same client every time, for as long as it is remembered. */
  of(account: ProcessorAccount): Processor
  /**
   * The client that reads what one set of keys of an account has signed.
   * @param newest what calls are made with: where the key of calls signs the messages as well, its processor takes an old one no more
   */
  hearing(account: ProcessorAccount, newest: ProcessorAccount): Processor
  /** One that nobody else has, of which each call may take so long. */
  anew(account: ProcessorAccount, timeoutMs: number): Processor
  readonly open: OpenClient
}

/** Sets of keys of which the client is remembered: of one that is forgotten the next use costs a token more. */
const keptMax = 1_000

export function createClients({ config, keyring }: { config: Config; keyring: Pick<Keyring, 'unseal'> }, open: OpenClient): Clients {
  /** The one that was used last comes last. */
  const kept = new Map<string, Processor>()

  function settingsOf({ keysId: id, shopId, processor, sealedSettings, publishable }: ProcessorAccount): AccountSettings {
    if (shopId === null || sealedSettings === undefined) return settingsIn(config, processor)?.settings ?? {}
    return { ...publishable, ...JSON.parse(keyring.unseal(sealedSettings, accountSeal({ id, shopId, processor }))) }
  }

  const opened = (account: ProcessorAccount): Opened => {
    const { processor, mode, apiUrl, isOwnUrl } = account
    return { processor, mode, settings: settingsOf(account), apiUrl, trusted: !isOwnUrl }
  }

  const clients: Clients = {
    open,
    hearing(account, newest) {
      const { secretKey } = accountFields[account.processor].callsSign && account.keysId !== newest.keysId ? settingsOf(account) : {}
      return secretKey === undefined ? clients.of(account) : open({ ...opened(newest), formerSecretKeys: [secretKey] })
    },
    anew: (account, timeoutMs) => open({ ...opened(account), timeoutMs }),
    of(account) {
      const { keysId, processor, mode } = account
      const key = `${keysId} ${processor} ${mode}`
      const client = kept.get(key) ?? open(opened(account))
      kept.delete(key)
      kept.set(key, client)
      const [oldest] = kept.keys()
      if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest)
      return client
    },
  }
  return clients
}
