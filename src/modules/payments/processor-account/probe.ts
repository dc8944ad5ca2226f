/** Asks every processor of which an account is configured whether it knows the keys. */
import { ProcessorRefused, ProcessorUnavailable } from '../../../clients/processors/processor.ts'
import { inParallel } from '../../../lib/parallel.ts'
import { readShop } from '../../shop/shop/index.ts'
import { processorNames } from '../payment-method/domain.ts'
import { everyAccount } from './accounts.ts'
import { accountFields, type Mode, type ProcessorAccount, type ProcessorName } from './domain.ts'
import { missingIn } from './instance.ts'
import type { ProcessorAccountDeps } from './providers.ts'

/** What came of one account. */
export type Probed = {
  readonly processor: ProcessorName
  /** The handle of the shop whose account it is; undefined: the instance's own. */
  readonly shopName: string | undefined
  /** Undefined of an account that lacks something. */
  readonly mode: Mode | undefined
  readonly host: string | undefined
  /** In words, without a secret; undefined: it works. */
  readonly problem: string | undefined
}

const probesAtOnce = 4
const probeTimeoutMs = 15_000

/**
 * Probes the instance's own accounts and those of shops, of either mode.
 * @param tell called with what came of each, as they come
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

/** The setting that has a field of an account: `STRIPE_SECRET_KEY`. */
const settingOf = (processor: ProcessorName, field: string): string =>
  `${processor}_${field.replace(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase()

async function problemOf({ processorClients }: ProcessorAccountDeps, account: ProcessorAccount): Promise<string | undefined> {
  try {
    await processorClients.anew(account, probeTimeoutMs).probe()
    return undefined
  } catch (error) {
    if (error instanceof ProcessorRefused) return refused(account)
    if (error instanceof ProcessorUnavailable) return `${error.message}. Its keys may be right: try again`
    return 'what is sealed of it does not open: `souk check` tells more'
  }
}

function refused({ processor, shopId }: ProcessorAccount): string {
  const { names, why } = accountFields[processor].proof
  return `${
    shopId === null
      ? names
          .split(', ')
          .map((name) => settingOf(processor, name))
          .join(', ')
      : names
  }: ${why}`
}
