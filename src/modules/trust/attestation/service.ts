/** Reads attestations of all chains. */
import { locking } from '../../../core/command-context.ts'
import { OperatorError } from '../../../core/errors.ts'
import { leaseOf } from '../../../core/leases.ts'
import type { ChainSetting } from '../../../lib/chain-settings.ts'
import { readBackfill } from './backfill.ts'
import { addDeltas, halt } from './chain-write.ts'
import { type ChainSync, newSync } from './domain.ts'
import { readNewBlocks } from './log-scan.ts'
import type { Nodes } from './nodes.ts'
import { lastMatchingCheckpoint } from './reorg.ts'
import { readRescan } from './rescan.ts'
import { type ChainReading, type Step, StepEnded, type SyncDeps, undefinedIfEnded } from './rpc-reader.ts'

/** How long a run of the job continues, so that another process can take over. */
const runMs = 29_500
const progressEveryMs = 60_000
const reconfigured = 'CHAINS has another contract or an earlier start block than what was read. Run `souk chain resync` to read it again'
/** How often a command tries to get the lease of a chain. The server releases it after each run. */
const leaseTries = { times: 80, everyMs: 500 }

type RunOptions = {
  /** Called after each step. */
  readonly onStep?: (step: Step, chain: ChainSetting) => void | Promise<void>
  /** How long to continue, in milliseconds. */
  readonly maxMs?: number
  /** Reads only this chain. */
  readonly chainId?: number
}

/**
 * Reads all chains in parallel.
 * @returns the last step of each, by chain id
 */
export async function syncChains(deps: SyncDeps, { onStep, maxMs = runMs, chainId }: RunOptions = {}): Promise<Map<number, Step>> {
  const chains = deps.config.chains.filter((chain) => chainId === undefined || chain.chainId === chainId)
  const runs = chains.map(async (chain) => [chain.chainId, await syncChain(deps, chain, maxMs, onStep)] as const)
  // One failure does not stop the other chains.
  await Promise.allSettled(runs)
  return new Map(await Promise.all(runs))
}

/**
 * Runs the job.
 * @returns SKIPPED if a chain waits for its nodes or there is none to read, so that nothing new is known
 * @throws Error with the chains that no node answered for
 */
export async function runSync(deps: SyncDeps): Promise<'SKIPPED' | undefined> {
  for (const { calls } of deps.chainNodes.values()) Object.assign(calls, { asked: 0, answered: 0 })
  const last = await syncChains(deps)
  // Queries that the stop of the process aborts are not failures.
  if (deps.life.stopping) return 'SKIPPED'
  const runs = [...last].map(([chainId, { kind }]) => ({ chainId, kind, asked: 0, answered: 0, ...deps.chainNodes.get(chainId)?.calls }))
  const unansweredChains = runs.filter(({ asked, answered }) => asked > 0 && answered === 0).map(({ chainId }) => chainId)
  if (unansweredChains.length > 0) throw new Error(`nothing was read of chain ${unansweredChains.join(', ')}: no node gave a valid answer`)
  const isRun = runs.some(({ asked }) => asked > 0) && !runs.some(({ asked, kind }) => asked === 0 && kind === 'WAITING')
  return isRun ? undefined : 'SKIPPED'
}

async function syncChain(deps: SyncDeps, chain: ChainSetting, maxMs: number, onStep: RunOptions['onStep']): Promise<Step> {
  const startedAt = deps.clock.monotonic()
  const last = await withLease(deps, chain, async () => {
    for (;;) {
      const step = await runStep(deps, chain)
      await onStep?.(step, chain)
      const isOver = deps.life.stopping || deps.clock.monotonic() - startedAt >= maxMs
      if (isOver || !(step.kind === 'READ' || step.kind === 'RETRY' || step.kind === 'REWOUND')) return step
    }
  })
  return last ?? { kind: 'BUSY' }
}

/** Works with the lease of a chain. Returns undefined if another process holds it. */
async function withLease<T>(deps: SyncDeps, chain: ChainSetting, work: () => Promise<T>): Promise<T | undefined> {
  const { attestationStore: store, db, clock, chainReader } = deps
  const { chainId } = chain
  const isOurs = await db.write(async (tx) => {
    if (!(await store.locked(tx, chainId))) await store.insert(tx, newSync(chain))
    return store.acquireLease(tx, chainId, chainReader, clock.now())
  }, locking)
  if (!isOurs) return undefined
  try {
    return await work()
  } finally {
    await db.write((tx) => store.releaseLease(tx, chainId, chainReader), locking)
  }
}

/** Runs one step: a range of new blocks, then one of a backfill, then one of a rescan. */
async function runStep(deps: SyncDeps, chain: ChainSetting): Promise<Step> {
  const { attestationStore: store, chainNodes } = deps
  const nodes = chainNodes.get(chain.chainId)
  const sync = await store.find(chain.chainId)
  if (!nodes || !sync || sync.haltedBecause !== null) return { kind: 'HALTED' }
  if (sync.contract !== chain.contract || sync.startBlock > chain.startBlock) return endedStep(halt(deps, { sync }, reconfigured))
  const read = await endedStep(readNewBlocks(deps, { chain, nodes, sync }))
  if (read.kind !== 'READ' && read.kind !== 'IDLE') return read
  if (read.kind === 'READ') logProgress(deps, read, sync)
  if (read.kind === 'READ' && nodes.restMs > 0) await deps.sleep(nodes.restMs)
  const steps: Step[] = [read]
  for (const readMore of [readBackfill, readRescan]) {
    const now = await store.find(chain.chainId)
    if (now) steps.push(await endedStep(readMore(deps, { chain, nodes, sync: now })))
  }
  return steps.find(({ kind }) => kind !== 'IDLE') ?? read
}

