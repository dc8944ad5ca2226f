/** UTC days, and durations in milliseconds. */

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** Returns the UTC day of a time, `YYYY-MM-DD`. Days sort as text. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Adds days; a negative number subtracts. */
export const addDays = (day: string, days: number): string => dayOf(startOfDay(day) + days * dayMs)

/** Returns the day of a time: days since 1970-01-01, UTC. */
export const dayNumberOf = (ms: number): number => Math.floor(ms / dayMs)
/** Returns the day with this number, `YYYY-MM-DD`. */
export const dayText = (day: number): string => dayOf(day * dayMs)

/** Checks for a valid calendar day. */
export function isDay(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? startOfDay(text) : Number.NaN
  return !Number.isNaN(ms) && dayOf(ms) === text
}

/** Returns the start of a day in milliseconds; NaN if it is invalid. */
export const startOfDay = (day: string): number => Date.parse(`${day}T00:00:00.000Z`)

/**
 * Returns the number of days of a month.
 * @param month 1 to 12
 */
export const daysInMonth = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** Returns the same UTC time some months earlier. In a shorter month it is the last day. */
export function monthsBefore(ms: number, months: number): number {
  const date = new Date(ms)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() - months)
  date.setUTCDate(Math.min(day, daysInMonth(date.getUTCFullYear(), date.getUTCMonth() + 1)))
  return date.getTime()
}
