/**
 * Reads all counted blocks again once a day, from another node if possible, and reports differences. This finds logs
 * that a node omitted in a valid response.
 */
import type { ChainLog } from '../../../core/chain.ts'
import { dayMs } from '../../../lib/day.ts'
import { isGranted } from '../fabric/domain.ts'
import { storeLogs, writeAtPosition, writeRange } from './chain-write.ts'
import { type Attestation, type Registry, schemaOf, type TimedLog } from './domain.ts'
import {
  addBlockTimes,
  type ChainReading,
  currentRegistry,
  logFilterOf,
  type NodeReading,
  readCountedBlocks,
  type Step,
  type SyncDeps,
} from './rpc-reader.ts'

/** Uids that one log entry names. */
const namedMax = 20

/** Starts a rescan of each chain whose last one started a day ago. Logs again if a chain is halted. */
export async function beginRescans(deps: SyncDeps, everyMs = dayMs): Promise<void> {
  const { attestationStore: store, db, clock } = deps
  for (const { chainId } of deps.config.chains) {
    const { haltedBecause, haltedAt } = (await store.find(chainId)) ?? {}
    if (haltedBecause) deps.log.error('chain.halted', { chainId, because: haltedBecause, since: haltedAt })
    await db.write(
      async (tx) => {
        const sync = await store.locked(tx, chainId)
        const now = clock.now()
        const isDue = sync && sync.rescanEnd === null && (sync.rescannedAt === null || sync.rescannedAt + everyMs <= now)
        if (!isDue || sync.countedToHash === null) return
        const fields = { rescannedAt: now, rescannedTo: sync.startBlock - 1, rescanEnd: sync.countedTo, rescanMissing: 0, rescanUnknown: 0 }
        await store.change(tx, chainId, fields)
      },
      { isolation: 'locking' },
    )
  }
}

/** Reads one range of a running rescan. */
export async function readRescan(deps: SyncDeps, reading: ChainReading): Promise<Step> {
  const { nodes, sync } = reading
  if (sync.rescanEnd === null || sync.countedToHash === null) return { kind: 'IDLE' }
  const last = Math.min(sync.rescanEnd, sync.countedTo)
  const from = (sync.rescannedTo ?? sync.startBlock - 1) + 1
  if (from > last) return finishRescan(deps, reading)
  const node = nodes.nextOther() ?? nodes.next()
  if (!node) return { kind: 'WAITING', until: nodes.nextAt() }
  return rescan(deps, { ...reading, node }, from, Math.min(last, from + nodes.rangeSize().blocks - 1))
}

async function finishRescan(deps: SyncDeps, reading: ChainReading): Promise<Step> {
  const { chainId, rescannedTo: to, rescanMissing: missing, rescanUnknown: unknown } = reading.sync
  await writeAtPosition(deps, reading, undefined, (tx) => deps.attestationStore.change(tx, chainId, { rescanEnd: null }))
  deps.log[missing || unknown ? 'warn' : 'info']('chain.rescanned', { chainId, to, missing, unknown })
  return { kind: 'IDLE' }
}

