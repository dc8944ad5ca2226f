/** Handles a node whose block differs from the counted one: rewinds the chain or halts it. */
import { NodeError } from '../../../core/chain.ts'
import { addDeltas, writeAtPosition } from './chain-write.ts'
import type { Checkpoint, Contradiction } from './domain.ts'
import type { NodeState } from './nodes.ts'
import {
  ask,
  type ChainReading,
  recordBehind,
  recordNodeFailure,
  recordRefusal,
  retryStep,
  type Step,
  type SyncDeps,
} from './rpc-reader.ts'

/** Checkpoints per query. */
const checkpointsAtOnce = 20

/** Confirms the other block with the same node and with another one, if there is one, before it rewinds or halts. */
export async function handleFork(deps: SyncDeps, reading: ChainReading, node: NodeState): Promise<Step> {
  const { chain, nodes, sync } = reading
  const { countedTo, countedToHash } = sync
  const answer = await ask(deps, reading, node, { blocks: [countedTo] })
  if (!answer) return retryStep
  const secondHeader = answer.headers[0]
  if (!secondHeader) {
    await recordBehind(deps, reading, node, `it does not have block ${countedTo}, which is counted already`)
    return retryStep
  }
  if (secondHeader.hash === countedToHash) return retryStep
  const otherNodes = nodes.others(node)
  let isConfirmed = otherNodes.length === 0
  for (const other of otherNodes) {
    if (other.notBefore > deps.clock.now()) continue
    const header = (await ask(deps, reading, other, { blocks: [countedTo] }))?.headers[0]
    if (!header) continue
    if (header.hash === countedToHash) {
      nodes.leftOnFork(node)
      await recordNodeFailure(deps, chain, node, `it is on another fork: its block ${countedTo} is not what others have`)
      return retryStep
    }
    isConfirmed = true
    break
  }
  if (!isConfirmed) {
    await recordBehind(deps, reading, node, `its block ${countedTo} is not the one that was counted, and nobody else can be asked just now`)
    return retryStep
  }
  if (!nodes.isByDepth())
    return halt(deps, reading, `block ${countedTo} was final, and ${node.host} has another one now: \`souk chain resync\` reads anew`)
  const found = await lastMatchingCheckpoint(deps, reading, node, countedTo - 1)
  return found ? rewindTo(deps, reading, node, found.checkpoint) : retryStep
}

/**
 * Handles a response that contradicts stored rows. The node counts as faulty and another is asked. If all responding
 * nodes agree, the stored rows are wrong and the chain halts.
 */
export async function handleContradiction(
  deps: SyncDeps,
  reading: ChainReading,
  node: NodeState,
  { message, block }: Contradiction,
): Promise<Step> {
  const { nodes, sync } = reading
  await recordRefusal(deps, reading, node, new NodeError('FAULT', `it answered ${message}`))
  if (!nodes.contradicted(node, `${message} ${block}`)) return retryStep
  const from = block ?? sync.startBlock
  return halt(
    deps,
    reading,
    `all nodes answer ${message}, which is here since block ${from}: \`souk chain resync --chain ${sync.chainId} --from ${from}\` reads anew`,
  )
}

/**
 * Stops reading the chain until an operator runs `souk chain resync`, unless another process holds it or it has moved.
 */
export async function halt(deps: SyncDeps, { sync }: Pick<ChainReading, 'sync'>, haltedBecause: string): Promise<Step> {
  const { clock, log, attestationStore: store } = deps
  const { chainId } = sync
  if (await writeAtPosition(deps, sync, undefined, (tx) => store.change(tx, chainId, { haltedBecause, haltedAt: clock.now() })))
    return { kind: 'BUSY' }
  log.error('chain.halted', { chainId, because: haltedBecause })
  return { kind: 'HALTED' }
}

/**
 * Finds the newest checkpoint up to a block that the node has too.
 * @returns `checkpoint` is undefined if none matches; undefined if the node failed
 */
export async function lastMatchingCheckpoint(
  deps: SyncDeps,
  reading: ChainReading,
  node: NodeState,
  upTo: number,
): Promise<{ checkpoint: Checkpoint | undefined } | undefined> {
  for (let below = upTo; ; ) {
    const checkpoints = await deps.attestationStore.checkpoints(reading.chain.chainId, below, checkpointsAtOnce)
    if (checkpoints.length === 0) return { checkpoint: undefined }
    const answer = await ask(deps, reading, node, { blocks: checkpoints.map(({ blockNumber }) => blockNumber) })
    if (!answer) return undefined
    for (const [nth, checkpoint] of checkpoints.entries()) {
      const header = answer.headers[nth]
      if (!header) {
        await recordBehind(deps, reading, node, `it does not have block ${checkpoint.blockNumber}, which is counted already`)
        return undefined
      }
      if (header.hash === checkpoint.blockHash) return { checkpoint }
    }
    below = (checkpoints.at(-1)?.blockNumber ?? 0) - 1
  }
}

/** Removes what was read after a checkpoint; everything without one. */
async function rewindTo(deps: SyncDeps, { chain, sync }: ChainReading, node: NodeState, checkpoint: Checkpoint | undefined): Promise<Step> {
  const { chainId } = chain
  const to = checkpoint?.blockNumber ?? sync.startBlock - 1
  let removed = 0
  const failure = await writeAtPosition(deps, sync, undefined, async (tx) => {
    const rewound = await deps.attestationStore.rewind(tx, chainId, to)
    removed = rewound.removed
    await addDeltas(tx, deps, chainId, rewound.deltas)
    await deps.attestationStore.change(tx, chainId, {
      countedTo: to,
      countedToHash: checkpoint?.blockHash ?? null,
      countedToAt: checkpoint?.blockAt ?? null,
      provider: node.host,
    })
  })
  if (failure) return { kind: 'BUSY' }
  deps.log.warn('chain.rewound', { chainId, from: sync.countedTo, to, attestations: removed })
  return { kind: 'REWOUND', to }
}
