/** The rules of the attestation sync: range sizes, and what logs change in the stored rows. Times are milliseconds. */
import type { attestations, chainBackfills, chainCheckpoints, chainSyncs, revocations } from '../../../../db/schema/trust.ts'
import { type EasLog, type SchemaName, schemaNames, schemaUids } from '../../../lib/eas.ts'
import { type Grant, isCounted } from '../fabric/domain.ts'

export type Attestation = typeof attestations.$inferSelect
export type Revocation = typeof revocations.$inferSelect
export type ChainSync = typeof chainSyncs.$inferSelect
export type Checkpoint = typeof chainCheckpoints.$inferSelect
export type Backfill = typeof chainBackfills.$inferSelect

export const schemaOf: ReadonlyMap<string, SchemaName> = new Map(schemaNames.map((name) => [schemaUids[name], name]))
export const allSchemaUids: readonly string[] = schemaNames.map((name) => schemaUids[name])

/** Returns the default depth of counted blocks on a chain whose nodes do not report finality. */
export const confirmationsOf = (chainId: number): number => (chainId === 137 ? 256 : 64)

/** How many blocks are read at once. Grows while responses are small and fast, and shrinks otherwise. */
export type RangeSize = {
  readonly blocks: number
  /** The limit that a node states, or a value near one that it refused. The latter grows slowly. */
  readonly ceiling: number
  readonly isStatedByNode: boolean
}

export const blocksMax = 10_000
export const initialRangeSize: RangeSize = { blocks: 1_000, ceiling: blocksMax, isStatedByNode: false }
/** The target number of logs per response; lower while requests compete for the main thread. */
const logsPerResponse = { alone: 2_500, contended: 800 }
const bytesPerResponse = 8 * 1024 * 1024
const fastMs = 3_000

export type RangeStats = {
  /** Blocks that were requested. */
  readonly blocks: number
  readonly logs: number
  readonly bytes: number
  readonly ms: number
  /** Whether requests competed for the main thread meanwhile. */
  readonly isContended: boolean
}

/** Adapts the range to the last response: smaller if it was full, at most 1.5 times larger if it was fast. */
export function nextRangeSize({ blocks, ceiling, isStatedByNode }: RangeSize, read: RangeStats): RangeSize {
  const logsMax = read.isContended ? logsPerResponse.contended : logsPerResponse.alone
  const fullness = Math.max(read.logs / logsMax, read.bytes / bytesPerResponse)
  const nextCeiling = isStatedByNode ? ceiling : Math.min(blocksMax, Math.ceil(ceiling * 1.02))
  // Shrinks at once while requests compete for the thread, otherwise by half at most.
  if (fullness > 1)
    return {
      blocks: Math.max(1, Math.floor(read.blocks / (read.isContended ? fullness : Math.min(fullness, 2)))),
      ceiling,
      isStatedByNode,
    }
  // A range that was shorter for other reasons says nothing about a longer one.
  if (read.blocks < blocks || read.ms > fastMs) return { blocks, ceiling, isStatedByNode }
  const grown = Math.ceil(blocks * Math.min(1.5, fullness === 0 ? 1.5 : 1 / fullness))
  return { blocks: Math.max(1, Math.min(grown, nextCeiling)), ceiling: nextCeiling, isStatedByNode }
}

/** Returns the range size after a node refused `requested` blocks. `hint` is the size that the node suggests. */
export function rangeSizeAfterRefusal(requested: number, hint: number | undefined): RangeSize {
  const blocks = Math.max(1, Math.min(hint ?? Math.floor(requested / 2), requested - 1))
  return hint === undefined
    ? { blocks, ceiling: Math.max(1, Math.floor(requested * 0.75)), isStatedByNode: false }
    : { blocks, ceiling: blocks, isStatedByNode: true }
}

/** A log of an address that ever had a wallet, with the time of its block. */
export type TimedLog = EasLog & { readonly blockAt: number }

/** All addresses that ever had a wallet, and the grants of each address. */
export type Registry = {
  readonly generation: number
  readonly addresses: ReadonlySet<string>
  readonly grants: ReadonlyMap<string, readonly Grant[]>
}

export type Deltas = Partial<Record<SchemaName, number>>

/** The rows to write. */
export type LogChanges = {
  readonly inserted: Attestation[]
  /** The complete rows after the change. */
  readonly changed: Attestation[]
  readonly pendingRevocations: Revocation[]
  /** Stored revocations whose attestation has arrived. */
  readonly resolvedRevocations: string[]
  readonly deltas: Deltas
}

/** Logs that contradict the stored rows. */
export class Contradiction extends Error {
  override readonly name = 'Contradiction'
  constructor(
    message: string,
    /** The block of the stored row; undefined if the logs are invalid on their own. */
    readonly block: number | undefined,
  ) {
    super(message)
  }
}

