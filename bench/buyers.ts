/** Measures cart to CONFIRMED of souk against the floor, each in a separate process. */
import type { Buying, BuyingResult } from './callers.ts'
import { figure, median, quick, reportRatios, reportSingle, rounds, runScript } from './runs.ts'

type ComparisonInput = Omit<Buying, 'processor' | 'synchronous'>
const roundsOfBuying = quick ? 2 : 3

/** Runs one buying process. Its columns are those of the database in the input. */
export async function runBuyers(script: 'buying.ts' | 'floor-buying.ts', input: Buying): Promise<BuyingResult> {
  const answer = await runScript<BuyingResult>([script], input, input.databaseUrl)
  if (answer.errors.length > 0) throw new Error(`not every cart was bought: ${answer.errors[0]}`)
  return answer
}

const rate = (all: readonly BuyingResult[]) => {
  const of = (part: keyof Omit<BuyingResult, 'errors'>) => figure(median(all.map((one) => one[part])), 0)
  return `${of('perSecond')}/s p50 ${of('p50Ms')} ms p99 ${of('p99Ms')} ms`
}

/** Returns the cost, and how many requests got 503 in all rounds. */
const costText = (all: readonly BuyingResult[]) => {
  const of = (part: keyof Omit<BuyingResult, 'errors'>, digits = 1) => figure(median(all.map((one) => one[part])), digits)
  const refused = all.reduce((sum, one) => sum + one.refused, 0)
  return `${of('writesEach')} writes, ${of('commitsEach', 2)} commits, ${of('retriesEach', 2)} retries, ${of('cpuMsEach')} ms of processor an order; ${refused} × 503`
}

/**
 * Measures both in turn.
 * @param withVariants also measures without the processor, without waiting for the disk, and without both
 * @returns souk's purchases per second
 */
export async function measureBuying(what: string, target: string, input: ComparisonInput, withVariants: boolean): Promise<number> {
  const durable = { ...input, processor: 'sandbox', synchronous: 'FULL' } as const
  const souk: BuyingResult[] = []
  const floor: BuyingResult[] = []
  for (let round = 0; round < roundsOfBuying; round++) {
    floor.push(await runBuyers('floor-buying.ts', durable))
    souk.push(await runBuyers('buying.ts', durable))
  }
  const ratios = souk.map((one, at) => one.perSecond / (floor[at]?.perSecond ?? 1))
  reportRatios({ what, souk: rate(souk), floor: rate(floor), target }, ratios)
  reportSingle('  of it', costText(souk), '0 × 503')
  for (const variant of withVariants ? variants : []) {
    const all: BuyingResult[] = []
    for (let round = 0; round < Math.min(rounds, 2); round++) all.push(await runBuyers('buying.ts', { ...input, ...variant }))
    reportSingle(`  processor ${variant.processor}, synchronous=${variant.synchronous}`, `${rate(all)}, ${costText(all)}`, '')
  }
  return median(souk.map(({ perSecond }) => perSecond))
}

const variants = [
  { processor: 'memory', synchronous: 'FULL' },
  { processor: 'sandbox', synchronous: 'OFF' },
  { processor: 'memory', synchronous: 'OFF' },
] as const
