/** The dates of a page, which its URL holds. */
import { dayMs, dayOf, startOfDay } from '../../../lib/day.ts'
import { daysAgo } from '../format/server-clock.ts'

export const dayChoices = [7, 30, 90] as const
/** Numbers of days that the routes of operators accept. */
export const operatorDayChoices = [7, 30, 90, 365] as const
const defaultDays = 30

export type DateRange = {
  /** One of the offered lengths; undefined for a custom range. */
  readonly days: number | undefined
  readonly startDate?: string
  readonly endDate?: string
}

/**
 * Parses `?from=…&to=…` or `?days=7`; the default is the last 30 days.
 * @param dayCounts the lengths to choose from
 * @param dateBefore returns the date some days before today; default: by UTC
 */
export function parseDateRange(
  query: Readonly<Record<string, string>>,
  dayCounts: readonly number[] = dayChoices,
  dateBefore: (before: number) => string = daysAgo,
): DateRange {
  const { from, to } = query
  if (from && to) return { days: undefined, startDate: from, endDate: to }
  const days = dayCounts.find((dayCount) => String(dayCount) === query['days']) ?? defaultDays
  // The API's default: needs no clock.
  return days === defaultDays ? { days } : { days, startDate: dateBefore(days - 1), endDate: dateBefore(0) }
}

/** Returns the dates as API parameters. */
export const rangeDates = ({ startDate, endDate }: DateRange): { startDate?: string; endDate?: string } =>
  startDate && endDate ? { startDate, endDate } : {}

/** Returns the date parameters of a URL, for links to the same dates. */
export function rangeQuery({ from, to, days }: Readonly<Record<string, string>>): string {
  const parameters = from && to ? { from, to } : days ? { days } : {}
  const text = new URLSearchParams(parameters).toString()
  return text && `?${text}`
}

/** Returns the range of equal length that ends the day before. */
export function previousRange({ startDate, endDate }: { readonly startDate: string; readonly endDate: string }) {
  const length = startOfDay(endDate) - startOfDay(startDate) + dayMs
  return { startDate: dayOf(startOfDay(startDate) - length), endDate: dayOf(startOfDay(startDate) - dayMs) }
}
