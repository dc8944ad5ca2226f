/** The state of the sync of every chain. */
import { isClosed } from '../../../lib/breaker.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { labelledMetric } from '../../../lib/prometheus.ts'
import { type ChainStatus, newSync, statusOf } from './domain.ts'
import type { NodeState } from './nodes.ts'
import type { AttestationDeps } from './providers.ts'

/** Lists every chain with stored data, by chain id. */
export async function chainStatuses({
  attestationStore: store,
  chainNodes,
}: Pick<AttestationDeps, 'attestationStore' | 'chainNodes'>): Promise<ChainStatus[]> {
  const [syncs, backfills] = await Promise.all([store.all(), store.backfillCounts()])
  return syncs.map((sync) => statusOf(sync, backfills.get(sync.chainId) ?? 0, chainNodes.has(sync.chainId)))
}

/** Renders the status as the API returns it. */
export const chainView = ({ rescan, countedToAt, syncedAt, lastErrorAt, haltedAt, ...chain }: ChainStatus) => ({
  ...chain,
  ...isoTimes({ countedToAt, syncedAt, lastErrorAt, haltedAt }),
  rescan: { ...rescan, ...isoTimes({ beganAt: rescan.beganAt }) },
})

/** Lists configured chains and those with stored data, by id, with the nodes that this process knows. */
export async function listChains(deps: Pick<AttestationDeps, 'attestationStore' | 'chainNodes' | 'config' | 'clock'>) {
  const statuses = await chainStatuses(deps)
  const unread = deps.config.chains.filter(({ chainId }) => !statuses.some((status) => status.chainId === chainId))
  const chains = [
    ...statuses.map((status) => ({ ...chainView(status), nodes: nodesOf(deps, status) })),
    ...unread.map((chain) => ({
      ...chainView(statusOf(newSync(chain), 0, true)),
      countedTo: null,
      nodes: nodesOf(deps, { chainId: chain.chainId, provider: null }),
    })),
  ]
  return chains.sort((a, b) => a.chainId - b.chainId)
}

function nodesOf(
  { chainNodes, clock }: Pick<AttestationDeps, 'chainNodes' | 'clock'>,
  { chainId, provider }: Pick<ChainStatus, 'chainId' | 'provider'>,
) {
  const now = clock.now()
  const stateOf = ({ breaker, notBefore }: NodeState) => (!isClosed(breaker) ? 'failing' : notBefore > now ? 'resting' : 'ready')
  return (chainNodes.get(chainId)?.all ?? []).map((node) => ({
    host: node.host,
    inUse: node.host === provider,
    state: stateOf(node),
    ...isoTimes({ restsUntil: node.notBefore > now ? node.notBefore : null }),
    failures: node.failures,
  }))
}

type ChainTallies = Pick<AttestationDeps, 'chainFailures' | 'chainLogs' | 'attestedCounts'>

/** Builds Prometheus metrics of the configured chains. */
export function chainMetrics({ chainFailures, chainLogs, attestedCounts }: ChainTallies, chains: readonly ChainStatus[]): string[] {
  const statuses = chains.filter(({ isConfigured }) => isConfigured)
  const sample = (labels: Record<string, string>, value: number | null) => (value === null ? [] : [{ labels, value }])
  const gauge = (name: string, help: string, pick: (status: ChainStatus) => number | null) => {
    const samples = statuses.flatMap((status) => sample({ chain: String(status.chainId) }, pick(status)))
    return labelledMetric(`souk_chain_${name}`, help, samples)
  }
  /** @param counts by the chain's id and, after a space, what is counted */
  const counter = (name: string, help: string, counts: readonly (readonly [string, number])[], label = '') => {
    const samples = counts.flatMap(([key, value]) => {
      const [chain = '', counted = ''] = key.split(' ')
      return sample({ chain, ...(label && { [label]: counted.toLowerCase() }) }, value)
    })
    return labelledMetric(`souk_chain_${name}_total`, help, samples, 'counter')
  }
  const differences = statuses.flatMap(({ chainId, rescan }) =>
    (['missing', 'unknown'] as const).flatMap((kind) => sample({ chain: String(chainId), kind }, rescan[kind])),
  )
  return [
    ...gauge('counted_to', 'The last block whose attestations are counted.', ({ countedTo }) => countedTo),
    ...gauge('head', 'The newest block that a node reported.', ({ head }) => head),
    ...gauge('lag_blocks', 'Blocks between the last counted and the newest block.', ({ lag }) => lag),
    ...gauge('halted', 'Whether reading has stopped until an operator resyncs the chain.', ({ haltedAt }) => Number(haltedAt !== null)),
    ...gauge('backfills', 'Addresses whose older blocks are not read yet.', ({ backfills }) => backfills),
    ...labelledMetric('souk_chain_rescan_differences', 'Differences between the last rescan and the stored rows, by kind.', differences),
    ...counter('logs', 'Logs by registered addresses that this process has read.', chainLogs.all()),
    ...counter('repayments', 'Repayments that lenders attested, by result.', attestedCounts.all(), 'result'),
    ...counter('errors', 'Failed queries of nodes, by kind of failure.', chainFailures.all(), 'kind'),
  ]
}
