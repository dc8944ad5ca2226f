/**
 * Reads all counted blocks again once a day, from another node if possible, and reports differences. This finds logs
 * that a node omitted in a valid response.
 */
import type { ChainLog } from '../../../core/chain.ts'
import { dayMs } from '../../../lib/day.ts'
import { schemaNames, schemaUids } from '../../../lib/eas.ts'
import { isGranted } from '../fabric/domain.ts'
import { storeLogs, writeAtPosition } from './chain-write.ts'
import { type Attestation, Contradiction, type Registry, type TimedLog } from './domain.ts'
import type { NodeState } from './nodes.ts'
import { handleContradiction } from './reorg.ts'
import {
  addBlockTimes,
  ask,
  type ChainReading,
  currentRegistry,
  logFilterOf,
  recordBehind,
  retryStep,
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
  return rescan(deps, reading, node, from, Math.min(last, from + nodes.rangeSize().blocks - 1))
}

async function finishRescan(deps: SyncDeps, { sync }: ChainReading): Promise<Step> {
  const { chainId, rescanMissing: missing, rescanUnknown: unknown } = sync
  const failure = await writeAtPosition(deps, sync, undefined, (tx) => deps.attestationStore.change(tx, chainId, { rescanEnd: null }))
  if (!failure) deps.log[missing || unknown ? 'warn' : 'info']('chain.rescanned', { chainId, to: sync.rescannedTo, missing, unknown })
  return { kind: 'IDLE' }
}

/** Reads all logs of a range. Returns undefined if the node failed. */
async function readRange(deps: SyncDeps, reading: ChainReading, node: NodeState, from: number, to: number) {
  const { chain, sync } = reading
  const answer = await ask(deps, reading, node, { blocks: [to, sync.countedTo], logs: logFilterOf(chain, from, to) })
  if (!answer) return undefined
  const [header, counted] = answer.headers
  if (header && counted?.hash === sync.countedToHash) return { ...answer, end: header }
  await recordBehind(deps, reading, node, `it does not have the blocks up to ${sync.countedTo} that are counted`)
  return undefined
}

async function rescan(deps: SyncDeps, reading: ChainReading, node: NodeState, from: number, to: number): Promise<Step> {
  const { chain, nodes, sync } = reading
  const { attestationStore: store } = deps
  const startedAt = deps.clock.monotonic()
  const registry = await currentRegistry(deps)
  const answer = await readRange(deps, reading, node, from, to)
  if (!answer) return retryStep
  // Addresses with a queued backfill are not compared yet.
  const queued = new Set((await store.backfills(chain.chainId)).map(({ address }) => address))
  const isCompared = (attester: string) => registry.addresses.has(attester) && !queued.has(attester)
  const stored = await store.attestationsIn(chain.chainId, from, to)
  const differencesTo = (logs: readonly ChainLog[]) =>
    differences(
      logs.filter(({ attester }) => isCompared(attester)),
      stored,
      isCompared,
    )
  const first = differencesTo(answer.logs)
  let missing: TimedLog[] = []
  let unknown = first.unknown
  if (first.missing.length > 0) {
    // Another node must confirm it.
    const witness = nodes.nextOther(node, sync.provider ?? undefined) ?? node
    const second = await readRange(deps, reading, witness, from, to)
    if (!second) return retryStep
    const keys = new Set(first.missing.map(keyOf))
    const confirmed = differencesTo(second.logs).missing.filter((log) => keys.has(keyOf(log)))
    const logs = await addBlockTimes(deps, reading, witness, confirmed, [second.end])
    if (!logs) return retryStep
    missing = await relevantLogs(deps, chain.chainId, logs, registry)
  }
  if (unknown.length > 0) {
    const second = await readRange(deps, reading, nodes.nextOther(node) ?? node, from, to)
    if (!second) return retryStep
    const confirmed = new Set(differencesTo(second.logs).unknown)
    unknown = unknown.filter((uid) => confirmed.has(uid))
  }
  try {
    const failure = await writeAtPosition(deps, sync, registry, async (tx, now) => {
      await storeLogs(tx, deps, chain.chainId, missing, registry)
      await store.change(tx, chain.chainId, {
        rescannedTo: to,
        rescanMissing: (now.rescanMissing ?? 0) + missing.length,
        rescanUnknown: (now.rescanUnknown ?? 0) + unknown.length,
      })
    })
    if (failure) return failure === 'LOST' ? { kind: 'BUSY' } : retryStep
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error
    return handleContradiction(deps, reading, node, error)
  }
  if (missing.length > 0 || unknown.length > 0) {
    const named = { missing: missing.slice(0, namedMax).map(({ uid }) => uid), unknown: unknown.slice(0, namedMax) }
    deps.log.warn('chain.rescan_differs', { chainId: chain.chainId, from, to, provider: node.host, ...named })
  }
  const ms = deps.clock.monotonic() - startedAt
  const read = { blocks: to - from + 1, logs: answer.logs.length, bytes: answer.bytes, ms, isContended: false }
  nodes.recordRange(read)
  return { kind: 'READ', from, to, logs: answer.logs.length }
}

const keyOf = ({ kind, uid }: Pick<ChainLog, 'kind' | 'uid'>) => `${kind} ${uid}`

type StoredRows = { readonly made: readonly Attestation[]; readonly revoked: readonly Attestation[] }

/** Returns the logs that are not stored, and the uids that are stored but not on the chain. */
function differences(logs: readonly ChainLog[], { made, revoked }: StoredRows, isCompared: (attester: string) => boolean) {
  const storedKeys = new Set([
    ...made.map(({ uid, blockNumber }) => `ATTESTED ${uid} ${blockNumber}`),
    ...revoked.map(({ uid, revokedBlock }) => `REVOKED ${uid} ${revokedBlock}`),
  ])
  const chainKeys = new Set(logs.map((log) => `${keyOf(log)} ${log.blockNumber}`))
  const compared = new Set([...made, ...revoked].filter(({ attester }) => isCompared(attester)).map(({ uid }) => uid))
  const onlyStored = [...storedKeys].filter((key) => !chainKeys.has(key)).flatMap((key) => key.split(' ').slice(1, 2))
  return {
    missing: logs.filter((log) => !storedKeys.has(`${keyOf(log)} ${log.blockNumber}`)),
    unknown: [...new Set(onlyStored)].filter((uid) => compared.has(uid)),
  }
}

/**
 * Returns the missing logs that would count, and revocations of stored or missing attestations. Logs from before an
 * address was registered do not matter.
 */
async function relevantLogs({ attestationStore: store }: SyncDeps, chainId: number, logs: readonly TimedLog[], { grants }: Registry) {
  const attested = logs.filter(({ kind, attester, schemaUid, blockAt }) => {
    const schema = schemaNames.find((name) => schemaUids[name] === schemaUid)
    return kind === 'ATTESTED' && schema !== undefined && isGranted(grants.get(attester) ?? [], schema, blockAt)
  })
  const uids = new Set(attested.map(({ uid }) => uid))
  const revoked: TimedLog[] = []
  for (const log of logs)
    if (log.kind === 'REVOKED' && (uids.has(log.uid) || (await store.unrevoked(chainId, log.uid)).length > 0)) revoked.push(log)
  return [...attested, ...revoked]
}
