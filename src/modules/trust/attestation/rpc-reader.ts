/** Queries nodes, records their failures, and reads the registry. */
import { type BlockHeader, type ChainLog, type LogFilter, type NodeAnswer, NodeError, type NodeQuery } from '../../../core/chain.ts'
import type { Scheduler } from '../../../core/limits/scheduler.ts'
import type { ChainSetting } from '../../../lib/chain-settings.ts'
import { allSchemaUids, type ChainSync, type Registry, type TimedLog } from './domain.ts'
import type { NodeState, Nodes } from './nodes.ts'
import type { AttestationDeps } from './providers.ts'

/** `scheduler` shares the main thread with requests. */
export type SyncDeps = AttestationDeps & { readonly scheduler: Pick<Scheduler, 'enter'> }

/** A chain, its nodes, and how far it is read. */
export type ChainReading = { readonly chain: ChainSetting; readonly nodes: Nodes; readonly sync: ChainSync }
/** A chain that is read from one node. */
export type NodeReading = ChainReading & { readonly node: NodeState }

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

/** Ends a step before its write. What a node did wrong is recorded already. */
export class StepEnded extends Error {
  override readonly name = 'StepEnded'
  constructor(readonly step: Step) {
    super(step.kind)
  }
}

/** Returns undefined for a step that ended. @throws every other error */
export const undefinedIfEnded = (error: unknown): undefined => {
  if (!(error instanceof StepEnded)) throw error
}

/** Headers per query, since each lists all transactions of its block. With the chain id this makes fifty calls. */
const headersMax = 49

/** Sends a query. @throws StepEnded if the node failed */
export async function ask(deps: SyncDeps, reading: NodeReading, question: NodeQuery): Promise<NodeAnswer> {
  const { node, nodes } = reading
  nodes.calls.asked++
  try {
    const answer = await node.ask(question, deps.scheduler)
    nodes.calls.answered++
    nodes.recordAnswer(node)
    return answer
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const { logs } = question
    return endForFailure(deps, reading, error, logs && logs.to - logs.from + 1)
  }
}

/**
 * Records that a node failed, and ends the step.
 * @param blocksRequested how many blocks of logs were requested, if any
 */
export async function endForFailure(
  deps: SyncDeps,
  { chain, node, nodes }: NodeReading,
  error: NodeError,
  blocksRequested?: number,
): Promise<never> {
  nodes.recordFailure(node, error, blocksRequested)
  deps.chainFailures.add(`${chain.chainId} ${error.kind}`)
  // A range that can be made smaller is not a failure.
  if (error.kind !== 'RANGE' || blocksRequested === undefined || blocksRequested === 1)
    await recordNodeFailure(deps, chain, node, error.report)
  throw new StepEnded({ kind: 'RETRY' })
}

/** Ends the step because a node lacks a block that it must have. */
export const endForLaggingNode = (deps: SyncDeps, reading: NodeReading, what: string): Promise<never> =>
  endForFailure(deps, reading, new NodeError('BEHIND', what))

/** Logs a node's failure and stores it in the status of the chain. */
export async function recordNodeFailure(deps: SyncDeps, { chainId }: ChainSetting, { host }: NodeState, problem: string): Promise<void> {
  // Queries that the stop of the process aborts are not failures.
  if (deps.life.stopping) return
  deps.log.warn('chain.node_failed', { chainId, provider: host, problem })
  const fields = { lastError: `${host}: ${problem}`, lastErrorAt: deps.clock.now() }
  await deps.db.write((tx) => deps.attestationStore.change(tx, chainId, fields), { isolation: 'locking' })
}

/** Returns the current registry, which is read again when its generation changes. */
export async function currentRegistry({ attestationStore: store, knownRegistry }: SyncDeps): Promise<Registry> {
  if (knownRegistry.current?.generation !== (await store.generation())) knownRegistry.current = await store.registry()
  return knownRegistry.current as Registry
}

/**
 * Selects the logs of all schemas on a chain.
 * @param from first block; `to` is included
 * @param attesters undefined: any
 */
export const logFilterOf = ({ contract }: ChainSetting, from: number, to: number, attesters?: readonly string[]): LogFilter => ({
  ...{ contract, schemaUids: allSchemaUids, attesters, from, to },
})

