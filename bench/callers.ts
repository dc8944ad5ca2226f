/** Callers who buy one cart after the other: how often, how fast, and what was refused. */
import { percentile } from './load.ts'

export type ShopToBuyIn = { shopId: string; publishableKey: string; variantIds: readonly string[] }

/** What a child process is told on standard input. */
export type Buying = {
  dataDir: string
  /** Of a Postgres server; unset: the file in `dataDir`. */
  databaseUrl?: string
  shops: readonly ShopToBuyIn[]
  callers: number
  seconds: number
  /** `memory` answers at once and keeps no books: what is left is ours alone. */
  processor: 'sandbox' | 'memory'
  synchronous: 'FULL' | 'OFF'
  /** Besides those of every measurement. */
  settings?: Record<string, string>
}

/** What it answers on standard output. */
export type Bought = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  writesEach: number
  commitsEach: number
  retriesEach: number
  /** Time of processors, of all threads: more than 1 s a second means that others than the main thread were at work. */
  cpuMsEach: number
  /** Refused for the moment, with 503. */
  refused: number
  errors: string[]
}

/** A 503. */
export class Refused extends Error {}

type Stats = { writes: number; commits: number; retries: number }
/** What runs for the first time is slow: nothing counts for so long, and before each caller has bought so many; on a busy machine not for ever. */
const warmUp = { ms: 2_000, boughtEach: 6, msMax: 15_000 }

/**
 * Has so many callers buy for so long, after a while in which nothing counts.
 * @param buy one thing, from the cart to CONFIRMED; throws Refused when it was told to come back
 */
export async function callersBuying(
  { shops, callers, seconds }: Buying,
  stats: Readonly<Stats>,
  buy: (shop: ShopToBuyIn, nth: number) => Promise<void>,
): Promise<Bought> {
  const latencies: number[] = []
  const errors: string[] = []
  let bought = 0
  let warmed = 0
  let refused = 0
  let measuredFrom = Number.POSITIVE_INFINITY
  let endsAt = Number.POSITIVE_INFINITY
  async function caller(nth: number): Promise<void> {
    for (let one = nth; performance.now() < endsAt; one += callers) {
      const startedAt = performance.now()
      try {
        await buy(shops[one % shops.length] as ShopToBuyIn, one)
        const endedAt = performance.now()
        warmed++
        if (endedAt < measuredFrom || endedAt > endsAt) continue
        bought++
        latencies.push(endedAt - startedAt)
      } catch (error) {
        if (error instanceof Refused) refused++
        else errors.push(error instanceof Error ? error.message : String(error))
      }
    }
  }
  const all = Promise.all(Array.from({ length: callers }, (_, nth) => caller(nth)))
  const beganAt = performance.now()
  await Bun.sleep(warmUp.ms)
  while (warmed < callers * warmUp.boughtEach && errors.length === 0 && performance.now() - beganAt < warmUp.msMax) await Bun.sleep(100)
  const before = { ...stats }
  const cpuBefore = process.cpuUsage()
  measuredFrom = performance.now()
  endsAt = measuredFrom + seconds * 1_000
  await Bun.sleep(seconds * 1_000)
  const { writes, commits, retries } = stats
  const { user, system } = process.cpuUsage(cpuBefore)
  await all
  latencies.sort((a, b) => a - b)
  return {
    perSecond: bought / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    writesEach: (writes - before.writes) / bought,
    commitsEach: (commits - before.commits) / bought,
    retriesEach: (retries - before.retries) / bought,
    cpuMsEach: (user + system) / 1_000 / bought,
    refused,
    errors: errors.slice(0, 3),
  }
}
