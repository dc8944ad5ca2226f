/**
 * Waits for work up to a deadline. Returns undefined after that; the work continues.
 * @throws errors of the work before the deadline
 */
export async function withinDeadline<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, ms, undefined)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
