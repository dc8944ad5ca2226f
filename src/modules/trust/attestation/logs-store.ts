/** Attestations and revocations by their uids, many at a time. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Prepared, Writer } from '../../../../db/engine.ts'
import { insertAllOf, insertOf, prepare } from '../../../../db/prepared.ts'
import { attestations, revocations } from '../../../../db/schema/trust.ts'
import type { Applied, Attestation, KnownLog, Revocation } from './domain.ts'

const uidsMax = 128
type OfChain = SQLiteTable & { chainId: SQLiteColumn; uid: SQLiteColumn }

/** Reads the rows of a chain that have one of several uids: prepared for one, two, four… of them, and the last is said again. */
function rowsByUids<Row extends { readonly uid: string }>(
  table: OfChain,
): (tx: Writer, chainId: number, uids: readonly string[]) => Promise<Map<string, Row>> {
  const prepared = new Map<number, Prepared<Row, 'read'>>()
  const ofSoMany = (count: number) =>
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
      const some = uids.slice(from, from + uidsMax)
      const count = 2 ** Math.ceil(Math.log2(some.length))
      const values: Record<string, unknown> = { chainId }
      for (let nth = 0; nth < count; nth++) values[`uid${nth}`] = some[nth] ?? some.at(-1)
      for (const row of await tx.all(ofSoMany(count), values)) rows.set(row.uid, row)
    }
    return rows
  }
}

const attestationsByUids = rowsByUids<Attestation>(attestations)
const revocationsByUids = rowsByUids<Revocation>(revocations)
const anyAside = prepare((queries) =>
  queries
    .select({ uid: revocations.uid })
    .from(revocations)
    .where(eq(revocations.chainId, sql.placeholder('chainId')))
    .limit(1),
)
const insertAttestations = insertAllOf(attestations)
const keepAside = insertOf(revocations, 'leave')
const forgetAside = prepare((queries) =>
  queries.delete(revocations).where(and(eq(revocations.chainId, sql.placeholder('chainId')), eq(revocations.uid, sql.placeholder('uid')))),
)
const place = (name: keyof Attestation) => sql.placeholder(name)
const change = prepare((queries) =>
  queries
    .update(attestations)
    .set({
      blockNumber: place('blockNumber'),
      blockAt: place('blockAt'),
      revokedBlock: place('revokedBlock'),
      isCounted: place('isCounted'),
    } as never)
    .where(and(eq(attestations.chainId, place('chainId')), eq(attestations.uid, place('uid')))),
) as Prepared<unknown> as Prepared<never, 'change'>

/**
 * What is there of what logs name.
 * @param areNew attestations of the logs are not looked for: to insert one that is there fails the write
 */
export async function knownOf(
  tx: Writer,
  chainId: number,
  logs: readonly KnownLog[],
  areNew: boolean,
): Promise<{ known: Map<string, Attestation>; aside: Map<string, Revocation> }> {
  const looked = areNew ? revokedBefore(logs) : logs.map(({ uid }) => uid)
  const known = await attestationsByUids(tx, chainId, [...new Set(looked)])
  const hasAside = (await tx.first(anyAside, { chainId })) !== undefined
  const made = hasAside ? logs.filter(({ kind }) => kind === 'ATTESTED').map(({ uid }) => uid) : []
  return { known, aside: await revocationsByUids(tx, chainId, made) }
}

/** Those that logs revoke, and do not make. */
function revokedBefore(logs: readonly KnownLog[]): string[] {
  const revoked = logs.filter(({ kind }) => kind === 'REVOKED').map(({ uid }) => uid)
  if (revoked.length === 0) return []
  const made = new Set(logs.filter(({ kind }) => kind === 'ATTESTED').map(({ uid }) => uid))
  return revoked.filter((uid) => !made.has(uid))
}

export async function writeApplied(tx: Writer, chainId: number, { inserted, changed, keptAside, found }: Applied): Promise<void> {
  await insertAttestations(tx, inserted)
  for (const row of changed) await tx.run(change, row)
  for (const row of keptAside) await keepAside(tx, row)
  for (const uid of found) await tx.run(forgetAside as Prepared<unknown> as Prepared<never, 'change'>, { chainId, uid })
}
