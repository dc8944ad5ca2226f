import { createSafeFetch } from '../../../clients/safe-fetch.ts'
import type { Deps } from '../../../core/deps.ts'
import { createProfileReader } from './profiles.ts'

export function agentPlatformProviders({ config, clock }: Pick<Deps, 'config' | 'clock'>) {
  const networks = config.agentsProfileNetworks ?? []
  /** Calls hosts that platforms name. Http is for the networks of the settings only. */
  const platformFetch = createSafeFetch({ allowedNetworks: networks, httpNetworks: networks })
  return { platformFetch, platformProfiles: createProfileReader(platformFetch, clock.monotonic) }
}
export type PlatformDeps = Pick<Deps, 'config' | 'life' | 'clock'> & ReturnType<typeof agentPlatformProviders>
