/** Reads blocks that were passed already once more, for addresses that were registered, or moved back, after that. */

import { hasAll } from './consensus-check.ts'
import { type Backfill, Contradiction, nextOfBackfills } from './domain.ts'
import type { KnownNode } from './nodes.ts'
import { onContradiction } from './reorg.ts'
import { keep, keepLogs } from './retention.ts'
import { again, ask, behind, filterOf, type Reading, registryNow, type Step, type SyncDeps, timed } from './rpc-reader.ts'

/** Read together. */
const addressesMax = 100
/** Blocks whose times are asked at once, to find the first one of a time. */
const probesMax = 15

type Begun = Backfill & { readTo: number; lastBlock: number }
const isBegun = (one: Backfill): one is Begun => one.readTo !== null && one.lastBlock !== null

/** One range of those that have come least far, or the beginning of one. */
export async function backfillOn(deps: SyncDeps, reading: Reading): Promise<Step> {
  const { nodes, sync } = reading
  const all = await deps.attestationStore.backfills(sync.chainId)
  if (all.length === 0) return { kind: 'IDLE' }
  const node = nodes.next()
  if (!node) return { kind: 'WAITING', until: nodes.nextAt() }
  const next = all.find((one) => !isBegun(one))
  if (next) return begin(deps, reading, node, next)
  const { group = [], from = 0, to = 0 } = nextOfBackfills(all.filter(isBegun), nodes.reach().blocks) ?? {}
  return readRange(deps, reading, node, { group: group.slice(0, addressesMax), from, to })
}

/** Finds where a backfill begins, and has it end where the chain is counted to: what comes after is read with the address. */
async function begin(deps: SyncDeps, reading: Reading, node: KnownNode, { id, fromAt }: Backfill): Promise<Step> {
  const { chain, sync } = reading
  const { attestationStore: store } = deps
  const first = sync.countedToHash === null ? undefined : await firstBlockAt(deps, reading, node, fromAt)
  if (first === undefined && sync.countedToHash !== null) return again
  const kept = await keep(deps, sync, undefined, async (tx) => {
    if (first === undefined || first > sync.countedTo) await store.removeBackfill(tx, id)
    else await store.changeBackfill(tx, id, { readTo: first - 1, lastBlock: sync.countedTo })
  })
  return kept ? { kind: 'BUSY' } : { kind: 'READ', from: first ?? chain.startBlock, to: sync.countedTo, logs: 0 }
}

/** The first block that is not before a time, of those that are read; one behind all of them where there is none. Undefined where the node cannot say. */
async function firstBlockAt(deps: SyncDeps, reading: Reading, node: KnownNode, at: number): Promise<number | undefined> {
  const { sync } = reading
  // All before `low` are earlier, and `high` is not, or lies behind the last one.
  let [low, high] = [sync.startBlock, sync.countedTo + 1]
  while (low < high) {
    const step = Math.max(1, Math.floor((high - low) / (probesMax + 1)))
    const probes = [...new Set(Array.from({ length: probesMax }, (_, nth) => Math.min(low + step * nth, high - 1)))]
    const answer = await ask(deps, reading, node, { blocks: [...probes, sync.countedTo] })
    if (!answer) return undefined
    const headers = answer.headers.slice(0, -1)
    if (answer.headers.at(-1)?.hash !== sync.countedToHash || headers.some((header) => !header)) {
      await behind(deps, reading, node, `it does not have the blocks up to ${sync.countedTo} that are counted`)
      return undefined
    }
    const nth = headers.findIndex((header) => header !== undefined && header.at >= at)
    if (nth >= 0) high = probes[nth] ?? high
    const before = nth < 0 ? probes.at(-1) : probes[nth - 1]
    if (before !== undefined) low = before + 1
  }
  return low
}

async function readRange(
  deps: SyncDeps,
  reading: Reading,
  node: KnownNode,
  { group, from, to }: { group: readonly Backfill[]; from: number; to: number },
): Promise<Step> {
  const { chain, nodes, sync } = reading
  const { attestationStore: store } = deps
  const startedAt = deps.clock.monotonic()
  const attesters = [...new Set(group.map(({ address }) => address))]
  const isEmpty = from > to
  const question = { blocks: [to, sync.countedTo], logs: filterOf(chain, from, to, attesters) }
  const answer = isEmpty ? undefined : await ask(deps, reading, node, question)
  if (!isEmpty && !answer) return again
  const end = answer?.headers[0]
  if (answer && (!end || answer.headers[1]?.hash !== sync.countedToHash)) {
    await behind(deps, reading, node, `it does not have the blocks up to ${sync.countedTo} that are counted`)
    return again
  }
  if (answer && !(await hasAll(deps, reading, node, question.logs, answer))) return again
  const logs = answer && end ? await timed(deps, reading, node, answer.logs, [end]) : []
  if (!logs) return again
  const registry = await registryNow(deps)
  const paced = await deps.pace.enter()
  try {
    const kept = await keep(deps, sync, registry, async (tx) => {
      const now = new Map((await store.backfills(chain.chainId, tx)).map((one) => [one.id, one]))
      const still = group.filter((one) => now.get(one.id)?.readTo === one.readTo)
      const addresses = new Set(still.map(({ address }) => address))
      const theirs = logs.filter(({ attester }) => addresses.has(attester))
      await keepLogs(tx, deps, chain.chainId, theirs, registry)
      for (const one of still) {
        if (one.lastBlock !== null && one.lastBlock <= to) await store.removeBackfill(tx, one.id)
        else await store.changeBackfill(tx, one.id, { readTo: to })
      }
    })
    if (kept) return kept === 'LOST' ? { kind: 'BUSY' } : again
    const isWanted = await paced.rest()
    if (!answer) return { kind: 'READ', from, to, logs: 0 }
    const ms = deps.clock.monotonic() - startedAt
    nodes.hasRead({ blocks: to - from + 1, logs: answer.logs.length, bytes: answer.bytes, ms, isWanted })
    return { kind: 'READ', from, to, logs: answer.logs.length }
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error
    return onContradiction(deps, reading, node, error)
  } finally {
    paced.leave()
  }
}
