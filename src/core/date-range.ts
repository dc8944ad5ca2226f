import { addDays, isDay, startOf } from '../lib/day.ts'
import { AppError } from './errors.ts'

/** How many days a list may be narrowed to at once. */
export const windowDaysMax = 365

/** Days of the calendar, UTC, both inclusive: `YYYY-MM-DD`. */
export type Days = { readonly from?: string | undefined; readonly to?: string | undefined }

/**
 * When a window of days begins, and when it is over (excluded), in milliseconds; undefined where it is open.
 * @throws AppError INVALID, naming the parameter, for a day that there is not, and a window that is reversed or longer than a year
 */
export function windowOf({ from, to }: Days): { since: number | undefined; until: number | undefined } {
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && !isDay(day)) throw new AppError('INVALID', `${name} (query): not a day of the calendar, YYYY-MM-DD`)
  if (from !== undefined && to !== undefined) {
    if (to < from) throw new AppError('INVALID', 'to (query): before from')
    if (addDays(from, windowDaysMax) <= to) throw new AppError('INVALID', `to (query): more than ${windowDaysMax} days from the first`)
  }
  return {
    since: from === undefined ? undefined : startOf(from),
    until: to === undefined ? undefined : startOf(addDays(to, 1)),
  }
}