/**
 * Computes the changes that logs cause.
 * @param storedAttestations by uid; must include those that the logs name
 * @param storedRevocations revocations that wait for an attestation of the logs, by uid
 * @throws Contradiction
 */
export function changesOfLogs(
  chainId: number,
  logs: readonly TimedLog[],
  storedAttestations: ReadonlyMap<string, Attestation>,
  storedRevocations: ReadonlyMap<string, Revocation>,
  { grants }: Pick<Registry, 'grants'>,
): LogChanges {
  const rows = new Map<string, Attestation>()
  const pending = new Map<string, Revocation>()
  const resolved: string[] = []
  const rowOf = (uid: string) => rows.get(uid) ?? storedAttestations.get(uid)
  for (const log of logs) {
    if (log.kind !== 'ATTESTED') continue
    const before = storedAttestations.get(log.uid)
    const schema = schemaOf.get(log.schemaUid)
    if (schema === undefined || (before && (before.attester !== log.attester || before.schema !== schema)))
      throw new Contradiction('an attestation that differs from the stored one', before?.blockNumber)
    // After a reorganization the same attestation may be in another block.
    if (before?.blockNumber === log.blockNumber && before.blockAt === log.blockAt) continue
    const revocation = storedRevocations.get(log.uid)
    if (revocation) resolved.push(log.uid)
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
    if (!row) pending.set(log.uid, { chainId, uid: log.uid, attester: log.attester, blockNumber: log.blockNumber })
    else if (row.attester !== log.attester) throw new Contradiction('a revocation by another address', row.blockNumber)
    else if (row.revokedBlock !== log.blockNumber) rows.set(log.uid, { ...row, revokedBlock: log.blockNumber })
  }
  const deltas: Deltas = {}
  const inserted: Attestation[] = []
  const changed: Attestation[] = []
  for (const [uid, row] of rows) {
    const before = storedAttestations.get(uid)
    const counts = isCounted(row, grants.get(row.attester) ?? [])
    const change = Number(counts) - Number(before?.isCounted ?? false)
    if (change !== 0) deltas[row.schema] = (deltas[row.schema] ?? 0) + change
    row.isCounted = counts
    if (before) changed.push(row)
    else inserted.push(row)
  }
  return { inserted, changed, pendingRevocations: [...pending.values()], resolvedRevocations: resolved, deltas }
}

/**
 * Returns the next range of the backfills that are furthest behind: up to the end of any of them, or to the position of
 * the next ones.
 */
export function nextBackfillRange(
  started: readonly (Backfill & { readTo: number; lastBlock: number })[],
  blocks: number,
): { readonly group: Backfill[]; readonly from: number; readonly to: number } | undefined {
  if (started.length === 0) return undefined
  const readTo = Math.min(...started.map((backfill) => backfill.readTo))
  const group = started.filter((backfill) => backfill.readTo === readTo)
  const laterPositions = started.filter((backfill) => backfill.readTo > readTo).map((one) => one.readTo)
  const to = Math.min(readTo + blocks, ...group.map(({ lastBlock }) => lastBlock), ...laterPositions)
  return { group, from: readTo + 1, to }
}

/** Returns a chain of which nothing was read. */
export const newSync = ({ chainId, contract, startBlock }: Pick<ChainSync, 'chainId' | 'contract' | 'startBlock'>): ChainSync => ({
  ...{ chainId, contract, startBlock, countedTo: startBlock - 1, countedToHash: null, countedToAt: null, head: null, target: null },
  ...{ provider: null, syncedAt: null, lastError: null, lastErrorAt: null, haltedBecause: null, haltedAt: null },
  ...{ rescannedAt: null, rescannedTo: null, rescanEnd: null, rescanMissing: null, rescanUnknown: null },
  ...{ leaseHolder: null, leaseUntil: null },
})

/** The state of a chain's sync, as operators see it. */
export type ChainStatus = ReturnType<typeof statusOf>

/**
 * @param isConfigured whether `CHAINS` names the chain. Other chains keep their rows, but are neither read nor
 *   published.
 */
export const statusOf = (sync: ChainSync, backfills: number, isConfigured: boolean) => {
  const { rescannedAt, rescannedTo, rescanEnd, rescanMissing, rescanUnknown, leaseHolder: _, leaseUntil: __, ...rest } = sync
  return {
    ...rest,
    isConfigured,
    /** Blocks between the counted block and the newest known block. */
    lag: sync.head === null ? null : Math.max(0, sync.head - sync.countedTo),
    rescan: { beganAt: rescannedAt, readTo: rescannedTo, isUnderWay: rescanEnd !== null, missing: rescanMissing, unknown: rescanUnknown },
    backfills,
  }
}
