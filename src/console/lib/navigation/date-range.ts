/** The days that a page shows, as they stand in its address. */
import { daysAgo } from '../format/server-clock.ts'

export const dayChoices = [7, 30, 90] as const
const defaultDays = 30

export type DateRange = {
  /** One of those that the page offers; undefined of days of one's own. */
  readonly days: number | undefined
  readonly startDate?: string
  readonly endDate?: string
}

/**
 * Reads it: `?from=…&to=…`, both, else `?days=7`. What is none of these is what is shown of itself, the last 30 days.
 * @param offered how many days one may choose from
 * @param today days before the server's today, as a day of the API
 */
export function parseDateRange(
  query: Readonly<Record<string, string>>,
  offered: readonly number[] = dayChoices,
  today: (before: number) => string = daysAgo,
): DateRange {
  const { from, to } = query
  if (from && to) return { days: undefined, startDate: from, endDate: to }
  const days = offered.find((one) => String(one) === query['days']) ?? defaultDays
  // The API's own: nothing of it hangs on a clock.
  return days === defaultDays ? { days } : { days, startDate: today(days - 1), endDate: today(0) }
}

/** What of it the API is asked for. */
export const rangeDates = ({ startDate, endDate }: DateRange): { startDate?: string; endDate?: string } =>
  startDate && endDate ? { startDate, endDate } : {}

/** What of an address is its window, for links that lead to the same days elsewhere. */
export function rangeQuery({ from, to, days }: Readonly<Record<string, string>>): string {
  const kept = from && to ? { from, to } : days ? { days } : {}
  const text = new URLSearchParams(kept).toString()
  return text && `?${text}`
}

const dayMs = 86_400_000
const dayStart = (text: string): number => Date.parse(`${text}T00:00:00Z`)
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** As many days as these, which end the day before they begin. */
export function previousRange({ startDate, endDate }: { readonly startDate: string; readonly endDate: string }) {
  const length = dayStart(endDate) - dayStart(startDate) + dayMs
  return { startDate: dayOf(dayStart(startDate) - length), endDate: dayOf(dayStart(startDate) - dayMs) }
}
