/**
 * Long work on the thread that answers everybody: one at a time, in pieces, and after each piece the others' turns.
 */
export type Pace = {
  /** Resolves when it is this work's turn; it must be left in the end. */
  enter(): Promise<Paced>
}

export type Paced = {
  /**
   * Between two pieces, however small: lets others use the thread for as long as they want it, up to so many times the length of the piece; then whoever
   * else does long work has a turn.
   * @returns whether others wanted it: the next piece had better be a small one
   */
  rest(): Promise<boolean>
  /** Lets the next one in. */
  leave(): void
}

export type PaceOptions = {
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** Resolves when the event loop has gone round. */
  readonly turn: () => Promise<void>
  /** Resolves after about a millisecond, in which the thread is others', and the processor too. */
  readonly pause: () => Promise<void>
  /** Goes up whenever something was done for somebody else. */
  readonly seen: () => number
  /** How many times the length of a piece is for others. */
  readonly othersShare: number
}

/** Work that is shorter goes on: to find out whether anybody waits costs something, too. */
const pieceMinMs = 2
/**
 * So long without anything to do, and nobody is waiting: a client needs a moment between an answer and its next request, and a busy
 * machine gives it one late.
 */
const idleMs = { whereNobodyCame: 0.5, whereSomebodyCame: 4 }

export function createPace({ now, turn, pause, seen, othersShare }: PaceOptions): Pace {
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

  /** Returns whether others came. */
  async function letOthers(forMs: number, cameBefore: boolean): Promise<boolean> {
    let [used, idle] = [0, 0]
    const come = () => used > 0 || cameBefore
    while (used < forMs && idle < (come() ? idleMs.whereSomebodyCame : idleMs.whereNobodyCame)) {
      const [startedAt, seenBefore] = [now(), seen()]
      await (come() ? pause() : turn())
      const took = now() - startedAt
      if (seen() === seenBefore) idle += took
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
