/** What the sync of attestations knows: how far it may read, in what steps, and what logs make of the rows that are there. Times are milliseconds. */
import type { attestations, chainBackfills, chainCheckpoints, chainSyncs, revocations } from '../../../../db/schema/trust.ts'
import { type SchemaName, schemaNames, schemaUids } from '../../../lib/eas.ts'
import { type Grant, isCounted } from '../fabric/domain.ts'

export type Attestation = typeof attestations.$inferSelect
export type Revocation = typeof revocations.$inferSelect
export type ChainSync = typeof chainSyncs.$inferSelect
export type Checkpoint = typeof chainCheckpoints.$inferSelect
export type Backfill = typeof chainBackfills.$inferSelect

const schemaOf: ReadonlyMap<string, SchemaName> = new Map(schemaNames.map((name) => [schemaUids[name], name]))
export const allSchemaUids: readonly string[] = schemaNames.map((name) => schemaUids[name])

/** How many blocks one lies under the newest where a chain's nodes know of no finality and nobody has said. */
export const confirmationsOf = (chainId: number): number => (chainId === 137 ? 256 : 64)

/** How many blocks are read at once: grows while answers are small and quick, and shrinks where they are not. */
export type Reach = {
  readonly blocks: number
  /** The most that a node says it answers about; or near what it has refused, and then it is raised slowly. */
  readonly ceiling: number
  readonly isSaid: boolean
}

export const blocksMax = 10_000
export const reachAtFirst: Reach = { blocks: 1_000, ceiling: blocksMax, isSaid: false }
/** Logs to an answer: as many as are read well at once; fewer while others want the thread. */
const logsWanted = { alone: 2_500, besideOthers: 800 }
const bytesWanted = 8 * 1024 * 1024
const quickMs = 3_000

export type Read = {
  /** Blocks that were asked about. */
  readonly blocks: number
  readonly logs: number
  readonly bytes: number
  readonly ms: number
  /** Whether others wanted the thread meanwhile. */
  readonly isWanted: boolean
}

/** For another node, of which nothing is known. */
export const reachElsewhere = ({ blocks }: Reach): Reach => ({ ...reachAtFirst, blocks })

/** After an answer. */
export function reachAfter({ blocks, ceiling, isSaid }: Reach, read: Read): Reach {
  const most = read.isWanted ? logsWanted.besideOthers : logsWanted.alone
  const fullness = Math.max(read.logs / most, read.bytes / bytesWanted)
  const raised = isSaid ? ceiling : Math.min(blocksMax, Math.ceil(ceiling * 1.02))
  // Others wait for every piece of it: then at once, else by halves.
  if (fullness > 1)
    return { blocks: Math.max(1, Math.floor(read.blocks / (read.isWanted ? fullness : Math.min(fullness, 2)))), ceiling, isSaid }
  // One that was cut short for other reasons says nothing of a longer one.
  if (read.blocks < blocks || read.ms > quickMs) return { blocks, ceiling, isSaid }
  const grown = Math.ceil(blocks * Math.min(1.5, fullness === 0 ? 1.5 : 1 / fullness))
  return { blocks: Math.max(1, Math.min(grown, raised)), ceiling: raised, isSaid }
}

/** After a refusal of so many blocks, which may say how many would do. */
export function reachAfterRefusal(asked: number, hint: number | undefined): Reach {
  const blocks = Math.max(1, Math.min(hint ?? Math.floor(asked / 2), asked - 1))
  return hint === undefined
    ? { blocks, ceiling: Math.max(1, Math.floor(asked * 0.75)), isSaid: false }
    : { blocks, ceiling: blocks, isSaid: true }
}

/** Logs by whoever a wallet ever belonged to, with the time of their block. */
export type KnownLog = {
  readonly kind: 'ATTESTED' | 'REVOKED'
  readonly uid: string
  readonly schemaUid: string
  readonly attester: string
  readonly recipient: string
  readonly blockNumber: number
  readonly blockAt: number
}

/** Who ever had a wallet, and which grants there are of each address. */
export type Registry = {
  readonly generation: number
  readonly addresses: ReadonlySet<string>
  readonly grants: ReadonlyMap<string, readonly Grant[]>
}

export type Deltas = Partial<Record<SchemaName, number>>

/** What is to be written. */
export type Applied = {
  readonly inserted: Attestation[]
  /** As they are from then on. */
  readonly changed: Attestation[]
  readonly keptAside: Revocation[]
  /** Revocations that have found their attestation. */
  readonly found: string[]
  readonly deltas: Deltas
}

/** Logs that cannot be so beside what is known. */
export class Contradiction extends Error {
  override readonly name = 'Contradiction'
  constructor(
    message: string,
    /** In which block what is known was made; undefined where the logs are nothing by themselves. */
    readonly block: number | undefined,
  ) {
    super(message)
  }
}

