/** Throttles work on the main thread: one piece at a time, with a rest after each while others ask for something. */
export type Share = {
  /** Runs a piece after the ones before it. The next one waits for `times` as long as this one took, if others came since the one before. */
  run<T>(piece: () => Promise<T>): Promise<T>
}

export type ShareOptions = {
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** 0: until the event loop has gone round. */
  readonly sleep: (ms: number) => Promise<void>
  /** Goes up whenever somebody else asked for something. */
  readonly seen: () => number
  readonly times: number
  /** The shortest rest, in milliseconds, where others came. */
  readonly restMinMs?: number
  /** Called when the rest after the last piece is over. */
  readonly onIdle?: () => void
}

/** The longest rest: a piece that took longer waited for something else than the thread. */
const restMaxMs = 1_000

export function createShare({ now, sleep, seen, times, restMinMs = 0, onIdle }: ShareOptions): Share {
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
        // Requests that have arrived meanwhile are read in a turn of the event loop.
        await sleep(came ? Math.max(restMinMs, Math.min(times * took, restMaxMs)) : 0)
        if (last === rested) onIdle?.()
      }
      const rested = mine.then(rest, rest)
      last = rested
      return mine
    },
  }
}

/** The same for many callers, each with a share of its own. */
export type Shares = {
  /**
   * Runs a piece after the earlier ones under the same key.
   * @throws what `full` makes, where `waitingMax` pieces of the key wait
   */
  run<T>(key: string, piece: () => Promise<T>): Promise<T>
}

type SharesOptions = Omit<ShareOptions, 'onIdle'> & { readonly waitingMax: number; readonly full: () => Error }

/** @param seen goes up by one with each piece besides: those of a key are no others to it */
export function createShares({ seen, waitingMax, full, ...options }: SharesOptions): Shares {
  const lanes = new Map<string, { readonly share: Share; waiting: number; entered: number }>()

  /** The lane of a key, which one more piece enters. */
  function entered(key: string) {
    const known = lanes.get(key)
    if (known) {
      known.entered++
      return known
    }
    const counts = { waiting: 0, entered: 1 }
    const share = createShare({ ...options, seen: () => seen() - counts.entered, onIdle: () => void lanes.delete(key) })
    const lane = Object.assign(counts, { share })
    lanes.set(key, lane)
    return lane
  }

  return {
    async run(key, piece) {
      const lane = entered(key)
      if (lane.waiting >= waitingMax) throw full()
      lane.waiting++
      try {
        return await lane.share.run(piece)
      } finally {
        lane.waiting--
      }
    },
  }
}
