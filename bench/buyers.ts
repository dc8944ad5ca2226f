/** Cart to CONFIRMED, souk against the floor, each in a process of its own. */
import type { Bought, Buying } from './callers.ts'
import { answered, figure, median, only, quick, rounds, rows, spreadOf } from './runs.ts'

type Told = Omit<Buying, 'processor' | 'synchronous'>
const roundsOfBuying = quick ? 2 : 3

/** One process that buys as it is told. Its columns are those of the database that it is told of. */
export async function bought(script: 'buying.ts' | 'floor-buying.ts', told: Buying): Promise<Bought> {
  const answer = await answered<Bought>([script], told, told.databaseUrl)
  if (answer.errors.length > 0) throw new Error(`not every cart was bought: ${answer.errors[0]}`)
  return answer
}

const rate = (all: readonly Bought[]) => {
  const of = (part: keyof Omit<Bought, 'errors'>, digits = 0) => figure(median(all.map((one) => one[part])), digits)
  return `${of('perSecond')}/s p50 ${of('p50Ms')} ms p99 ${of('p99Ms')} ms`
}

/** What it costs, and how many were refused with 503 in all rounds. */
const costs = (all: readonly Bought[]) => {
  const of = (part: keyof Omit<Bought, 'errors'>, digits = 1) => figure(median(all.map((one) => one[part])), digits)
  const refused = all.reduce((sum, one) => sum + one.refused, 0)
  return `${of('writesEach')} writes, ${of('commitsEach', 2)} commits, ${of('retriesEach', 2)} retries, ${of('cpuMsEach')} ms of processor an order; ${refused} × 503`
}

/**
 * Measures both in turn, round by round.
 * @param ways also without the processor, without waiting for the disk, and without both
 * @returns what souk bought a second
 */
export async function buyingInTurn(what: string, target: string, told: Told, ways: boolean): Promise<number> {
  const durable = { ...told, processor: 'sandbox', synchronous: 'FULL' } as const
  const souk: Bought[] = []
  const floor: Bought[] = []
  for (let round = 0; round < roundsOfBuying; round++) {
    floor.push(await bought('floor-buying.ts', durable))
    souk.push(await bought('buying.ts', durable))
  }
  const ratios = souk.map((one, at) => one.perSecond / (floor[at]?.perSecond ?? 1))
  rows.push({ what, souk: rate(souk), floor: rate(floor), ratio: median(ratios).toFixed(2), spread: spreadOf(ratios), target })
  only('  of it', costs(souk), '0 × 503')
  for (const way of ways ? otherWays : []) {
    const all: Bought[] = []
    for (let round = 0; round < Math.min(rounds, 2); round++) all.push(await bought('buying.ts', { ...told, ...way }))
    only(`  processor ${way.processor}, synchronous=${way.synchronous}`, `${rate(all)}, ${costs(all)}`, '')
  }
  return median(souk.map(({ perSecond }) => perSecond))
}

const otherWays = [
  { processor: 'memory', synchronous: 'FULL' },
  { processor: 'sandbox', synchronous: 'OFF' },
  { processor: 'memory', synchronous: 'OFF' },
] as const
