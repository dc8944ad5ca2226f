/** Checks the keys of every configured account with its processor. */
import { processors } from '../../../clients/processors/index.ts'
import { ProcessorRefused, ProcessorUnavailable } from '../../../clients/processors/processor.ts'
import { inParallel } from '../../../lib/parallel.ts'
import { readShop } from '../../shop/shop/index.ts'
import { processorNames } from '../payment-method/domain.ts'
import { everyAccount } from './accounts.ts'
import type { Mode, ProcessorAccount, ProcessorName } from './domain.ts'
import { missingIn } from './instance.ts'
import type { ProcessorAccountDeps } from './providers.ts'

/** The result for one account. */
export type Probed = {
  readonly processor: ProcessorName
  /** The handle of the account's shop; undefined for the instance's. */
  readonly shopName: string | undefined
  /** Undefined for an incomplete account. */
  readonly mode: Mode | undefined
  readonly host: string | undefined
  /** A sentence without secrets; undefined if it works. */
  readonly problem: string | undefined
}

const probesAtOnce = 4
const probeTimeoutMs = 15_000

/**
 * Probes the accounts of the instance and of shops, in both modes.
 * @param tell called with each result
 */
export async function probeAccounts(deps: ProcessorAccountDeps, tell: (probed: Probed) => void): Promise<void> {
  for (const processor of processorNames) {
    const missing = missingIn(deps.config, processor).map((name) => settingOf(processor, name))
    const problem = `${missing.join(', ')} must be set as well: nothing can be paid through it`
    if (missing.length > 0) tell({ processor, shopName: undefined, mode: undefined, host: undefined, problem })
  }
  await inParallel(await everyAccount(deps), probesAtOnce, async (account) => {
    const { processor, shopId, mode, host } = account
    const shopName = shopId === null ? undefined : (await readShop(deps, shopId)).name
    tell({ processor, shopName, mode, host, problem: await problemOf(deps, account) })
  })
}

/** Returns the setting of an account's field: `STRIPE_SECRET_KEY`. */
const settingOf = (processor: ProcessorName, field: string): string =>
  `${processor}_${field.replace(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase()

async function problemOf({ processorClients }: ProcessorAccountDeps, account: ProcessorAccount): Promise<string | undefined> {
  try {
    await processorClients.openWithTimeout(account, probeTimeoutMs).probe()
    return undefined
  } catch (error) {
    if (error instanceof ProcessorRefused) return refused(account)
    if (error instanceof ProcessorUnavailable) return `${error.message}. Its keys may be right: try again`
    return 'its sealed secrets cannot be opened: run `souk check`'
  }
}

function refused({ processor, shopId }: ProcessorAccount): string {
  const { names, why } = processors[processor].proof
  return `${
    shopId === null
      ? names
          .split(', ')
          .map((name) => settingOf(processor, name))
          .join(', ')
      : names
  }: ${why}`
}
