/** Handles a node whose block differs from the counted one: rewinds the chain or halts it. */
import { addDeltas, halt, writeAtPosition } from './chain-write.ts'
import type { Checkpoint } from './domain.ts'
import { ask, endForLaggingNode, type NodeReading, recordNodeFailure, type Step, type SyncDeps, undefinedIfEnded } from './rpc-reader.ts'

/** Checkpoints per query. */
const checkpointsPerQuery = 20

/** Confirms the other block with the same node and with another one, if there is one, before it rewinds or halts. */
export async function handleFork(deps: SyncDeps, reading: NodeReading): Promise<Step> {
  const { chain, node, nodes, sync } = reading
  const { countedTo, countedToHash } = sync
  const [secondHeader] = (await ask(deps, reading, { blocks: [countedTo] })).headers
  if (!secondHeader) return endForLaggingNode(deps, reading, `it does not have block ${countedTo}, which is counted already`)
  if (secondHeader.hash === countedToHash) return { kind: 'RETRY' }
  const otherNodes = nodes.otherNodes(node)
  let isConfirmed = otherNodes.length === 0
  for (const other of otherNodes) {
    if (other.notBefore > deps.clock.now()) continue
    const answer = await ask(deps, { ...reading, node: other }, { blocks: [countedTo] }).catch(undefinedIfEnded)
    const header = answer?.headers[0]
    if (!header) continue
    if (header.hash === countedToHash) {
      nodes.pauseOnFork(node)
      await recordNodeFailure(deps, chain, node, `it is on another fork: its block ${countedTo} is not what others have`)
      return { kind: 'RETRY' }
    }
    isConfirmed = true
    break
  }
  if (!isConfirmed)
    return endForLaggingNode(deps, reading, `its block ${countedTo} is not the one that was counted, and nobody else can be asked just now`)
  if (!nodes.isByDepth())
    return halt(
      deps,
      reading,
      `block ${countedTo} was final, and ${node.host} has another one now: \`souk chain resync\` reads the chain again`,
    )
  return rewindTo(deps, reading, await lastMatchingCheckpoint(deps, reading, countedTo - 1))
}

/**
 * Finds the newest checkpoint up to a block that the node has too.
 * @returns undefined if none matches
 */
export async function lastMatchingCheckpoint(deps: SyncDeps, reading: NodeReading, upTo: number): Promise<Checkpoint | undefined> {
  for (let below = upTo; ; ) {
    const checkpoints = await deps.attestationStore.checkpoints(reading.chain.chainId, below, checkpointsPerQuery)
    if (checkpoints.length === 0) return undefined
    const { headers } = await ask(deps, reading, { blocks: checkpoints.map(({ blockNumber }) => blockNumber) })
    for (const [nth, checkpoint] of checkpoints.entries()) {
      const header = headers[nth]
      if (!header) return endForLaggingNode(deps, reading, `it does not have block ${checkpoint.blockNumber}, which is counted already`)
      if (header.hash === checkpoint.blockHash) return checkpoint
    }
    below = (checkpoints.at(-1)?.blockNumber ?? 0) - 1
  }
}

/** Removes what was read after a checkpoint; everything without one. */
async function rewindTo(deps: SyncDeps, reading: NodeReading, checkpoint: Checkpoint | undefined): Promise<Step> {
  const { attestationStore: store, log } = deps
  const { node, sync } = reading
  const { chainId } = sync
  const { blockNumber: to, blockHash, blockAt } = checkpoint ?? { blockNumber: sync.startBlock - 1, blockHash: null, blockAt: null }
  let attestations = 0
  await writeAtPosition(deps, reading, undefined, async (tx) => {
    const { removed, deltas } = await store.rewind(tx, chainId, to)
    attestations = removed
    await addDeltas(tx, deps, chainId, deltas)
    await store.change(tx, chainId, { countedTo: to, countedToHash: blockHash, countedToAt: blockAt, provider: node.host })
  })
  log.warn('chain.rewound', { chainId, from: sync.countedTo, to, attestations })
  return { kind: 'REWOUND', to }
}