/**
 * What logs make of what is there.
 * @param known attestations that are there already, by uid: at least those that the logs name
 * @param aside revocations that wait for an attestation of the logs, by uid
 * @throws Contradiction
 */
export function applied(
  chainId: number,
  logs: readonly KnownLog[],
  known: ReadonlyMap<string, Attestation>,
  aside: ReadonlyMap<string, Revocation>,
  { grants }: Pick<Registry, 'grants'>,
): Applied {
  const rows = new Map<string, Attestation>()
  const waiting = new Map<string, Revocation>()
  const found: string[] = []
  const rowOf = (uid: string) => rows.get(uid) ?? known.get(uid)
  for (const log of logs) {
    if (log.kind !== 'ATTESTED') continue
    const before = known.get(log.uid)
    const schema = schemaOf.get(log.schemaUid)
    if (schema === undefined || (before && (before.attester !== log.attester || before.schema !== schema)))
      throw new Contradiction('an attestation that is known as another one', before?.blockNumber)
    // The same may stand in another block after a reorg.
    if (before?.blockNumber === log.blockNumber && before.blockAt === log.blockAt) continue
    const revocation = aside.get(log.uid)
    if (revocation) found.push(log.uid)
    rows.set(log.uid, {
      chainId,
      uid: log.uid,
      schema,
      attester: log.attester,
      isOfSelf: log.recipient === log.attester,
      blockNumber: log.blockNumber,
      blockAt: log.blockAt,
      revokedBlock: before?.revokedBlock ?? revocation?.blockNumber ?? null,
      isCounted: false,
      isDemo: false,
    })
  }
  for (const log of logs) {
    if (log.kind !== 'REVOKED') continue
    const row = rowOf(log.uid)
    if (!row) waiting.set(log.uid, { chainId, uid: log.uid, attester: log.attester, blockNumber: log.blockNumber })
    else if (row.attester !== log.attester) throw new Contradiction('a revocation by somebody else', row.blockNumber)
    else if (row.revokedBlock !== log.blockNumber) rows.set(log.uid, { ...row, revokedBlock: log.blockNumber })
  }
  const deltas: Deltas = {}
  const inserted: Attestation[] = []
  const changed: Attestation[] = []
  for (const [uid, row] of rows) {
    const before = known.get(uid)
    const counts = isCounted(row, grants.get(row.attester) ?? [])
    const by = Number(counts) - Number(before?.isCounted ?? false)
    if (by !== 0) deltas[row.schema] = (deltas[row.schema] ?? 0) + by
    row.isCounted = counts
    if (before) changed.push(row)
    else inserted.push(row)
  }
  return { inserted, changed, keptAside: [...waiting.values()], found, deltas }
}

/** The blocks that backfills are to read next: those of them that have come equally far, as far as all of those go, or to where others join them. */
export function nextOfBackfills(
  begun: readonly (Backfill & { readTo: number; lastBlock: number })[],
  blocks: number,
): { readonly group: Backfill[]; readonly from: number; readonly to: number } | undefined {
  if (begun.length === 0) return undefined
  const readTo = Math.min(...begun.map((one) => one.readTo))
  const group = begun.filter((one) => one.readTo === readTo)
  const others = begun.filter((one) => one.readTo > readTo).map((one) => one.readTo)
  const to = Math.min(readTo + blocks, ...group.map(({ lastBlock }) => lastBlock), ...others)
  return { group, from: readTo + 1, to }
}

/** How the sync of a chain stands, as operators see it. */
export type ChainStatus = {
  readonly chainId: number
  /** Whether `CHAINS` names it: of one that it names no more nothing is read, and the public is told nothing. What is kept of it stays. */
  readonly isConfigured: boolean
  readonly contract: string
  readonly startBlock: number
  readonly countedTo: number
  readonly countedToHash: string | null
  readonly countedToAt: number | null
  readonly head: number | null
  readonly target: number | null
  /** Blocks between what is counted and the newest one that is known. */
  readonly lag: number | null
  readonly provider: string | null
  readonly syncedAt: number | null
  readonly lastError: string | null
  readonly lastErrorAt: number | null
  readonly haltedBecause: string | null
  readonly haltedAt: number | null
  readonly rescan: {
    readonly beganAt: number | null
    readonly readTo: number | null
    readonly isUnderWay: boolean
    readonly missing: number | null
    readonly unknown: number | null
  }
  readonly backfills: number
}

export const statusOf = (sync: ChainSync, backfills: number, isConfigured: boolean): ChainStatus => {
  const { rescannedAt, rescannedTo, rescanEnd, rescanMissing, rescanUnknown, leaseHolder: _, leaseUntil: __, ...rest } = sync
  return {
    ...rest,
    isConfigured,
    lag: sync.head === null ? null : Math.max(0, sync.head - sync.countedTo),
    rescan: { beganAt: rescannedAt, readTo: rescannedTo, isUnderWay: rescanEnd !== null, missing: rescanMissing, unknown: rescanUnknown },
    backfills,
  }
}
