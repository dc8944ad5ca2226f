import type { Deps } from '../../../core/deps.ts'
import { createTrustStore } from './store.ts'

export const trustProviders = ({ db, config }: Deps) => ({
  trustStore: createTrustStore(db),
  /** Whose attestations the public is told of: those of every chain that is read, and 0, what is of no chain. */
  toldChains: new Set([0, ...config.chains.map(({ chainId }) => chainId)]) as ReadonlySet<number>,
})
export type TrustDeps = Deps & ReturnType<typeof trustProviders>
