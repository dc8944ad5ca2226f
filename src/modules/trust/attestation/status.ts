/** The state of the sync of every chain. */
import { isClosed } from '../../../lib/breaker.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { labelledMetric } from '../../../lib/prometheus.ts'
import { type ChainStatus, statusOf } from './domain.ts'
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

/** The status as the API returns it. */
export const chainView = ({ rescan, countedToAt, syncedAt, lastErrorAt, haltedAt, ...chain }: ChainStatus) => ({
  ...chain,
  ...isoTimes({ countedToAt, syncedAt, lastErrorAt, haltedAt }),
  rescan: { ...rescan, ...isoTimes({ beganAt: rescan.beganAt }) },
})

/** Lists configured chains and those with stored data, by id, with the nodes that this process knows. */
export async function listChains(deps: Pick<AttestationDeps, 'attestationStore' | 'chainNodes' | 'config' | 'clock'>) {
  const statuses = await chainStatuses(deps)
  const unread = deps.config.chains.filter(({ chainId }) => !statuses.some((status) => status.chainId === chainId))
  const read = statuses.map((status) => ({ ...chainView(status), nodes: nodesOf(deps, status) }))
  const unreadChains = unread.map(({ chainId, contract, startBlock }) => ({
    ...nothingRead,
    ...{ chainId, contract, startBlock },
    nodes: nodesOf(deps, { chainId, provider: null }),
  }))
  return [...read, ...unreadChains].sort((a, b) => a.chainId - b.chainId)
}

const nothingRead = {
  isConfigured: true,
  ...{ countedTo: null, countedToHash: null, countedToAt: null, head: null, target: null, lag: null },
  ...{ provider: null, syncedAt: null, lastError: null, lastErrorAt: null, haltedBecause: null, haltedAt: null },
  rescan: { beganAt: null, readTo: null, isUnderWay: false, missing: null, unknown: null },
  backfills: 0,
} as const

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
  const each = (value: (status: ChainStatus) => number | null) =>
    statuses.flatMap((status) => {
      const figure = value(status)
      return figure === null ? [] : [{ labels: { chain: String(status.chainId) }, value: figure }]
    })
  const differences = statuses.flatMap(({ chainId, rescan }) =>
    (['missing', 'unknown'] as const).flatMap((kind) => {
      const value = rescan[kind]
      return value === null ? [] : [{ labels: { chain: String(chainId), kind }, value }]
    }),
  )
  return [
    ...labelledMetric(
      'souk_chain_counted_to',
      'The last block whose attestations are counted.',
      each(({ countedTo }) => countedTo),
    ),
    ...labelledMetric(
      'souk_chain_head',
      'The newest block that a node told of.',
      each(({ head }) => head),
    ),
    ...labelledMetric(
      'souk_chain_lag_blocks',
      'Blocks between the two.',
      each(({ lag }) => lag),
    ),
    ...labelledMetric(
      'souk_chain_halted',
      'Whether nothing is read until an operator says so.',
      each(({ haltedAt }) => Number(haltedAt !== null)),
    ),
    ...labelledMetric(
      'souk_chain_backfills',
      'Addresses of which older blocks are still to be read.',
      each(({ backfills }) => backfills),
    ),
    ...labelledMetric('souk_chain_rescan_differences', 'What the last rescan found otherwise than it is here.', differences),
    ...labelledMetric(
      'souk_chain_logs_total',
      'Logs by registered addresses that this process has read.',
      [...chainLogs].map(([chain, value]) => ({ labels: { chain: String(chain) }, value })),
      'counter',
    ),
    ...labelledMetric(
      'souk_chain_repayments_total',
      'What became of repayments that lenders attest.',
      attestedCounts.all().map(([label, value]) => {
        const [chain = '', result = ''] = label.split(' ')
        return { labels: { chain, result }, value }
      }),
      'counter',
    ),
    ...labelledMetric(
      'souk_chain_errors_total',
      'What nodes did not give as they should.',
      chainFailures.all().map(([label, value]) => {
        const [chain = '', kind = ''] = label.split(' ')
        return { labels: { chain, kind: kind.toLowerCase() }, value }
      }),
      'counter',
    ),
  ]
}
