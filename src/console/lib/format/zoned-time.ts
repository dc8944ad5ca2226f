import { dayMs } from '../../../lib/day.ts'
/** Local times of a time zone, for `datetime-local` fields. */

export type WallTime = { year: number; month: number; day: number; hour: number; minute: number }

const formats = new Map<string, Intl.DateTimeFormat>()
/** Falls back to UTC for a time zone that this browser does not know. */
function clockFormat(zone: string): Intl.DateTimeFormat {
  const cachedFormat = formats.get(zone)
  if (cachedFormat) return cachedFormat
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const clockIn = (timeZone: string) => new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', { timeZone, hourCycle: 'h23', ...parts })
  let format: Intl.DateTimeFormat
  try {
    format = clockIn(zone)
  } catch {
    format = clockIn('UTC')
  }
  formats.set(zone, format)
  return format
}

/**
 * Returns the date and time that a clock of the zone shows.
 * @param at milliseconds since the epoch
 */
export function wallTimeAt(at: number, zone: string): WallTime {
  const parts = Object.fromEntries(
    clockFormat(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts
  return { year, month, day, hour, minute }
}

const utcOf = ({ year, month, day, hour, minute }: WallTime) => Date.UTC(year, month - 1, day, hour, minute)
const padTwo = (value: number) => String(value).padStart(2, '0')

/** Formats a timestamp as `2026-11-23T18:30` in a time zone; empty for null. */
export function wallTimeText(iso: string | null, zone: string): string {
  if (iso === null) return ''
  const { year, month, day, hour, minute } = wallTimeAt(Date.parse(iso), zone)
  return `${String(year).padStart(4, '0')}-${padTwo(month)}-${padTwo(day)}T${padTwo(hour)}:${padTwo(minute)}`
}

/**
 * Parses a local time into a timestamp of the API: null for empty, undefined if invalid. A repeated hour gives its
 * first occurrence, a skipped hour the same time after it.
 */
export function parseWallTime(text: string, zone: string): string | null | undefined {
  if (text.trim() === '') return null
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?$/.exec(text.trim())
  if (!match) return undefined
  const [, year, month, day, hour, minute] = match.map(Number)
  const localMs = utcOf({ year: year ?? 0, month: month ?? 0, day: day ?? 0, hour: hour ?? 0, minute: minute ?? 0 })
  if (!Number.isFinite(localMs)) return undefined
  // The zone's offsets a day before and after; the larger one gives the earlier instant.
  const offsets = [localMs - dayMs, localMs + dayMs].map((timeMs) => utcOf(wallTimeAt(timeMs, zone)) - timeMs)
  const [smallestOffset, largestOffset] = [Math.min(...offsets), Math.max(...offsets)] as const
  const fittingOffset = [largestOffset, smallestOffset].find((offset) => utcOf(wallTimeAt(localMs - offset, zone)) === localMs)
  return new Date(localMs - (fittingOffset ?? smallestOffset)).toISOString()
}

/**
 * Parses a local time. An unchanged text keeps the stored timestamp with its seconds, which the field does not show.
 */
export const parseChangedWallTime = (text: string, before: string | null, zone: string): string | null | undefined =>
  text === wallTimeText(before, zone) ? before : parseWallTime(text, zone)
