/** Reads blocks again for addresses that were registered, or moved back in time, after those blocks were read. */
import { storeLogs, writeAtPosition, writeRange } from './chain-write.ts'
import { type Backfill, nextBackfillRange } from './domain.ts'
import {
  addBlockTimes,
  ask,
  assertAllLogs,
  type ChainReading,
  currentRegistry,
  endWithoutCounted,
  logFilterOf,
  type NodeReading,
  readCountedBlocks,
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
  const unstarted = backfills.find((backfill) => !isStarted(backfill))
  if (unstarted) return startBackfill(deps, { ...reading, node }, unstarted)
  const range = nextBackfillRange(backfills.filter(isStarted), nodes.rangeSize().blocks)
  return range ? readRange(deps, { ...reading, node }, range) : { kind: 'IDLE' }
}

/**
 * Finds the first block of a backfill and sets its end at the counted block. Later blocks are read with the address.
 */
async function startBackfill(deps: SyncDeps, reading: NodeReading, { id, fromAt }: Backfill): Promise<Step> {
  const { chain, sync } = reading
  const { attestationStore: store } = deps
  const first = sync.countedToHash === null ? undefined : await firstBlockAt(deps, reading, fromAt)
  await writeAtPosition(deps, reading, undefined, async (tx) => {
    if (first === undefined || first > sync.countedTo) await store.removeBackfill(tx, id)
    else await store.changeBackfill(tx, id, { readTo: first - 1, lastBlock: sync.countedTo })
  })
  return { kind: 'READ', from: first ?? chain.startBlock, to: sync.countedTo, logs: 0 }
}

/** Finds the first block at or after a time, among the counted blocks; the block after the last if there is none. */
async function firstBlockAt(deps: SyncDeps, reading: NodeReading, time: number): Promise<number> {
  const { sync } = reading
  // Invariant: blocks before `low` are earlier than `time`; `high` is not, or is past the end.
  let [low, high] = [sync.startBlock, sync.countedTo + 1]
  while (low < high) {
    const step = Math.max(1, Math.floor((high - low) / (probesMax + 1)))
    const probes = [...new Set(Array.from({ length: probesMax }, (_, nth) => Math.min(low + step * nth, high - 1)))]
    const { headers } = await ask(deps, reading, { blocks: [...probes, sync.countedTo] })
    if (headers.at(-1)?.hash !== sync.countedToHash || headers.includes(undefined)) return endWithoutCounted(deps, reading)
    const nth = probes.findIndex((_, index) => (headers[index]?.at ?? 0) >= time)
    if (nth >= 0) high = probes[nth] ?? high
    const before = nth < 0 ? probes.at(-1) : probes[nth - 1]
    if (before !== undefined) low = before + 1
  }
  return low
}

type BackfillRange = { readonly group: readonly Backfill[]; readonly from: number; readonly to: number }

async function readRange(deps: SyncDeps, reading: NodeReading, { group: all, from, to }: BackfillRange): Promise<Step> {
  const { chain } = reading
  const { attestationStore: store } = deps
  const startedAt = deps.clock.monotonic()
  const group = all.slice(0, addressesMax)
  const filter = logFilterOf(chain, from, to, [...new Set(group.map(({ address }) => address))])
  const answer = await readCountedBlocks(deps, reading, filter)
  await assertAllLogs(deps, reading, filter, answer)
  const logs = await addBlockTimes(deps, reading, answer.logs, [answer.end])
  const registry = await currentRegistry(deps)
  return writeRange(deps, reading, registry, { from, to, startedAt, answer }, async (tx) => {
    const current = new Map((await store.backfills(chain.chainId, tx)).map((backfill) => [backfill.id, backfill]))
    const unchanged = group.filter((backfill) => current.get(backfill.id)?.readTo === backfill.readTo)
    const addresses = new Set(unchanged.map(({ address }) => address))
    const ownLogs = logs.filter(({ attester }) => addresses.has(attester))
    await storeLogs(tx, deps, chain.chainId, ownLogs, registry)
    for (const { id, lastBlock } of unchanged) {
      if (lastBlock !== null && lastBlock <= to) await store.removeBackfill(tx, id)
      else await store.changeBackfill(tx, id, { readTo: to })
    }
  })
}
