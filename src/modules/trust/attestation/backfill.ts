/** Reads blocks again for addresses that were registered, or moved back in time, after those blocks were read. */

import { storeLogs, writeAtPosition } from './chain-write.ts'
import { hasAllLogs } from './consensus-check.ts'
import { type Backfill, Contradiction, nextBackfillRange } from './domain.ts'
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

/** Addresses per query. */
const addressesMax = 100
/** Block headers per query while the first block of a time is searched. */
const probesMax = 15

type StartedBackfill = Backfill & { readTo: number; lastBlock: number }
const isStarted = (backfill: Backfill): backfill is StartedBackfill => backfill.readTo !== null && backfill.lastBlock !== null

/** Reads one range for the backfills that are furthest behind, or starts a new backfill. */
export async function readBackfill(deps: SyncDeps, reading: ChainReading): Promise<Step> {
  const { nodes, sync } = reading
  const backfills = await deps.attestationStore.backfills(sync.chainId)
  if (backfills.length === 0) return { kind: 'IDLE' }
  const node = nodes.next()
  if (!node) return { kind: 'WAITING', until: nodes.nextAt() }
  const next = backfills.find((one) => !isStarted(one))
  if (next) return startBackfill(deps, reading, node, next)
  const { group = [], from = 0, to = 0 } = nextBackfillRange(backfills.filter(isStarted), nodes.rangeSize().blocks) ?? {}
  return readRange(deps, reading, node, { group: group.slice(0, addressesMax), from, to })
}

/**
 * Finds the first block of a backfill and sets its end at the counted block. Later blocks are read with the address.
 */
async function startBackfill(deps: SyncDeps, reading: ChainReading, node: NodeState, { id, fromAt }: Backfill): Promise<Step> {
  const { chain, sync } = reading
  const { attestationStore: store } = deps
  const first = sync.countedToHash === null ? undefined : await firstBlockAt(deps, reading, node, fromAt)
  if (first === undefined && sync.countedToHash !== null) return retryStep
  const failure = await writeAtPosition(deps, sync, undefined, async (tx) => {
    if (first === undefined || first > sync.countedTo) await store.removeBackfill(tx, id)
    else await store.changeBackfill(tx, id, { readTo: first - 1, lastBlock: sync.countedTo })
  })
  return failure ? { kind: 'BUSY' } : { kind: 'READ', from: first ?? chain.startBlock, to: sync.countedTo, logs: 0 }
}

/**
 * Finds the first block at or after a time, among the counted blocks. Returns the block after the last if there is
 * none, and undefined if the node failed.
 */
async function firstBlockAt(deps: SyncDeps, reading: ChainReading, node: NodeState, time: number): Promise<number | undefined> {
  const { sync } = reading
  // Invariant: blocks before `low` are earlier than `time`; `high` is not, or is past the end.
  let [low, high] = [sync.startBlock, sync.countedTo + 1]
  while (low < high) {
    const step = Math.max(1, Math.floor((high - low) / (probesMax + 1)))
    const probes = [...new Set(Array.from({ length: probesMax }, (_, nth) => Math.min(low + step * nth, high - 1)))]
    const answer = await ask(deps, reading, node, { blocks: [...probes, sync.countedTo] })
    if (!answer) return undefined
    const headers = answer.headers.slice(0, -1)
    if (answer.headers.at(-1)?.hash !== sync.countedToHash || headers.some((header) => !header)) {
      await recordBehind(deps, reading, node, `it does not have the blocks up to ${sync.countedTo} that are counted`)
      return undefined
    }
    const nth = headers.findIndex((header) => header !== undefined && header.at >= time)
    if (nth >= 0) high = probes[nth] ?? high
    const before = nth < 0 ? probes.at(-1) : probes[nth - 1]
    if (before !== undefined) low = before + 1
  }
  return low
}

async function readRange(
  deps: SyncDeps,
  reading: ChainReading,
  node: NodeState,
  { group, from, to }: { group: readonly Backfill[]; from: number; to: number },
): Promise<Step> {
  const { chain, nodes, sync } = reading
  const { attestationStore: store } = deps
  const startedAt = deps.clock.monotonic()
  const attesters = [...new Set(group.map(({ address }) => address))]
  const isEmpty = from > to
  const question = { blocks: [to, sync.countedTo], logs: logFilterOf(chain, from, to, attesters) }
  const answer = isEmpty ? undefined : await ask(deps, reading, node, question)
  if (!isEmpty && !answer) return retryStep
  const end = answer?.headers[0]
  if (answer && (!end || answer.headers[1]?.hash !== sync.countedToHash)) {
    await recordBehind(deps, reading, node, `it does not have the blocks up to ${sync.countedTo} that are counted`)
    return retryStep
  }
  if (answer && !(await hasAllLogs(deps, reading, node, question.logs, answer))) return retryStep
  const logs = answer && end ? await addBlockTimes(deps, reading, node, answer.logs, [end]) : []
  if (!logs) return retryStep
  const registry = await currentRegistry(deps)
  const turn = await deps.pace.enter()
  try {
    const failure = await writeAtPosition(deps, sync, registry, async (tx) => {
      const current = new Map((await store.backfills(chain.chainId, tx)).map((backfill) => [backfill.id, backfill]))
      const unchanged = group.filter((backfill) => current.get(backfill.id)?.readTo === backfill.readTo)
      const addresses = new Set(unchanged.map(({ address }) => address))
      const ownLogs = logs.filter(({ attester }) => addresses.has(attester))
      await storeLogs(tx, deps, chain.chainId, ownLogs, registry)
      for (const backfill of unchanged) {
        if (backfill.lastBlock !== null && backfill.lastBlock <= to) await store.removeBackfill(tx, backfill.id)
        else await store.changeBackfill(tx, backfill.id, { readTo: to })
      }
    })
    if (failure) return failure === 'LOST' ? { kind: 'BUSY' } : retryStep
    const isContended = await turn.rest()
    if (!answer) return { kind: 'READ', from, to, logs: 0 }
    const ms = deps.clock.monotonic() - startedAt
    nodes.recordRange({ blocks: to - from + 1, logs: answer.logs.length, bytes: answer.bytes, ms, isContended })
    return { kind: 'READ', from, to, logs: answer.logs.length }
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error
    return handleContradiction(deps, reading, node, error)
  } finally {
    turn.leave()
  }
}
