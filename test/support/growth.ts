/**
 * Returns how many times as long work takes on ten times the input, by the fastest of five runs each. Linear work takes
 * about 10 times as long, quadratic work about 100 times.
 */
export function growthOf(work: (length: number) => void, length: number): number {
  const fastest = (size: number) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const startedAt = performance.now()
        work(size)
        return performance.now() - startedAt
      }),
    )
  return fastest(10 * length) / Math.max(fastest(length), 0.5)
}

/** The largest growth that counts as linear, with room for a busy machine. */
export const linearMax = 40
