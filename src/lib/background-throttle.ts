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

/** The same for many callers, each with a queue of its own. */
export type Shares = {
  /**
   * Runs a piece after earlier ones of the same key.
   * @throws what `full` makes, where `waitingMax` pieces of the key are queued or running, or the piece was queued for more than `waitMaxMs`
   */
  run<T>(key: string, piece: () => Promise<T>): Promise<T>
}

type SharesOptions = Omit<ShareOptions, 'onIdle'> & {
  /** How many pieces of one key run concurrently. */
  readonly atOnce: number
  readonly waitingMax: number
  readonly waitMaxMs: number
  readonly full: () => Error
}
type Lane = { readonly share: Share; waiting: number; entered: number }

/** @param seen goes up by one with each piece besides: those of a key are no others to it */
export function createShares({ seen, atOnce, waitingMax, waitMaxMs, full, ...options }: SharesOptions): Shares {
  const lanes = new Map<string, Lane>()

  /** Creates a lane, which one piece enters. */
  function createLane(name: string): Lane {
    const counts = { waiting: 0, entered: 1 }
    const share = createShare({ ...options, seen: () => seen() - counts.entered, onIdle: () => void lanes.delete(name) })
    const lane = Object.assign(counts, { share })
    lanes.set(name, lane)
    return lane
  }

  /** Returns the lane of a key with the fewest pieces, which one more enters. */
  function enterShortest(key: string): Lane {
    let shortest: Lane | undefined
    for (let nth = 0; nth < atOnce; nth++) {
      const name = `${key} ${nth}`
      const lane = lanes.get(name)
      if (!lane) return createLane(name)
      if (!shortest || lane.waiting < shortest.waiting) shortest = lane
    }
    if (!shortest) return createLane(key)
    shortest.entered++
    return shortest
  }

  return {
    async run(key, piece) {
      const lane = enterShortest(key)
      if (lane.waiting >= waitingMax / atOnce) throw full()
      lane.waiting++
      const queuedAt = options.now()
      try {
        return await lane.share.run(() => {
          if (options.now() - queuedAt > waitMaxMs) throw full()
          return piece()
        })
      } finally {
        lane.waiting--
      }
    },
  }
}
