/** The days that the home page shows, as they stand in its address. */
import { daysAgo } from '../../lib/clock.ts'

export const windows = [7, 30, 90] as const
const usual = 30

export type Window = {
  /** One of `windows`; undefined of days of one's own. */
  readonly days: number | undefined
  readonly startDate?: string
  readonly endDate?: string
}

/**
 * Reads it: `?from=…&to=…`, both, else `?days=7`. What is none of these is what is shown of itself, the last 30 days.
 * @param today days before the server's today, as a day of the API
 */
export function windowOf(query: Readonly<Record<string, string>>, today: (before: number) => string = daysAgo): Window {
  const { from, to } = query
  if (from && to) return { days: undefined, startDate: from, endDate: to }
  const days = windows.find((one) => String(one) === query['days']) ?? usual
  // The API's own: nothing of it hangs on a clock.
  return days === usual ? { days } : { days, startDate: today(days - 1), endDate: today(0) }
}
