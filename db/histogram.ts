/** Histograms of the database's statistics. */
import type { Histogram } from './engine.ts'

/** Bounds of commit durations in seconds. */
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Bounds of writes per commit. */
const worksBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  buckets: new Array<number>(bounds.length + 1).fill(0),
  sum: 0,
})
/** Creates the statistics of a database, all zero. */
export const newStats = () => ({
  writes: 0,
  commits: 0,
  retries: 0,
  queued: 0,
  commitSeconds: createHistogram(commitBounds),
  commitWorks: createHistogram(worksBounds),
})

/** Counts a value in the first bucket whose bound it does not exceed; beyond the last bound in an extra one. */
export function recordValue(into: Histogram, value: number): void {
  const { bounds, buckets } = into
  let at = 0
  while (at < bounds.length && value > (bounds[at] as number)) at++
  ;(buckets[at] as number)++
  into.sum += value
}
