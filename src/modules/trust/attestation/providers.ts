import { createNode } from '../../../clients/chain/rpc.ts'
import type { Deps } from '../../../core/deps.ts'
import { schemaUids } from '../../../lib/eas.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { TrustDeps } from '../fabric/index.ts'
import type { Registry } from './domain.ts'
import { createNodes, type Nodes } from './nodes.ts'
import { createAttestedRepaymentStore } from './repayments-store.ts'
import { createAttestationStore } from './store.ts'

/** The parts of the EAS client that repayments use. Loaded on first use. */
async function loadEas() {
  const { decodeAttestation, decodeStatement, isHashOf, attestationCall, refOf } = await import('../../../clients/chain/eas.ts')
  return {
    /** Returns the call data that reads an attestation. */
    callOf: (uid: string): string => attestationCall(uid as `0x${string}`),
    /**
     * Decodes a repayment (schema C). `NOTHING`: it cannot be decoded. `ABSENT`: the node does not have it. `FORGED`:
     * it does not match its uid.
     */
    repaymentIn(result: string, uid: string) {
      let attestation: ReturnType<typeof decodeAttestation>
      try {
        attestation = decodeAttestation(result as `0x${string}`)
      } catch {
        return 'FORGED'
      }
      if (!attestation) return 'ABSENT'
      if (attestation.uid !== uid || attestation.schema !== schemaUids.C || !isHashOf(attestation)) return 'FORGED'
      return decodeStatement('C', attestation.data) ?? 'NOTHING'
    },
    refOf,
  }
}

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
    knownRegistry: { is: undefined as Registry | undefined },
    /** Metrics by chain: failures of nodes, and logs read. */
    chainFailures: createTally(),
    chainLogs: new Map<number, number>(),
    /** The time and block of the last progress log entry, by chain. */
    chainProgress: new Map<number, { at: number; block: number }>(),
    attestedRepaymentStore: createAttestedRepaymentStore(db),
    eas: loadEas,
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
