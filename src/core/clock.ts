export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds of a clock that nobody sets: it goes on with time alone. */
  monotonic(): number
}

export type ClockWatch = {
  /** Holds the clock against the one that nobody sets. False for a while after it was seen to jump. */
  isSteady(): boolean
}

/** A step this small, as a time server makes, ends and forgets nothing before its time that anybody would miss. */
const jumpMs = 60_000
/** After a jump, so long without another: time for whoever set the clock wrong to notice. */
const steadyAfterMs = 15 * 60_000

/**
 * Watches the clock for jumps: one set wrong, or a machine that slept. What ends or forgets things by their age waits until it has
 * been steady again.
 * @param onJump told of each jump by how many milliseconds the clock went off, and after how many it counts as steady
 */
export function watchClock({ now, monotonic }: Clock, onJump: (byMs: number, waitMs: number) => void): ClockWatch {
  let offset = now() - monotonic()
  let steadyFrom = Number.NEGATIVE_INFINITY
  return {
    isSteady() {
      const elapsed = monotonic()
      const before = offset
      offset = now() - elapsed
      if (Math.abs(offset - before) > jumpMs) {
        steadyFrom = elapsed + steadyAfterMs
        onJump(offset - before, steadyAfterMs)
      }
      return elapsed >= steadyFrom
    },
  }
}
