/** Reads new blocks of a chain: each step reads one range in one write. */
import { isUniqueViolation } from '../../../../db/engine.ts'
import type { BlockTag } from '../../../core/chain.ts'
import { storeLogs, writeAtPosition } from './chain-write.ts'
import { hasAllLogs } from './consensus-check.ts'
import { Contradiction } from './domain.ts'
import type { NodeState, Tip } from './nodes.ts'
import { handleContradiction, handleFork } from './reorg.ts'
import {
  addBlockTimes,
  ask,
  type ChainReading,
  currentRegistry,
  logFilterOf,
  recordBehind,
  recordNodeFailure,
  retryStep,
  type Step,
  type SyncDeps,
} from './rpc-reader.ts'

/** How often a range is filtered again because the registry changed. */
const registryTries = 5
/**
 * Up to this length, the header of each block is read and its bloom checks for omitted logs. For longer ranges only the
 * last header is read.
 */
const headersMax = 16
/** Checkpoints are thinned once per this number of ranges. */
const thinEvery = 64

/** Reads the next range. The caller holds the lease of the chain. */
export async function readNewBlocks(deps: SyncDeps, reading: ChainReading): Promise<Step> {
  const { nodes, sync } = reading
  const node = nodes.next()
  if (!node) return { kind: 'WAITING', until: nodes.nextAt() }
  if (!node.tip || node.tip.target <= sync.countedTo) {
    const step = await checkHead(deps, reading, node)
    if (step) return step
  }
  return node.tip ? readRange(deps, reading, node, node.tip) : retryStep
}

/**
 * Asks a node for its newest blocks.
 * @returns undefined if there are blocks to read
 */
async function checkHead(deps: SyncDeps, reading: ChainReading, node: NodeState): Promise<Step | undefined> {
  const { nodes, sync } = reading
  const tag = nodes.tag()
  const cursor = sync.countedToHash === null ? [] : [sync.countedTo]
  const blocks: BlockTag[] = [...new Set<BlockTag>(['latest', tag])]
  const answer = await ask(deps, reading, node, { blocks: [...blocks, ...cursor] })
  if (!answer) return retryStep
  const [head, tagged, counted] = [answer.headers[0], answer.headers[blocks.indexOf(tag)], answer.headers[blocks.length]]
  if (answer.lacksFinality) return markWithoutFinality(deps, reading, node)
  if (!head) return retryAfterBehind(deps, reading, node, 'it has no newest block')
  const tip = nodes.tipOf(node, tagged, head.number)
  if (sync.countedToHash !== null) {
    if (!counted) return retryAfterBehind(deps, reading, node, `it does not have block ${sync.countedTo}, which is counted already`)
    if (counted.hash !== sync.countedToHash) return handleFork(deps, reading, node)
    if ((tip?.target ?? -1) < sync.countedTo && nodes.all.length > 1)
      return retryAfterBehind(deps, reading, node, `of its blocks, those up to ${tip?.target ?? 'none'} may be counted`)
  }
  if (tip && tip.target > sync.countedTo) return undefined
  await writeProgress(deps, reading, node, { head: head.number, target: tip?.target ?? null })
  return { kind: 'IDLE' }
}

/** Limits progress writes while there is nothing to read, since each is a commit. */
const progressWriteMs = 15_000

/** Stores how far a node is. */
async function writeProgress(
  deps: SyncDeps,
  { sync }: ChainReading,
  { host }: NodeState,
  { head, target }: { head: number; target: number | null },
) {
  const now = deps.clock.now()
  if (sync.syncedAt !== null && sync.target === target && Math.abs(now - sync.syncedAt) < progressWriteMs) return
  const fields = { head, target, provider: host, syncedAt: now }
  await deps.db.write((tx) => deps.attestationStore.change(tx, sync.chainId, fields), { isolation: 'locking' })
}

async function markWithoutFinality(deps: SyncDeps, { chain, nodes }: ChainReading, node: NodeState): Promise<Step> {
  node.lacksFinality = true
  if (nodes.isByDepth()) {
    const { chainId } = chain
    deps.log.warn('chain.no_finality', {
      chainId,
      confirmations: nodes.confirmations(),
      advice: 'set `confirmations` of the chain in CHAINS',
    })
  } else await recordNodeFailure(deps, chain, node, 'it does not know which blocks are final, and others do')
  return retryStep
}

