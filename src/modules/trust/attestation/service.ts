/** Keeps what is counted of every chain as the chain has it. */
import { locking } from '../../../core/command-context.ts'
import { OperatorError } from '../../../core/errors.ts'
import { leaseOf, noLease } from '../../../core/leases.ts'
import type { ChainSetting } from '../../../lib/chain-settings.ts'
import { backfillOn } from './backfill.ts'
import type { ChainSync } from './domain.ts'
import { readOn } from './log-scan.ts'
import { halt, lastStanding } from './reorg.ts'
import { rescanOn } from './rescan.ts'
import { addDeltas } from './retention.ts'
import type { Reading, Step, SyncDeps } from './rpc-reader.ts'

/** How long a run of the job goes on while there is something to read: whoever else wants the chain gets it then. */
const runMs = 29_500
const progressEveryMs = 60_000
/** How often a command asks whether a chain is free, which the server leaves after each run. */
const leaseTries = { times: 80, everyMs: 500 }

export type RunOptions = {
  /** Told after each step. */
  readonly stepped?: (step: Step, chain: ChainSetting) => void | Promise<void>
  /** How long to go on while there is something to read. */
  readonly forMs?: number
  /** Only that chain. */
  readonly chainId?: number
}

/** Reads all chains on, side by side. @returns the last step of each, by chain id */
export async function syncChains(deps: SyncDeps, { stepped, forMs = runMs, chainId }: RunOptions = {}): Promise<Map<number, Step>> {
  const chains = deps.config.chains.filter((chain) => chainId === undefined || chain.chainId === chainId)
  const runs = await Promise.allSettled(
    chains.map(async (chain): Promise<[number, Step]> => [chain.chainId, await syncChain(deps, chain, forMs, stepped)]),
  )
  // What one fails of keeps no other from its end.
  const last = runs.map((run) => {
    if (run.status === 'rejected') throw run.reason
    return run.value
  })
  return new Map(last)
}

/**
 * A run of the job: reads all chains on, and says whether that was one.
 * @returns SKIPPED where a chain waits until its nodes may be asked again, or none is to be read: nothing is known then that was not before
 * @throws Error naming the chains of which no node answered
 */
export async function runSync(deps: SyncDeps): Promise<'SKIPPED' | undefined> {
  const before = new Map([...deps.chainNodes].map(([chainId, { calls }]) => [chainId, { ...calls }]))
  const last = await syncChains(deps)
  // What is under way when the process stops fails by that.
  if (deps.life.stopping) return 'SKIPPED'
  const runs = [...last].map(([chainId, { kind }]) => {
    const [then, now] = [before.get(chainId), deps.chainNodes.get(chainId)?.calls]
    const since = (what: 'asked' | 'answered') => (now?.[what] ?? 0) - (then?.[what] ?? 0)
    return { chainId, kind, asked: since('asked'), answered: since('answered') }
  })
  const silent = runs.filter(({ asked, answered }) => asked > 0 && answered === 0).map(({ chainId }) => chainId)
  if (silent.length > 0) throw new Error(`nothing was read of chain ${silent.join(', ')}: no node answers as it should`)
  const isOne = runs.some(({ asked }) => asked > 0) && !runs.some(({ asked, kind }) => asked === 0 && kind === 'WAITING')
  return isOne ? undefined : 'SKIPPED'
}

async function syncChain(deps: SyncDeps, chain: ChainSetting, forMs: number, stepped: RunOptions['stepped']): Promise<Step> {
  if (!(await take(deps, chain))) return { kind: 'BUSY' }
  const startedAt = deps.clock.monotonic()
  try {
    for (;;) {
      const step = await chainStep(deps, chain)
      await stepped?.(step, chain)
      const isOver = deps.life.stopping || deps.clock.monotonic() - startedAt >= forMs
      if (isOver || !(step.kind === 'READ' || step.kind === 'AGAIN' || step.kind === 'REWOUND')) return step
    }
  } finally {
    await deps.db.write((tx) => deps.attestationStore.leave(tx, chain.chainId, deps.chainReader), locking)
  }
}

/** The chain is this process's from here on, for as long as its lease goes; false where it is another's. */
async function take(deps: SyncDeps, { chainId, contract, startBlock }: ChainSetting): Promise<boolean> {
  const { attestationStore: store, db, clock, chainReader } = deps
  return db.write(async (tx) => {
    if (!(await store.locked(tx, chainId))) await store.insert(tx, begun(chainId, contract, startBlock))
    return store.take(tx, chainId, chainReader, clock.now())
  }, locking)
}

const begun = (chainId: number, contract: string, startBlock: number): ChainSync => ({
  chainId,
  contract,
  startBlock,
  countedTo: startBlock - 1,
  countedToHash: null,
  countedToAt: null,
  head: null,
  target: null,
  provider: null,
  syncedAt: null,
  lastError: null,
  lastErrorAt: null,
  haltedBecause: null,
  haltedAt: null,
  rescannedAt: null,
  rescannedTo: null,
  rescanEnd: null,
  rescanMissing: null,
  rescanUnknown: null,
  ...noLease,
})

