/** The largest growth that counts as linear, with room for a busy machine. */
export const linearMax = 40
const shortRuns = 5
const longRunsMax = 30

/**
 * Returns how many times as much CPU time work takes on ten times the input, by the fastest runs of each. Linear work
 * takes about 10 times as much, quadratic work about 100 times. CPU time leaves out pauses on a busy machine. The long
 * work is repeated only while its growth does not count as linear, since a faster run can only lower it.
 */
export function growthOf(work: (length: number) => void, length: number): number {
  const measure = (length: number) => cpuMillisecondsOf(() => work(length))
  const short = Math.max(0.5, Math.min(...Array.from({ length: shortRuns }, () => measure(length))))
  let long = Number.POSITIVE_INFINITY
  for (let run = 0; run < longRunsMax && long / short >= linearMax; run++) long = Math.min(long, measure(10 * length))
  return long / short
}

function cpuMillisecondsOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
