/** Refuses works that would block all others. */

export type Watch = ReturnType<typeof watchOfLoop>

/**
 * Creates a watch that refuses works which await anything but their queries, such as HTTP, a timer or a nested write:
 * they would block every write. SQLite responds synchronously, so other works settle before the event loop turns. One
 * watch serves all works of a commit.
 */
export function watchOfLoop() {
  let watching = watchOnce()
  return {
    async settle<T>(work: Promise<T>): Promise<T> {
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
