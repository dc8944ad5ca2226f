/** Days of a time zone. Around changes of daylight-saving time they have 23 or 25 hours. */
import { dayMs, dayNumberOf, dayOf, dayText, startOfDay } from './day.ts'

/** Returns the day of a time, `YYYY-MM-DD`. */
export const dayIn = (zone: string, ms: number): string =>
  zone === 'UTC' ? dayOf(ms) : Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate().toString()

/** Returns the day of a time as the number of its date: days since 1970-01-01. */
export const dayNumberIn = (zone: string, ms: number): number =>
  zone === 'UTC' ? dayNumberOf(ms) : dayNumberOf(startOfDay(dayIn(zone, ms)))

/** Returns the first moment of a day in milliseconds, also where the clock skips midnight. */
export const startOfDayIn = (zone: string, day: string): number =>
  zone === 'UTC' ? startOfDay(day) : Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds

/** Returns the first moment after a day in milliseconds. */
export const endOfDayIn = (zone: string, day: string): number =>
  zone === 'UTC' ? startOfDay(day) + dayMs : Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds

/** Consecutive days of 24 hours, or one longer or shorter day. `day` is the number of the first, `until` exclusive. */
export type DayRun = { readonly day: number; readonly since: number; readonly until: number; readonly length: number }

/**
 * Splits days, given by number and both inclusive, into runs of days of equal length.
 * @param daysMax of a run
 */
export function dayRunsIn(zone: string, from: number, to: number, daysMax: number): DayRun[] {
  const runs: DayRun[] = []
  let since = startOfDayIn(zone, dayText(from))
  for (let day = from; day <= to; day++) {
    const until = endOfDayIn(zone, dayText(day))
    const length = until - since
    const last = runs.at(-1)
    const days = last ? (since - last.since) / last.length : 0
    // A zone that moves over the date line skips a day, which has no length.
    if (last && length === dayMs && last.length === dayMs && day === last.day + days && days < daysMax)
      runs[runs.length - 1] = { ...last, until }
    else if (length > 0) runs.push({ day, since, until, length })
    since = until
  }
  return runs
}
