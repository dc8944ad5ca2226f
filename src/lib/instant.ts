/** RFC 3339 with a zone: what `date-time` means in our document. */
export const instantPattern = '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$'

/** Milliseconds of an instant in that form; NaN for a day or an hour that there is not, as 30 February. */
export function parseInstant(text: string): number {
  const [year = 0, month = 0, day = 0, hour = 0] = text.split(/[-Tt:]/, 4).map(Number)
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return day <= daysInMonth && hour <= 23 ? Date.parse(text.toUpperCase()) : Number.NaN
}
