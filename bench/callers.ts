/** Callers who buy one cart after the other: rate, latency and refusals. */
import { percentile } from './load.ts'

export type ShopToBuyIn = { shopId: string; shopName?: string; publishableKey: string; variantIds: readonly string[] }

/** The input of a child process on standard input. */
export type Buying = {
  dataDir: string
  /** A PostgreSQL server; unset for the file in `dataDir`. */
  databaseUrl?: string
  shops: readonly ShopToBuyIn[]
  callers: number
  seconds: number
  /** `memory` responds at once and stores nothing: the rest is our own cost. */
  processor: 'sandbox' | 'memory'
  synchronous: 'FULL' | 'OFF'
  /** URL of a platform's profile: its agent buys, instead of a shopper. */
  profile?: string
  /** Settings besides those of every measurement. */
  settings?: Record<string, string>
}

/** The output of a child process on standard output. */
export type BuyingResult = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  writesEach: number
  commitsEach: number
  retriesEach: number
  /** CPU time of all threads: above 1 s a second, other threads worked, too. */
  cpuMsEach: number
  /** Refused temporarily with 503. */
  refused: number
  errors: string[]
}

/** Thrown for a response with status 503. */
export class Refused extends Error {}

type Stats = { writes: number; commits: number; retries: number }
/**
 * The first runs are slow and do not count: for this time, and until each caller has bought this often. There is a
 * limit for busy machines.
 */
const warmUp = { ms: 2_000, boughtEach: 6, msMax: 15_000 }

/**
 * Runs concurrent callers for a time after a warm-up.
 * @param buy one purchase from cart to CONFIRMED; throws Refused on 503
 */
export async function runCallers(
  { shops, callers, seconds }: Buying,
  stats: Readonly<Stats>,
  buy: (shop: ShopToBuyIn, nth: number) => Promise<void>,
): Promise<BuyingResult> {
  const latencies: number[] = []
  const errors: string[] = []
  let purchases = 0
  let warmedCallers = 0
  let refused = 0
  let measuredFrom = Number.POSITIVE_INFINITY
  let endsAt = Number.POSITIVE_INFINITY
  async function caller(nth: number): Promise<void> {
    for (let one = nth; performance.now() < endsAt; one += callers) {
      const startedAt = performance.now()
      try {
        await buy(shops[one % shops.length] as ShopToBuyIn, one)
        const endedAt = performance.now()
        warmedCallers++
        if (endedAt < measuredFrom || endedAt > endsAt) continue
        purchases++
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
  while (warmedCallers < callers * warmUp.boughtEach && errors.length === 0 && performance.now() - beganAt < warmUp.msMax)
    await Bun.sleep(100)
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
    perSecond: purchases / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    writesEach: (writes - before.writes) / purchases,
    commitsEach: (commits - before.commits) / purchases,
    retriesEach: (retries - before.retries) / purchases,
    cpuMsEach: (user + system) / 1_000 / purchases,
    refused,
    errors: errors.slice(0, 3),
  }
}
