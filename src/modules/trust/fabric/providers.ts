import type { Deps } from '../../../core/deps.ts'
import { createTrustStore } from './store.ts'

export const trustProviders = ({ db, config }: Deps) => ({
  trustStore: createTrustStore(db),
  /** The chains whose attestations are published: every configured chain, and 0 for figures that belong to no chain. */
  publishedChains: new Set([0, ...config.chains.map(({ chainId }) => chainId)]) as ReadonlySet<number>,
})
export type TrustDeps = Deps & ReturnType<typeof trustProviders>
