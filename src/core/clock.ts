/** The two clocks of a process. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number
  /** Monotonic milliseconds. */
  monotonic(): number
}

/** Tells whether the clock can be trusted for expiry by age. */
export type ClockWatch = {
  /** Compares the clock with the monotonic one. Returns false for a while after a jump. */
  isSteady(): boolean
}

/** Smaller steps, such as those of NTP, do not expire anything noticeably early. */
const jumpMs = 60_000
/**
 * Duration without another jump before the clock counts as steady. It gives the operator time to notice a wrong clock.
 */
const steadyAfterMs = 15 * 60_000

/**
 * Watches the clock for jumps, such as a wrong setting or a machine that slept. Expiry by age pauses until the clock is
 * steady.
 * @param onJump called for each jump, with its size and the duration until the clock counts as steady, in milliseconds
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
