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

/** Whether a text is a pattern of six fields, of `*`, numbers, ranges, steps and lists. */
export function isPattern(text: string): boolean {
  const given = text.split(/ +/)
  return (
    given.length === fields.length && fields.every(([least, most], at) => given[at]?.split(',').every((part) => isPart(part, least, most)))
  )
}

function isPart(part: string, least: number, most: number): boolean {
  const [, from, to, step] = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [undefined, '99']
  const [first, last] = [Number(from ?? least), Number(to ?? from ?? most)]
  // A step counts from a range: of one number, cron's dialects differ.
  const hasRange = from === undefined || to !== undefined
  return first >= least && last <= most && first <= last && (step === undefined || (hasRange && Number(step) >= 1 && Number(step) <= most))
}
