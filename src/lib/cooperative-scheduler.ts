/** Runs long work on the main thread in pieces, one work at a time, and yields to requests after each piece. */
export type CooperativeScheduler = {
  /** Waits for the turn of this work. Call `leave` at the end. */
  enter(): Promise<ScheduledWork>
}

export type ScheduledWork = {
  /**
   * Yields the thread between two pieces while requests use it, up to `othersShare` times the piece's duration. Then
   * other scheduled work has a turn.
   * @returns whether requests used the thread: the next piece should be small
   */
  rest(): Promise<boolean>
  /** Ends the work. */
  leave(): void
}

export type CooperativeSchedulerOptions = {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Resolves after one turn of the event loop. */
  readonly turn: () => Promise<void>
  /** Resolves after about 1 ms, in which the processor is free too. */
  readonly pause: () => Promise<void>
  /** Increases with the activity of requests. */
  readonly activityCount: () => number
  /** Maximum share of requests, as a multiple of a piece's duration. */
  readonly othersShare: number
}

/** Shorter pieces continue, because yielding has a cost. */
const pieceMinMs = 2
/**
 * Idle time after which no request is waiting. A client takes a moment between a response and its next request, longer
 * on a busy machine.
 */
const idleMs = { whereNobodyCame: 0.5, whereSomebodyCame: 4 }

export function createCooperativeScheduler({
  now,
  turn,
  pause,
  activityCount,
  othersShare,
}: CooperativeSchedulerOptions): CooperativeScheduler {
  const waiting: (() => void)[] = []
  let isTaken = false

  function letNextIn(): void {
    const next = waiting.shift()
    if (next) next()
    else isTaken = false
  }

  async function comeIn(): Promise<void> {
    if (isTaken) await new Promise<void>((begin) => waiting.push(begin))
    isTaken = true
  }

  /** Returns whether requests used the thread. */
  async function letOthers(forMs: number, cameBefore: boolean): Promise<boolean> {
    let [used, idle] = [0, 0]
    const come = () => used > 0 || cameBefore
    while (used < forMs && idle < (come() ? idleMs.whereSomebodyCame : idleMs.whereNobodyCame)) {
      const [startedAt, seenBefore] = [now(), activityCount()]
      await (come() ? pause() : turn())
      const took = now() - startedAt
      if (activityCount() === seenBefore) idle += took
      else [used, idle] = [used + idle + took, 0]
    }
    return used > 0
  }

  return {
    async enter() {
      await comeIn()
      let startedAt = now()
      let wasWanted = false
      return {
        async rest() {
          if (now() - startedAt < pieceMinMs) return wasWanted
          wasWanted = await letOthers(othersShare * (now() - startedAt), wasWanted)
          letNextIn()
          await comeIn()
          startedAt = now()
          return wasWanted
        },
        leave: letNextIn,
      }
    },
  }
}
