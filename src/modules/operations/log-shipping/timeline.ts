/** The times by which what is shipped is told apart: they only go forward, whatever is done to the clock. */
import type { Clock } from '../../../core/clock.ts'

export type Timeline = {
  /** By the clock; while that is behind a time that was told already, as much later than that as has passed since. Milliseconds since the epoch. */
  now(): number
  /** A time that is not past what has surely passed since what was there last: a clock that is ahead makes nothing old. */
  surely(): number
}

/** @param newest the last time that was told, undefined where none was: every one that is told now is after it */
export function createTimeline({ now, monotonic }: Clock, newest: number | undefined): Timeline {
  const [begunAt, since] = [newest ?? now(), monotonic()]
  let [told, toldSince] = [newest === undefined ? 0 : newest + 1, since]
  const tell = () => {
    const passed = monotonic()
    told = Math.max(now(), told + passed - toldSince)
    toldSince = passed
    return Math.floor(told)
  }
  return { now: tell, surely: () => Math.min(tell(), Math.floor(begunAt + monotonic() - since)) }
}
