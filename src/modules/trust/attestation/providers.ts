import { createNode } from '../../../clients/chain/rpc.ts'
import type { Deps } from '../../../core/deps.ts'
import { schemaUids } from '../../../lib/eas.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { TrustDeps } from '../fabric/index.ts'
import type { Registry } from './domain.ts'
import { createNodes, type Nodes } from './nodes.ts'
import { createAttestedRepaymentStore } from './repayments-store.ts'
import { createAttestationStore } from './store.ts'

/** What of the Ethereum Attestation Service repayments need; loaded with the first of them. */
async function loadEas() {
  const { decodeAttestation, decodeStatement, isHashOf, readingOf, refOf } = await import('../../../clients/chain/eas.ts')
  return {
    /** The call that reads an attestation. */
    callOf: (uid: string): string => readingOf(uid as `0x${string}`),
    /**
     * What a call has given: what an attestation of schema C says, `NOTHING` where it says nothing that can be read, `ABSENT` where the node
     * does not have it, `FORGED` where it is not what its uid is the hash of.
     */
    repaymentIn(result: string, uid: string) {
      let found: ReturnType<typeof decodeAttestation>
      try {
        found = decodeAttestation(result as `0x${string}`)
      } catch {
        return 'FORGED'
      }
      if (!found) return 'ABSENT'
      if (found.uid !== uid || found.schema !== schemaUids.C || !isHashOf(found)) return 'FORGED'
      return decodeStatement('C', found.data) ?? 'NOTHING'
    },
    refOf,
  }
}

export function attestationProviders({ db, config, clock, safeFetch, randomBytes, newId }: Deps) {
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
    attestedRepaymentStore: createAttestedRepaymentStore(db),
    eas: loadEas,
    /** Merchants by the hash of their id, as far as they are known. */
    knownMerchants: { ids: new Set<string>(), byRef: new Map<string, string>() },
    /**
     * Up to where attestations of repayments were looked at, by chain, and what says whether older ones may have come since. `from` lies before
     * those that no node has had yet.
     */
    attestedTo: new Map<number, { block: number; hash: string; basis: string; from: number }>(),
    /** What became of them. */
    attestedCounts: createTally(),
    /** Gives up what nodes are asked just now. */
    stopChains: () => stopping.abort(),
  }
}
export type AttestationDeps = Deps & TrustDeps & ReturnType<typeof attestationProviders>
