import type { Reader } from '../../../../db/engine.ts'
import type { Grant, Holder, Wallet } from './domain.ts'
import type { TrustDeps } from './providers.ts'

type Deps = Pick<TrustDeps, 'trustStore'>

/** Reads the wallets of a lender or service provider, by address and time. */
export const walletsOf = ({ trustStore }: Deps, holder: Holder, from?: Pick<Reader, 'all'>): Promise<Wallet[]> =>
  trustStore.walletsOf(holder, from)

/** Reads the wallets at these addresses, of any owner. */
export const walletsAt = ({ trustStore }: Deps, addresses: readonly string[]): Promise<Wallet[]> => trustStore.walletsAt(addresses)

/** Reads the wallets of several owners, by owner id. */
export const walletsOfAll = (
  { trustStore }: Deps,
  owner: 'LENDER' | 'PROVIDER',
  ids: readonly string[],
): Promise<Map<string | null, Wallet[]>> => trustStore.walletsOfAll(owner, ids)

/** Reads all grants in the order of `registryHash`, with the generation of the registry. */
export const allGrants = ({ trustStore }: Deps): Promise<{ generation: number; grants: Grant[] }> => trustStore.registry()
