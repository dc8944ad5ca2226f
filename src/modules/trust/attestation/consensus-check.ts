/**
 * Detects logs that a node omitted. If the bloom filter of a block may hold logs and none came, another node is asked.
 */
import { type LogFilter, type NodeAnswer, NodeError } from '../../../core/chain.ts'
import type { NodeState } from './nodes.ts'
import { ask, type ChainReading, recordBehind, recordRefusal, type SyncDeps } from './rpc-reader.ts'

/**
 * Verifies that doubted blocks are empty, since blooms have false positives. Another node is asked about them once;
 * without one, the same node is asked again. A second empty answer is accepted.
 * @param filter of the logs that were requested
 * @returns false if logs were omitted or no node could answer; the failure is recorded
 */
export async function hasAllLogs(
  deps: SyncDeps,
  reading: ChainReading,
  node: NodeState,
  filter: LogFilter,
  { missedBlocks, headers }: NodeAnswer,
): Promise<boolean> {
  if (missedBlocks.length === 0) return true
  const hashes = new Map(headers.map((header) => [header?.number, header?.hash]))
  const logs = { ...filter, from: Math.min(...missedBlocks), to: Math.max(...missedBlocks) }
  const otherNodes = reading.nodes.others(node).filter(({ notBefore }) => notBefore <= deps.clock.now())
  for (const witness of [...otherNodes, node]) {
    const second = await ask(deps, reading, witness, { blocks: missedBlocks, logs })
    if (!second || missedBlocks.some((number, nth) => second.headers[nth]?.hash !== hashes.get(number))) continue
    const omittedLog = second.logs.find(({ blockNumber }) => missedBlocks.includes(blockNumber))
    if (!omittedLog) return true
    await recordRefusal(
      deps,
      reading,
      node,
      new NodeError('FAULT', `it left out logs of block ${omittedLog.blockNumber}, which its header shows`),
    )
    return false
  }
  if (node.notBefore <= deps.clock.now())
    await recordBehind(deps, reading, node, `it has other blocks up to ${logs.to} each time it is asked`)
  return false
}
