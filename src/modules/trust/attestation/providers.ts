import { createNode } from '../../../clients/chain/rpc.ts'
import type { Deps } from '../../../core/deps.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { TrustDeps } from '../fabric/index.ts'
import type { Registry } from './domain.ts'
import { createNodes, type Nodes } from './nodes.ts'
import { createAttestedRepaymentStore } from './repayments-store.ts'
import { createAttestationStore } from './store.ts'

export function attestationProviders({ db, config, clock, safeFetch, randomBytes, newId }: Deps) {
  const stopping = new AbortController()
  const random = () => (randomBytes(1)[0] ?? 0) / 255
  const nodes = new Map<number, Nodes>(
    config.chains.map((chain) => {
      const chainNodes = chain.rpc.map((url) =>
        createNode({ url, chainId: chain.chainId, safeFetch, now: clock.now, signal: stopping.signal }),
      )
      return [chain.chainId, createNodes(chain, chainNodes, { now: clock.now, random })]
    }),
  )
  return {
    attestationStore: createAttestationStore(db),
    chainNodes: nodes,
    /** Identifies this process in the leases of chains. */
    chainReader: newId('event'),
    /** The cached registry. */
    knownRegistry: { current: undefined as Registry | undefined },
    /** Metrics by chain: failures of nodes, and logs read. */
    chainFailures: createTally(),
    chainLogs: createTally(),
    /** The time and block of the last progress log entry, by chain. */
    chainProgress: new Map<number, { at: number; block: number }>(),
    attestedRepaymentStore: createAttestedRepaymentStore(db),
    /** Loads viem with the first attested repayment. */
    eas: () => import('../../../clients/chain/eas.ts'),
    /** Merchants by the hash of their id. */
    knownMerchants: { ids: new Set<string>(), byRef: new Map<string, string>() },
    /**
     * The position up to which attested repayments were processed, by chain. `basis` changes when older ones may have
     * appeared. `from` is before those that no node could return yet.
     */
    attestedTo: new Map<number, { block: number; hash: string; basis: string; from: number }>(),
    /** Counts of processed repayments, by chain and result. */
    attestedCounts: createTally(),
    /** Aborts the running queries. */
    stopChains: () => stopping.abort(),
  }
}
export type AttestationDeps = Deps & TrustDeps & ReturnType<typeof attestationProviders>
