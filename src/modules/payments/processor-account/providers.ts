import { processors } from '../../../clients/processors/index.ts'
import type { Deps } from '../../../core/deps.ts'
import type { AuthDeps } from '../../identity/auth/index.ts'
import type { ShopDeps } from '../../shop/shop/index.ts'
import { createClients, type OpenClient } from './clients.ts'
import { createProcessorAccountStore } from './store.ts'

export function processorAccountProviders({ db, config, keyring, clock, safeFetch }: Deps) {
  const open: OpenClient = ({ processor, mode, settings, apiUrl, trusted, timeoutMs, formerSecretKeys }) =>
    processors[processor].create(
      { ...settings, apiUrl, mode, formerSecretKeys },
      {
        fetch: safeFetch,
        now: clock.now,
        trusted,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      },
    )
  return {
    processorAccountStore: createProcessorAccountStore(db),
    processorClients: createClients({ config, keyring }, open),
  }
}
export type ProcessorAccountDeps = AuthDeps & ShopDeps & ReturnType<typeof processorAccountProviders>