/** One step of a chain that this process has: a range of what is new, then one of a backfill, then one of a rescan. */
async function chainStep(deps: SyncDeps, chain: ChainSetting): Promise<Step> {
  const { attestationStore: store, chainNodes } = deps
  const nodes = chainNodes.get(chain.chainId)
  const sync = await store.find(chain.chainId)
  if (!nodes || !sync || sync.haltedBecause !== null) return { kind: 'HALTED' }
  if (sync.contract !== chain.contract || sync.startBlock > chain.startBlock)
    return halt(
      deps,
      { sync },
      'CHAINS names another contract, or an earlier block to begin at, than what was read: `souk chain resync` reads anew',
    )
  const read = await readOn(deps, { chain, nodes, sync })
  if (read.kind !== 'READ' && read.kind !== 'IDLE') return read
  if (read.kind === 'READ') tellProgress(deps, read, sync)
  if (read.kind === 'READ' && nodes.restMs > 0) await deps.sleep(nodes.restMs)
  const steps: Step[] = [read]
  for (const more of [backfillOn, rescanOn]) {
    const now = await store.find(chain.chainId)
    if (now) steps.push(await more(deps, { chain, nodes, sync: now }))
  }
  return steps.find(({ kind }) => kind !== 'IDLE') ?? read
}

/** A line of the log now and then, while there is much to read. */
function tellProgress(
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
 * Reads a chain anew, from a block on or from the last one of which a node says the same as we do, and lets it go on where it was halted.
 * @returns up to which block it is counted then
 * @throws OperatorError where the chain is not known, a node cannot be asked, or another process does not leave it
 */
export async function resync(deps: SyncDeps, chainId: number, fromBlock?: number): Promise<{ countedTo: number; removed: number }> {
  const { attestationStore: store, chainNodes, chainReader, clock, db, log } = deps
  const chain = deps.config.chains.find((one) => one.chainId === chainId)
  const nodes = chainNodes.get(chainId)
  if (!chain || !nodes) throw new OperatorError(`CHAINS has no chain ${chainId}`)
  for (let tries = 0; !(await take(deps, chain)); tries++) {
    if (tries >= leaseTries.times) throw new OperatorError(`Another process reads chain ${chainId} and does not leave it: try again`)
    await deps.sleep(leaseTries.everyMs)
  }
  try {
    const sync = await store.find(chainId)
    if (!sync) throw new OperatorError(`Nothing was read of chain ${chainId}`)
    const isMoved = sync.contract !== chain.contract || sync.startBlock !== chain.startBlock
    const to = isMoved ? undefined : await resyncTo(deps, { chain, nodes, sync }, fromBlock)
    const block = to?.number ?? chain.startBlock - 1
    let removed = 0
    await db.write(async (tx) => {
      const now = await store.locked(tx, chainId)
      if (now?.leaseHolder !== chainReader || now.countedTo !== sync.countedTo)
        throw new OperatorError(`Another process reads chain ${chainId}: try again`)
      await store.heldGeneration(tx)
      const rewound = await store.rewind(tx, chainId, isMoved ? -1 : block)
      removed = rewound.removed
      await addDeltas(tx, deps, chainId, rewound.deltas)
      await store.change(tx, chainId, {
        contract: chain.contract,
        startBlock: chain.startBlock,
        countedTo: block,
        countedToHash: to?.hash ?? null,
        countedToAt: to?.at ?? null,
        haltedBecause: null,
        haltedAt: null,
        rescanEnd: null,
        ...leaseOf(chainReader, clock.now()),
      })
    }, locking)
    log.warn('chain.resynced', { chainId, from: sync.countedTo, to: block, attestations: removed })
    return { countedTo: block, removed }
  } finally {
    await db.write((tx) => store.leave(tx, chainId, chainReader), locking)
  }
}

/** The block to which a chain is taken back; undefined for its beginning. */
async function resyncTo(deps: SyncDeps, reading: Reading, fromBlock: number | undefined) {
  const { chain, nodes, sync } = reading
  if (sync.countedToHash === null || (fromBlock !== undefined && fromBlock <= chain.startBlock)) return undefined
  if (fromBlock !== undefined && fromBlock > sync.countedTo)
    throw new OperatorError(`Chain ${chain.chainId} is counted to block ${sync.countedTo} only`)
  for (const node of nodes.all) {
    if (fromBlock === undefined) {
      const found = await lastStanding(deps, reading, node, sync.countedTo)
      if (found)
        return found.checkpoint && { number: found.checkpoint.blockNumber, hash: found.checkpoint.blockHash, at: found.checkpoint.blockAt }
    } else {
      const header = await node.ask({ blocks: [fromBlock - 1] }, deps.pace).catch(() => undefined)
      if (header?.headers[0]) return header.headers[0]
    }
  }
  throw new OperatorError(`No node of chain ${chain.chainId} could be asked: nothing was changed`)
}
