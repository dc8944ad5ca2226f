/** Writes what was read of a chain, if the process still holds the lease and the registry has not changed. */
import type { Writer } from '../../../../db/engine.ts'
import { type NodeAnswer, NodeError } from '../../../core/chain.ts'
import { locking } from '../../../core/command-context.ts'
import { leaseOf } from '../../../core/leases.ts'
import { addCounts } from '../fabric/index.ts'
import { type ChainSync, Contradiction, changesOfLogs, type Deltas, type Registry, type TimedLog } from './domain.ts'
import { readStoredRows, writeLogChanges } from './logs-store.ts'
import { type ChainReading, endForFailure, type NodeReading, type Step, StepEnded, type SyncDeps, undefinedIfEnded } from './rpc-reader.ts'

/**
 * Runs a write that locks the chain, then the registry, and renews the lease.
 * @param sync the chain when it was read
 * @param registry the registry that was used; undefined if none was
 * @throws StepEnded if another process holds the chain, its position changed, or the registry changed
 */
export async function writeAtPosition(
  { attestationStore: store, db, clock, chainReader }: SyncDeps,
  { sync: before }: Pick<ChainReading, 'sync'>,
  registry: Registry | undefined,
  work: (tx: Writer, sync: ChainSync) => Promise<unknown>,
): Promise<void> {
  const { chainId, countedTo, countedToHash } = before
  await db.write(async (tx) => {
    const sync = await store.locked(tx, chainId)
    const isOurs = sync?.leaseHolder === chainReader && sync.haltedBecause === null
    if (!isOurs || sync.countedTo !== countedTo || sync.countedToHash !== countedToHash) throw new StepEnded({ kind: 'BUSY' })
    const generation = await store.lockGeneration(tx)
    if (registry && generation !== registry.generation) throw new StepEnded({ kind: 'RETRY' })
    await work(tx, sync)
    await store.change(tx, chainId, leaseOf(chainReader, clock.now()))
  }, locking)
}

type RangeRead = { readonly from: number; readonly to: number; readonly startedAt: number; readonly answer: NodeAnswer }

/** Writes a range that was read, and adapts the next one to it. */
export async function writeRange(
  deps: SyncDeps,
  reading: NodeReading,
  registry: Registry,
  { from, to, startedAt, answer }: RangeRead,
  work: (tx: Writer, sync: ChainSync) => Promise<unknown>,
): Promise<Step> {
  const logs = answer.logs.length
  const turn = await deps.scheduler.enter()
  try {
    await writeAtPosition(deps, reading, registry, work)
    const isContended = await turn.rest()
    const ms = deps.clock.monotonic() - startedAt
    reading.nodes.recordRange({ blocks: to - from + 1, logs, bytes: answer.bytes, ms, isContended })
    return { kind: 'READ', from, to, logs }
  } catch (error) {
    if (error instanceof Contradiction) return handleContradiction(deps, reading, error)
    throw error
  } finally {
    turn.leave()
  }
}

/** Stores logs of registered addresses and counts them. @throws Contradiction */
export async function storeLogs(tx: Writer, deps: SyncDeps, chainId: number, logs: readonly TimedLog[], registry: Registry): Promise<void> {
  if (logs.length === 0) return
  const changes = changesOfLogs(chainId, logs, ...(await readStoredRows(tx, chainId, logs)), registry)
  await writeLogChanges(tx, chainId, changes)
  await addDeltas(tx, deps, chainId, changes.deltas)
}

/** Adds to the counts of attestations by schema, inside the write that stores the logs. */
export const addDeltas = (tx: Writer, deps: SyncDeps, chainId: number, deltas: Deltas): Promise<void> =>
  addCounts(tx, deps, chainId, Object.fromEntries(Object.entries(deltas).map(([schema, by]) => [`attestations.${schema}`, by])))

/**
 * Handles a response that contradicts stored rows. The node counts as faulty and another is asked. If all responding
 * nodes agree, the stored rows are wrong and the chain halts.
 */
async function handleContradiction(deps: SyncDeps, reading: NodeReading, { message, block }: Contradiction): Promise<Step> {
  const { node, nodes, sync } = reading
  await endForFailure(deps, reading, new NodeError('FAULT', `it reported ${message}`)).catch(undefinedIfEnded)
  if (!nodes.recordContradiction(node, `${message} ${block}`)) return { kind: 'RETRY' }
  const from = block ?? sync.startBlock
  const remedy = `\`souk chain resync --chain ${sync.chainId} --from ${from}\` reads it again`
  return halt(deps, reading, `all nodes report ${message}, which contradicts the rows stored since block ${from}: ${remedy}`)
}

/**
 * Stops reading the chain until an operator runs `souk chain resync`, unless another process holds it or it has moved.
 */
export async function halt(deps: SyncDeps, { sync }: Pick<ChainReading, 'sync'>, haltedBecause: string): Promise<Step> {
  const { clock, log, attestationStore: store } = deps
  const { chainId } = sync
  await writeAtPosition(deps, { sync }, undefined, (tx) => store.change(tx, chainId, { haltedBecause, haltedAt: clock.now() }))
  log.error('chain.halted', { chainId, because: haltedBecause })
  return { kind: 'HALTED' }
}
