/** Finds logs that a node has left out, by the blooms of its headers: where a block may hold some and none came, somebody else is asked. */
import { type LogFilter, type NodeAnswer, NodeError } from '../../../core/chain.ts'
import type { KnownNode } from './nodes.ts'
import { ask, behind, type Reading, refused, type SyncDeps } from './rpc-reader.ts'

/**
 * Whether the blocks of an answer that are doubted are empty: a bloom says too much of many a block. Another node is asked about these blocks, once;
 * where none can be, or none has them, the same one a second time. Who says so again is believed.
 * @param filter of the logs that were asked for
 * @returns false where they are not, or nobody could say; that is noted of the node
 */
export async function hasAll(
  deps: SyncDeps,
  reading: Reading,
  node: KnownNode,
  filter: LogFilter,
  { doubted, headers }: NodeAnswer,
): Promise<boolean> {
  if (doubted.length === 0) return true
  const hashes = new Map(headers.map((header) => [header?.number, header?.hash]))
  const logs = { ...filter, from: Math.min(...doubted), to: Math.max(...doubted) }
  const others = reading.nodes.others(node).filter(({ notBefore }) => notBefore <= deps.clock.now())
  for (const judge of [...others, node]) {
    const second = await ask(deps, reading, judge, { blocks: doubted, logs })
    if (!second || doubted.some((number, nth) => second.headers[nth]?.hash !== hashes.get(number))) continue
    const hidden = second.logs.find(({ blockNumber }) => doubted.includes(blockNumber))
    if (!hidden) return true
    await refused(deps, reading, node, new NodeError('FAULT', `it left out logs of block ${hidden.blockNumber}, which its header shows`))
    return false
  }
  if (node.notBefore <= deps.clock.now()) await behind(deps, reading, node, `it has other blocks up to ${logs.to} each time it is asked`)
  return false
}
