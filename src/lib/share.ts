/** Long work on the thread that answers everybody, for which nobody waits but whoever asked for it: a small part of the time while others come, all of it otherwise. */
export type Share = {
  /** Runs a piece once it is its turn. After it nobody's next piece is run for so many times as long as it took, if others came since the one before. */
  run<T>(piece: () => Promise<T>): Promise<T>
}

export type ShareOptions = {
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** Goes up whenever something was asked for by somebody else. */
  readonly seen: () => number
  readonly times: number
}

/** Longer than a piece takes on any machine that answers: after one that waited for something else, nobody is the better for more. */
const restMaxMs = 1_000

export function createShare({ now, sleep, seen, times }: ShareOptions): Share {
  let last: Promise<unknown> = Promise.resolve()
  let before = seen()

  return {
    run(piece) {
      let took = 0
      const mine = last.then(async () => {
        const startedAt = now()
        try {
          return await piece()
        } finally {
          took = now() - startedAt
        }
      })
      const rest = async () => {
        const came = seen() !== before
        before = seen()
        // Who is only about to come has a turn of the loop.
        await sleep(came ? Math.min(times * took, restMaxMs) : 0)
      }
      last = mine.then(rest, rest)
      return mine
    },
  }
}
