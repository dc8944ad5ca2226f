import { daysInMonth } from './day.ts'
/** RFC 3339 with a zone: the meaning of `date-time` in the OpenAPI document. */
export const instantPattern = '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$'

/** Parses such an instant to milliseconds; NaN for an invalid day or hour, such as February 30. */
export function parseInstant(text: string): number {
  const [year = 0, month = 0, day = 0, hour = 0] = text.split(/[-Tt:]/, 4).map(Number)
  return day <= daysInMonth(year, month) && hour <= 23 ? Date.parse(text.toUpperCase()) : Number.NaN
}