async function retryAfterBehind(deps: SyncDeps, reading: ChainReading, node: NodeState, what: string): Promise<Step> {
  await recordBehind(deps, reading, node, what)
  return retryStep
}

async function readRange(deps: SyncDeps, reading: ChainReading, node: NodeState, { target, head }: Tip): Promise<Step> {
  const { chain, nodes, sync } = reading
  const [from, to] = [sync.countedTo + 1, Math.min(target, sync.countedTo + nodes.rangeSize().blocks)]
  const startedAt = deps.clock.monotonic()
  const isShort = to - from < headersMax
  const before = isShort ? Array.from({ length: to - from }, (_, nth) => from + nth) : []
  const blocks = [nodes.tag(), to, ...before, ...(sync.countedToHash === null ? [] : [sync.countedTo])]
  const logsAsked = logFilterOf(chain, from, to)
  const answer = await ask(deps, reading, node, { blocks, logs: logsAsked })
  if (!answer) return retryStep
  const [tagged, end] = answer.headers
  const counted = answer.headers[2 + before.length]
  const rangeHeaders = answer.headers.slice(1, 2 + before.length).filter((header) => header !== undefined)
  if (answer.lacksFinality) return markWithoutFinality(deps, reading, node)
  if (sync.countedToHash !== null && counted && counted.hash !== sync.countedToHash) return handleFork(deps, reading, node)
  if (!tagged || !end || rangeHeaders.length <= before.length || (sync.countedToHash !== null && !counted))
    return retryAfterBehind(deps, reading, node, `it does not have blocks that it had before, up to ${to}`)
  const tip = nodes.tipOf(node, tagged, undefined)
  if (!tip || tip.target < to)
    return retryAfterBehind(deps, reading, node, `of its blocks, those up to ${tip?.target ?? 'none'} may be counted`)
  if (!(await hasAllLogs(deps, reading, node, logsAsked, answer))) return retryStep

  for (let nth = 0; nth < registryTries; nth++) {
    const registry = await currentRegistry(deps)
    const registeredLogs = answer.logs.filter(({ attester }) => registry.addresses.has(attester))
    const logs = await addBlockTimes(deps, reading, node, registeredLogs, rangeHeaders)
    if (!logs) return retryStep
    const turn = await deps.pace.enter()
    try {
      const write = (areNew: boolean) =>
        writeAtPosition(deps, sync, registry, async (tx) => {
          await storeLogs(tx, deps, chain.chainId, logs, registry, areNew)
          await deps.attestationStore.insertCheckpoint(tx, {
            chainId: chain.chainId,
            blockNumber: to,
            blockHash: end.hash,
            blockAt: end.at,
          })
          const progress = { head: Math.max(head, tip.head), target: tip.target, provider: node.host, syncedAt: deps.clock.now() }
          await deps.attestationStore.change(tx, chain.chainId, {
            countedTo: to,
            countedToHash: end.hash,
            countedToAt: end.at,
            ...progress,
          })
          if (nodes.chunks++ % thinEvery === thinEvery - 1) await deps.attestationStore.thinCheckpoints(tx, chain.chainId)
        })
      // Nearly all logs are new. Looking each up first costs a sixth of the time.
      const failure = await write(true).catch((error: unknown) => {
        if (isUniqueViolation(error)) return write(false)
        throw error
      })
      if (failure === 'LOST') return { kind: 'BUSY' }
      if (failure === 'REGISTRY') continue
      const isContended = await turn.rest()
      const ms = deps.clock.monotonic() - startedAt
      nodes.recordRange({ blocks: to - from + 1, logs: answer.logs.length, bytes: answer.bytes, ms, isContended })
      deps.chainLogs.set(chain.chainId, (deps.chainLogs.get(chain.chainId) ?? 0) + logs.length)
      return { kind: 'READ', from, to, logs: answer.logs.length }
    } catch (error) {
      if (!(error instanceof Contradiction)) throw error
      return handleContradiction(deps, reading, node, error)
    } finally {
      turn.leave()
    }
  }
  return retryStep
}