const endedStep = (step: Promise<Step>): Promise<Step> =>
  step.catch((error: unknown) => {
    if (error instanceof StepEnded) return error.step
    throw error
  })

/** Logs progress once a minute while blocks are read. */
function logProgress(
  { log, clock, chainProgress }: SyncDeps,
  read: Extract<Step, { kind: 'READ' }>,
  { chainId, head, target }: ChainSync,
): void {
  const last = chainProgress.get(chainId)
  const at = clock.monotonic()
  if (last === undefined) chainProgress.set(chainId, { at, block: read.from })
  if (last === undefined || at - last.at < progressEveryMs) return
  chainProgress.set(chainId, { at, block: read.to })
  const blocksPerSecond = Math.round((read.to - last.block) / ((at - last.at) / 1_000))
  log.info('chain.progress', { chainId, countedTo: read.to, target, head, blocksPerSecond })
}

/**
 * Reads a chain again from a block, or from the last block that a node confirms, and ends a halt.
 * @returns the block up to which the chain is counted
 * @throws OperatorError for an unknown chain, if no node answers, or if another process holds the chain
 */
export async function resync(deps: SyncDeps, chainId: number, fromBlock?: number): Promise<{ countedTo: number; removed: number }> {
  const chain = deps.config.chains.find((candidate) => candidate.chainId === chainId)
  const nodes = deps.chainNodes.get(chainId)
  if (!chain || !nodes) throw new OperatorError(`CHAINS doesn't include chain ${chainId}`)
  for (let tries = 0; ; tries++) {
    const result = await withLease(deps, chain, () => resyncLeased(deps, chain, nodes, fromBlock))
    if (result) return result
    if (tries >= leaseTries.times) throw new OperatorError(`Another process is reading chain ${chainId} for a long time. Try again later`)
    await deps.sleep(leaseTries.everyMs)
  }
}

async function resyncLeased(deps: SyncDeps, chain: ChainSetting, nodes: Nodes, fromBlock: number | undefined) {
  const { attestationStore: store, chainReader, clock, db, log } = deps
  const { chainId, contract, startBlock } = chain
  const sync = (await store.find(chainId)) ?? newSync(chain)
  const isReconfigured = sync.contract !== contract || sync.startBlock !== startBlock
  const to = isReconfigured ? undefined : await resyncTo(deps, { chain, nodes, sync }, fromBlock)
  const countedTo = to?.blockNumber ?? startBlock - 1
  const removed = await db.write(async (tx) => {
    const now = await store.locked(tx, chainId)
    if (now?.leaseHolder !== chainReader || now.countedTo !== sync.countedTo)
      throw new OperatorError(`Another process is reading chain ${chainId}. Try again`)
    await store.lockGeneration(tx)
    const rewound = await store.rewind(tx, chainId, isReconfigured ? -1 : countedTo)
    await addDeltas(tx, deps, chainId, rewound.deltas)
    const position = { countedTo, countedToHash: to?.blockHash ?? null, countedToAt: to?.blockAt ?? null }
    const noHalt = { haltedBecause: null, haltedAt: null, rescanEnd: null }
    await store.change(tx, chainId, { contract, startBlock, ...position, ...noHalt, ...leaseOf(chainReader, clock.now()) })
    return rewound.removed
  }, locking)
  log.warn('chain.resynced', { chainId, from: sync.countedTo, to: countedTo, attestations: removed })
  return { countedTo, removed }
}

/** Returns the block to rewind to; undefined for the start of the chain. */
async function resyncTo(deps: SyncDeps, reading: ChainReading, fromBlock: number | undefined) {
  const { chain, nodes, sync } = reading
  if (sync.countedToHash === null || (fromBlock !== undefined && fromBlock <= chain.startBlock)) return undefined
  if (fromBlock !== undefined && fromBlock > sync.countedTo)
    throw new OperatorError(`Chain ${chain.chainId} is counted to block ${sync.countedTo} only`)
  for (const node of nodes.all) {
    if (fromBlock === undefined) {
      const match = lastMatchingCheckpoint(deps, { ...reading, node }, sync.countedTo).then((checkpoint) => ({ checkpoint }))
      const found = await match.catch(undefinedIfEnded)
      if (found) return found.checkpoint
    } else {
      const answer = await node.ask({ blocks: [fromBlock - 1] }, deps.scheduler).catch(() => undefined)
      const header = answer?.headers[0]
      if (header) return { blockNumber: header.number, blockHash: header.hash, blockAt: header.at }
    }
  }
  throw new OperatorError(`No node of chain ${chain.chainId} answers. Nothing was changed`)
}
