/** The largest growth that counts as linear, with room for a busy machine. */
export const linearMax = 40
const runsMin = 5
const runsMax = 30

/**
 * Returns how many times as much CPU time work takes on ten times the input, by the fastest runs of each. Linear work
 * takes about 10 times as much, quadratic work about 100 times. CPU time leaves out pauses on a busy machine.
 */
export function growthOf(work: (length: number) => void, length: number): number {
  let short = Number.POSITIVE_INFINITY
  let long = Number.POSITIVE_INFINITY
  const growth = () => long / Math.max(short, 0.5)
  for (let run = 0; run < runsMin || (run < runsMax && growth() >= linearMax); run++) {
    short = Math.min(
      short,
      cpuMillisecondsOf(() => work(length)),
    )
    long = Math.min(
      long,
      cpuMillisecondsOf(() => work(10 * length)),
    )
  }
  return growth()
}

function cpuMillisecondsOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
