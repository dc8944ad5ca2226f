/** Reads once a day all that was read before, through another node where there is one, and says what differs: a valid answer may leave out logs. */
import type { ChainLog } from '../../../core/chain.ts'
import { dayMs } from '../../../lib/day.ts'
import { schemaNames, schemaUids } from '../../../lib/eas.ts'
import { isGranted } from '../fabric/domain.ts'
import { type Attestation, Contradiction, type KnownLog, type Registry } from './domain.ts'
import type { KnownNode } from './nodes.ts'
import { onContradiction } from './reorg.ts'
import { keep, keepLogs } from './retention.ts'
import { again, ask, behind, filterOf, type Reading, registryNow, type Step, type SyncDeps, timed } from './rpc-reader.ts'

/** Uids of a range that are named in the log. */
const namedMax = 20

/** Begins a rescan of every chain whose last one began a day ago; the sync goes on with it. Says once more of a chain that it is halted. */
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

/** One range of a rescan that is under way. */
export async function rescanOn(deps: SyncDeps, reading: Reading): Promise<Step> {
  const { nodes, sync } = reading
  if (sync.rescanEnd === null || sync.countedToHash === null) return { kind: 'IDLE' }
  const last = Math.min(sync.rescanEnd, sync.countedTo)
  const from = (sync.rescannedTo ?? sync.startBlock - 1) + 1
  if (from > last) return end(deps, reading)
  const node = nodes.nextBesides() ?? nodes.next()
  if (!node) return { kind: 'WAITING', until: nodes.nextAt() }
  return rescan(deps, reading, node, from, Math.min(last, from + nodes.reach().blocks - 1))
}

async function end(deps: SyncDeps, { sync }: Reading): Promise<Step> {
  const { chainId, rescanMissing: missing, rescanUnknown: unknown } = sync
  const kept = await keep(deps, sync, undefined, (tx) => deps.attestationStore.change(tx, chainId, { rescanEnd: null }))
  if (!kept) deps.log[missing || unknown ? 'warn' : 'info']('chain.rescanned', { chainId, to: sync.rescannedTo, missing, unknown })
  return { kind: 'IDLE' }
}

/** All logs of some blocks by addresses that are compared; undefined where the node cannot say. */
async function look(deps: SyncDeps, reading: Reading, node: KnownNode, from: number, to: number) {
  const { chain, sync } = reading
  const answer = await ask(deps, reading, node, { blocks: [to, sync.countedTo], logs: filterOf(chain, from, to) })
  if (!answer) return undefined
  const [header, counted] = answer.headers
  if (header && counted?.hash === sync.countedToHash) return { ...answer, end: header }
  await behind(deps, reading, node, `it does not have the blocks up to ${sync.countedTo} that are counted`)
  return undefined
}

