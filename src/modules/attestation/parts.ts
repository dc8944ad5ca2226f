import { createNode } from '../../clients/chain/rpc.ts'
import type { Deps } from '../../core/deps.ts'
import { createTally } from '../../lib/prometheus.ts'
import type { TrustDeps } from '../trust/index.ts'
import type { Registry } from './domain.ts'
import { createNodes, type Nodes } from './nodes.ts'
import { createAttestationStore } from './store.ts'

export function attestationParts({ db, config, clock, safeFetch, randomBytes, newId }: Deps) {
  const stopping = new AbortController()
  const random = () => (randomBytes(1)[0] ?? 0) / 255
  const nodes = new Map<number, Nodes>(
    config.chains.map((chain) => {
      const asked = chain.rpc.map((url) => createNode({ url, chainId: chain.chainId, safeFetch, now: clock.now, signal: stopping.signal }))
      return [chain.chainId, createNodes(chain, asked, { now: clock.now, random })]
    }),
  )
  return {
    attestationStore: createAttestationStore(db),
    /** What this process knows of the nodes of each chain. */
    chainNodes: nodes,
    /** By which leases say that it is this process that reads a chain. */
    chainReader: newId('event'),
    /** The registry by which logs are kept, as it was last read. */
    knownRegistry: { is: undefined as Registry | undefined },
    /** What nodes failed of and how many logs were read, by chain. */
    chainFailures: createTally(),
    chainLogs: new Map<number, number>(),
    /** Since when, and at which block, progress was last told of each chain. */
    chainProgress: new Map<number, { at: number; block: number }>(),
    /** Gives up what nodes are asked just now. */
    stopChains: () => stopping.abort(),
  }
}
export type AttestationDeps = Deps & TrustDeps & ReturnType<typeof attestationParts>
