import { addDays, isDay } from '../lib/day.ts'
import { endOfDayIn, startOfDayIn } from '../lib/zone-days.ts'
import { invalidField } from './errors.ts'

/** Longest date range of a list. */
export const rangeDaysMax = 365

/** A range of days, both inclusive: `YYYY-MM-DD`. */
export type DateRange = { readonly from?: string | undefined; readonly to?: string | undefined }

/**
 * Converts a date range to milliseconds: `since` is inclusive, `until` exclusive; undefined if open.
 * @param zone the time zone of the days
 * @throws AppError INVALID, naming the parameter, for an invalid day and for a range that is reversed or longer than a
 *   year
 */
export function timeRangeOf({ from, to }: DateRange, zone = 'UTC'): { since: number | undefined; until: number | undefined } {
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && !isDay(day)) throw invalidField(name, 'must be a calendar day such as 2026-01-31')
  if (from !== undefined && to !== undefined) {
    if (to < from) throw invalidField('to', 'must not be before from')
    if (addDays(from, rangeDaysMax) <= to) throw invalidField('to', `must be within ${rangeDaysMax} days of from`)
  }
  return timesOf({ from, to }, zone)
}

/** Converts a range of valid days like `timeRangeOf`. */
export const timesOf = ({ from, to }: DateRange, zone = 'UTC') => ({
  since: from === undefined ? undefined : startOfDayIn(zone, from),
  until: to === undefined ? undefined : endOfDayIn(zone, to),
})
