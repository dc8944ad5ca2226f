/**
 * Throttles background work on the main thread so that requests stay fast: one piece at a time, with a pause after each
 * while others are active.
 */
export type Throttle = {
  /**
   * Runs a piece after earlier ones. The next one waits `restFactor` times the duration of this one, if others were
   * active.
   */
  run<T>(piece: () => Promise<T>): Promise<T>
}

export type ThrottleOptions = {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** 0: one turn of the event loop. */
  readonly sleep: (ms: number) => Promise<void>
  /** Increases with the activity of others. */
  readonly activityCount: () => number
  readonly restFactor: number
  /** Minimum pause in milliseconds while others are active. */
  readonly restMinMs?: number
  /** Called after the pause of the last piece. */
  readonly onIdle?: () => void
}

/** Maximum pause. A longer piece waited for something other than the thread. */
const restMaxMs = 1_000

export function createThrottle({ now, sleep, activityCount, restFactor, restMinMs = 0, onIdle }: ThrottleOptions): Throttle {
  let last: Promise<unknown> = Promise.resolve()
  let before = activityCount()

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
        const came = activityCount() !== before
        before = activityCount()
        // Pending requests are read in a turn of the event loop.
        await sleep(came ? Math.max(restMinMs, Math.min(restFactor * took, restMaxMs)) : 0)
        if (last === rested) onIdle?.()
      }
      const rested = mine.then(rest, rest)
      last = rested
      return mine
    },
  }
}

/** The same with a separate queue per key. */
export type KeyedThrottle = {
  /**
   * Runs a piece after earlier ones of the same key.
   * @throws the error of `full` if `waitingMax` pieces of the key are queued or running, or the piece was queued for
   *   more than `waitMaxMs`
   */
  run<T>(key: string, piece: () => Promise<T>): Promise<T>
}

type KeyedThrottleOptions = Omit<ThrottleOptions, 'onIdle'> & {
  /** How many pieces of one key run concurrently. */
  readonly atOnce: number
  readonly waitingMax: number
  readonly waitMaxMs: number
  readonly full: () => Error
}
type Lane = { readonly share: Throttle; waiting: number; entered: number }

/** @param activityCount also counts the pieces of this throttle; pieces of the same key are not others */
export function createKeyedThrottle({
  activityCount,
  atOnce,
  waitingMax,
  waitMaxMs,
  full,
  ...options
}: KeyedThrottleOptions): KeyedThrottle {
  const lanes = new Map<string, Lane>()

  /** Creates a lane, which one piece enters. */
  function createLane(name: string): Lane {
    const counts = { waiting: 0, entered: 1 }
    const share = createThrottle({
      ...options,
      activityCount: () => activityCount() - counts.entered,
      onIdle: () => void lanes.delete(name),
    })
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
