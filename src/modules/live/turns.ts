/** Work on the thread that answers everybody, for which nobody waits but whoever asked for it: a piece at a time. */
export type Turns = {
  /** Runs a piece once it is somebody's turn: of those who wait, each has one before anybody has another, however much they ask for. */
  run<T>(who: string, piece: () => Promise<T>): Promise<T>
}

/** Longer than a piece takes on any machine that answers. */
const restMaxMs = 1_000

/**
 * @param now milliseconds of a clock that only goes forward
 * @param sleep after each piece, for as long as it took: the other half of the time is everybody's
 */
export function createTurns({ now, sleep }: { readonly now: () => number; readonly sleep: (ms: number) => Promise<void> }): Turns {
  /** What is asked for, by who; who has waited longest comes first. */
  const waiting = new Map<string, (() => Promise<void>)[]>()
  let isAtWork = false

  async function work(): Promise<void> {
    isAtWork = true
    // Who is put back comes up again.
    for (const [who, [piece, ...others]] of waiting) {
      waiting.delete(who)
      if (others.length > 0) waiting.set(who, others)
      const startedAt = now()
      await piece?.()
      await sleep(Math.min(now() - startedAt, restMaxMs))
    }
    isAtWork = false
  }

  return {
    run(who, piece) {
      const { promise, resolve } = Promise.withResolvers<ReturnType<typeof piece>>()
      const own = waiting.getOrInsertComputed(who, () => [])
      own.push(async () => {
        const done = piece()
        resolve(done)
        await done.catch(() => undefined)
      })
      if (!isAtWork) void work()
      return promise as Promise<Awaited<ReturnType<typeof piece>>>
    },
  }
}
