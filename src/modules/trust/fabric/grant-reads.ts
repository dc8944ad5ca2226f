import type { Reader } from '../../../../db/engine.ts'
import type { Grant, Holder, Wallet } from './domain.ts'
import type { TrustDeps } from './providers.ts'

type Deps = Pick<TrustDeps, 'trustStore'>

/** The grants of some addresses, sorted as `registryHash` has them. */
export const grantsOfAddresses = ({ trustStore }: Deps, addresses: readonly string[], from?: Pick<Reader, 'select'>): Promise<Grant[]> =>
  trustStore.grantsOfAddresses(addresses, from)

/** The wallets of a lender or service provider, by address and time. */
export const walletsOf = ({ trustStore }: Deps, holder: Holder, from?: Pick<Reader, 'all'>): Promise<Wallet[]> =>
  trustStore.walletsOf(holder, from)

/** The same of several of them, by their ids. */
export const walletsOfAll = (
  { trustStore }: Deps,
  owner: 'LENDER' | 'PROVIDER',
  ids: readonly string[],
): Promise<Map<string | null, Wallet[]>> => trustStore.walletsOfAll(owner, ids)

/** All grants, sorted as `registryHash` has them, and of which generation of the registry they are. */
export const allGrants = ({ trustStore }: Deps): Promise<{ generation: number; grants: Grant[] }> => trustStore.registry()
