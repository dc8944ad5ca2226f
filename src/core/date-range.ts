import { addDays, isDay, startOfDay } from '../lib/day.ts'
import { AppError } from './errors.ts'

/** Longest date range of a list. */
export const rangeDaysMax = 365

/** A range of UTC days, both inclusive: `YYYY-MM-DD`. */
export type DateRange = { readonly from?: string | undefined; readonly to?: string | undefined }

/**
 * Converts a date range to milliseconds: `since` is inclusive, `until` exclusive; undefined if open.
 * @throws AppError INVALID, naming the parameter, for an invalid day and for a range that is reversed or longer than a
 *   year
 */
export function timeRangeOf({ from, to }: DateRange): { since: number | undefined; until: number | undefined } {
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && !isDay(day)) throw new AppError('INVALID', `${name} (query): not a day of the calendar, YYYY-MM-DD`)
  if (from !== undefined && to !== undefined) {
    if (to < from) throw new AppError('INVALID', 'to (query): before from')
    if (addDays(from, rangeDaysMax) <= to) throw new AppError('INVALID', `to (query): more than ${rangeDaysMax} days from the first`)
  }
  return timesOf({ from, to })
}

/** Converts a range of valid days like `timeRangeOf`. */
export const timesOf = ({ from, to }: DateRange) => ({
  since: from === undefined ? undefined : startOfDay(from),
  until: to === undefined ? undefined : startOfDay(addDays(to, 1)),
})
