import { createCache } from '../../../core/cache.ts'
import type { Deps } from '../../../core/deps.ts'
import type { Capability } from '../../../lib/ucp/releases.ts'
import type { PaymentDeps } from '../../payments/payment/index.ts'
import type { AgentShop } from './domain.ts'
import { createAgentSettingsStore } from './store.ts'

const cachedShopsMax = 100

export function agentSettingsProviders({ db }: Pick<Deps, 'db'>) {
  return {
    agentSettingsStore: createAgentSettingsStore(db),
    /** Shops with agents on, by name; valid until the database changes. */
    agentShops: createCache<AgentShop>({ version: () => db.version(), entriesMax: cachedShopsMax }),
    /** What these shops serve; as long as the database and the breakers are the same. */
    agentOffers: createCache<ReadonlySet<Capability>>({ version: () => db.version(), entriesMax: cachedShopsMax }),
  }
}
export type AgentSettingsDeps = PaymentDeps & ReturnType<typeof agentSettingsProviders>
