/** Queries nodes, records their failures, and reads the registry. */
import { type BlockHeader, type ChainLog, type NodeAnswer, NodeError, type NodeQuery } from '../../../core/chain.ts'
import type { Scheduler } from '../../../core/limits/scheduler.ts'
import type { ChainSetting } from '../../../lib/chain-settings.ts'
import { allSchemaUids, type ChainSync, type Registry, type TimedLog } from './domain.ts'
import type { NodeState, Nodes } from './nodes.ts'
import type { AttestationDeps } from './providers.ts'

/** `pace` shares the main thread with requests. */
export type SyncDeps = AttestationDeps & { readonly pace: Pick<Scheduler, 'enter'> }

/** A chain, its nodes, and how far it is read. */
export type ChainReading = { readonly chain: ChainSetting; readonly nodes: Nodes; readonly sync: ChainSync }

/** The result of a step. */
export type Step =
  | { readonly kind: 'READ'; readonly from: number; readonly to: number; readonly logs: number }
  /** Everything that may be counted is counted. */
  | { readonly kind: 'IDLE' }
  /** A node failed. Another node, or the same one with a smaller range, may be asked at once. */
  | { readonly kind: 'RETRY' }
  /** No node may be asked before that time, in milliseconds. */
  | { readonly kind: 'WAITING'; readonly until: number }
  | { readonly kind: 'REWOUND'; readonly to: number }
  | { readonly kind: 'HALTED' }
  /** Another process reads the chain. */
  | { readonly kind: 'BUSY' }

export const retryStep: Step = { kind: 'RETRY' }

/** Headers per query, since each lists all transactions of its block. With the chain id this makes fifty calls. */
const headersMax = 49

/**
 * Sends a query.
 * @returns undefined if the node failed; the failure is recorded
 */
export async function ask(
  deps: SyncDeps,
  { chain, nodes }: ChainReading,
  node: NodeState,
  question: NodeQuery,
): Promise<NodeAnswer | undefined> {
  nodes.calls.asked++
  try {
    const answer = await node.ask(question, deps.pace)
    nodes.calls.answered++
    nodes.answered(node)
    return answer
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const { logs } = question
    await recordRefusal(deps, { chain, nodes }, node, error, logs && logs.to - logs.from + 1)
    return undefined
  }
}

/**
 * Records that a node failed.
 * @param blocksRequested how many blocks of logs were requested, if any
 */
export async function recordRefusal(
  deps: SyncDeps,
  { chain, nodes }: Pick<ChainReading, 'chain' | 'nodes'>,
  node: NodeState,
  error: NodeError,
  blocksRequested?: number,
): Promise<void> {
  nodes.refused(node, error, blocksRequested)
  deps.chainFailures.add(`${chain.chainId} ${error.kind}`)
  // A range that can be made smaller is not a failure.
  if (error.kind === 'RANGE' && blocksRequested !== undefined && blocksRequested > 1) return
  await recordNodeFailure(deps, chain, node, error.report)
}

/** Records that a node lacks a block that it must have. */
export const recordBehind = (deps: SyncDeps, reading: ChainReading, node: NodeState, what: string): Promise<void> =>
  recordRefusal(deps, reading, node, new NodeError('BEHIND', what))

/** Logs a node's failure and stores it in the status of the chain. */
export async function recordNodeFailure(
  deps: SyncDeps,
  { chainId }: ChainSetting,
  { host }: Pick<NodeState, 'host'>,
  problem: string,
): Promise<void> {
  // Queries that the stop of the process aborts are not failures.
  if (deps.life.stopping) return
  deps.log.warn('chain.node_failed', { chainId, provider: host, problem })
  const fields = { lastError: `${host}: ${problem}`, lastErrorAt: deps.clock.now() }
  await deps.db.write((tx) => deps.attestationStore.change(tx, chainId, fields), { isolation: 'locking' })
}

/** Returns the current registry, which is read again when its generation changes. */
export async function currentRegistry({ attestationStore: store, knownRegistry }: SyncDeps): Promise<Registry> {
  if (knownRegistry.is?.generation !== (await store.generation())) knownRegistry.is = await store.registry()
  return knownRegistry.is as Registry
}

export const logFilterOf = ({ contract }: ChainSetting, from: number, to: number, attesters?: readonly string[]) => ({
  contract,
  schemaUids: allSchemaUids,
  attesters,
  from,
  to,
})

/**
 * Adds block times to logs, by headers of the same node that must match the logs.
 * @param knownHeaders headers that were read already
 * @returns undefined if the node lacks a header or has another one
 */
export async function addBlockTimes(
  deps: SyncDeps,
  reading: ChainReading,
  node: NodeState,
  logs: readonly ChainLog[],
  knownHeaders: readonly BlockHeader[] = [],
): Promise<TimedLog[] | undefined> {
  const headers = new Map(knownHeaders.map((header) => [header.number, header]))
  const missing = [...new Set(logs.map(({ blockNumber }) => blockNumber))].filter((number) => !headers.has(number))
  for (let from = 0; from < missing.length; from += headersMax) {
    const answer = await ask(deps, reading, node, { blocks: missing.slice(from, from + headersMax) })
    if (!answer) return undefined
    for (const header of answer.headers) if (header) headers.set(header.number, header)
  }
  const timedLogs: TimedLog[] = []
  for (const log of logs) {
    const header = headers.get(log.blockNumber)
    if (header?.hash !== log.blockHash) {
      await recordBehind(deps, reading, node, `block ${log.blockNumber} of a log is another one, or none, when it is asked for by itself`)
      return undefined
    }
    const { kind, uid, schemaUid, attester, recipient, blockNumber } = log
    timedLogs.push({ kind, uid, schemaUid, attester, recipient, blockNumber, blockAt: header.at })
  }
  return timedLogs
}
