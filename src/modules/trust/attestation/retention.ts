/** Writes what was read: once, by whoever reads the chain, and by the registry as it is in the very write. */
import type { Writer } from '../../../../db/engine.ts'
import { locking } from '../../../core/command-context.ts'
import { leaseOf } from '../../../core/leases.ts'
import { addCounts } from '../fabric/index.ts'
import { applied, type ChainSync, type Deltas, type KnownLog, type Registry } from './domain.ts'
import { knownOf, writeApplied } from './logs-store.ts'
import type { SyncDeps } from './rpc-reader.ts'

/** What kept a write from being made: the registry has changed since, or the chain is no longer this process's, or not where it was. */
export type NotKept = 'REGISTRY' | 'LOST'
class Stop extends Error {
  constructor(readonly why: NotKept) {
    super(why)
  }
}

type Where = Pick<ChainSync, 'chainId' | 'countedTo' | 'countedToHash'>

/**
 * A write of what was read of a chain. It holds the chain, then the registry, and renews the lease.
 * @param before where the chain was when it was read
 * @param registry by which was decided; undefined where nothing was
 * @returns undefined when it is made
 */
export async function keep(
  deps: SyncDeps,
  before: Where,
  registry: Registry | undefined,
  work: (tx: Writer, sync: ChainSync) => Promise<void>,
): Promise<NotKept | undefined> {
  const { attestationStore: store, db, clock, chainReader } = deps
  try {
    await db.write(async (tx) => {
      const sync = await store.locked(tx, before.chainId)
      const isOurs = sync?.leaseHolder === chainReader && sync.haltedBecause === null
      if (!isOurs || sync.countedTo !== before.countedTo || sync.countedToHash !== before.countedToHash) throw new Stop('LOST')
      const generation = await store.heldGeneration(tx)
      if (registry && generation !== registry.generation) throw new Stop('REGISTRY')
      await work(tx, sync)
      await store.change(tx, before.chainId, leaseOf(chainReader, clock.now()))
    }, locking)
    return undefined
  } catch (error) {
    if (error instanceof Stop) return error.why
    throw error
  }
}

/**
 * Stores logs by registered addresses, and counts them.
 * @param areNew their attestations are taken for new ones; the write fails of a unique key where they are not
 * @throws Contradiction
 */
export async function keepLogs(
  tx: Writer,
  deps: SyncDeps,
  chainId: number,
  logs: readonly KnownLog[],
  registry: Registry,
  areNew = false,
): Promise<void> {
  if (logs.length === 0) return
  const { known, aside } = await knownOf(tx, chainId, logs, areNew)
  const changes = applied(chainId, logs, known, aside, registry)
  await writeApplied(tx, chainId, changes)
  await addDeltas(tx, deps, chainId, changes.deltas)
}

export const addDeltas = (tx: Writer, deps: SyncDeps, chainId: number, deltas: Deltas): Promise<void> =>
  addCounts(tx, deps, chainId, Object.fromEntries(Object.entries(deltas).map(([schema, by]) => [`attestations.${schema}`, by])))
