/** Monotonic timestamps for shipped files, independent of clock changes. */
import type { Clock } from '../../../core/clock.ts'

export type Timeline = {
  /** The clock, or later than the last timestamp by the elapsed time. Milliseconds since the epoch. */
  now(): number
  /** A time that is certainly past, so that a clock that is ahead makes no file old. */
  certainlyPast(): number
}

/** @param newest the last timestamp in the store; all new ones are later */
export function createTimeline({ now, monotonic }: Clock, newest: number | undefined): Timeline {
  const [begunAt, since] = [newest ?? now(), monotonic()]
  let [last, lastSince] = [newest === undefined ? 0 : newest + 1, since]
  const nextTime = () => {
    const passed = monotonic()
    last = Math.max(now(), last + passed - lastSince)
    lastSince = passed
    return Math.floor(last)
  }
  return { now: nextTime, certainlyPast: () => Math.min(nextTime(), Math.floor(begunAt + monotonic() - since)) }
}
