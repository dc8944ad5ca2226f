/** What every reading of a chain does: asking a node and noting what it fails of, and the registry by which logs are kept. */
import { type ChainLog, type Header, type NodeAnswer, NodeError, type NodeQuery } from '../../../core/chain.ts'
import type { ChainSetting } from '../../../lib/chain-settings.ts'
import type { Pace } from '../../../lib/cooperative-scheduler.ts'
import { allSchemaUids, type ChainSync, type KnownLog, type Registry } from './domain.ts'
import type { KnownNode, Nodes } from './nodes.ts'
import type { AttestationDeps } from './providers.ts'

/** Whoever reads chains takes turns at the thread with others. */
export type SyncDeps = AttestationDeps & { readonly pace: Pick<Pace, 'enter'> }

/** A chain, its nodes, and how far it is read. */
export type Reading = { readonly chain: ChainSetting; readonly nodes: Nodes; readonly sync: ChainSync }

/** What came of a step. */
export type Step =
  | { readonly kind: 'READ'; readonly from: number; readonly to: number; readonly logs: number }
  /** What may be counted is. */
  | { readonly kind: 'IDLE' }
  /** A node did not give what it should; another, or the same with less, may be asked at once. */
  | { readonly kind: 'AGAIN' }
  /** No node may be asked before that moment, in milliseconds. */
  | { readonly kind: 'WAITING'; readonly until: number }
  | { readonly kind: 'REWOUND'; readonly to: number }
  | { readonly kind: 'HALTED' }
  /** Another process reads the chain. */
  | { readonly kind: 'BUSY' }

export const again: Step = { kind: 'AGAIN' }

/** Of how many blocks the headers are asked at once: each names all transactions of its block. With the chain's id they are fifty calls. */
const headersMax = 49

/** @returns undefined where the node failed, which is noted then */
export async function ask(
  deps: SyncDeps,
  { chain, nodes }: Reading,
  node: KnownNode,
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
    await refused(deps, { chain, nodes }, node, error, logs && logs.to - logs.from + 1)
    return undefined
  }
}

/** Notes that a node did not give what was asked for. @param asked how many blocks of logs, if any */
export async function refused(
  deps: SyncDeps,
  { chain, nodes }: Pick<Reading, 'chain' | 'nodes'>,
  node: KnownNode,
  error: NodeError,
  asked?: number,
): Promise<void> {
  nodes.refused(node, error, asked)
  deps.chainFailures.add(`${chain.chainId} ${error.kind}`)
  // To ask for less is no trouble, unless there is no less.
  if (error.kind === 'RANGE' && asked !== undefined && asked > 1) return
  await note(deps, chain, node, error.report)
}

/** A node that does not have what it must have, if it had come as far as it is asked about. */
export const behind = (deps: SyncDeps, reading: Reading, node: KnownNode, what: string): Promise<void> =>
  refused(deps, reading, node, new NodeError('BEHIND', what))

/** Says in the log and in the status of a chain what a node failed of. */
export async function note(deps: SyncDeps, { chainId }: ChainSetting, { host }: Pick<KnownNode, 'host'>, problem: string): Promise<void> {
  // What is under way when the process stops fails by that.
  if (deps.life.stopping) return
  deps.log.warn('chain.node_failed', { chainId, provider: host, problem })
  const fields = { lastError: `${host}: ${problem}`, lastErrorAt: deps.clock.now() }
  await deps.db.write((tx) => deps.attestationStore.change(tx, chainId, fields), { isolation: 'locking' })
}

/** The registry as of now. It is read anew when it has changed. */
export async function registryNow({ attestationStore: store, knownRegistry }: SyncDeps): Promise<Registry> {
  if (knownRegistry.is?.generation !== (await store.generation())) knownRegistry.is = await store.registry()
  return knownRegistry.is as Registry
}

/** Which logs of a chain are read. */
export const filterOf = ({ contract }: ChainSetting, from: number, to: number, attesters?: readonly string[]) => ({
  contract,
  schemaUids: allSchemaUids,
  attesters,
  from,
  to,
})

/**
 * Gives logs the times of their blocks, by the headers of the same node, which must be those of the logs.
 * @param known headers that are there already
 * @returns undefined where the node does not have them, or others
 */
export async function timed(
  deps: SyncDeps,
  reading: Reading,
  node: KnownNode,
  logs: readonly ChainLog[],
  known: readonly Header[] = [],
): Promise<KnownLog[] | undefined> {
  const headers = new Map(known.map((header) => [header.number, header]))
  const missing = [...new Set(logs.map(({ blockNumber }) => blockNumber))].filter((number) => !headers.has(number))
  for (let from = 0; from < missing.length; from += headersMax) {
    const answer = await ask(deps, reading, node, { blocks: missing.slice(from, from + headersMax) })
    if (!answer) return undefined
    for (const header of answer.headers) if (header) headers.set(header.number, header)
  }
  const told: KnownLog[] = []
  for (const log of logs) {
    const header = headers.get(log.blockNumber)
    if (header?.hash !== log.blockHash) {
      await behind(deps, reading, node, `block ${log.blockNumber} of a log is another one, or none, when it is asked for by itself`)
      return undefined
    }
    const { kind, uid, schemaUid, attester, recipient, blockNumber } = log
    told.push({ kind, uid, schemaUid, attester, recipient, blockNumber, blockAt: header.at })
  }
  return told
}
