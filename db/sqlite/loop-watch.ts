/** Sees that no work holds the others up. */

export type Watch = ReturnType<typeof watchOfLoop>

/**
 * Everything a work awaits is answered by SQLite at once, so it settles before the loop turns. A work that does not
 * (an HTTP call, a timer, a nested write that waits for itself) would hold every other write up: it is refused. One watch is for all
 * works of a commit, and strikes whichever is at work then.
 */
export function watchOfLoop() {
  let watching = watchOnce()
  return {
    async settled<T>(work: Promise<T>): Promise<T> {
      try {
        return await Promise.race([work, watching.turned])
      } finally {
        if (watching.struck()) watching = watchOnce()
      }
    },
    end: () => watching.end(),
  }
}

function watchOnce() {
  const { promise: turned, reject } = Promise.withResolvers<never>()
  let hasStruck = false
  const immediate = setImmediate(() => {
    hasStruck = true
    reject(new Error('a database work may await its own queries only'))
  })
  return { turned, struck: () => hasStruck, end: () => clearImmediate(immediate) }
}
