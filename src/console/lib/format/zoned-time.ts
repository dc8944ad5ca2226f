import { dayMs } from '../../../lib/day.ts'
/** Local times of a time zone, for `datetime-local` fields. */

export type WallTime = { year: number; month: number; day: number; hour: number; minute: number }

const formats = new Map<string, Intl.DateTimeFormat>()
/** Falls back to UTC for a time zone that this browser does not know. */
function clockFormat(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const clockIn = (timeZone: string) => new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', { timeZone, hourCycle: 'h23', ...parts })
  let fresh: Intl.DateTimeFormat
  try {
    fresh = clockIn(zone)
  } catch {
    fresh = clockIn('UTC')
  }
  formats.set(zone, fresh)
  return fresh
}

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
const two = (value: number) => String(value).padStart(2, '0')

/** Formats a timestamp as `2026-11-23T18:30` in a time zone; empty for null. */
export function wallTimeText(iso: string | null, zone: string): string {
  if (iso === null) return ''
  const { year, month, day, hour, minute } = wallTimeAt(Date.parse(iso), zone)
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}`
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
  const wanted = utcOf({ year: year ?? 0, month: month ?? 0, day: day ?? 0, hour: hour ?? 0, minute: minute ?? 0 })
  if (!Number.isFinite(wanted)) return undefined
  // The zone's offsets a day before and after; the larger one gives the earlier instant.
  const offsets = [wanted - dayMs, wanted + dayMs].map((at) => utcOf(wallTimeAt(at, zone)) - at)
  const [least, most] = [Math.min(...offsets), Math.max(...offsets)] as const
  const fits = [most, least].find((offset) => utcOf(wallTimeAt(wanted - offset, zone)) === wanted)
  return new Date(wanted - (fits ?? least)).toISOString()
}

/**
 * Parses a local time. An unchanged text keeps the stored timestamp with its seconds, which the field does not show.
 */
export const parseChangedWallTime = (text: string, before: string | null, zone: string): string | null | undefined =>
  text === wallTimeText(before, zone) ? before : parseWallTime(text, zone)
