/** Selects the account of a payment and its client. */
import type { Reader } from '../../../../db/engine.ts'
import type { Processor } from '../../../clients/processors/processor.ts'
import type { Config } from '../../../config.ts'
import { dayMs } from '../../../lib/day.ts'
import { type ProcessorName, processorNames } from '../payment-method/domain.ts'
import { type AccountRow, apiHost, instanceId, type Mode, type ProcessorAccount } from './domain.ts'
import { apiUrlFor, instanceAccount } from './instance.ts'
import type { ProcessorAccountDeps } from './providers.ts'

type Needed = Pick<ProcessorAccountDeps, 'processorAccountStore' | 'config'>

/** Returns a row as payments use it. */
function accountOf(config: Config, row: AccountRow): ProcessorAccount {
  const { id: keysId, accountId: id, shopId, processor, mode, publishable, sealedSettings, retiredAt } = row
  const apiUrl = row.apiUrl ?? apiUrlFor(config, processor, mode)
  if (apiUrl === undefined) throw new Error('an account without the URL of its API')
  const url = { apiUrl, host: apiHost(apiUrl), isOwnUrl: row.apiUrl !== null }
  return { id, keysId, shopId, processor, mode, ...url, publishable, sealedSettings, isRetired: retiredAt !== null }
}

/**
 * Returns the account for a new payment of a shop: the shop's own in this mode, otherwise the instance's, if it is of
 * this mode. Undefined if there is none. A payment stores its `id`, `processor` and `mode`.
 */
export async function accountFor(
  { processorAccountStore: store, config }: Needed,
  { shopId, mode, processor }: { readonly shopId: string; readonly mode: Mode; readonly processor: ProcessorName },
): Promise<ProcessorAccount | undefined> {
  const row = await store.findLive({ shopId, mode, processor })
  return row ? accountOf(config, row) : instanceAccount(config, processor, mode)
}

/**
 * Returns the account that took a payment, even if it was replaced or removed since. If the account has new keys, those
 * are used, since its processor no longer accepts the old ones.
 * @param id as the payment stores it; `instance` for the instance's own
 * @param bound also stored by the payment; selects one of the instance's accounts
 * @returns undefined if the settings no longer have the instance's account, or it has another mode
 */
export async function accountById(
  { processorAccountStore: store, config }: Needed,
  id: string,
  { processor, mode }: { readonly processor: ProcessorName; readonly mode: Mode },
): Promise<ProcessorAccount | undefined> {
  if (id === instanceId) return instanceAccount(config, processor, mode)
  const row = await store.newestOf(id)
  return row && accountOf(config, row)
}

/**
 * Returns the client of an account: one for each set of keys, so that they share a token. A merchant's own server is
 * called through the guarded fetch.
 */
export const clientOf = ({ processorClients }: Pick<ProcessorAccountDeps, 'processorClients'>, account: ProcessorAccount): Processor =>
  processorClients.of(account)

/** Maximum sets of keys that a message is checked against. Older ones are ignored. */
const keySetsMax = 20
/**
 * How long replaced keys still verify messages. Processors repeat a message for three days, and a replaced key may have
 * leaked. The last keys of an account stay valid: payments are disputed months after the shop left.
 */
const formerKeysValidMs = 7 * dayMs

/**
 * An account that may have signed a message. `isLate`: its keys were replaced long ago, so only messages about open
 * payments count.
 */
export type VerifyingAccount = { readonly account: ProcessorAccount; readonly processor: Processor; readonly isLate: boolean }

/**
 * Lists the accounts that may have signed a message, one entry for each set of keys: a shop's live ones, then retired
 * ones, since payments through them continue; without a shop the instance's. A message may only be about payments of
 * the account that verifies it.
 */
export async function accountsToVerify(
  deps: Needed & Pick<ProcessorAccountDeps, 'processorClients' | 'clock'>,
  { shopId, processor }: { readonly shopId: string | undefined; readonly processor: ProcessorName },
): Promise<VerifyingAccount[]> {
  const { processorAccountStore: store, config, clock } = deps
  if (shopId === undefined) {
    const instance = instanceAccount(config, processor, 'LIVE') ?? instanceAccount(config, processor, 'TEST')
    return instance ? [{ account: instance, processor: clientOf(deps, instance), isLate: false }] : []
  }
  const rows = await store.ofShop(shopId, processor, keySetsMax)
  return rows.map((row) => {
    const account = accountOf(config, row)
    const newest = rows.find(({ accountId }) => accountId === row.accountId) ?? row
    const isLate = row !== newest && row.retiredAt !== null && row.retiredAt + formerKeysValidMs <= clock.now()
    return { account, processor: deps.processorClients.verifierOf(account, accountOf(config, newest)), isLate }
  })
}

/** Lists a shop's own live accounts of one mode, by processor. */
export async function accountsOfShop(
  { processorAccountStore: store, config }: Needed,
  { shopId, mode }: { readonly shopId: string; readonly mode: Mode },
  from?: Pick<Reader, 'all'>,
): Promise<Readonly<Partial<Record<ProcessorName, ProcessorAccount>>>> {
  const rows = await store.liveOf(shopId, mode, from)
  return Object.fromEntries(rows.map((row) => [row.processor, accountOf(config, row)]))
}

/** Returns whether a shop or the instance has an account of a mode that can take payments. */
export async function hasAccount(deps: Needed, of: { readonly shopId: string; readonly mode: Mode }): Promise<boolean> {
  if (processorNames.some((processor) => instanceAccount(deps.config, processor, of.mode))) return true
  return Object.keys(await accountsOfShop(deps, of)).length > 0
}

/** Lists all accounts that can take payments: the instance's, then those of shops. */
export async function everyAccount({ processorAccountStore: store, config }: Needed): Promise<ProcessorAccount[]> {
  const instanceAccounts = processorNames.flatMap(
    (processor) => instanceAccount(config, processor, 'LIVE') ?? instanceAccount(config, processor, 'TEST') ?? [],
  )
  return [...instanceAccounts, ...(await store.everyLive()).map((row) => accountOf(config, row))]
}
