/** Validates cron patterns of six fields. croner computes the times. */

/** Minimum and maximum of each field. */
const fields = [
  [0, 59],
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const
/** Description of a pattern for messages. */
export const fieldsForm =
  'a pattern being six fields (second minute hour day month weekday, UTC) of numbers, * , ranges as 1-5, steps as */10, and lists of these with commas'

/** Maximum days of each month. */
const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Checks a pattern of six fields with `*`, numbers, ranges, steps and lists. Refuses dates that never occur, such as
 * February 31.
 */
export function isPattern(text: string): boolean {
  const parts = text.split(/ +/)
  const isWritten =
    parts.length === fields.length && fields.every(([least, most], at) => parts[at]?.split(',').every((part) => isPart(part, least, most)))
  if (!isWritten) return false
  const [, , , days = '', months = '', weekdays] = parts
  // With weekdays, either condition suffices.
  if (weekdays !== '*') return true
  const first = Math.min(...days.split(',').map((part) => Number.parseInt(part, 10) || 1))
  return daysOfMonths.some((last, at) => first <= last && months.split(',').some((part) => isIn(part, at + 1)))
}

/** Returns whether a valid field contains a month. */
function isIn(part: string, month: number): boolean {
  const [range = '', step = '1'] = part.split('/')
  const [from, to] = range === '*' ? [1, 12] : range.split('-').map(Number)
  return month >= (from ?? 1) && month <= (to ?? from ?? 1) && (month - (from ?? 1)) % Number(step) === 0
}

function isPart(part: string, least: number, most: number): boolean {
  const [, from, to, step] = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [undefined, '99']
  const [first, last] = [Number(from ?? least), Number(to ?? from ?? most)]
  // A step needs a range: cron dialects differ for a single number.
  const hasRange = from === undefined || to !== undefined
  return first >= least && last <= most && first <= last && (step === undefined || (hasRange && Number(step) >= 1 && Number(step) <= most))
}