async function rescan(deps: SyncDeps, reading: Reading, node: KnownNode, from: number, to: number): Promise<Step> {
  const { chain, nodes, sync } = reading
  const { attestationStore: store } = deps
  const startedAt = deps.clock.monotonic()
  const registry = await registryNow(deps)
  const answer = await look(deps, reading, node, from, to)
  if (!answer) return again
  // What is still to be read of an address is missing for that reason.
  const queued = new Set((await store.backfills(chain.chainId)).map(({ address }) => address))
  const isCompared = (attester: string) => registry.addresses.has(attester) && !queued.has(attester)
  const there = await store.attestationsIn(chain.chainId, from, to)
  const seenBy = (logs: readonly ChainLog[]) =>
    differences(
      logs.filter(({ attester }) => isCompared(attester)),
      there,
      isCompared,
    )
  const first = seenBy(answer.logs)
  let missing: KnownLog[] = []
  let unknown = first.unknown
  if (first.missing.length > 0) {
    // Whoever left them out is no judge of it.
    const judge = nodes.nextBesides(node, sync.provider ?? undefined) ?? node
    const second = await look(deps, reading, judge, from, to)
    if (!second) return again
    const keys = new Set(first.missing.map(keyOf))
    const confirmed = seenBy(second.logs).missing.filter((log) => keys.has(keyOf(log)))
    const logs = await timed(deps, reading, judge, confirmed, [second.end])
    if (!logs) return again
    missing = await thatMatter(deps, chain.chainId, logs, registry)
  }
  if (unknown.length > 0) {
    const second = await look(deps, reading, nodes.nextBesides(node) ?? node, from, to)
    if (!second) return again
    const gone = new Set(seenBy(second.logs).unknown)
    unknown = unknown.filter((uid) => gone.has(uid))
  }
  try {
    const kept = await keep(deps, sync, registry, async (tx, now) => {
      await keepLogs(tx, deps, chain.chainId, missing, registry)
      await store.change(tx, chain.chainId, {
        rescannedTo: to,
        rescanMissing: (now.rescanMissing ?? 0) + missing.length,
        rescanUnknown: (now.rescanUnknown ?? 0) + unknown.length,
      })
    })
    if (kept) return kept === 'LOST' ? { kind: 'BUSY' } : again
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error
    return onContradiction(deps, reading, node, error)
  }
  if (missing.length > 0 || unknown.length > 0) {
    const named = { missing: missing.slice(0, namedMax).map(({ uid }) => uid), unknown: unknown.slice(0, namedMax) }
    deps.log.warn('chain.rescan_differs', { chainId: chain.chainId, from, to, provider: node.host, ...named })
  }
  const ms = deps.clock.monotonic() - startedAt
  const read = { blocks: to - from + 1, logs: answer.logs.length, bytes: answer.bytes, ms, isWanted: false }
  nodes.hasRead(read)
  return { kind: 'READ', from, to, logs: answer.logs.length }
}

const keyOf = ({ kind, uid }: Pick<ChainLog, 'kind' | 'uid'>) => `${kind} ${uid}`

type There = { readonly made: readonly Attestation[]; readonly revoked: readonly Attestation[] }

/** What the chain has and we do not, and the uids of what we have and the chain does not. */
function differences(logs: readonly ChainLog[], { made, revoked }: There, isCompared: (attester: string) => boolean) {
  const ours = new Set([
    ...made.map(({ uid, blockNumber }) => `ATTESTED ${uid} ${blockNumber}`),
    ...revoked.map(({ uid, revokedBlock }) => `REVOKED ${uid} ${revokedBlock}`),
  ])
  const theirs = new Set(logs.map((log) => `${keyOf(log)} ${log.blockNumber}`))
  const compared = new Set([...made, ...revoked].filter(({ attester }) => isCompared(attester)).map(({ uid }) => uid))
  const onlyOurs = [...ours].filter((key) => !theirs.has(key)).flatMap((key) => key.split(' ').slice(1, 2))
  return {
    missing: logs.filter((log) => !ours.has(`${keyOf(log)} ${log.blockNumber}`)),
    unknown: [...new Set(onlyOurs)].filter((uid) => compared.has(uid)),
  }
}

/**
 * Of logs that are missing here those that would be counted, and revocations of what is, or would be, here: what an address attested before it
 * was registered is nobody's loss.
 */
async function thatMatter({ attestationStore: store }: SyncDeps, chainId: number, logs: readonly KnownLog[], { grants }: Registry) {
  const made = logs.filter(({ kind, attester, schemaUid, blockAt }) => {
    const schema = schemaNames.find((name) => schemaUids[name] === schemaUid)
    return kind === 'ATTESTED' && schema !== undefined && isGranted(grants.get(attester) ?? [], schema, blockAt)
  })
  const uids = new Set(made.map(({ uid }) => uid))
  const revoked: KnownLog[] = []
  for (const log of logs)
    if (log.kind === 'REVOKED' && (uids.has(log.uid) || (await store.unrevoked(chainId, log.uid)).length > 0)) revoked.push(log)
  return [...made, ...revoked]
}
