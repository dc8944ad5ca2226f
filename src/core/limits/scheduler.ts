/**
 * Schedules long work on the main thread: one piece at a time, with a rest after each piece while requests arrive.
 * Prevents: work of one client that delays the requests of all others.
 * Bench: abuse, "imports of 19 MB …" and the public reads "by 24 connections of one address".
 */
export type Scheduler = {
  /** Waits for the turn of this work. Call `leave` at the end. */
  enter(): Promise<ScheduledWork>
  /** Runs one piece in its turn. The next one starts after the rest, for which this one does not wait. */
  run<T>(piece: () => Promise<T>): Promise<T>
}

type ScheduledWork = {
  /**
   * Yields the thread between two pieces while requests use it, up to `othersShare` times the piece's duration. Then
   * other scheduled work has a turn.
   * @returns whether requests used the thread: the next piece should be small
   */
  rest(): Promise<boolean>
  /** Ends the work. */
  leave(): void
}

type SchedulerOptions = {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Resolves after one turn of the event loop, in which pending requests are read. */
  readonly turn: () => Promise<void>
  /** Resolves after a time in which the processor is free too. */
  readonly sleep: (ms: number) => Promise<void>
  /** Increases with the activity of requests. */
  readonly activityCount: () => number
  /** Maximum share of requests, as a multiple of a piece's duration. */
  readonly othersShare: number
  /** How many works run concurrently; 1 by default. */
  readonly atOnce?: number
  /** Called when no work is left. */
  readonly onIdle?: () => void
}

/** Shorter pieces continue, because yielding has a cost. */
const pieceMinMs = 2
/** Maximum rest. A longer piece waited for something other than the thread. */
const restMaxMs = 1_000
/** Minimum rest after a piece of `run`. */
const restMinMs = 2
/**
 * Idle time after which no request is waiting. A client takes a moment between a response and its next request, longer
 * on a busy machine.
 */
const idleMaxMs = { quiet: 0.5, active: 4 }

/** Creates a scheduler. Works get their turns in the order in which they entered. */
export function createScheduler({ now, turn, sleep, activityCount, othersShare, atOnce = 1, onIdle }: SchedulerOptions): Scheduler {
  const waiting: (() => void)[] = []
  let activeCount = 0
  let seenCount = activityCount()

  function passTurn(): void {
    const next = waiting.shift()
    if (next) next()
    else activeCount--
    if (activeCount === 0) onIdle?.()
  }

  async function acquireTurn(): Promise<void> {
    if (activeCount < atOnce) activeCount++
    else await new Promise<void>((begin) => waiting.push(begin))
  }

  /** Returns whether requests used the thread. */
  async function yieldToRequests(pieceMs: number, hadRequests: boolean): Promise<boolean> {
    const forMs = Math.min(othersShare * pieceMs, restMaxMs)
    let [used, idle] = [0, 0]
    const hasRequests = () => used > 0 || hadRequests
    while (used < forMs && idle < (hasRequests() ? idleMaxMs.active : idleMaxMs.quiet)) {
      const [startedAt, seenBefore] = [now(), activityCount()]
      await (hasRequests() ? sleep(1) : turn())
      const took = now() - startedAt
      if (activityCount() === seenBefore) idle += took
      else [used, idle] = [used + idle + took, 0]
    }
    return used > 0
  }

  /** Rests after a piece of `run`: the whole share if a request came since the last one, else for one turn. */
  async function restAfter(pieceMs: number): Promise<void> {
    const hasOthers = activityCount() !== seenCount
    // Before the rest, so that requests during it count as others of the next piece.
    seenCount = activityCount()
    if (hasOthers && othersShare > 0) await sleep(Math.min(Math.max(othersShare * pieceMs, restMinMs), restMaxMs))
    else await turn()
    passTurn()
  }

  return {
    async run(piece) {
      await acquireTurn()
      const startedAt = now()
      try {
        return await piece()
      } finally {
        void restAfter(now() - startedAt)
      }
    },
    async enter() {
      await acquireTurn()
      let startedAt = now()
      let wasWanted = false
      return {
        async rest() {
          if (now() - startedAt < pieceMinMs) return wasWanted
          wasWanted = await yieldToRequests(now() - startedAt, wasWanted)
          passTurn()
          await acquireTurn()
          startedAt = now()
          return wasWanted
        },
        leave: passTurn,
      }
    },
  }
}

/** A scheduler per key, such as the address of a client. */
export type KeyedScheduler = {
  /**
   * Runs a piece after earlier ones of the same key.
   * @throws the error of `full` if `waitingMax` pieces of the key are queued or running, or the piece was queued for
   *   more than `waitMaxMs`
   */
  run<T>(key: string, piece: () => Promise<T>): Promise<T>
}

type KeyedSchedulerOptions = Omit<SchedulerOptions, 'onIdle'> & {
  readonly waitingMax: number
  readonly waitMaxMs: number
  readonly full: () => Error
}
type Lane = { waiting: number; entered: number; scheduler: Scheduler }

/**
 * Creates a scheduler whose work is grouped by key.
 * @param activityCount also counts the pieces of this scheduler; pieces of the same key are not others
 */
export function createKeyedScheduler({ activityCount, waitingMax, waitMaxMs, full, ...options }: KeyedSchedulerOptions): KeyedScheduler {
  const lanes = new Map<string, Lane>()

  function createLane(key: string): Lane {
    const counts = { waiting: 0, entered: 0 }
    const onIdle = () => void lanes.delete(key)
    const scheduler = createScheduler({ ...options, activityCount: () => activityCount() - Math.max(1, counts.entered), onIdle })
    return Object.assign(counts, { scheduler })
  }

  return {
    async run(key, piece) {
      const lane = lanes.getOrInsertComputed(key, createLane)
      lane.entered++
      if (lane.waiting >= waitingMax) throw full()
      lane.waiting++
      const queuedAt = options.now()
      try {
        return await lane.scheduler.run(() => {
          if (options.now() - queuedAt > waitMaxMs) throw full()
          return piece()
        })
      } finally {
        lane.waiting--
      }
    },
  }
}
