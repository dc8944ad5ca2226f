/** Reads and writes the rows that logs change. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Writer } from '../../../../db/engine.ts'
import { changeOf, insertAllOf, insertOf } from '../../../../db/prepared.ts'
import { attestations, revocations } from '../../../../db/schema/trust.ts'
import type { Attestation, LogChanges, Revocation, TimedLog } from './domain.ts'

/** Uids per query. */
const uidsMax = 500

const insertAttestations = insertAllOf(attestations)
const insertPendingRevocation = insertOf(revocations, 'leave')
const change = changeOf(
  attestations,
  and(eq(attestations.chainId, sql.placeholder('chain')), eq(attestations.uid, sql.placeholder('which'))),
)

/** Reads the attestations and pending revocations that logs name, by uid. */
export async function readStoredRows(
  tx: Writer,
  chainId: number,
  logs: readonly TimedLog[],
): Promise<[attestations: Map<string, Attestation>, revocations: Map<string, Revocation>]> {
  const uids = [...new Set(logs.map(({ uid }) => uid))]
  const [attested, revoked]: [Attestation[], Revocation[]] = [[], []]
  // Most chains have no pending revocation, and each query has a cost.
  const [pending] = await tx.select().from(revocations).where(eq(revocations.chainId, chainId)).limit(1)
  for (let from = 0; from < uids.length; from += uidsMax) {
    const batch = uids.slice(from, from + uidsMax)
    const of = (table: typeof attestations | typeof revocations) => and(eq(table.chainId, chainId), inArray(table.uid, batch))
    attested.push(...(await tx.select().from(attestations).where(of(attestations))))
    if (pending) revoked.push(...(await tx.select().from(revocations).where(of(revocations))))
  }
  return [new Map(attested.map((row) => [row.uid, row])), new Map(revoked.map((row) => [row.uid, row]))]
}

/** Stores the result of `changesOfLogs`, inside the write that moves the chain's position. */
export async function writeLogChanges(
  tx: Writer,
  chainId: number,
  { inserted, changed, pendingRevocations, resolvedRevocations }: LogChanges,
): Promise<void> {
  await insertAttestations(tx, inserted)
  for (const { uid, blockNumber, blockAt, revokedBlock, isCounted } of changed)
    await change(tx, { blockNumber, blockAt, revokedBlock, isCounted }, { chain: chainId, which: uid })
  for (const row of pendingRevocations) await insertPendingRevocation(tx, row)
  for (const uid of resolvedRevocations) await tx.delete(revocations).where(and(eq(revocations.chainId, chainId), eq(revocations.uid, uid)))
}
