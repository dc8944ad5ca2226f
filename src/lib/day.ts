/** Days of the calendar, UTC, and how long they and their parts are in milliseconds. */

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** The day of a moment, UTC: `YYYY-MM-DD`, which as text sorts by time. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The day so many days after another, or before it. */
export const addDays = (day: string, days: number): string => dayOf(startOf(day) + days * dayMs)

/** Whether a text is a day that there is. */
export function isDay(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? startOf(text) : Number.NaN
  return !Number.isNaN(ms) && dayOf(ms) === text
}

/** When a day begins, in milliseconds; NaN for what is none. */
export const startOf = (day: string): number => Date.parse(`${day}T00:00:00.000Z`)

/**
 * The same moment of the calendar so many months earlier (milliseconds, UTC). Where that month is too short it is the month's last day, at
 * the same time of day.
 */
export function monthsBefore(ms: number, months: number): number {
  const date = new Date(ms)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() - months)
  const daysInMonth = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, daysInMonth))
  return date.getTime()
}
