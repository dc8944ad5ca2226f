import { and, asc, desc, eq, gt, lte, type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { changeOf, insertOf, lockedRowsOf, prepare, rowsOf } from '../../../../db/prepared.ts'
import {
  attestations,
  attesterAddresses,
  chainBackfills,
  chainCheckpoints,
  chainSyncs,
  grants,
  revocations,
  trustRegistry,
} from '../../../../db/schema/trust.ts'
import { latestLeaseEnd, leaseIsFreeCondition, leaseOf, noLease } from '../../../core/leases.ts'
import type { Attestation, Backfill, ChainSync, Checkpoint, Deltas, Registry } from './domain.ts'

const which = sql.placeholder('which')
const byChain = rowsOf(chainSyncs, ['chainId'])
const lockedByChain = lockedRowsOf(chainSyncs, ['chainId'])
const changeSync = changeOf(chainSyncs, eq(chainSyncs.chainId, which))
const acquireSyncLease = changeOf(chainSyncs, and(eq(chainSyncs.chainId, which), leaseIsFreeCondition(chainSyncs)))
const releaseSyncLease = changeOf(chainSyncs, and(eq(chainSyncs.chainId, which), eq(chainSyncs.leaseHolder, sql.placeholder('holder'))))
const attestationByUid = rowsOf(attestations, ['chainId', 'uid'])
const backfillsOf = rowsOf(chainBackfills, ['chainId'], asc(chainBackfills.id))
const changeBackfill = changeOf(chainBackfills, eq(chainBackfills.id, which))
const generation = prepare((queries) =>
  queries.select({ generation: trustRegistry.generation }).from(trustRegistry).where(eq(trustRegistry.id, 1)),
)
const addresses = prepare((queries) => queries.select({ address: attesterAddresses.address }).from(attesterAddresses))
const allGrants = prepare((queries) => queries.select().from(grants))

/** The newest checkpoints are kept, and one per this number of blocks before them. */
const checkpointsKept = 256
const blocksOfOlder = 100_000
/** Blocks changes of the registry until the write ends. */
const shareLock = engine === 'postgres' ? sql` for share` : sql``
/** `isCounted` of the trust fabric, as SQL. */
const countsSql = sql`(not (${attestations.schema} = 'D' and ${attestations.isOfSelf}) and exists (select 1 from grants g
  where g.address = ${attestations.attester} and g.schema = ${attestations.schema}
  and g.from_at <= ${attestations.blockAt} and (g.to_at is null or g.to_at > ${attestations.blockAt})))`

export const createAttestationStore = ({ read }: Pick<Database, 'read'>) => ({
  find: async (chainId: number): Promise<ChainSync | undefined> => read.first(byChain, { chainId }),
  all: async (): Promise<ChainSync[]> => read.select().from(chainSyncs).orderBy(asc(chainSyncs.chainId)),
  /** Does nothing if the chain has a row. */
  insert: insertOf(chainSyncs, 'leave'),
  /** Locks the chain before any of its rows changes. */
  locked: async (tx: Writer, chainId: number): Promise<ChainSync | undefined> => tx.first(lockedByChain, { chainId }),
  async change(tx: Writer, chainId: number, fields: Partial<ChainSync>): Promise<void> {
    await changeSync(tx, fields, { which: chainId })
  },
  /** Acquires the lease. Returns false if another process holds it. */
  async acquireLease(tx: Writer, chainId: number, holder: string, now: number): Promise<boolean> {
    return acquireSyncLease(tx, leaseOf(holder, now), { which: chainId, holder, now, farAhead: latestLeaseEnd(now) })
  },
  async releaseLease(tx: Writer, chainId: number, holder: string): Promise<void> {
    await releaseSyncLease(tx, noLease, { which: chainId, holder })
  },

  /** Stays valid until the write ends. */
  async lockGeneration(tx: Writer): Promise<number> {
    const [row] = await tx.rows<{ generation: number }>(sql`select generation from trust_registry where id = 1${shareLock}`)
    return Number(row?.generation ?? 0)
  },
  generation: async (): Promise<number> => (await read.first(generation))?.generation ?? 0,
  /** Reads one snapshot. */
  async registry(): Promise<Registry> {
    const [found, registered, granted] = await read.inSnapshot(() =>
      Promise.all([read.first(generation), read.all(addresses), read.all(allGrants)]),
    )
    return {
      generation: found?.generation ?? 0,
      addresses: new Set(registered.map(({ address }) => address)),
      grants: Map.groupBy(granted, ({ address }) => address),
    }
  },

  insertCheckpoint: insertOf(chainCheckpoints, 'leave'),
  /** Up to a block, newest first. */
  checkpoints: (chainId: number, upTo: number, limit: number): Promise<Checkpoint[]> =>
    read
      .select()
      .from(chainCheckpoints)
      .where(and(eq(chainCheckpoints.chainId, chainId), lte(chainCheckpoints.blockNumber, upTo)))
      .orderBy(desc(chainCheckpoints.blockNumber))
      .limit(limit),
  async thinCheckpoints(tx: Writer, chainId: number): Promise<void> {
    await tx.delete(chainCheckpoints).where(
      and(
        eq(chainCheckpoints.chainId, chainId),
        sql`${chainCheckpoints.blockNumber} < (select block_number from chain_checkpoints
          where chain_id = ${chainId} order by block_number desc limit 1 offset ${checkpointsKept - 1})`,
        sql`${chainCheckpoints.blockNumber} not in (select min(block_number) from chain_checkpoints
          where chain_id = ${chainId} group by block_number / ${blocksOfOlder})`,
      ),
    )
  },

  /**
   * Removes what was read after a block.
   * @returns how many attestations were removed, and the changes of the counts
   */
  async rewind(tx: Writer, chainId: number, block: number): Promise<{ removed: number; deltas: Deltas }> {
    const deltas: Deltas = {}
    /** Adds rows that count to the deltas, times `sign`. @returns the number of all rows */
    const addCounted = async (rows: SQL | undefined, isCounted: SQL, sign: 1 | -1): Promise<number> => {
      const counts = { all: sql<number>`count(*)`, counted: sql<number>`sum(case when ${isCounted} then 1 else 0 end)` }
      const found = await tx
        .select({ schema: attestations.schema, ...counts })
        .from(attestations)
        .where(rows)
        .groupBy(attestations.schema)
      for (const { schema, counted } of found) deltas[schema] = (deltas[schema] ?? 0) + sign * Number(counted)
      return found.reduce((sum, { all }) => sum + Number(all), 0)
    }
    const above = and(eq(attestations.chainId, chainId), gt(attestations.blockNumber, block), eq(attestations.isDemo, false))
    const removed = await addCounted(above, sql`is_counted`, -1)
    await tx.delete(attestations).where(above)
    await tx.delete(revocations).where(and(eq(revocations.chainId, chainId), gt(revocations.blockNumber, block)))
    const revived = and(eq(attestations.chainId, chainId), gt(attestations.revokedBlock, block))
    await addCounted(revived, countsSql, 1)
    await tx
      .update(attestations)
      .set({ revokedBlock: null, isCounted: sql`${countsSql}` })
      .where(revived)
    await tx.delete(chainCheckpoints).where(and(eq(chainCheckpoints.chainId, chainId), gt(chainCheckpoints.blockNumber, block)))
    // The scan reads these blocks again for all registered addresses, so backfills end here.
    await tx.delete(chainBackfills).where(and(eq(chainBackfills.chainId, chainId), sql`read_to >= ${block}`))
    await tx
      .update(chainBackfills)
      .set({ lastBlock: block })
      .where(and(eq(chainBackfills.chainId, chainId), gt(chainBackfills.lastBlock, block)))
    return { removed, deltas }
  },

  backfills: async (chainId: number, from: Pick<Reader, 'all'> = read): Promise<Backfill[]> => from.all(backfillsOf, { chainId }),
  async changeBackfill(tx: Writer, id: string, fields: Partial<Backfill>): Promise<void> {
    await changeBackfill(tx, fields, { which: id })
  },
  async removeBackfill(tx: Writer, id: string): Promise<void> {
    await tx.delete(chainBackfills).where(eq(chainBackfills.id, id))
  },
  /** By chain. */
  async backfillCounts(): Promise<Map<number, number>> {
    const rows = await read
      .select({ chainId: chainBackfills.chainId, n: sql<number>`count(*)` })
      .from(chainBackfills)
      .groupBy(chainBackfills.chainId)
    return new Map(rows.map(({ chainId, n }) => [chainId, Number(n)]))
  },
  /** Attestations made in the blocks, and those revoked in them. */
  async attestationsIn(chainId: number, from: number, to: number) {
    const within = (column: typeof attestations.blockNumber | typeof attestations.revokedBlock) =>
      read
        .select()
        .from(attestations)
        .where(and(eq(attestations.chainId, chainId), sql`${column} between ${from} and ${to}`, eq(attestations.isDemo, false)))
    const [made, revoked] = await Promise.all([within(attestations.blockNumber), within(attestations.revokedBlock)])
    return { made, revoked }
  },
  attestation: async (chainId: number, uid: string): Promise<Attestation | undefined> => read.first(attestationByUid, { chainId, uid }),
})
