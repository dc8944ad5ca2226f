/** Reads new blocks of a chain: each step reads one range in one write. */
import type { BlockTag } from '../../../core/chain.ts'
import { storeLogs, writeRange } from './chain-write.ts'
import type { Tip } from './nodes.ts'
import { handleFork } from './reorg.ts'
import {
  addBlockTimes,
  ask,
  assertAllLogs,
  type ChainReading,
  currentRegistry,
  endForLaggingNode,
  logFilterOf,
  type NodeReading,
  recordNodeFailure,
  type Step,
  type SyncDeps,
} from './rpc-reader.ts'

/**
 * Up to this length, the header of each block is read and its bloom checks for omitted logs. For longer ranges only the
 * last header is read.
 */
const headersMax = 16
/** Checkpoints are thinned once per this number of ranges. */
const thinEvery = 64
/** Limits progress writes while there is nothing to read, since each is a commit. */
const progressWriteMs = 15_000

/** Reads the next range. The caller holds the lease of the chain. */
export async function readNewBlocks(deps: SyncDeps, chainReading: ChainReading): Promise<Step> {
  const { nodes, sync } = chainReading
  const node = nodes.next()
  if (!node) return { kind: 'WAITING', until: nodes.nextAt() }
  const reading = { ...chainReading, node }
  return node.tip && node.tip.target > sync.countedTo ? readRange(deps, reading, node.tip) : checkHead(deps, reading)
}

/** Asks a node for its newest blocks, and reads the next range if they may be counted. */
async function checkHead(deps: SyncDeps, reading: NodeReading): Promise<Step> {
  const { node, nodes, sync } = reading
  const tag = nodes.tag()
  const cursor = sync.countedToHash === null ? [] : [sync.countedTo]
  const blocks: BlockTag[] = [...new Set<BlockTag>(['latest', tag])]
  const answer = await ask(deps, reading, { blocks: [...blocks, ...cursor] })
  const [head, tagged, counted] = [answer.headers[0], answer.headers[blocks.indexOf(tag)], answer.headers[blocks.length]]
  if (answer.lacksFinality) return markWithoutFinality(deps, reading)
  if (!head) return endForLaggingNode(deps, reading, 'it has no newest block')
  const tip = nodes.tipOf(node, tagged, head.number)
  if (sync.countedToHash !== null) {
    if (!counted) return endForLaggingNode(deps, reading, `it does not have block ${sync.countedTo}, which is counted already`)
    if (counted.hash !== sync.countedToHash) return handleFork(deps, reading)
    if ((tip?.target ?? -1) < sync.countedTo && nodes.all.length > 1) return endBelow(deps, reading, tip)
  }
  if (tip && tip.target > sync.countedTo) return readRange(deps, reading, tip)
  const progress = { head: head.number, target: tip?.target ?? null, provider: node.host, syncedAt: deps.clock.now() }
  const isKnown = sync.syncedAt !== null && Math.abs(progress.syncedAt - sync.syncedAt) < progressWriteMs
  if (!isKnown || sync.target !== progress.target)
    await deps.db.write((tx) => deps.attestationStore.change(tx, sync.chainId, progress), { isolation: 'locking' })
  return { kind: 'IDLE' }
}

async function markWithoutFinality(deps: SyncDeps, { chain, node, nodes }: NodeReading): Promise<Step> {
  node.lacksFinality = true
  if (nodes.isByDepth()) {
    const advice = 'Set `confirmations` of the chain in CHAINS'
    deps.log.warn('chain.no_finality', { chainId: chain.chainId, confirmations: nodes.confirmations(), advice })
  } else await recordNodeFailure(deps, chain, node, 'it does not know which blocks are final, and others do')
  return { kind: 'RETRY' }
}

const endBelow = (deps: SyncDeps, reading: NodeReading, tip: Tip | undefined) =>
  endForLaggingNode(deps, reading, `of its blocks, those up to ${tip?.target ?? 'none'} may be counted`)

async function readRange(deps: SyncDeps, reading: NodeReading, { target, head }: Tip): Promise<Step> {
  const { attestationStore: store, chainLogs, clock } = deps
  const { chain, node, nodes, sync } = reading
  const { chainId } = chain
  const [from, to] = [sync.countedTo + 1, Math.min(target, sync.countedTo + nodes.rangeSize().blocks)]
  const startedAt = clock.monotonic()
  const before = to - from < headersMax ? Array.from({ length: to - from }, (_, nth) => from + nth) : []
  const blocks = [nodes.tag(), to, ...before, ...(sync.countedToHash === null ? [] : [sync.countedTo])]
  const filter = logFilterOf(chain, from, to)
  const answer = await ask(deps, reading, { blocks, logs: filter })
  const [tagged, end] = answer.headers
  const counted = answer.headers[2 + before.length]
  const rangeHeaders = answer.headers.slice(1, 2 + before.length).filter((header) => header !== undefined)
  if (answer.lacksFinality) return markWithoutFinality(deps, reading)
  if (sync.countedToHash !== null && counted && counted.hash !== sync.countedToHash) return handleFork(deps, reading)
  if (!tagged || !end || rangeHeaders.length <= before.length || (sync.countedToHash !== null && !counted))
    return endForLaggingNode(deps, reading, `it does not have blocks that it had before, up to ${to}`)
  const tip = nodes.tipOf(node, tagged, undefined)
  if (!tip || tip.target < to) return endBelow(deps, reading, tip)
  await assertAllLogs(deps, reading, filter, answer)
  const registry = await currentRegistry(deps)
  const registeredLogs = answer.logs.filter(({ attester }) => registry.addresses.has(attester))
  const logs = await addBlockTimes(deps, reading, registeredLogs, rangeHeaders)
  const step = await writeRange(deps, reading, registry, { from, to, startedAt, answer }, async (tx) => {
    await storeLogs(tx, deps, chainId, logs, registry)
    await store.insertCheckpoint(tx, { chainId, blockNumber: to, blockHash: end.hash, blockAt: end.at })
    const progress = { head: Math.max(head, tip.head), target: tip.target, provider: node.host, syncedAt: clock.now() }
    await store.change(tx, chainId, { countedTo: to, countedToHash: end.hash, countedToAt: end.at, ...progress })
    if (nodes.chunks++ % thinEvery === thinEvery - 1) await store.thinCheckpoints(tx, chainId)
  })
  if (step.kind === 'READ') chainLogs.add(String(chainId), logs.length)
  return step
}
