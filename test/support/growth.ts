/** The largest growth that counts as linear, with room for a busy machine. */
export const linearMax = 40
const runsMin = 5
const runsMax = 30

/**
 * Returns how many times as long work takes on ten times the input, by the fastest runs of each. Linear work takes
 * about 10 times as long, quadratic work about 100 times. A machine that pauses the process gets further runs.
 */
export function growthOf(work: (length: number) => void, length: number): number {
  let short = Number.POSITIVE_INFINITY
  let long = Number.POSITIVE_INFINITY
  const growth = () => long / Math.max(short, 0.5)
  for (let run = 0; run < runsMin || (run < runsMax && growth() >= linearMax); run++) {
    short = Math.min(
      short,
      millisecondsOf(() => work(length)),
    )
    long = Math.min(
      long,
      millisecondsOf(() => work(10 * length)),
    )
  }
  return growth()
}

function millisecondsOf(work: () => void): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}