/** Reads logs of counted blocks. @returns the response, and the header of the last block */
export async function readCountedBlocks(deps: SyncDeps, reading: NodeReading, logs: LogFilter) {
  const { countedTo, countedToHash } = reading.sync
  const answer = await ask(deps, reading, { blocks: [logs.to, countedTo], logs })
  const [end, counted] = answer.headers
  if (!end || counted?.hash !== countedToHash) return endWithoutCounted(deps, reading)
  return { ...answer, end }
}

/** Ends the step because the node lacks blocks that are counted already. */
export const endWithoutCounted = (deps: SyncDeps, reading: NodeReading): Promise<never> =>
  endForLaggingNode(deps, reading, `it does not have the blocks up to ${reading.sync.countedTo} that are counted`)

/**
 * Verifies that a node omitted no logs: blocks whose bloom may hold logs, and of which none came, are doubted, since
 * blooms have false positives. Another node is asked about them once; without one, the same node is asked again. A
 * second empty answer is accepted.
 * @param filter of the logs that were requested
 */
export async function assertAllLogs(deps: SyncDeps, reading: NodeReading, filter: LogFilter, answer: NodeAnswer): Promise<void> {
  const { missedBlocks, headers } = answer
  if (missedBlocks.length === 0) return
  const { node, nodes } = reading
  const hashes = new Map(headers.map((header) => [header?.number, header?.hash]))
  const logs = { ...filter, from: Math.min(...missedBlocks), to: Math.max(...missedBlocks) }
  const otherNodes = nodes.otherNodes(node).filter(({ notBefore }) => notBefore <= deps.clock.now())
  for (const witness of [...otherNodes, node]) {
    const second = await ask(deps, { ...reading, node: witness }, { blocks: missedBlocks, logs }).catch(undefinedIfEnded)
    if (!second || missedBlocks.some((number, nth) => second.headers[nth]?.hash !== hashes.get(number))) continue
    const omittedLog = second.logs.find(({ blockNumber }) => missedBlocks.includes(blockNumber))
    if (!omittedLog) return
    const problem = `it left out logs of block ${omittedLog.blockNumber}, which its header shows`
    await endForFailure(deps, reading, new NodeError('FAULT', problem))
  }
  if (node.notBefore <= deps.clock.now()) await endForLaggingNode(deps, reading, `its blocks up to ${logs.to} differ each time it is asked`)
  throw new StepEnded({ kind: 'RETRY' })
}

/**
 * Adds block times to logs, by headers of the same node that must match the logs.
 * @param knownHeaders headers that were read already
 */
export const addBlockTimes = (
  deps: SyncDeps,
  reading: NodeReading,
  logs: readonly ChainLog[],
  knownHeaders: readonly BlockHeader[],
): Promise<TimedLog[]> =>
  withBlockTimes((query) => ask(deps, reading, query), logs, knownHeaders).catch((error: unknown) => {
    if (error instanceof NodeError) return endForFailure(deps, reading, error)
    throw error
  })

/** Adds block times to logs through any `askNode`. @throws NodeError if a header does not match a log */
export async function withBlockTimes(
  askNode: (query: NodeQuery) => Promise<NodeAnswer>,
  logs: readonly ChainLog[],
  knownHeaders: readonly BlockHeader[] = [],
): Promise<TimedLog[]> {
  const headers = new Map(knownHeaders.map((header) => [header.number, header]))
  const missing = [...new Set(logs.map(({ blockNumber }) => blockNumber))].filter((number) => !headers.has(number))
  for (let from = 0; from < missing.length; from += headersMax) {
    const answer = await askNode({ blocks: missing.slice(from, from + headersMax) })
    for (const header of answer.headers) if (header) headers.set(header.number, header)
  }
  return logs.map(({ blockHash, ...log }) => {
    const header = headers.get(log.blockNumber)
    if (header?.hash !== blockHash)
      throw new NodeError('BEHIND', `block ${log.blockNumber} of a log is another one, or none, when it is asked for by itself`)
    return { ...log, blockAt: header.at }
  })
}