async function rescan(deps: SyncDeps, reading: NodeReading, from: number, to: number): Promise<Step> {
  const { node, nodes, sync } = reading
  const { attestationStore: store } = deps
  const { chainId } = sync
  const startedAt = deps.clock.monotonic()
  const registry = await currentRegistry(deps)
  const filter = logFilterOf(reading.chain, from, to)
  const answer = await readCountedBlocks(deps, reading, filter)
  // Addresses with a queued backfill are not compared yet.
  const queued = new Set((await store.backfills(chainId)).map(({ address }) => address))
  const isCompared = (attester: string) => registry.addresses.has(attester) && !queued.has(attester)
  const stored = await store.attestationsIn(chainId, from, to)
  const differencesTo = (logs: readonly ChainLog[]) => differences(logs, stored, isCompared)
  const first = differencesTo(answer.logs)
  let missing: TimedLog[] = []
  let unknown = first.unknown
  if (first.missing.length > 0) {
    // Another node must confirm it.
    const witness = { ...reading, node: nodes.nextOther(node, sync.provider ?? undefined) ?? node }
    const second = await readCountedBlocks(deps, witness, filter)
    const keys = new Set(first.missing.map(keyOf))
    const confirmed = differencesTo(second.logs).missing.filter((log) => keys.has(keyOf(log)))
    missing = await relevantLogs(deps, chainId, await addBlockTimes(deps, witness, confirmed, [second.end]), registry)
  }
  if (unknown.length > 0) {
    const second = await readCountedBlocks(deps, { ...reading, node: nodes.nextOther(node) ?? node }, filter)
    const confirmed = new Set(differencesTo(second.logs).unknown)
    unknown = unknown.filter((uid) => confirmed.has(uid))
  }
  const step = await writeRange(deps, reading, registry, { from, to, startedAt, answer }, async (tx, now) => {
    await storeLogs(tx, deps, chainId, missing, registry)
    const rescanMissing = (now.rescanMissing ?? 0) + missing.length
    await store.change(tx, chainId, { rescannedTo: to, rescanMissing, rescanUnknown: (now.rescanUnknown ?? 0) + unknown.length })
  })
  if (step.kind === 'READ' && missing.length + unknown.length > 0) {
    const samples = { missing: missing.slice(0, namedMax).map(({ uid }) => uid), unknown: unknown.slice(0, namedMax) }
    deps.log.warn('chain.rescan_differs', { chainId, from, to, provider: node.host, ...samples })
  }
  return step
}

const keyOf = ({ kind, uid }: Pick<ChainLog, 'kind' | 'uid'>) => `${kind} ${uid}`

type StoredRows = { readonly made: readonly Attestation[]; readonly revoked: readonly Attestation[] }

/** Returns the logs that are not stored, and the uids that are stored but not on the chain. */
function differences(logs: readonly ChainLog[], { made, revoked }: StoredRows, isCompared: (attester: string) => boolean) {
  const keyAt = (log: Pick<ChainLog, 'kind' | 'uid'>, block: number | null) => `${keyOf(log)} ${block}`
  const stored = [
    ...made.map(({ uid, attester, blockNumber }) => ({ uid, attester, key: keyAt({ kind: 'ATTESTED', uid }, blockNumber) })),
    ...revoked.map(({ uid, attester, revokedBlock }) => ({ uid, attester, key: keyAt({ kind: 'REVOKED', uid }, revokedBlock) })),
  ].filter(({ attester }) => isCompared(attester))
  const storedKeys = new Set(stored.map(({ key }) => key))
  const chainKeys = new Set(logs.map((log) => keyAt(log, log.blockNumber)))
  return {
    missing: logs.filter((log) => isCompared(log.attester) && !storedKeys.has(keyAt(log, log.blockNumber))),
    unknown: [...new Set(stored.filter(({ key }) => !chainKeys.has(key)).map(({ uid }) => uid))],
  }
}

/**
 * Returns the missing logs that would count, and revocations of stored or missing attestations. Logs from before an
 * address was registered do not matter.
 */
async function relevantLogs({ attestationStore: store }: SyncDeps, chainId: number, logs: readonly TimedLog[], { grants }: Registry) {
  const attested = logs.filter(({ kind, attester, schemaUid, blockAt }) => {
    const schema = schemaOf.get(schemaUid)
    return kind === 'ATTESTED' && schema !== undefined && isGranted(grants.get(attester) ?? [], schema, blockAt)
  })
  const uids = new Set(attested.map(({ uid }) => uid))
  const revoked: TimedLog[] = []
  for (const log of logs)
    if (log.kind === 'REVOKED' && (uids.has(log.uid) || (await store.attestation(chainId, log.uid))?.revokedBlock === null))
      revoked.push(log)
  return [...attested, ...revoked]
}
