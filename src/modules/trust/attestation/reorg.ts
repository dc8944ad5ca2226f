/** What is done where a node has another block than the one that is counted to: blocks are taken back, or nothing is read any more. */
import { NodeError } from '../../../core/chain.ts'
import type { Checkpoint, Contradiction } from './domain.ts'
import type { KnownNode } from './nodes.ts'
import { addDeltas, keep } from './retention.ts'
import { again, ask, behind, note, type Reading, refused, type Step, type SyncDeps } from './rpc-reader.ts'

/** Checkpoints that a node is asked about at once. */
const checkpointsAtOnce = 20

/** Believes it only when it says so again and another node, if there is one to ask, says so too. */
export async function onOtherFork(deps: SyncDeps, reading: Reading, node: KnownNode): Promise<Step> {
  const { chain, nodes, sync } = reading
  const { countedTo, countedToHash } = sync
  const once = await ask(deps, reading, node, { blocks: [countedTo] })
  if (!once) return again
  const said = once.headers[0]
  if (!said) {
    await behind(deps, reading, node, `it does not have block ${countedTo}, which is counted already`)
    return again
  }
  if (said.hash === countedToHash) return again
  const others = nodes.others(node)
  let isConfirmed = others.length === 0
  for (const other of others) {
    if (other.notBefore > deps.clock.now()) continue
    const header = (await ask(deps, reading, other, { blocks: [countedTo] }))?.headers[0]
    if (!header) continue
    if (header.hash === countedToHash) {
      nodes.strayed(node)
      await note(deps, chain, node, `it is on another fork: its block ${countedTo} is not what others have`)
      return again
    }
    isConfirmed = true
    break
  }
  if (!isConfirmed) {
    await behind(deps, reading, node, `its block ${countedTo} is not the one that was counted, and nobody else can be asked just now`)
    return again
  }
  if (!nodes.isByDepth())
    return halt(deps, reading, `block ${countedTo} was final, and ${node.host} has another one now: \`souk chain resync\` reads anew`)
  const found = await lastStanding(deps, reading, node, countedTo - 1)
  return found ? takeBack(deps, reading, node, found.checkpoint) : again
}

/**
 * What a node says cannot be so beside what is here. It is a fault of that node, and another is asked; where all who answer say so, and at least
 * twice, what is here is wrong, and nothing can be read any more.
 */
export async function onContradiction(deps: SyncDeps, reading: Reading, node: KnownNode, { message, block }: Contradiction): Promise<Step> {
  const { nodes, sync } = reading
  await refused(deps, reading, node, new NodeError('FAULT', `it answered ${message}`))
  if (!nodes.contradicted(node, `${message} ${block}`)) return again
  const from = block ?? sync.startBlock
  return halt(
    deps,
    reading,
    `all nodes answer ${message}, which is here since block ${from}: \`souk chain resync --chain ${sync.chainId} --from ${from}\` reads anew`,
  )
}

/** Nothing of the chain is read any more until an operator says so; unless it is another process's by now, or not where it was. */
export async function halt(deps: SyncDeps, { sync }: Pick<Reading, 'sync'>, haltedBecause: string): Promise<Step> {
  const { clock, log, attestationStore: store } = deps
  const { chainId } = sync
  if (await keep(deps, sync, undefined, (tx) => store.change(tx, chainId, { haltedBecause, haltedAt: clock.now() })))
    return { kind: 'BUSY' }
  log.error('chain.halted', { chainId, because: haltedBecause })
  return { kind: 'HALTED' }
}

/**
 * The newest checkpoint that a node has too, at or under a block.
 * @returns `checkpoint` undefined where none stands; undefined where the node cannot say
 */
export async function lastStanding(
  deps: SyncDeps,
  reading: Reading,
  node: KnownNode,
  upTo: number,
): Promise<{ checkpoint: Checkpoint | undefined } | undefined> {
  for (let below = upTo; ; ) {
    const some = await deps.attestationStore.checkpoints(reading.chain.chainId, below, checkpointsAtOnce)
    if (some.length === 0) return { checkpoint: undefined }
    const answer = await ask(deps, reading, node, { blocks: some.map(({ blockNumber }) => blockNumber) })
    if (!answer) return undefined
    for (const [nth, checkpoint] of some.entries()) {
      const header = answer.headers[nth]
      if (!header) {
        await behind(deps, reading, node, `it does not have block ${checkpoint.blockNumber}, which is counted already`)
        return undefined
      }
      if (header.hash === checkpoint.blockHash) return { checkpoint }
    }
    below = (some.at(-1)?.blockNumber ?? 0) - 1
  }
}

/** Takes back what was read after a checkpoint, all of it where there is none. */
async function takeBack(deps: SyncDeps, { chain, sync }: Reading, node: KnownNode, checkpoint: Checkpoint | undefined): Promise<Step> {
  const { chainId } = chain
  const to = checkpoint?.blockNumber ?? sync.startBlock - 1
  let removed = 0
  const kept = await keep(deps, sync, undefined, async (tx) => {
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
  if (kept) return { kind: 'BUSY' }
  deps.log.warn('chain.rewound', { chainId, from: sync.countedTo, to, attestations: removed })
  return { kind: 'REWOUND', to }
}
