/** When something is done again and again, as cron writes it. croner computes the times; this says which patterns we take. */

/** The least and the most of each field, in their order. */
const fields = [
  [0, 59],
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const
/** What a pattern is, in words. */
export const fieldsForm =
  'a pattern being six fields (second minute hour day month weekday, UTC) of numbers, * , ranges as 1-5, steps as */10, and lists of these with commas'

/** The most days of each month. */
const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether a text is a pattern of six fields, of `*`, numbers, ranges, steps and lists, whose time comes: no 31st of February. */
export function isPattern(text: string): boolean {
  const given = text.split(/ +/)
  const isWritten =
    given.length === fields.length && fields.every(([least, most], at) => given[at]?.split(',').every((part) => isPart(part, least, most)))
  if (!isWritten) return false
  const [, , , days = '', months = '', weekdays] = given
  // Where weekdays are named too, either is enough.
  if (weekdays !== '*') return true
  const first = Math.min(...days.split(',').map((part) => Number.parseInt(part, 10) || 1))
  return daysOfMonths.some((last, at) => first <= last && months.split(',').some((part) => isIn(part, at + 1)))
}

/** Whether a month is one of a part that is written well. */
function isIn(part: string, month: number): boolean {
  const [range = '', step = '1'] = part.split('/')
  const [from, to] = range === '*' ? [1, 12] : range.split('-').map(Number)
  return month >= (from ?? 1) && month <= (to ?? from ?? 1) && (month - (from ?? 1)) % Number(step) === 0
}

function isPart(part: string, least: number, most: number): boolean {
  const [, from, to, step] = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [undefined, '99']
  const [first, last] = [Number(from ?? least), Number(to ?? from ?? most)]
  // A step counts from a range: of one number, cron's dialects differ.
  const hasRange = from === undefined || to !== undefined
  return first >= least && last <= most && first <= last && (step === undefined || (hasRange && Number(step) >= 1 && Number(step) <= most))
}
