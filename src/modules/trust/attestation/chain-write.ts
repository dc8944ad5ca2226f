/** Writes what was read of a chain, if the process still holds the lease and the registry has not changed. */
import type { Writer } from '../../../../db/engine.ts'
import { locking } from '../../../core/command-context.ts'
import { leaseOf } from '../../../core/leases.ts'
import { addCounts } from '../fabric/index.ts'
import { type ChainSync, changesOfLogs, type Deltas, type Registry, type TimedLog } from './domain.ts'
import { readStoredRows, writeLogChanges } from './logs-store.ts'
import type { SyncDeps } from './rpc-reader.ts'

/**
 * Why a write was not made. `REGISTRY`: the registry changed. `LOST`: another process holds the chain, or its position
 * changed.
 */
export type WriteFailure = 'REGISTRY' | 'LOST'
class WriteAborted extends Error {
  constructor(readonly why: WriteFailure) {
    super(why)
  }
}

type ChainPosition = Pick<ChainSync, 'chainId' | 'countedTo' | 'countedToHash'>

/**
 * Runs a write that locks the chain, then the registry, and renews the lease.
 * @param before the position of the chain when it was read
 * @param registry the registry that was used; undefined if none was
 * @returns undefined on success
 */
export async function writeAtPosition(
  deps: SyncDeps,
  before: ChainPosition,
  registry: Registry | undefined,
  work: (tx: Writer, sync: ChainSync) => Promise<void>,
): Promise<WriteFailure | undefined> {
  const { attestationStore: store, db, clock, chainReader } = deps
  try {
    await db.write(async (tx) => {
      const sync = await store.locked(tx, before.chainId)
      const isOurs = sync?.leaseHolder === chainReader && sync.haltedBecause === null
      if (!isOurs || sync.countedTo !== before.countedTo || sync.countedToHash !== before.countedToHash) throw new WriteAborted('LOST')
      const generation = await store.lockGeneration(tx)
      if (registry && generation !== registry.generation) throw new WriteAborted('REGISTRY')
      await work(tx, sync)
      await store.change(tx, before.chainId, leaseOf(chainReader, clock.now()))
    }, locking)
    return undefined
  } catch (error) {
    if (error instanceof WriteAborted) return error.why
    throw error
  }
}

/**
 * Stores logs of registered addresses and counts them.
 * @param areNew assumes that attestations are new; the write fails with a unique violation otherwise
 * @throws Contradiction
 */
export async function storeLogs(
  tx: Writer,
  deps: SyncDeps,
  chainId: number,
  logs: readonly TimedLog[],
  registry: Registry,
  areNew = false,
): Promise<void> {
  if (logs.length === 0) return
  const { attestations: known, revocations: aside } = await readStoredRows(tx, chainId, logs, areNew)
  const changes = changesOfLogs(chainId, logs, known, aside, registry)
  await writeLogChanges(tx, chainId, changes)
  await addDeltas(tx, deps, chainId, changes.deltas)
}

export const addDeltas = (tx: Writer, deps: SyncDeps, chainId: number, deltas: Deltas): Promise<void> =>
  addCounts(tx, deps, chainId, Object.fromEntries(Object.entries(deltas).map(([schema, by]) => [`attestations.${schema}`, by])))
