/** Rows per statement. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Prepared, Writer } from '../../../../db/engine.ts'
import { insertAllOf, insertOf, prepare } from '../../../../db/prepared.ts'
import { attestations, revocations } from '../../../../db/schema/trust.ts'
import type { Attestation, LogChanges, Revocation, TimedLog } from './domain.ts'

const uidsMax = 128
type ChainTable = SQLiteTable & { chainId: SQLiteColumn; uid: SQLiteColumn }

/** Reads rows of a chain by uids. Statements are prepared for powers of two; the last uid is repeated to fill one. */
function rowsByUids<Row extends { readonly uid: string }>(
  table: ChainTable,
): (tx: Writer, chainId: number, uids: readonly string[]) => Promise<Map<string, Row>> {
  const prepared = new Map<number, Prepared<Row, 'read'>>()
  const statementFor = (count: number) =>
    prepared.getOrInsertComputed(count, () => {
      const uids = Array.from({ length: count }, (_, nth) => sql.placeholder(`uid${nth}`))
      const reading = prepare((queries) =>
        queries
          .select()
          .from(table)
          .where(and(eq(table.chainId, sql.placeholder('chainId')), inArray(table.uid, uids))),
      )
      return reading as Prepared<unknown, 'read'> as Prepared<Row, 'read'>
    })
  return async (tx, chainId, uids) => {
    const rows = new Map<string, Row>()
    for (let from = 0; from < uids.length; from += uidsMax) {
      const batch = uids.slice(from, from + uidsMax)
      const count = 2 ** Math.ceil(Math.log2(batch.length))
      const values: Record<string, unknown> = { chainId }
      for (let nth = 0; nth < count; nth++) values[`uid${nth}`] = batch[nth] ?? batch.at(-1)
      for (const row of await tx.all(statementFor(count), values)) rows.set(row.uid, row)
    }
    return rows
  }
}

const attestationsByUids = rowsByUids<Attestation>(attestations)
const revocationsByUids = rowsByUids<Revocation>(revocations)
const anyPendingRevocation = prepare((queries) =>
  queries
    .select({ uid: revocations.uid })
    .from(revocations)
    .where(eq(revocations.chainId, sql.placeholder('chainId')))
    .limit(1),
)
const insertAttestations = insertAllOf(attestations)
const insertPendingRevocation = insertOf(revocations, 'leave')
const deletePendingRevocation = prepare((queries) =>
  queries.delete(revocations).where(and(eq(revocations.chainId, sql.placeholder('chainId')), eq(revocations.uid, sql.placeholder('uid')))),
)
const parameter = (name: keyof Attestation) => sql.placeholder(name)
const change = prepare((queries) =>
  queries
    .update(attestations)
    .set({
      blockNumber: parameter('blockNumber'),
      blockAt: parameter('blockAt'),
      revokedBlock: parameter('revokedBlock'),
      isCounted: parameter('isCounted'),
    } as never)
    .where(and(eq(attestations.chainId, parameter('chainId')), eq(attestations.uid, parameter('uid')))),
) as Prepared<unknown> as Prepared<never, 'change'>

/**
 * Reads the stored rows that logs refer to.
 * @param areNew skips the lookup of attestations; inserting an existing one then fails the write
 */
export async function readStoredRows(
  tx: Writer,
  chainId: number,
  logs: readonly TimedLog[],
  areNew: boolean,
): Promise<{ attestations: Map<string, Attestation>; revocations: Map<string, Revocation> }> {
  const uids = areNew ? revokedBefore(logs) : logs.map(({ uid }) => uid)
  const found = await attestationsByUids(tx, chainId, [...new Set(uids)])
  const hasAside = (await tx.first(anyPendingRevocation, { chainId })) !== undefined
  const attestedUids = hasAside ? logs.filter(({ kind }) => kind === 'ATTESTED').map(({ uid }) => uid) : []
  return { attestations: found, revocations: await revocationsByUids(tx, chainId, attestedUids) }
}

/** Returns the uids that the logs revoke without attesting them. */
function revokedBefore(logs: readonly TimedLog[]): string[] {
  const revoked = logs.filter(({ kind }) => kind === 'REVOKED').map(({ uid }) => uid)
  if (revoked.length === 0) return []
  const attestedUids = new Set(logs.filter(({ kind }) => kind === 'ATTESTED').map(({ uid }) => uid))
  return revoked.filter((uid) => !attestedUids.has(uid))
}

export async function writeLogChanges(
  tx: Writer,
  chainId: number,
  { inserted, changed, pendingRevocations, resolvedRevocations }: LogChanges,
): Promise<void> {
  await insertAttestations(tx, inserted)
  for (const row of changed) await tx.run(change, row)
  for (const row of pendingRevocations) await insertPendingRevocation(tx, row)
  for (const uid of resolvedRevocations)
    await tx.run(deletePendingRevocation as Prepared<unknown> as Prepared<never, 'change'>, { chainId, uid })
}
